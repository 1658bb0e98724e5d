//! Receive ratios: the part of the peer's traffic that goes to each member.

use ratewire_units::{Duration, Time};

/// Minimum number of frames per member that a histogram counts: with fewer, chance has too much
/// influence. Ours; the paper has "a simple histogram".
const FRAMES_PER_MEMBER: f64 = 8.0;

/// A histogram of the payload sent to each member, over the last round trip and the one before, or
/// over longer if few frames come. Before the first frame all members have equal parts.
#[derive(Clone, Debug)]
pub(crate) struct Ratios {
    now: Histogram,
    before: Histogram,
    until: Time,
}

#[derive(Clone, Debug)]
struct Histogram {
    bytes: Vec<f64>,
    total: f64,
    frames: f64,
}

impl Histogram {
    fn all(members: usize, bytes: f64) -> Histogram {
        Histogram { bytes: vec![bytes; members], total: bytes * members as f64, frames: 0.0 }
    }
}

impl Ratios {
    /// A histogram for this many members and frames of this many bytes.
    pub(crate) fn new(members: usize, frame: f64) -> Ratios {
        Ratios {
            now: Histogram::all(members, 0.0),
            before: Histogram::all(members, frame),
            until: Time::ZERO,
        }
    }

    /// Counts bytes to a member. Returns whether a histogram is full and a new one begins.
    pub(crate) fn add(&mut self, now: Time, round: Duration, member: usize, bytes: f64) -> bool {
        self.now.bytes[member] += bytes;
        self.now.total += bytes;
        self.now.frames += 1.0;
        let members = self.now.bytes.len();
        let is_full = self.now.frames >= FRAMES_PER_MEMBER * members as f64 && now >= self.until;
        if is_full {
            let empty = Histogram::all(members, 0.0);
            self.before = core::mem::replace(&mut self.now, empty);
            self.until = now + round;
        }
        is_full
    }

    /// A member's part; 0 if it gets no traffic.
    pub(crate) fn of(&self, member: usize) -> f64 {
        let bytes = self.now.bytes[member] + self.before.bytes[member];
        bytes / (self.now.total + self.before.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_follow_what_is_sent() {
        let round = Duration::from_millis(10);
        let mut ratios = Ratios::new(2, 1000.0);
        assert_eq!([ratios.of(0), ratios.of(1)], [0.5, 0.5]);
        let at = |i: u64| Time::ZERO + Duration::from_millis(i);
        for i in 0..64 {
            ratios.add(at(i), round, usize::from(i % 4 == 0), 1000.0);
        }
        assert_eq!([ratios.of(0), ratios.of(1)], [0.75, 0.25]);
        let full = (64..120).filter(|i| ratios.add(at(*i), round, 0, 1000.0)).count();
        assert_eq!(full, 3, "16 frames fill a histogram, in no less than a round trip");
        assert_eq!([ratios.of(0), ratios.of(1)], [1.0, 0.0]);
    }

    #[test]
    fn one_member_has_all_of_it_to_the_bit() {
        let mut ratios = Ratios::new(1, 999.0);
        for i in 0..50 {
            assert_eq!(ratios.of(0), 1.0);
            ratios.add(Time::ZERO, Duration::ZERO, 0, 1.1 * f64::from(i));
        }
    }
}
