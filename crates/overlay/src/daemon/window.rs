//! A daemon's messages that not all daemons have yet.

use std::collections::VecDeque;

use ratewire_units::Bytes;

use crate::membership::OrderStamp;

/// Part of the window after which a daemon asks others whether they have its messages.
const ASKING: u64 = 8;

/// Messages that not all daemons have yet, and the bound on them.
#[derive(Debug)]
pub(super) struct Window {
    most: Bytes,
    /// Stamps and sizes of the messages, and the sum of the sizes.
    unstable: VecDeque<(OrderStamp, Bytes)>,
    bytes: Bytes,
    /// Bytes sent since this daemon last asked others whether they have its messages.
    unasked: Bytes,
}

impl Window {
    pub(super) fn new(most: Bytes) -> Window {
        Window { most, unstable: VecDeque::new(), bytes: Bytes::ZERO, unasked: Bytes::ZERO }
    }

    /// Bytes of the messages.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }
    pub(super) fn is_empty(&self) -> bool {
        self.unstable.is_empty()
    }
    pub(super) fn is_bounded(&self) -> bool {
        self.most < Bytes::MAX
    }
    /// Whether there is no room for a message of this size. A larger one than all goes alone.
    pub(super) fn is_full(&self, size: Bytes) -> bool {
        self.bytes + size > self.most && !self.is_empty()
    }

    /// Whether to ask others because the window is full: once for what was sent since.
    pub(super) fn asks(&mut self) -> bool {
        core::mem::take(&mut self.unasked) > Bytes::ZERO
    }

    /// Notes a message. Returns whether to ask others.
    pub(super) fn note(&mut self, stamp: OrderStamp, size: Bytes) -> bool {
        self.unstable.push_back((stamp, size));
        self.bytes += size;
        self.unasked += size;
        let asks = self.unasked.get() >= self.most.get() / ASKING;
        if asks {
            self.unasked = Bytes::ZERO;
        }
        asks
    }

    /// Forgets messages up to this stamp. Returns whether there were any.
    pub(super) fn forget(&mut self, stable: OrderStamp) -> bool {
        let before = self.unstable.len();
        while let Some((stamp, size)) = self.unstable.front().copied()
            && stamp <= stable
        {
            self.unstable.pop_front();
            self.bytes = self.bytes.saturating_sub(size);
        }
        self.unstable.len() < before
    }

    /// Forgets all messages: their view has ended.
    pub(super) fn clear(&mut self) {
        *self = Window::new(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_asks_once_for_each_part_and_once_when_it_is_full() {
        let mut window = Window::new(Bytes::new(800));
        assert!(!window.is_full(Bytes::new(9000)), "a large message goes alone");
        assert!(!window.note(1, Bytes::new(99)));
        assert!(window.note(2, Bytes::new(1)), "an eighth has been sent");
        assert!(!window.asks(), "nothing was sent since");
        assert!(!window.note(3, Bytes::new(50)));
        assert!(!window.is_full(Bytes::new(650)));
        assert!(window.is_full(Bytes::new(651)));
        assert!(window.asks());
        assert!(!window.forget(0));
        assert!(window.forget(2));
        assert_eq!(window.bytes(), Bytes::new(50));
        window.clear();
        assert!(window.is_empty() && window.bytes() == Bytes::ZERO);
    }
}
