//! Bytes that a client's kernel has received and the client has not read.

use std::time::Duration;

use ratewire_unsent::Window;
use tokio::time::Instant;

/// Most room that counts as missing when a client's kernel does not tell it. Kernels offer more at
/// first, but how much of that comes again when all is read, they find out with the messages.
const ROOM: usize = 64 << 10;
/// A kernel that never had this room may come to have less than `ROOM` for a client that has read
/// everything, so its room tells nothing.
const LARGE: usize = 2 * ROOM;
/// Time after which the last answer tells nothing any more: kernels tell of more room only in an
/// answer, or when it has doubled.
const STALE: Duration = Duration::from_millis(250);
/// Time after which room that has not grown, though the kernel answers, is all that there is: what
/// is missing was given up by the kernel, or nobody reads.
const REST: Duration = Duration::from_millis(500);

/// What a client has not read, by the room that its kernel tells.
#[derive(Debug)]
pub(super) struct Unread {
    largest: usize,
    /// Room when the client has read everything.
    room: usize,
    /// Room at the last look.
    last: usize,
    /// When room had grown last, or none was missing.
    grown: Instant,
}

impl Unread {
    pub(super) fn new(now: Instant) -> Unread {
        Unread { largest: 0, room: 0, last: 0, grown: now }
    }

    /// Bytes that the client may not have read. A kernel answers as long as anything is `unsent`.
    /// What is on its way counts for a slow client, and where room is missing: on a long path there
    /// is always some.
    pub(super) fn look(
        &mut self,
        now: Instant,
        window: Window,
        is_slow: bool,
        unsent: usize,
        on_its_way: impl FnOnce() -> usize,
    ) -> usize {
        self.largest = self.largest.max(window.bytes);
        if self.largest < LARGE {
            return 0;
        }
        self.room = self.room.max(window.bytes.min(ROOM));
        if window.bytes > self.last || window.bytes >= self.room {
            self.grown = now;
        }
        self.last = window.bytes;
        let is_old = unsent == 0 && window.age > STALE;
        if !is_old && unsent == 0 && now.duration_since(self.grown) > REST {
            self.room = window.bytes;
        }
        if is_old || !(is_slow || window.bytes < self.room) {
            return 0;
        }
        self.room.saturating_sub(window.bytes.saturating_sub(on_its_way()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client whose kernel has told 200 KB of room.
    struct Client {
        unread: Unread,
        now: Instant,
    }

    impl Client {
        fn new() -> Client {
            let now = Instant::now();
            let mut client = Client { unread: Unread::new(now), now };
            assert_eq!(client.look(200, 0, false, 0, 100), 0);
            client
        }

        /// Looks after 40 ms; rooms and the result are in KB.
        fn look(
            &mut self,
            room: usize,
            age: u64,
            is_slow: bool,
            unsent: usize,
            on_its_way: usize,
        ) -> usize {
            self.now += Duration::from_millis(40);
            let age = Duration::from_millis(age);
            let window = Window { bytes: room << 10, age, round_trip: Duration::ZERO };
            self.unread.look(self.now, window, is_slow, unsent, || on_its_way << 10) >> 10
        }
    }

    #[test]
    fn missing_room_is_unread() {
        let mut client = Client::new();
        let mut missing = |room| client.look(room, 40, false, 0, 2);
        assert_eq!([missing(196), missing(64)], [0, 0], "more than that may never come again");
        assert_eq!(missing(50), 14 + 2);
        assert_eq!(missing(1), 64, "what is on its way has no more than this room");
        assert_eq!(missing(70), 0);
    }

    #[test]
    fn a_small_buffer_tells_nothing() {
        let mut unread = Unread::new(Instant::now());
        for bytes in [64 << 10, 100 << 10, 20 << 10, 0] {
            let window = Window { bytes, age: Duration::ZERO, round_trip: Duration::ZERO };
            assert_eq!(unread.look(Instant::now(), window, true, 0, || 1000), 0);
        }
    }

    /// As a kernel does that finds small messages to take much memory.
    #[test]
    fn room_that_does_not_come_again_is_missed_for_half_a_second() {
        let mut client = Client::new();
        assert_eq!(client.look(20, 5, true, 0, 0), 44);
        let missing: Vec<usize> = (0..20).map(|_| client.look(20, 5, false, 0, 0)).collect();
        assert_eq!(missing[..11], [44; 11]);
        assert_eq!(missing[13..], [0; 7]);
        assert_eq!(client.look(12, 5, false, 0, 0), 8, "from now on, this much is missing");
    }

    #[test]
    fn room_that_grows_again_and_again_stays_missed() {
        let mut client = Client::new();
        for round in 0..20 {
            let room = [40, 35, 30, 25][round % 4];
            assert_eq!(client.look(room, 5, true, 0, 0), 64 - room);
        }
    }

    #[test]
    fn what_is_on_its_way_counts_for_a_slow_client() {
        let mut client = Client::new();
        assert_eq!(client.look(70, 0, false, 0, 30), 0);
        assert_eq!(client.look(70, 0, true, 0, 30), 24);
    }

    #[test]
    fn old_news_count_while_something_is_unsent() {
        let mut client = Client::new();
        for (age, unsent, missing) in [(250, 0, 60), (251, 0, 0), (9000, 1, 60)] {
            assert_eq!(client.look(4, age, true, unsent, 0), missing, "{age} ms, {unsent} unsent");
        }
    }
}
