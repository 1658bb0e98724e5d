//! The minimum of the RTT, and ProbeRTT, which lowers the outstanding data to measure it.

use ratewire_units::Time;

use super::{Bbr1Source, Mode};
use crate::bbr::delivery::RateSample;

/// State of ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// When ProbeRTT may end, once little enough is outstanding.
    done_at: Option<Time>,
    round_done: bool,
}

impl Bbr1Source {
    pub(super) fn update_min_rtt(&mut self, rs: &RateSample) {
        let is_old = rs.now > self.min_rtt_at + self.law.min_rtt_window;
        if is_old || self.min_rtt.is_none_or(|min_rtt| rs.rtt <= min_rtt) {
            self.min_rtt = Some(rs.rtt);
            self.min_rtt_at = rs.now;
        }
        if is_old && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt.done_at = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.hold_probe_rtt(rs);
        }
        if rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    fn hold_probe_rtt(&mut self, rs: &RateSample) {
        // Delivery in ProbeRTT does not measure the path.
        self.delivery.mark_app_limited(rs.in_flight as u64);
        if self.probe_rtt.done_at.is_some() {
            self.probe_rtt.round_done |= self.round.started;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(rs.now);
            }
        } else if rs.in_flight <= self.min_pipe() {
            self.probe_rtt.done_at = Some(rs.now + self.law.probe_rtt_duration);
            self.probe_rtt.round_done = false;
            self.round.restart(self.delivery.delivered);
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt.done_at.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.is_full {
            self.start_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
