//! The maximum of the bandwidth.

/// The highest delivery rate of this ProbeBW cycle and the one before (5.5.3 to 5.5.6).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBw {
    before: f64,
    now: f64,
}

impl MaxBw {
    pub(super) fn get(&self) -> f64 {
        self.before.max(self.now)
    }
    pub(super) fn update(&mut self, rate: f64) {
        self.now = self.now.max(rate);
    }
    /// Ends a cycle. A cycle without a sample is ignored.
    pub(super) fn advance(&mut self) {
        if self.now > 0.0 {
            *self = MaxBw { before: self.now, now: 0.0 };
        }
    }
}
