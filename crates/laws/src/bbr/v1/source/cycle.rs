//! ProbeBW: the cycle of pacing gains.

use ratewire_units::Time;

use super::{Bbr1Source, Mode};
use crate::bbr::delivery::RateSample;

const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// Position of the flow in the cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    pub(super) phase: usize,
    since: Time,
}

impl Cycle {
    pub(super) fn gain(&self) -> f64 {
        GAINS[self.phase]
    }

    pub(super) fn is_probing(&self) -> bool {
        self.phase == 0
    }

    fn advance(&mut self, now: Time) {
        *self = Cycle { phase: (self.phase + 1) % GAINS.len(), since: now };
    }
}

impl Bbr1Source {
    /// Begins with a random phase that does not drain, because there may be nothing to drain.
    pub(super) fn start_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        let others = GAINS.len() as u64 - 1;
        self.cycle.phase = GAINS.len() - 1 - (self.random.next() % others) as usize;
        self.cycle.advance(now);
    }

    pub(super) fn update_phase(&mut self, rs: &RateSample, losses: f64) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(rs, losses) {
            self.cycle.advance(rs.now);
        }
    }

    fn is_phase_over(&self, rs: &RateSample, losses: f64) -> bool {
        let gain = self.pacing_gain();
        let is_long = rs.now.since(self.cycle.since).secs() > self.min_rtt.unwrap_or(f64::INFINITY);
        if gain > 1.0 {
            // The next quantum is on its way before this phase can end.
            let outstanding = rs.was_in_flight + self.send_quantum();
            is_long && (losses > 0.0 || outstanding >= self.inflight(gain))
        } else if gain < 1.0 {
            is_long || rs.was_in_flight <= self.inflight(1.0)
        } else {
            is_long
        }
    }
}
