//! Startup and Drain (5.3.1, 5.3.2).

use super::delivery::RateSample;
use super::source::{BbrSource, State};

/// Rounds without growth that make a plateau (5.3.1.2).
const PLATEAU_ROUNDS: u32 = 3;
/// Minimum factor that counts as growth.
const GROWTH: f64 = 1.25;
/// Ranges of packets lost in a round that end Startup: BBRStartupFullLossCnt (5.3.1.3).
const LOST_RANGES: u32 = 6;
/// Rounds after which Drain ends in any case (5.3.2).
const DRAIN_ROUNDS: u64 = 3;

/// Detects the plateau of the delivery rate that shows a full path (5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// Whether the path was full at least once.
    pub(super) reached: bool,
    /// Whether the path has been full since the last reset.
    pub(super) now: bool,
    baseline: f64,
    rounds: u32,
    drain_start_round: u64,
}

impl FullPipe {
    /// Restarts the search, for a rate above `baseline`.
    pub(super) fn reset(&mut self, baseline: f64) {
        *self = FullPipe { now: false, baseline, rounds: 0, ..*self };
    }

    /// CheckFullBWReached.
    pub(super) fn check(&mut self, rs: &RateSample, round_started: bool) {
        if self.now || !round_started || rs.app_limited {
            return;
        }
        if rs.delivery_rate >= self.baseline * GROWTH {
            self.reset(rs.delivery_rate);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= PLATEAU_ROUNDS;
        self.reached |= self.now;
    }
}

impl BbrSource {
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

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
