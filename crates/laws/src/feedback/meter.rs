//! Arrivals at a port, counted by interval.

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::law::LinkContext;
use crate::options::Options;

/// Resolution of the load: one packet of this many bytes an interval. An idle link counts as
/// carrying it, which keeps the virtual loss finite and makes the slowest of idle links stand out.
const GRAIN: f64 = 1500.0;

/// Counts bytes, and ends its intervals.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    /// Capacity of the link, B/s.
    capacity: f64,
    capacity_is_set: bool,
    /// Share of the capacity to use.
    gamma: f64,
    arrived: f64,
    interval: Duration,
    began: Time,
    number: u16,
}

/// Load of one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Arrival rate `y`, B/s.
    pub(crate) rate: f64,
    /// Length of the interval, in seconds; never 0.
    pub(crate) secs: f64,
}

impl Meter {
    pub(crate) fn new(options: &Options, link: &LinkContext, gamma: f64) -> Meter {
        let set = options.rate("capacity");
        Meter {
            capacity: set.unwrap_or(link.rate).throughput().get(),
            capacity_is_set: set.is_some(),
            gamma,
            arrived: 0.0,
            interval: options.time("interval"),
            began: Time::ZERO,
            number: 0,
        }
    }

    /// Counts an arrived packet.
    #[inline]
    pub(crate) fn count(&mut self, size: Bytes) {
        self.arrived += size.as_f64();
    }

    /// `gamma C`, B/s.
    #[inline]
    pub(crate) fn target(&self) -> f64 {
        self.gamma * self.capacity
    }

    /// Number of intervals that have ended; 0 follows 65535.
    #[inline]
    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    /// End of the interval.
    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        self.began + self.interval
    }

    /// Ends the interval if it is due. Returns its load.
    pub(crate) fn end(&mut self, now: Time) -> Option<Load> {
        if now < self.next_timer() {
            return None;
        }
        let secs = now.since(self.began).secs();
        let rate = core::mem::take(&mut self.arrived) / secs;
        self.began = now;
        self.number = self.number.wrapping_add(1);
        Some(Load { rate, secs })
    }

    /// Virtual loss: the share of the load beyond `gamma C`, negative while there is spare
    /// capacity.
    pub(crate) fn virtual_loss(&self, load: Load) -> f64 {
        1.0 - self.target() / load.rate.max(GRAIN / load.secs)
    }

    /// Load of an idle link, before the first measurement.
    pub(crate) fn idle(&self) -> Load {
        Load { rate: 0.0, secs: self.interval.secs() }
    }

    /// See [`crate::Port::on_rate_change`].
    pub(crate) fn on_rate_change(&mut self, rate: Rate) {
        if !self.capacity_is_set {
            self.capacity = rate.throughput().get();
        }
    }
}
