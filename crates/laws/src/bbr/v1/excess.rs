//! Maximum over the last rounds, in two windows.

/// Rounds of a window.
const ROUNDS: u32 = 5;

/// Maximum of the last five to ten rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Excess {
    now: f64,
    before: f64,
    rounds: u32,
}

impl Excess {
    pub(super) fn begin_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= ROUNDS {
            *self = Excess { now: 0.0, before: self.now, rounds: 0 };
        }
    }

    pub(super) fn note(&mut self, value: f64) {
        self.now = self.now.max(value);
    }

    pub(super) fn get(&self) -> f64 {
        self.now.max(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_is_held_for_five_to_ten_rounds() {
        let mut excess = Excess::default();
        excess.note(9.0);
        let rounds_held = |excess: &mut Excess| {
            let mut is_held = || {
                excess.begin_round();
                excess.get() > 0.0
            };
            (0..).take_while(|_| is_held()).count()
        };
        assert_eq!(rounds_held(&mut excess), 9);
        (0..4).for_each(|_| excess.begin_round());
        excess.note(9.0);
        assert_eq!(rounds_held(&mut excess), 5);
    }
}
