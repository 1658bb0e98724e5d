//! Growth as in RFC 9438. Numbers in comments are its sections.

use ratewire_units::Duration;

use super::stage::{Stage, alpha};

/// Packets below which a mark does not lower the window (4.6).
pub(super) const MARK_FLOOR: f64 = 1.0;
/// How far ahead of the window the target may be (4.2).
const TARGET_LIMIT: f64 = 1.5;

/// What growth needs beside the stage.
#[derive(Clone, Debug, Default)]
pub(super) struct Rfc {
    /// Window when `ssthresh` was last set, in packets; `None` until it is.
    pub(super) cwnd_prior: Option<f64>,
}

impl Rfc {
    /// Packets by which a window of `cwnd` grows when `packets` are acknowledged (4.2 to 4.5).
    #[inline]
    pub(super) fn grow(
        &mut self,
        stage: &mut Stage,
        packets: f64,
        cwnd: f64,
        srtt: Duration,
        beta: f64,
    ) -> f64 {
        let cwnd_prior = *self.cwnd_prior.get_or_insert(cwnd);
        let alpha = if stage.w_est >= cwnd_prior { 1.0 } else { alpha(beta) };
        stage.w_est += alpha * packets / cwnd;
        if stage.curve.at(stage.t.secs()) < stage.w_est {
            return (stage.w_est - cwnd).max(0.0);
        }
        let target = stage.curve.at((stage.t + srtt).secs());
        (target.max(cwnd).min(TARGET_LIMIT * cwnd) - cwnd) * packets / cwnd
    }
}
