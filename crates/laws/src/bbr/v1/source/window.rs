//! The window, and what a repair of losses does to it.

use super::{Bbr1Source, LONGEST_AGGREGATION, Mode, Repair};
use crate::bbr::MAX_WINDOW;
use crate::bbr::delivery::RateSample;

impl Bbr1Source {
    /// Keeps the window, to restore it after a repair or ProbeRTT.
    pub(super) fn save_cwnd(&mut self) {
        let is_good = self.repair_before == Repair::None && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if is_good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    pub(super) fn set_cwnd(&mut self, rs: &RateSample, losses: f64) {
        let conserved = rs.in_flight + rs.newly_acked;
        let mut cwnd = (self.cwnd - losses).max(self.sizes.mss);
        let before = core::mem::replace(&mut self.repair_before, self.repair);
        if self.repair == Repair::Recovery && before != Repair::Recovery {
            self.conserves = true;
            self.round.restart(self.delivery.delivered);
            // What the window allowed and was not used is forgotten.
            cwnd = conserved;
        } else if self.repair == Repair::None && before != Repair::None {
            self.conserves = false;
            cwnd = cwnd.max(self.prior_cwnd);
        }
        let cwnd =
            if self.conserves { cwnd.max(conserved) } else { self.grown(cwnd, rs.newly_acked) };
        let most = if self.mode == Mode::ProbeRtt { self.min_pipe() } else { MAX_WINDOW };
        self.cwnd = cwnd.max(self.sizes.mss).min(most);
    }

    /// The window after so much has been acknowledged: it grows towards its target.
    fn grown(&self, cwnd: f64, newly_acked: f64) -> f64 {
        let target = self.target();
        let grown = if self.is_full {
            (cwnd + newly_acked).min(target)
        } else if cwnd < target || (self.delivery.delivered as f64) < self.sizes.initial_window {
            cwnd + newly_acked
        } else {
            cwnd
        };
        grown.max(self.min_pipe())
    }

    fn target(&self) -> f64 {
        let gain = match self.mode {
            Mode::Startup | Mode::Drain => self.law.high_gain,
            Mode::ProbeBw => self.law.cwnd_gain,
            Mode::ProbeRtt => 1.0,
        };
        let aggregated = self.excess.get().min(self.bw() * LONGEST_AGGREGATION);
        let extra = if self.is_full { aggregated } else { 0.0 };
        self.quantised(self.bdp(self.bw(), gain) + extra)
    }
}
