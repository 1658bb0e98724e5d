//! The two windowed maxima of the path model.

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
    /// A cycle is over. One without a sample teaches nothing and is as if it had not been.
    pub(super) fn advance(&mut self) {
        if self.now > 0.0 {
            *self = MaxBw { before: self.now, now: 0.0 };
        }
    }
}

/// Rounds that steady state looks back (ExtraAckedFilterLen).
const ROUNDS: u64 = 10;

/// The highest of the last rounds: one maximum a round, this round's and those before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundMax {
    highest: [f64; ROUNDS as usize + 1],
    round: u64,
}

impl RoundMax {
    /// Takes note of a value of this round.
    pub(super) fn update(&mut self, round: u64, value: f64) {
        let slots = self.highest.len() as u64;
        let passed = round.saturating_sub(self.round).min(slots);
        for ago in 0..passed {
            self.highest[((round - ago) % slots) as usize] = 0.0;
        }
        self.round = round;
        let slot = &mut self.highest[(round % slots) as usize];
        *slot = slot.max(value);
    }

    /// The highest of the last ten rounds.
    pub(super) fn of_ten_rounds(&self) -> f64 {
        self.highest.iter().copied().fold(0.0, f64::max)
    }

    /// The highest of the last round.
    pub(super) fn of_one_round(&self) -> f64 {
        let slots = self.highest.len() as u64;
        let at = |round: u64| self.highest[(round % slots) as usize];
        at(self.round).max(at(self.round + slots - 1))
    }
}
