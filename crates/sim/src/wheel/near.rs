//! Events of the near level, by bucket.

use super::Event;
use super::bits;
use crate::tuning::{HALVINGS_OF_A_LIST, HALVINGS_OF_A_PAIR, WORDS_A_LEVEL, WORTH_A_REVIEW};

type Bits = bits::Bits<WORDS_A_LEVEL>;

/// Number of buckets of the near level.
pub(super) const BUCKETS: u64 = Bits::SLOTS;

const SLOTS: usize = BUCKETS as usize;

/// No node.
const NIL: u32 = u32::MAX;

/// The first two events of a bucket; most buckets have no more.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    first: Event,
    second: Event,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    event: Event,
    /// Next node of the list; the last node points to the first.
    next: u32,
}

/// The events of each bucket, in order.
#[derive(Debug)]
pub(super) struct Near {
    /// Buckets with a first event.
    used: Bits,
    /// Buckets with a second event.
    paired: Bits,
    buckets: Box<[Bucket; SLOTS]>,
    /// Last node of the list of all further events, or [`NIL`].
    last: Box<[u32; SLOTS]>,
    nodes: Vec<Node>,
    free: u32,
    /// The node added to a list last, and the slot of that list: the next event often follows it.
    recent: u32,
    recent_slot: usize,
    /// Work that narrower buckets would spare: events that came to a bucket whose first event was
    /// apart from them, and events passed in a list whose last event came later.
    pub(super) spared: u32,
    /// Events passed in lists.
    #[cfg(test)]
    pub(super) steps: u64,
}

/// Whether so many halvings of a bucket's width would separate two events.
#[inline]
fn are_apart(a: Event, b: Event, shift: u32, halvings: u32) -> bool {
    a.time.abs_diff(b.time) >> shift.saturating_sub(halvings) != 0
}

impl Near {
    pub(super) fn new() -> Near {
        Near {
            used: Bits::new(),
            paired: Bits::new(),
            buckets: Box::new([Bucket::default(); SLOTS]),
            last: Box::new([NIL; SLOTS]),
            nodes: Vec::new(),
            free: NIL,
            recent: NIL,
            recent_slot: 0,
            spared: 0,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// The first bucket with events that is not below this one.
    #[inline]
    pub(super) fn next_from(&self, bucket: u64) -> Option<u64> {
        self.used.next_from(bucket)
    }

    /// Puts an event into its bucket, the time divided by 2^`shift`; returns whether many events
    /// should have narrower buckets.
    #[inline]
    pub(super) fn push(&mut self, event: Event, shift: u32) -> bool {
        let bucket = event.time >> shift;
        if self.used.has(bucket) {
            return self.push_second(event, shift);
        }
        self.used.insert(bucket);
        self.buckets[Bits::slot(bucket)].first = event;
        false
    }

    /// Adds a second event to a bucket.
    #[inline]
    fn push_second(&mut self, mut event: Event, shift: u32) -> bool {
        let bucket = event.time >> shift;
        let Bucket { first, second } = &mut self.buckets[Bits::slot(bucket)];
        let is_paired = self.paired.has(bucket);
        let halvings = if is_paired { HALVINGS_OF_A_LIST } else { HALVINGS_OF_A_PAIR };
        let would_be_spared = are_apart(event, *first, shift, halvings);
        self.spared = self.spared.saturating_add(u32::from(would_be_spared));
        if event < *first {
            core::mem::swap(first, &mut event);
        }
        if !is_paired {
            self.paired.insert(bucket);
            *second = event;
        } else {
            if event < *second {
                core::mem::swap(second, &mut event);
            }
            self.push_to_list(Bits::slot(bucket), event);
        }
        self.spared >= WORTH_A_REVIEW
    }

    /// Adds an event to a bucket's list: most often behind the last, otherwise behind its
    /// predecessor.
    #[inline(never)]
    fn push_to_list(&mut self, slot: usize, event: Event) {
        let id = self.node(event);
        let last = self.last[slot];
        if last == NIL {
            self.nodes[id as usize].next = id;
            self.last[slot] = id;
        } else {
            let before = self.place_in_list(slot, event);
            let next = core::mem::replace(&mut self.nodes[before as usize].next, id);
            self.nodes[id as usize].next = next;
            if before == last && self.nodes[last as usize].event <= event {
                self.last[slot] = id;
            }
        }
        (self.recent, self.recent_slot) = (id, slot);
    }

    /// The node of a list behind which an event belongs; the last node if it comes first.
    #[inline]
    fn place_in_list(&mut self, slot: usize, event: Event) -> u32 {
        let last = self.last[slot];
        let last_event = self.nodes[last as usize].event;
        // Events without numbers may be equal.
        if last_event <= event {
            return last;
        }
        let recent = Some(self.recent).filter(|_| self.recent_slot == slot);
        let recent =
            recent.filter(|id| self.nodes.get(*id as usize).is_some_and(|n| n.event < event));
        let mut before = recent.unwrap_or(last);
        loop {
            let next = self.nodes[before as usize].next;
            if event < self.nodes[next as usize].event {
                return before;
            }
            before = next;
            #[cfg(test)]
            {
                self.steps += 1;
            }
            self.spared = self.spared.saturating_add(u32::from(event.time != last_event.time));
        }
    }

    /// A node with this event, in no list.
    #[inline]
    fn node(&mut self, event: Event) -> u32 {
        let id = self.free;
        match self.nodes.get_mut(id as usize) {
            Some(node) => {
                self.free = node.next;
                node.event = event;
                id
            }
            None => {
                self.nodes.push(Node { event, next: NIL });
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// Time of the first event of a bucket that has some.
    #[inline]
    pub(super) fn first(&self, bucket: u64) -> u64 {
        self.buckets[Bits::slot(bucket)].first.time
    }

    /// Removes the first event of a bucket that has some.
    #[inline]
    pub(super) fn take(&mut self, bucket: u64) -> Event {
        let slot = Bits::slot(bucket);
        let Bucket { first, second } = &mut self.buckets[slot];
        if !self.paired.has(bucket) {
            self.used.remove(bucket);
            return *first;
        }
        let event = core::mem::replace(first, *second);
        if self.last[slot] == NIL {
            self.paired.remove(bucket);
        } else {
            self.move_up(slot);
        }
        event
    }

    /// Moves the first event of a bucket's list to the place of the second event.
    #[inline(never)]
    fn move_up(&mut self, slot: usize) {
        let last = self.last[slot];
        let id = self.nodes[last as usize].next;
        let node = &mut self.nodes[id as usize];
        self.buckets[slot].second = node.event;
        let next = core::mem::replace(&mut node.next, self.free);
        self.free = id;
        if self.recent == id {
            self.recent = NIL;
        }
        if id == last {
            self.last[slot] = NIL;
        } else {
            self.nodes[last as usize].next = next;
        }
    }
}
