//! The minimum of the RTT, and ProbeRTT, which lowers the outstanding data to measure it (5.3.4,
//! 5.5.7).

use ratewire_units::Time;

use super::{Bbr3Source, State};
use crate::bbr::delivery::RateSample;

/// State of the minimum filter and of ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// Smallest RTT of the last interval, in seconds; `None` while unknown.
    min_delay: Option<f64>,
    min_at: Time,
    expired: bool,
    /// When ProbeRTT may end, once little enough is outstanding.
    done_at: Option<Time>,
    round_done: bool,
}

impl ProbeRtt {
    pub(super) fn first_rtt(&mut self, rtt: f64, now: Time) {
        self.min_delay = Some(rtt);
        self.min_at = now;
    }
}

impl Bbr3Source {
    /// UpdateMinRTT (5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, rs: &RateSample) {
        let probe = &mut self.probe_rtt;
        let interval_over = rs.now > probe.min_at + self.law.probe_rtt_interval;
        probe.expired = probe.min_delay.is_some() && interval_over;
        let lowest = match probe.min_delay {
            Some(lowest) if rs.rtt >= lowest && !probe.expired => lowest,
            _ => {
                probe.first_rtt(rs.rtt, rs.now);
                rs.rtt
            }
        };
        let window_over = rs.now > self.model.min_rtt_at() + self.law.min_rtt_window;
        if window_over || self.model.min_rtt().is_none_or(|min_rtt| lowest < min_rtt) {
            self.model.set_min_rtt(lowest, probe.min_at);
        }
    }

    /// CheckProbeRTT (5.3.4.3).
    pub(super) fn check_probe_rtt(&mut self, rs: &RateSample) {
        if self.state != State::ProbeRtt && self.probe_rtt.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt.done_at = None;
            self.cycle.stopping = true;
            self.round.restart(self.delivery.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(rs);
        }
        if rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, rs: &RateSample) {
        // Delivery in ProbeRTT does not measure the path.
        self.delivery.mark_app_limited(rs.in_flight as u64);
        if self.probe_rtt.done_at.is_some() {
            self.probe_rtt.round_done |= self.round.started;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(rs.now);
            }
        } else if rs.in_flight <= self.probe_rtt_cwnd() {
            self.probe_rtt.done_at = Some(rs.now + self.law.probe_rtt_duration);
            self.probe_rtt.round_done = false;
            self.round.restart(self.delivery.delivered);
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt.done_at.is_some_and(|done| now > done) {
            self.probe_rtt.min_at = now;
            self.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    /// ExitProbeRTT (5.3.4.4).
    fn exit_probe_rtt(&mut self, now: Time) {
        self.model.reset_short_term();
        if self.full_pipe.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
