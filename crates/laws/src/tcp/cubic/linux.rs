//! Growth as in Linux 6 (`net/ipv4/tcp_cubic.c`): whole packets, and a number of packets to
//! acknowledge for each.

use ratewire_units::{Duration, Time};

use super::stage::{Stage, alpha};

/// Packets below which neither a loss nor a mark lowers the window.
pub(super) const FLOOR: f64 = 2.0;
/// Longest time for which `need` holds while the window does not change.
const HOLD: Duration = Duration::from_micros(31_250);
/// `need` in windows where the curve is not above the window.
const AT_REST: f64 = 100.0;
/// Largest `need` before the first loss: 5 % an RTT.
const BEFORE_A_LOSS: f64 = 20.0;
/// Least `need`: the window grows by half an RTT at most.
const LEAST_NEED: f64 = 2.0;
/// Time after the begin of a stage in which samples of the RTT do not count.
const UNSETTLED: Duration = Duration::from_secs(1);

/// What growth needs beside the stage. Packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Linux {
    /// Packets to acknowledge for one more packet (`cnt`).
    need: f64,
    /// Packets acknowledged of these (`snd_cwnd_cnt`).
    credit: f64,
    /// Time up to which `need` holds.
    until: Time,
    /// Least RTT; zero before the first sample.
    least_rtt: Duration,
}

impl Linux {
    #[inline]
    pub(super) fn on_sample(&mut self, rtt: Duration, stage: Option<&Stage>) {
        let is_less = rtt < self.least_rtt || self.least_rtt.is_zero();
        if is_less && stage.is_none_or(|stage| stage.t >= UNSETTLED) {
            self.least_rtt = rtt;
        }
    }

    /// The window has been cut.
    pub(super) fn on_cut(&mut self) {
        self.credit = 0.0;
        self.until = Time::ZERO;
    }

    /// Packets by which a window of `cwnd` grows when `packets` are acknowledged. `has_lost` after
    /// a loss or mark, unless a timeout followed it.
    #[inline]
    pub(super) fn grow(
        &mut self,
        stage: &mut Stage,
        packets: f64,
        cwnd: f64,
        now: Time,
        has_lost: bool,
        beta: f64,
    ) -> f64 {
        stage.w_est += packets / libm::floor(cwnd / alpha(beta)).max(1.0);
        if now > self.until {
            self.until = now + HOLD.min(self.least_rtt);
            self.need = self.need(stage, cwnd, has_lost);
        }
        // Packets acknowledged while more were needed count as one at most.
        let mut grown = 0.0;
        if self.credit >= self.need {
            self.credit = 0.0;
            grown = 1.0;
        }
        self.credit += packets;
        if self.credit >= self.need {
            let more = libm::floor(self.credit / self.need);
            self.credit -= more * self.need;
            grown += more;
        }
        if grown > 0.0 {
            self.until = Time::ZERO;
        }
        grown
    }

    fn need(&self, stage: &Stage, cwnd: f64, has_lost: bool) -> f64 {
        let per_window = |more: f64| libm::floor(cwnd / more);
        let w_max = stage.curve.w_max;
        let target = w_max + libm::trunc(stage.curve.at((stage.t + self.least_rtt).secs()) - w_max);
        let mut need = if target > cwnd { per_window(target - cwnd) } else { AT_REST * cwnd };
        if !has_lost {
            need = need.min(BEFORE_A_LOSS);
        }
        let reno = libm::floor(stage.w_est);
        if reno > cwnd {
            need = need.min(per_window(reno - cwnd));
        }
        need.max(LEAST_NEED)
    }
}

/// What remains of a window of `cwnd` packets after a loss or mark: the share is counted in 1/1024,
/// the window in whole packets.
pub(super) fn kept(cwnd: f64, beta: f64) -> f64 {
    libm::floor(libm::floor(cwnd) * libm::ceil(beta * 1024.0) / 1024.0)
}
