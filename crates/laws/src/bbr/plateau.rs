//! The plateau of the delivery rate that shows a full path (draft -06, 5.3.1.2).

/// Rounds without growth that make a plateau.
const ROUNDS: u32 = 3;
/// Minimum factor that counts as growth.
const GROWTH: f64 = 1.25;

/// Looks for rounds in which the rate no longer grows by a quarter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plateau {
    baseline: f64,
    rounds: u32,
}

impl Plateau {
    /// A search for growth above `baseline`.
    pub(super) fn above(baseline: f64) -> Plateau {
        Plateau { baseline, rounds: 0 }
    }

    /// Takes the rate of a round, and returns whether the path is full.
    pub(super) fn is_reached(&mut self, rate: f64) -> bool {
        if rate >= self.baseline * GROWTH {
            *self = Plateau::above(rate);
        } else {
            self.rounds += 1;
        }
        self.rounds >= ROUNDS
    }
}
