//! Startup and Drain (5.3.1, 5.3.2).

use super::{Bbr3Source, State};
use crate::bbr::delivery::RateSample;

/// Ranges of packets lost in a round that end Startup: BBRStartupFullLossCnt (5.3.1.3).
const LOST_RANGES: u32 = 6;
/// Rounds after which Drain ends in any case (5.3.2).
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3Source {
    pub(super) fn check_startup_done(&mut self, rs: &RateSample) {
        if self.state != State::Startup {
            return;
        }
        self.check_startup_high_loss(rs);
        if self.full_pipe.reached {
            self.state = State::Drain;
            self.full_pipe.drain_start_round = self.round.count;
        }
    }

    /// CheckStartupHighLoss (5.3.1.3), at the end of a round in recovery.
    fn check_startup_high_loss(&mut self, rs: &RateSample) {
        let ranges = self.model.lost_ranges_of_round().unwrap_or(0);
        if self.in_recovery
            && ranges >= LOST_RANGES
            && self.is_inflight_too_high(rs.lost, rs.tx_in_flight)
        {
            self.undo_state = Some(State::Startup);
            self.full_pipe.reached = true;
            self.model.inflight_longterm = self.bdp().max(self.model.inflight_latest());
        }
    }

    pub(super) fn check_drain_done(&mut self, rs: &RateSample) {
        let drained = rs.in_flight <= self.inflight(self.model.bw());
        let overdue = self.round.count > self.full_pipe.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (drained || overdue) {
            self.start_down(rs.now);
        }
    }
}
