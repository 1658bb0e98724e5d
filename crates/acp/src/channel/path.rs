//! The largest packet that the path carries (RFC 8899): packets of padding are sent, and those that
//! are answered fit.

use ratewire_units::{Duration, Time};

use crate::config::BASE_DATAGRAM;

/// UDP payloads to try: those of usual tunnels, Ethernet, and jumbo frames, then those that only
/// paths within a host carry.
const SIZES: [u64; 8] = [1280, 1352, 1400, 1452, 4000, 8900, 16_000, 32_000];
/// Attempts with each size.
const ATTEMPTS: u32 = 3;
/// Wait for an answer, at least.
const WAIT: Duration = Duration::from_millis(500);
/// Time after which a larger size is tried again (RFC 8899, 5.1.1).
const AGAIN: Duration = Duration::from_secs(600);
/// Timeouts in a row after which large packets seem to be dropped.
const BLACK_HOLE: u64 = 3;

/// Size of packets on a path.
#[derive(Clone, Debug)]
pub(super) struct PathSize {
    size: u64,
    largest: u64,
    probe: Option<Probe>,
    /// When to look for a larger size.
    next: Time,
    /// Timeouts of the transport when a packet last was known to arrive.
    timeouts: u64,
}

/// A size that is tried.
#[derive(Clone, Copy, Debug)]
struct Probe {
    size: u64,
    /// Packets sent.
    attempts: u32,
    is_due: bool,
    /// When the last one counts as lost.
    until: Time,
}

impl PathSize {
    pub(super) fn new(largest: u64) -> PathSize {
        let largest = largest.max(BASE_DATAGRAM);
        PathSize { size: BASE_DATAGRAM, largest, probe: None, next: Time::ZERO, timeouts: 0 }
    }

    /// Largest UDP payload.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Begins anew on another path.
    pub(super) fn restart(&mut self) {
        *self = PathSize { timeouts: self.timeouts, ..PathSize::new(self.largest) };
    }

    fn next_size(&self) -> Option<u64> {
        let sizes = SIZES.into_iter().filter(|size| *size < self.largest).chain([self.largest]);
        sizes.filter(|size| *size > self.size).min()
    }

    /// The probe to send now: its UDP payload, which is also the token of its ping. None is sent
    /// before a round trip is known.
    pub(super) fn poll_probe(&mut self, now: Time, srtt: Duration) -> Option<u64> {
        if self.probe.is_none() && now >= self.next && !srtt.is_zero() {
            let size = self.next_size()?;
            self.probe = Some(Probe { size, attempts: 0, is_due: true, until: Time::NEVER });
        }
        let probe = self.probe.as_mut().filter(|probe| probe.is_due)?;
        probe.attempts += 1;
        (probe.is_due, probe.until) = (false, now + (srtt * 3).max(WAIT));
        Some(probe.size)
    }

    /// Notes an answer. Returns whether it changes the size.
    pub(super) fn on_pong(&mut self, token: u64) -> bool {
        let probe = self.probe.take_if(|probe| probe.size == token);
        self.size = probe.map_or(self.size, |probe| probe.size);
        probe.is_some()
    }

    /// Notes that packets arrive; `timeouts` are the transport's so far.
    pub(super) fn on_arrival(&mut self, timeouts: u64) {
        self.timeouts = timeouts;
    }

    pub(super) fn deadline(&self) -> Time {
        match self.probe {
            Some(probe) => probe.until,
            None if self.next_size().is_some() && self.next > Time::ZERO => self.next,
            None => Time::NEVER,
        }
    }

    /// Does what is due; `timeouts` are the transport's so far. Returns whether the size has
    /// changed because large packets no longer arrive.
    pub(super) fn on_timer(&mut self, now: Time, timeouts: u64) -> bool {
        if let Some(probe) = self.probe.as_mut().filter(|probe| probe.until <= now) {
            (probe.is_due, probe.until) = (true, Time::NEVER);
            if probe.attempts == ATTEMPTS {
                (self.probe, self.next) = (None, now + AGAIN);
            }
        }
        if timeouts - self.timeouts < BLACK_HOLE || self.size == BASE_DATAGRAM {
            return false;
        }
        *self = PathSize { timeouts, next: now + AGAIN, ..PathSize::new(self.largest) };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(10);

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    #[test]
    fn the_largest_size_that_is_answered_is_found() {
        let mut path = PathSize::new(1452);
        assert_eq!(path.poll_probe(ms(0), Duration::ZERO), None);
        for size in [1280, 1352, 1400] {
            assert_eq!(path.poll_probe(ms(1), RTT), Some(size));
            assert_eq!(path.poll_probe(ms(1), RTT), None, "one at a time");
            assert!(!path.on_pong(1));
            assert!(path.on_pong(size) && path.size() == size);
        }
        for at in [10, 510, 1010] {
            assert_eq!(path.poll_probe(ms(at), RTT), Some(1452));
            assert_eq!(path.deadline(), ms(at + 500));
            assert!(!path.on_timer(ms(at + 500), 0));
        }
        assert_eq!((path.size(), path.poll_probe(ms(1600), RTT)), (1400, None));
        assert_eq!(path.deadline(), ms(1510) + AGAIN);
        assert_eq!(path.poll_probe(ms(1510) + AGAIN, RTT), Some(1452));
    }

    #[test]
    fn large_packets_that_vanish_are_given_up() {
        let mut path = PathSize::new(1300);
        for size in [1280, 1300] {
            assert_eq!(path.poll_probe(ms(1), RTT), Some(size));
            path.on_pong(size);
        }
        assert_eq!(path.deadline(), Time::NEVER, "there is no larger one");
        path.on_arrival(2);
        assert!(!path.on_timer(ms(50), 4));
        assert!(path.on_timer(ms(60), 5) && path.size() == 1200);
        assert!(!path.on_timer(ms(61), 9));
    }
}
