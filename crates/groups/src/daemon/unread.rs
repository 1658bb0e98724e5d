//! Bytes that a client's kernel has received and the client has not read.

use std::time::Duration;

use ratewire_unsent::Window;

/// Most room that counts as missing when a client's kernel does not tell it. Kernels offer more at
/// first, but how much of that they have again when all is read, they settle with the messages.
const ROOM: usize = 64 << 10;
/// Time after which the last that was heard of a client's room says nothing any more: kernels
/// tell more room only with an answer, or when it has doubled.
const STALE: Duration = Duration::from_millis(250);

/// What a client has not read, by the room that its kernel tells.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// Room when the client has read everything.
    room: usize,
}

impl Unread {
    /// Bytes that the client may not have read. A kernel answers as long as anything is `unsent`.
    /// What is on its way counts for a slow client, and where room is missing: on a long path there
    /// is always some.
    pub(super) fn look(
        &mut self,
        window: Window,
        is_slow: bool,
        unsent: usize,
        on_its_way: impl FnOnce() -> usize,
    ) -> usize {
        self.room = self.room.max(window.bytes.min(ROOM));
        let is_old = unsent == 0 && window.age > STALE;
        if is_old || !(is_slow || window.bytes < self.room) {
            return 0;
        }
        self.room.saturating_sub(window.bytes.saturating_sub(on_its_way()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(kilobytes: usize, age: u64) -> Window {
        Window { bytes: kilobytes << 10, age: Duration::from_millis(age) }
    }

    #[test]
    fn missing_room_is_unread() {
        let mut unread = Unread::default();
        let mut kilobytes = |told: usize| unread.look(window(told, 40), false, 0, || 2 << 10) >> 10;
        assert_eq!(kilobytes(196), 0);
        assert_eq!(kilobytes(64), 0, "more than that may never come again");
        assert_eq!(kilobytes(50), 14 + 2);
        assert_eq!(kilobytes(1), 64, "what is on its way has no more than this room");
        assert_eq!(kilobytes(70), 0);
    }

    #[test]
    fn a_small_window_is_no_missing_room() {
        let mut unread = Unread::default();
        assert_eq!(unread.look(window(8, 0), false, 0, || 100), 0);
        assert_eq!(unread.look(window(6, 0), false, 0, || 0), 2 << 10);
        assert_eq!(unread.look(window(20, 0), false, 0, || 100), 0);
        assert_eq!(unread.look(window(8, 0), false, 0, || 0), 12 << 10);
    }

    #[test]
    fn what_is_on_its_way_counts_for_a_slow_client() {
        let mut unread = Unread::default();
        assert_eq!(unread.look(window(70, 0), false, 0, || 30 << 10), 0);
        assert_eq!(unread.look(window(70, 0), true, 0, || 30 << 10), 24 << 10);
    }

    #[test]
    fn old_news_count_while_something_is_unsent() {
        let mut unread = Unread::default();
        unread.look(window(64, 0), false, 0, || 0);
        for (age, unsent, kilobytes) in [(250, 0, 60), (251, 0, 0), (9000, 1, 60)] {
            let found = unread.look(window(4, age), true, unsent, || 0);
            assert_eq!(found, kilobytes << 10, "{age} ms, {unsent} unsent");
        }
    }
}
