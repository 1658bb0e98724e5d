//! Bounds how much others can make a daemon log.

use std::cell::Cell;
use std::time::Duration;

/// Events that are logged in a second.
const MOST: u32 = 10;

/// Admits at most [`MOST`] events in each second, and counts the others.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    second: Cell<u64>,
    admitted: Cell<u32>,
    left_out: Cell<u64>,
}

impl Throttle {
    /// Whether an event may be logged, this long after the start. If it may, the result is the
    /// number of events that were left out before it.
    pub(super) fn admit(&self, uptime: Duration) -> Option<u64> {
        let second = uptime.as_secs();
        if self.second.replace(second) != second {
            self.admitted.set(0);
        }
        if self.admitted.get() == MOST {
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
    }
}
