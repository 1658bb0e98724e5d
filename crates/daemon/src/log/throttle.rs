//! Bounds how much others can make a daemon log.

use std::cell::Cell;
use std::time::Duration;

/// Usual number of events that are logged in a second.
const USUAL: u32 = 10;

/// Seconds for one event of a [`Throttle::slow`].
const SLOW: u64 = 10;

/// Admits some events in each period, and counts the others. Events of one sort have a throttle of
/// their own, so that they cannot hide those of another.
#[derive(Debug)]
pub struct Throttle {
    most: u32,
    /// Seconds of a period.
    period: u64,
    now: Cell<u64>,
    admitted: Cell<u32>,
    left_out: Cell<u64>,
}

impl Default for Throttle {
    /// A throttle that admits ten events a second.
    fn default() -> Throttle {
        Throttle::new(USUAL)
    }
}

impl Throttle {
    /// A throttle that admits `most` events a second.
    pub fn new(most: u32) -> Throttle {
        Throttle::of(most, 1)
    }

    /// A throttle that admits one event in ten seconds: for what programs repeat again and again.
    pub fn slow() -> Throttle {
        Throttle::of(1, SLOW)
    }

    fn of(most: u32, period: u64) -> Throttle {
        Throttle {
            most,
            period,
            now: Cell::default(),
            admitted: Cell::default(),
            left_out: Cell::default(),
        }
    }

    /// Whether an event may be logged, this long after the start. If it may, the result is the
    /// number of events that were left out before it.
    pub fn admit(&self, uptime: Duration) -> Option<u64> {
        let now = uptime.as_secs() / self.period;
        if self.now.replace(now) != now {
            self.admitted.set(0);
        }
        if self.admitted.get() == self.most {
            self.left_out.set(self.left_out.get() + 1);
            return None;
        }
        self.admitted.set(self.admitted.get() + 1);
        Some(self.left_out.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_ten_events_a_second_and_a_count() {
        let throttle = Throttle::default();
        let at = Duration::from_millis;
        let admitted = |millis| (0..100).filter(|_| throttle.admit(at(millis)).is_some()).count();
        assert_eq!((admitted(0), admitted(500), admitted(999)), (10, 0, 0));
        assert_eq!(throttle.admit(at(1000)), Some(290));
        assert_eq!(throttle.admit(at(1000)), Some(0));
        let single = Throttle::new(1);
        assert_eq!([at(0), at(0), at(1000)].map(|at| single.admit(at)), [Some(0), None, Some(1)]);
        let slow = Throttle::slow();
        let admitted = [0, 9999, 10_000, 10_001].map(|millis| slow.admit(at(millis)));
        assert_eq!(admitted, [Some(0), None, Some(1), None]);
    }
}
