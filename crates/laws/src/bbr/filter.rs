//! Windowed maxima.

/// Rounds before this one that the filter holds: the length of the filter of bandwidth in version 1
/// and of aggregation in version 3 (ExtraAckedFilterLen).
const ROUNDS: u64 = 10;

/// Maximum over the last rounds: keeps one maximum for each round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundMax {
    highest: [f64; ROUNDS as usize + 1],
    round: u64,
}

impl RoundMax {
    /// Notes a value of this round.
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

    /// Maximum of the last ten rounds.
    pub(super) fn of_ten_rounds(&self) -> f64 {
        self.highest.iter().copied().fold(0.0, f64::max)
    }

    /// Maximum of the last round.
    pub(super) fn of_one_round(&self) -> f64 {
        let slots = self.highest.len() as u64;
        let at = |round: u64| self.highest[(round % slots) as usize];
        at(self.round).max(at(self.round + slots - 1))
    }
}
