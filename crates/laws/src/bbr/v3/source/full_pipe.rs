//! Whether the path is full (5.3.1.2).

use crate::bbr::delivery::RateSample;
use crate::bbr::plateau::Plateau;

/// Detects the plateau of the delivery rate that shows a full path (5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// Whether the path was full at least once.
    pub(super) reached: bool,
    /// Whether the path has been full since the last reset.
    pub(super) now: bool,
    plateau: Plateau,
    pub(super) drain_start_round: u64,
}

impl FullPipe {
    /// Restarts the search, for a rate above `baseline`.
    pub(super) fn reset(&mut self, baseline: f64) {
        *self = FullPipe { now: false, plateau: Plateau::above(baseline), ..*self };
    }

    /// CheckFullBWReached.
    pub(super) fn check(&mut self, rs: &RateSample, round_started: bool) {
        if self.now || !round_started || rs.app_limited {
            return;
        }
        self.now = self.plateau.is_reached(rs.delivery_rate);
        self.reached |= self.now;
    }
}
