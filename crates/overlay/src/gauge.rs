//! Number of waiting messages, and its mean over time.

use ratewire_units::{Duration, Time};

use crate::price::Occupancy;

/// A number of waiting messages over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    /// Sum of waiting messages times picoseconds, up to `until`.
    area: u128,
    until: Time,
    waiting: u64,
}

/// The mean of a gauge over the last interval between two cost updates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mean {
    /// Area and time at the last cost update.
    closed: (u128, Time),
    mean: Occupancy,
}

impl Gauge {
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Sum of waiting messages times picoseconds, for means over any time.
    pub fn area(&self, now: Time) -> u128 {
        self.area + u128::from(self.waiting) * u128::from(now.since(self.until).ps())
    }

    pub fn set_back(&mut self, by: Duration) {
        self.until = self.until - by;
    }

    pub fn set(&mut self, now: Time, waiting: u64) {
        self.area = self.area(now);
        self.until = self.until.max(now);
        self.waiting = waiting;
    }
}

impl Mean {
    pub fn get(&self) -> Occupancy {
        self.mean
    }

    pub fn set_back(&mut self, by: Duration) {
        self.closed.1 = self.closed.1 - by;
    }

    /// Ends an interval, as a cost update is due, and starts the next mean.
    pub fn close_interval(&mut self, now: Time, gauge: &mut Gauge) -> Occupancy {
        // The area must not begin long ago: a clock that is set back has no time before zero.
        gauge.set(now, gauge.waiting());
        let area = gauge.area(now);
        let (before, since) = core::mem::replace(&mut self.closed, (area, now));
        let length = now.since(since).ps();
        if length > 0 {
            self.mean = Occupancy::new((area - before) as f64 / length as f64);
        }
        self.mean
    }
}

/// How fast a queue drains. A fast one may be longer at the same price: what matters is how long
/// messages wait, beside the time between looks at the queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drain {
    /// Messages that have left.
    left: u64,
    /// Messages that had left, and time, at the last look.
    closed: (u64, Time),
    /// Messages that leave between two looks.
    speed: f64,
}

impl Drain {
    /// Looks' worth of messages that a queue may hold at its soft limit: ten milliseconds of a
    /// program, which may wait that long for a processor.
    const LOOKS: f64 = 5.0;

    pub fn note(&mut self, left: u64) {
        self.left += left;
    }

    pub fn set_back(&mut self, by: Duration) {
        self.closed.1 = self.closed.1 - by;
    }

    /// Notes the speed; `apart` is the shortest time between two looks.
    pub fn close_interval(&mut self, now: Time, apart: Duration) {
        let (before, since) = core::mem::replace(&mut self.closed, (self.left, now));
        let length = now.since(since).ps();
        if length > 0 {
            self.speed = (self.left - before) as f64 * apart.ps() as f64 / length as f64;
        }
    }

    /// A queue's mean, as if its soft limit were this one and not that of its speed.
    pub fn relative(&self, mean: Occupancy, soft_limit: Occupancy) -> Occupancy {
        let limit = soft_limit.get().max(Self::LOOKS * self.speed);
        Occupancy::new(mean.get() * soft_limit.get() / limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_queue_may_be_longer_at_the_same_price() {
        let (mut drain, limit) = (Drain::default(), Occupancy::new(100.0));
        let look = Duration::from_millis(2);
        let mut at = |ms: u64, left: u64| {
            drain.note(left);
            drain.close_interval(Time::from_millis(ms), look);
            drain.relative(Occupancy::new(80.0), limit).get()
        };
        assert_eq!(at(2, 20), 80.0, "five looks' worth is the soft limit");
        assert_eq!(at(4, 200), 8.0);
        assert_eq!(at(104, 500), 80.0, "ten in a look");
    }
}
