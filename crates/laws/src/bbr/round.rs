//! Packet-timed round trips (draft -06, 5.5.1).

use super::delivery::RateSample;

/// Counts round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    pub(super) count: u64,
    /// Whether this acknowledgement begins a round.
    pub(super) started: bool,
    /// A packet that was sent after this much had been delivered ends the round.
    next_delivered: u64,
}

impl Round {
    /// Restarts the round with the packets sent from now on.
    pub(super) fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }

    pub(super) fn update(&mut self, rs: &RateSample, delivered: u64) {
        self.started = rs.prior_delivered >= self.next_delivered;
        if self.started {
            self.restart(delivered);
            self.count += 1;
        }
    }
}
