//! Acknowledgements that arrive in bursts (draft -06, 5.5.9).

use ratewire_units::Time;

/// Counts what is acknowledged beyond what the bandwidth would have delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    since: Time,
    delivered: f64,
}

impl Aggregation {
    /// Starts the count anew.
    pub(super) fn restart(&mut self, now: Time) {
        *self = Aggregation { since: now, delivered: 0.0 };
    }

    /// Counts newly acknowledged bytes. Returns how much more than expected has been acknowledged
    /// since acknowledgements were last no faster than `bw`.
    pub(super) fn extra(&mut self, now: Time, newly_acked: f64, bw: f64) -> f64 {
        let mut expected = bw * now.since(self.since).secs();
        if self.delivered <= expected {
            self.restart(now);
            expected = 0.0;
        }
        self.delivered += newly_acked;
        self.delivered - expected
    }
}
