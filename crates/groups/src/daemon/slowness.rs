//! Whether a client reads slowly.
//!
//! A client that reads fast is given all that its kernel takes. What a slow one has read shows only
//! as long as kernels hold little of what it was sent: a Unix socket keeps a write until all of it
//! is read, and a TCP client's kernel with a full buffer tells of room in large steps.

use std::time::Duration;

use tokio::time::Instant;

use super::unsent::Unsent;

/// Bytes and messages that kernels may hold for a slow client.
const ENOUGH: (usize, usize) = (16 << 10, 16);
/// A client that needs longer than this for as many is slow, if its answers do not take as long.
const LONG: Duration = Duration::from_millis(25);
/// Time for which it stays slow after that: kernels tell of large steps.
const STAYS: Duration = Duration::from_millis(100);

/// Whether a client reads slowly, by what leaves its queue.
#[derive(Debug)]
pub(super) struct Slowness {
    since: Instant,
    /// Bytes and messages that had left the queue by then.
    taken: (u64, u64),
    /// When the client is slow no more.
    until: Instant,
}

impl Slowness {
    pub(super) fn new(now: Instant) -> Slowness {
        Slowness { since: now, taken: (0, 0), until: now }
    }

    /// Looks at what waits in kernels; answers take a `round_trip`.
    pub(super) fn look(&mut self, now: Instant, unsent: &Unsent, round_trip: Duration) {
        let (taken, before) = (unsent.taken(), self.taken);
        let waits = unsent.seen().messages > 0;
        if waits && now.duration_since(self.since) < LONG.max(2 * round_trip) {
            return;
        }
        let is_little =
            taken.0 - before.0 < ENOUGH.0 as u64 && taken.1 - before.1 < ENOUGH.1 as u64;
        if waits && is_little {
            self.until = now + STAYS;
        }
        (self.since, self.taken) = (now, taken);
    }

    pub(super) fn is_slow(&self, now: Instant) -> bool {
        now < self.until
    }

    /// Whether kernels hold enough for a slow client.
    pub(super) fn is_enough(unsent: &Unsent) -> bool {
        let seen = unsent.seen();
        seen.bytes >= ENOUGH.0 || seen.messages >= ENOUGH.1
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::daemon::item::Item;

    /// A client that is sent messages of 100 bytes and reads so many in each 5 ms. Returns whether
    /// it is slow after each.
    fn slow(sent: usize, read: usize, times: usize) -> Vec<bool> {
        slow_after(Duration::ZERO, sent, read, times)
    }

    fn slow_after(round_trip: Duration, sent: usize, read: usize, times: usize) -> Vec<bool> {
        let (mut unsent, mut now) = (Unsent::default(), Instant::now());
        let item = Item {
            head: vec![0; 100].into(),
            data: Bytes::new(),
            counted: 1,
            is_notice: false,
            at: now,
        };
        let mut slowness = Slowness::new(now);
        unsent.put(&vec![item; sent], 100 * sent);
        (1..=times)
            .map(|time| {
                now += Duration::from_millis(5);
                unsent.look(100 * sent.saturating_sub(read * time));
                slowness.look(now, &unsent, round_trip);
                slowness.is_slow(now)
            })
            .collect()
    }

    #[test]
    fn who_reads_little_in_a_while_is_slow() {
        let is_slow = slow(100, 3, 5);
        assert_eq!(is_slow, [false, false, false, false, true]);
        assert!(slow(100, 4, 20).iter().all(|is_slow| !is_slow), "all is read while it is fast");
    }

    #[test]
    fn a_slow_one_stays_slow_for_a_while() {
        let is_slow = slow(20, 3, 40);
        assert!(is_slow[4..24].iter().all(|is_slow| *is_slow), "{is_slow:?}");
        assert!(is_slow[25..].iter().all(|is_slow| !is_slow), "{is_slow:?}");
    }

    #[test]
    fn a_long_path_is_not_slow() {
        let slow = |ms| slow_after(Duration::from_millis(ms), 500, 3, 40);
        assert!(slow(10).contains(&true));
        assert!(!slow(20).contains(&true), "24 messages in two round trips");
    }

    #[test]
    fn one_for_whom_nothing_waits_is_not_slow() {
        assert!(slow(3, 3, 20).iter().all(|is_slow| !is_slow));
    }

    #[test]
    fn enough_is_told_in_bytes_and_in_messages() {
        for (size, number, is_enough) in [(100, 15, false), (100, 16, true), (10_000, 2, true)] {
            let mut unsent = Unsent::default();
            let head = vec![0; size].into();
            let (data, at) = (Bytes::new(), Instant::now());
            let item = Item { head, data, counted: 1, is_notice: false, at };
            unsent.put(&vec![item; number], size * number);
            unsent.look(size * number);
            assert_eq!(Slowness::is_enough(&unsent), is_enough, "{number} of {size}");
        }
    }
}
