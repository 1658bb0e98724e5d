//! Messages that were written to a client's socket and wait in the kernel.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::item::Item;

/// Messages that were written to a client's socket and may still wait there, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    entries: VecDeque<Entry>,
    all: Sum,
    /// What waited at the last look, and when its oldest message came. What is written since may be
    /// on its way.
    seen: Sum,
    oldest: Option<Instant>,
    /// Bytes and messages that wait no more.
    taken: (u64, u64),
}

#[derive(Debug)]
struct Entry {
    size: usize,
    /// The message's part of what the kernel says that it holds, in bytes.
    kernel: usize,
    counted: u64,
    at: Instant,
}

/// Sums over messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) bytes: usize,
    pub(super) messages: usize,
    /// Messages as they count.
    pub(super) counted: u64,
    kernel: usize,
}

impl Unsent {
    /// Notes messages that are written; the kernel holds `more` bytes more than before them.
    pub(super) fn put(&mut self, items: &[Item], more: usize) {
        for item in items {
            let (size, counted) = (item.size(), item.counted.into());
            self.entries.push_back(Entry { size, kernel: size, counted, at: item.at });
            self.all.bytes += size;
            self.all.messages += 1;
            self.all.counted += counted;
            self.all.kernel += size;
        }
        // The kernel adds bytes of its own, and keeps a write until all of it is read. It may hold
        // less than was written: the client reads meanwhile.
        let own = more.saturating_sub(items.iter().map(Item::size).sum());
        if let Some(last) = self.entries.back_mut() {
            last.kernel += own;
            self.all.kernel += own;
        }
    }

    /// Notes that the kernel holds so many bytes. Returns whether that changes what waits.
    pub(super) fn look(&mut self, kernel: usize) -> bool {
        while let Some(first) = self.entries.front()
            && self.all.kernel - first.kernel >= kernel
        {
            self.all.bytes -= first.size;
            self.all.messages -= 1;
            self.all.counted -= first.counted;
            self.all.kernel -= first.kernel;
            self.taken.0 += first.size as u64;
            self.taken.1 += 1;
            self.entries.pop_front();
        }
        self.oldest = self.entries.front().map(|first| first.at);
        core::mem::replace(&mut self.seen, self.all) != self.all
    }

    /// Forgets what waits.
    pub(super) fn clear(&mut self) {
        *self = Unsent { taken: self.taken, ..Unsent::default() };
    }

    /// What waited at the last look.
    pub(super) fn seen(&self) -> Sum {
        self.seen
    }

    /// When the oldest message came that waited at the last look.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.oldest
    }

    /// Bytes and messages that wait no more.
    pub(super) fn taken(&self) -> (u64, u64) {
        self.taken
    }

    /// Whether anything may wait.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn items(number: usize) -> Vec<Item> {
        let head = vec![0; 10].into();
        let (data, at) = (Bytes::new(), Instant::now());
        vec![Item { head, data, counted: 2, is_notice: false, at }; number]
    }

    fn sum(unsent: &Unsent) -> (usize, usize, u64) {
        let Sum { bytes, messages, counted, .. } = unsent.seen();
        (bytes, messages, counted)
    }

    #[test]
    fn what_is_just_written_counts_from_the_next_look_on() {
        let mut unsent = Unsent::default();
        unsent.put(&items(3), 30);
        assert_eq!(sum(&unsent), (0, 0, 0));
        assert!(unsent.look(30));
        assert_eq!(sum(&unsent), (30, 3, 6));
        assert!(!unsent.look(30), "nothing has moved");
        assert!(unsent.look(11));
        assert_eq!(sum(&unsent), (20, 2, 4), "a message that is sent in part waits");
        assert!(unsent.look(0));
        assert_eq!(sum(&unsent), (0, 0, 0));
        assert!(unsent.is_empty());
    }

    #[test]
    fn bytes_of_the_kernel_itself_are_not_taken_for_messages() {
        let mut unsent = Unsent::default();
        unsent.put(&items(2), 520);
        unsent.put(&items(2), 520);
        assert_eq!(unsent.oldest(), None);
        unsent.look(1040);
        assert_eq!(sum(&unsent), (40, 4, 8));
        assert!(unsent.oldest().is_some());
        unsent.look(520);
        assert_eq!(sum(&unsent), (20, 2, 4));
    }

    #[test]
    fn a_client_that_reads_at_once_has_nothing_waiting() {
        let mut unsent = Unsent::default();
        unsent.put(&items(3), 0);
        assert!(!unsent.look(0));
        assert!(unsent.is_empty());
    }
}
