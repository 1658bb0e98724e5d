//! Packets on their way to a neighbour.

use std::collections::VecDeque;

use ratewire_laws::Header;

/// Packets that wait at most, and their bytes; others are dropped, as in any switch.
const MOST: usize = 4096;
const MOST_BYTES: usize = 8 << 20;
/// Bytes of packets that have left from which on their memory is used again.
const LEFT: usize = 1 << 20;
/// Memory that an empty queue keeps, in bytes and in packets: a switch has a queue for each member
/// of each peer, most of them idle.
const KEPT: (usize, usize) = (2048, 16);

#[derive(Clone, Copy, Debug)]
struct Item {
    header: Header,
    /// Stream offset where its data ends, if it carries any.
    data_end: Option<u64>,
    begin: usize,
    end: usize,
}

/// Packets on their way to a neighbour, not sealed yet.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The packets' parts, one after the other.
    bytes: Vec<u8>,
    items: VecDeque<Item>,
}

/// The next packet.
#[derive(Debug)]
pub(crate) struct Packet<'a> {
    pub(crate) header: Header,
    /// Whether it carries bytes of a frame.
    pub(crate) has_data: bool,
    pub(crate) parts: &'a [u8],
}

impl Queue {
    /// Adds a packet with the parts that `put` appends, whose data ends at a stream offset.
    pub(crate) fn push(
        &mut self,
        header: Header,
        data_end: Option<u64>,
        put: impl FnOnce(&mut Vec<u8>),
    ) {
        let left = self.items.front().map_or(self.bytes.len(), |first| first.begin);
        if self.items.len() == MOST || self.bytes.len() - left >= MOST_BYTES {
            return;
        }
        if self.items.is_empty() || left > LEFT {
            self.bytes.drain(..left);
            for item in &mut self.items {
                (item.begin, item.end) = (item.begin - left, item.end - left);
            }
        }
        let begin = self.bytes.len();
        put(&mut self.bytes);
        self.items.push_back(Item { header, data_end, begin, end: self.bytes.len() });
    }

    /// Header of the last packet, if its data ends at a stream offset, and it has at most `most`
    /// bytes.
    pub(crate) fn continued(&mut self, offset: u64, most: usize) -> Option<&mut Header> {
        let last = self.items.back_mut()?;
        let is_it = last.data_end == Some(offset) && last.end - last.begin <= most;
        is_it.then_some(&mut last.header)
    }

    /// Adds a part to the last packet, whose data then ends at a stream offset.
    pub(crate) fn extend(&mut self, data_end: u64, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut self.bytes);
        if let Some(last) = self.items.back_mut() {
            (last.data_end, last.end) = (Some(data_end), self.bytes.len());
        }
    }

    /// Gives memory back if the queue is empty: all of it if the queue is `idle`, else what is
    /// beyond that of a few small packets.
    pub(crate) fn give_back(&mut self, idle: bool) {
        let (bytes, items) = if idle { (0, 0) } else { KEPT };
        if self.items.is_empty() && self.bytes.capacity() > bytes {
            self.bytes = Vec::new();
        }
        if self.items.is_empty() && self.items.capacity() > items {
            self.items = VecDeque::new();
        }
    }

    /// The next packet, if it has at most `room` bytes.
    pub(crate) fn pop(&mut self, room: usize) -> Option<Packet<'_>> {
        let fits = |item: &Item| item.end - item.begin <= room;
        let item = self.items.front().copied().filter(fits)?;
        self.items.pop_front();
        let parts = &self.bytes[item.begin..item.end];
        Some(Packet { header: item.header, has_data: item.data_end.is_some(), parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_order_and_only_if_they_fit() {
        let mut queue = Queue::default();
        for size in [3, 5] {
            queue.push(Header::None, Some(0), |parts| parts.resize(parts.len() + size, size as u8));
        }
        assert!(queue.pop(2).is_none());
        assert_eq!(queue.pop(3).unwrap().parts, [3; 3]);
        assert_eq!(queue.pop(9).unwrap().parts, [5; 5]);
        assert!(queue.pop(9).is_none());
        (0..MOST + 2).for_each(|_| queue.push(Header::None, Some(0), |parts| parts.push(1)));
        assert_eq!(queue.items.len(), MOST);
        let mut queue = Queue::default();
        let large = |parts: &mut Vec<u8>| parts.resize(parts.len() + 60_000, 0);
        (0..MOST).for_each(|_| queue.push(Header::None, Some(0), large));
        assert!(queue.bytes.len() < MOST_BYTES + 60_000);
    }

    #[test]
    fn memory_is_used_again_though_the_queue_is_never_empty() {
        let mut queue = Queue::default();
        let push = |queue: &mut Queue, byte| {
            queue.push(Header::None, Some(0), |parts| parts.resize(parts.len() + 1000, byte));
        };
        push(&mut queue, 0);
        for i in 1..10_000u32 {
            push(&mut queue, i as u8);
            assert_eq!(queue.pop(1000).unwrap().parts, [(i - 1) as u8; 1000]);
        }
        assert!(queue.bytes.len() < LEFT + 4000);
    }

    #[test]
    fn an_empty_queue_keeps_little_memory() {
        let mut queue = Queue::default();
        for size in [100, 1_000_000] {
            (0..100).for_each(|_| queue.push(Header::None, None, |parts| parts.push(0)));
            queue.push(Header::None, None, |parts| parts.resize(parts.len() + size, 0));
            queue.give_back(true);
            assert!((0..101).all(|_| queue.pop(usize::MAX).is_some()));
            queue.give_back(false);
            assert!(queue.bytes.capacity() <= KEPT.0 && queue.items.capacity() <= KEPT.1);
        }
        queue.push(Header::None, None, |parts| parts.push(0));
        assert!(queue.pop(usize::MAX).is_some());
        queue.give_back(true);
        assert_eq!((queue.bytes.capacity(), queue.items.capacity()), (0, 0));
    }

    #[test]
    fn a_part_joins_the_packet_that_it_continues() {
        let mut queue = Queue::default();
        assert!(queue.continued(0, 100).is_none());
        queue.push(Header::None, Some(30), |parts| parts.extend([1; 40]));
        assert!(queue.continued(29, 100).is_none(), "another place in the stream");
        assert!(queue.continued(30, 39).is_none(), "too long to take more");
        assert_eq!(queue.continued(30, 40), Some(&mut Header::None));
        queue.extend(50, |parts| parts.extend([2; 25]));
        assert!(queue.continued(50, 65).is_some());
        queue.push(Header::None, None, |parts| parts.push(3));
        assert!(queue.continued(50, 100).is_none(), "it is not the last");
        assert_eq!(queue.pop(100).unwrap().parts, [[1; 40].as_slice(), &[2; 25]].concat());
        assert!(!queue.pop(100).unwrap().has_data);
    }
}
