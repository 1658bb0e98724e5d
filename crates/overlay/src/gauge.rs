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
    pub fn area(&mut self, now: Time) -> u128 {
        self.set(now, self.waiting);
        self.area
    }

    pub fn set_back(&mut self, by: Duration) {
        self.until = self.until - by;
    }

    pub fn set(&mut self, now: Time, waiting: u64) {
        self.area += u128::from(self.waiting) * u128::from(now.since(self.until).ps());
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
        let area = gauge.area(now);
        let (before, since) = core::mem::replace(&mut self.closed, (area, now));
        let length = now.since(since).ps();
        if length > 0 {
            self.mean = Occupancy::new((area - before) as f64 / length as f64);
        }
        self.mean
    }
}
