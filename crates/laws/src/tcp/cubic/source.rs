//! The sender's part. Numbers in comments are sections of RFC 9438.

use alloc::boxed::Box;

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::Cubic;
use crate::law::{Acked, Congestion, FlowContext, NoHeader, Sending, Signal, Source};
use crate::reason::Reason;
use crate::tcp::window::{Sizes, Window, ends_idling};

/// Packets below which a mark does not lower the window (4.6).
const MARK_FLOOR: f64 = 1.0;
/// How far ahead of the window the target may be (4.2).
const TARGET_LIMIT: f64 = 1.5;

/// CUBIC at one sender.
#[derive(Clone, Debug)]
pub struct CubicSource {
    pub(super) window: Window,
    /// `W_max` in packets; `None` before a loss or mark, and after a timeout.
    pub(super) w_max: Option<f64>,
    /// Window when `ssthresh` was last set, in packets; `None` until it is.
    cwnd_prior: Option<f64>,
    /// The stage of congestion avoidance, if in one.
    pub(super) stage: Option<Stage>,
    /// What a spurious congestion has to restore (4.9).
    before: Option<Box<Before>>,
    c: f64,
    beta: f64,
    fast_convergence: bool,
}

/// State before a congestion by loss or timeout.
#[derive(Clone, Debug)]
struct Before {
    sizes: Sizes,
    w_max: Option<f64>,
    cwnd_prior: Option<f64>,
    stage: Option<Stage>,
}

/// One stage of congestion avoidance: from the end of slow start or of a repair to the next loss.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) curve: Curve,
    /// The window that Reno would have, in packets (4.3).
    w_est: f64,
    /// Time for which the window has been the limit in this stage (5.8).
    pub(super) t: Duration,
    /// Time up to which `t` is counted.
    counted: Time,
}

/// `W(t) = C (t - K)^3 + W_max`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    c: f64,
    pub(super) k: f64,
    pub(super) w_max: f64,
}

impl Curve {
    /// The curve from `cwnd` packets back to `w_max`; from `cwnd` on if `w_max` is unknown or
    /// smaller.
    pub(super) fn new(c: f64, w_max: Option<f64>, cwnd: f64) -> Curve {
        match w_max.filter(|w| *w > cwnd) {
            Some(w_max) => Curve { c, k: libm::cbrt((w_max - cwnd) / c), w_max },
            None => Curve { c, k: 0.0, w_max: cwnd },
        }
    }

    /// The window after `t` seconds, in packets.
    #[inline]
    pub(super) fn at(&self, t: f64) -> f64 {
        let d = t - self.k;
        self.c * d * d * d + self.w_max
    }
}

/// Additive increase that gives Reno's throughput with CUBIC's decrease (4.3).
pub(super) fn alpha(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

impl CubicSource {
    pub(super) fn new(law: &Cubic, flow: &FlowContext) -> CubicSource {
        CubicSource {
            window: Window::new(&law.common, flow),
            w_max: None,
            cwnd_prior: None,
            stage: None,
            before: None,
            c: law.c,
            beta: law.beta,
            fast_convergence: law.fast_convergence,
        }
    }

    /// The window in packets.
    #[inline]
    pub(super) fn cwnd(&self) -> f64 {
        self.window.cwnd() / self.window.mss()
    }

    /// Grows the window by `packets` acknowledged in congestion avoidance (4.2 to 4.5).
    #[inline]
    fn avoid(&mut self, packets: f64, acked: &Acked) {
        let cwnd = self.cwnd();
        let w_max = self.w_max;
        let cwnd_prior = *self.cwnd_prior.get_or_insert(cwnd);
        let stage = self.stage.get_or_insert_with(|| Stage {
            curve: Curve::new(self.c, w_max, cwnd),
            w_est: cwnd,
            t: Duration::ZERO,
            counted: acked.now,
        });
        self.w_max = Some(stage.curve.w_max);
        stage.t += acked.now.since(stage.counted);
        stage.counted = acked.now;

        let alpha = if stage.w_est >= cwnd_prior { 1.0 } else { alpha(self.beta) };
        stage.w_est += alpha * packets / cwnd;
        let next = if stage.curve.at(stage.t.secs()) < stage.w_est {
            stage.w_est.max(cwnd)
        } else {
            let ahead = stage.curve.at((stage.t + acked.srtt).secs());
            let target = ahead.max(cwnd).min(TARGET_LIMIT * cwnd);
            cwnd + (target - cwnd) * packets / cwnd
        };
        self.window.add((next - cwnd) * self.window.mss());
    }
}

impl Source for CubicSource {
    type Header = NoHeader;

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<NoHeader> {
        if self.window.on_send(sending) {
            self.stage = None;
        }
        if let Some(stage) = &mut self.stage
            && ends_idling(sending)
        {
            stage.counted = sending.now;
        }
        None
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, _: Option<&NoHeader>) {
        let bytes = self.window.on_ack(acked);
        if bytes > 0.0 {
            // No more than a window can have been outstanding; more would overshoot the target.
            let packets = (bytes / self.window.mss()).min(self.cwnd());
            self.avoid(packets, acked);
        } else if let Some(stage) = &mut self.stage
            && acked.limited
        {
            stage.counted = acked.now;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let cwnd = self.cwnd();
        if self.window.begins_repair(congestion) {
            let (w_max, cwnd_prior, stage) = (self.w_max, self.cwnd_prior, self.stage.clone());
            let sizes = self.window.sizes();
            self.before = Some(Box::new(Before { sizes, w_max, cwnd_prior, stage }));
        }
        let is_new = self.window.on_congestion(congestion, self.beta, MARK_FLOOR);
        if is_new {
            self.cwnd_prior = Some(cwnd);
            self.w_max = match self.w_max {
                Some(w_max) if self.fast_convergence && cwnd < w_max => {
                    Some(cwnd * (1.0 + self.beta) / 2.0)
                }
                _ => Some(cwnd),
            };
            self.stage = None;
        }
        if congestion.signal == Signal::Timeout {
            self.w_max = None;
            self.stage = None;
        }
    }

    fn on_recovered(&mut self, _now: Time) {
        self.window.on_recovered();
    }

    fn on_spurious(&mut self, now: Time) {
        if let Some(before) = self.before.take() {
            self.window.on_spurious(before.sizes);
            (self.w_max, self.cwnd_prior) = (before.w_max, before.cwnd_prior);
            self.stage = before.stage;
            if let Some(stage) = &mut self.stage {
                stage.counted = now;
            }
        }
    }

    fn slow_start_threshold(&self) -> Option<Bytes> {
        Some(self.window.threshold())
    }

    #[inline]
    fn window(&self) -> Bytes {
        self.window.bytes()
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        self.window.pacing()
    }

    fn reason(&self) -> Reason {
        self.window.reason()
    }
}
