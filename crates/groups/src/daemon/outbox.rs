//! Queue to a client.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::item::Item;
use super::unsent::Unsent;

/// What waits for a client.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    items: VecDeque<Item>,
    /// Bytes and messages that were put in and are not written yet.
    bytes: usize,
    counted: u64,
    messages: usize,
    /// Bytes of notices among them.
    notices: usize,
    /// Messages that are written and wait in the kernel.
    unsent: Unsent,
    /// Whether the queue is beyond its limit. It then stays so until half of it is written.
    is_full: bool,
    /// Whether the connection ends when all is written.
    is_closing: bool,
    /// Messages that are written.
    delivered: u64,
}

impl Outbox {
    /// Adds a message; `limit` is the limit of the queue in bytes.
    pub(super) fn push(&mut self, item: Item, limit: usize) {
        if self.is_closing {
            return;
        }
        self.bytes += item.size();
        self.counted += u64::from(item.counted);
        self.messages += 1;
        self.notices += item.notice_size();
        self.is_full |= self.bytes > limit;
        self.items.push_back(item);
    }

    /// Takes messages to write, at most so many.
    pub(super) fn take(&mut self, most: usize) -> Vec<Item> {
        let count = self.items.len().min(most);
        self.items.drain(..count).collect()
    }

    /// Notes that taken messages are written; the kernel holds `more` bytes more than before them.
    pub(super) fn written(&mut self, items: &[Item], more: usize, limit: usize) {
        self.bytes -= items.iter().map(Item::size).sum::<usize>();
        self.counted -= items.iter().map(|item| u64::from(item.counted)).sum::<u64>();
        self.messages -= items.len();
        self.notices -= items.iter().map(Item::notice_size).sum::<usize>();
        self.delivered += items.len() as u64;
        self.is_full &= self.bytes > limit / 2;
        self.unsent.put(items, more);
    }

    /// Notes that the kernel holds so many bytes of what was written. Returns whether that changes
    /// what waits.
    pub(super) fn look(&mut self, kernel: usize) -> bool {
        self.unsent.look(kernel)
    }

    /// Messages that are written and wait in the kernel.
    pub(super) fn unsent(&self) -> &Unsent {
        &self.unsent
    }

    /// Whether any message is not written yet.
    pub(super) fn has_more(&self) -> bool {
        !self.items.is_empty()
    }

    /// Whether written messages may wait in the kernel.
    pub(super) fn is_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Drops what waits and lets the connection end after these last messages.
    pub(super) fn close(&mut self, last: impl IntoIterator<Item = Item>) {
        for item in core::mem::take(&mut self.items) {
            self.bytes -= item.size();
            self.counted -= u64::from(item.counted);
            self.messages -= 1;
            self.notices -= item.notice_size();
        }
        self.unsent.clear();
        self.is_full = false;
        last.into_iter().for_each(|item| self.push(item, usize::MAX));
        self.is_closing = true;
    }

    /// Bytes that wait, here and in the kernel.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.unsent.seen().bytes
    }
    /// Messages that wait, here and in the kernel, as they count.
    pub(super) fn counted(&self) -> u64 {
        self.counted + self.unsent.seen().counted
    }
    /// Bytes of notices.
    pub(super) fn notices(&self) -> usize {
        self.notices
    }
    /// Messages that wait, here and in the kernel.
    pub(super) fn messages(&self) -> usize {
        self.messages + self.unsent.seen().messages
    }
    /// When the oldest came of the messages that wait, here and in the kernel.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.unsent.oldest().or_else(|| self.items.front().map(|item| item.at))
    }
    /// Messages that are written so far.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }
    pub(super) fn is_closing(&self) -> bool {
        self.is_closing
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn item(size: usize) -> Item {
        let (head, data) = (vec![0; size].into(), Bytes::new());
        Item { head, data, counted: 2, is_notice: false, at: Instant::now() }
    }

    #[test]
    fn notices_are_counted_until_they_are_written_or_dropped() {
        let mut outbox = Outbox::default();
        let notice = || Item { is_notice: true, ..item(10) };
        for item in [item(5), notice(), notice(), notice()] {
            outbox.push(item, 100);
        }
        assert_eq!((outbox.bytes(), outbox.notices()), (35, 30));
        let taken = outbox.take(2);
        assert_eq!(outbox.notices(), 30, "what is taken still waits in the socket");
        outbox.written(&taken, 0, 100);
        assert_eq!(outbox.notices(), 20);
        let taken = outbox.take(1);
        outbox.close([notice()]);
        outbox.written(&taken, 0, 100);
        assert_eq!((outbox.bytes(), outbox.notices()), (10, 10));
    }

    #[test]
    fn a_full_queue_stays_full_until_half_of_it_is_written() {
        let mut outbox = Outbox::default();
        (0..11).for_each(|_| outbox.push(item(10), 100));
        assert!(outbox.is_full());
        assert_eq!((outbox.bytes(), outbox.counted(), outbox.messages()), (110, 22, 11));
        let taken = outbox.take(5);
        assert_eq!(outbox.bytes(), 110, "what is taken still waits for the socket");
        outbox.written(&taken, 50, 100);
        assert!(outbox.is_full());
        let taken = outbox.take(1);
        outbox.written(&taken, 10, 100);
        assert!(!outbox.is_full());
        assert_eq!((outbox.bytes(), outbox.messages()), (50, 5));
        assert!(outbox.look(60), "all that was written waits in the kernel");
        assert_eq!((outbox.bytes(), outbox.counted(), outbox.messages()), (110, 22, 11));
    }

    #[test]
    fn a_closing_queue_takes_no_more() {
        let mut outbox = Outbox::default();
        (0..3).for_each(|_| outbox.push(item(10), 20));
        let taken = outbox.take(1);
        outbox.close([item(7)]);
        assert!(!outbox.is_full(), "nobody waits for a client that has gone");
        outbox.push(item(10), 100);
        outbox.written(&taken, 0, 100);
        assert_eq!((outbox.bytes(), outbox.messages()), (7, 1));
        assert_eq!(outbox.take(9).len(), 1);
    }
}
