//! A stage of congestion avoidance, along a curve. Numbers in comments are sections of RFC 9438.

use ratewire_units::{Duration, Time};

/// One stage of congestion avoidance: from the end of slow start or of a repair to the next loss.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) curve: Curve,
    /// The window that Reno would have, in packets (4.3).
    pub(super) w_est: f64,
    /// Time for which the window has been the limit in this stage (5.8).
    pub(super) t: Duration,
    /// Time up to which `t` is counted.
    pub(super) counted: Time,
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
