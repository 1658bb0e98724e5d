//! Events that are near: a list for each bucket.

use super::Event;
use super::ring::{self, NIL};

type Ring = ring::Ring<8>;

/// Buckets that can be near at once.
pub(super) const BUCKETS: u64 = Ring::SLOTS;

#[derive(Clone, Copy, Debug)]
struct Node {
    time: u64,
    order: u64,
    what: u32,
    next: u32,
}

/// Lists of events by bucket, each of about one.
#[derive(Debug)]
pub(super) struct Near {
    ring: Ring,
    nodes: Vec<Node>,
    free: u32,
}

impl Near {
    pub(super) fn new() -> Near {
        Near { ring: Ring::new(), nodes: Vec::new(), free: NIL }
    }

    #[inline]
    pub(super) fn push(&mut self, bucket: u64, Event { time, order, what }: Event) {
        let next_free = self.nodes.get(self.free as usize).map(|node| node.next);
        let id = if next_free.is_some() { self.free } else { self.nodes.len() as u32 };
        let node = Node { time, order, what, next: self.ring.put(bucket, id) };
        match next_free {
            Some(next) => {
                self.nodes[id as usize] = node;
                self.free = next;
            }
            None => self.nodes.push(node),
        }
    }

    /// The first bucket after `after` that has events.
    #[inline]
    pub(super) fn next_after(&self, after: u64) -> Option<u64> {
        self.ring.next_after(after)
    }

    /// Looks at the events of a bucket.
    #[inline]
    pub(super) fn look(&self, bucket: u64, mut each: impl FnMut(u32)) {
        let mut id = self.ring.head(bucket);
        while let Some(node) = self.nodes.get(id as usize) {
            each(node.what);
            id = node.next;
        }
    }

    /// Takes the events of a bucket out, in no order.
    #[inline]
    pub(super) fn drain(&mut self, bucket: u64, mut each: impl FnMut(Event)) {
        let mut id = self.ring.take(bucket);
        while let Some(node) = self.nodes.get_mut(id as usize) {
            let Node { time, order, what, next } = *node;
            node.next = self.free;
            self.free = id;
            id = next;
            each(Event { time, order, what });
        }
    }

    /// Takes the event of a bucket out that has but one.
    #[inline]
    pub(super) fn take_single(&mut self, bucket: u64) -> Option<Event> {
        let id = self.ring.head(bucket);
        let node = self.nodes.get_mut(id as usize).filter(|node| node.next == NIL)?;
        let Node { time, order, what, .. } = *node;
        node.next = self.free;
        self.free = id;
        self.ring.take(bucket);
        Some(Event { time, order, what })
    }
}
