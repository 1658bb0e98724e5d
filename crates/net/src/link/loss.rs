//! Random, regular and burst losses on links.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::random::unit;
use crate::spec::Loss;

#[derive(Debug)]
pub(crate) enum LossState {
    None,
    Random(f64),
    Every { period: u64, left: u64 },
    Burst { turn_bad: f64, turn_good: f64, loss_bad: f64, loss_good: f64, bad: bool },
}

impl LossState {
    pub(crate) fn new(loss: &Loss) -> LossState {
        match *loss {
            Loss::None => LossState::None,
            Loss::Random(p) => LossState::Random(p),
            Loss::Every(0) => LossState::None,
            Loss::Every(period) => LossState::Every { period, left: period },
            Loss::Burst { turn_bad, turn_good, loss_bad, loss_good } => {
                LossState::Burst { turn_bad, turn_good, loss_bad, loss_good, bad: false }
            }
        }
    }

    /// Draws whether the next packet is lost.
    pub(crate) fn draw(&mut self, random: &mut Xoshiro256PlusPlus) -> bool {
        match self {
            LossState::None => false,
            LossState::Random(p) => unit(random.next_u64()) < *p,
            LossState::Every { period, left } => {
                *left -= 1;
                let lost = *left == 0;
                if lost {
                    *left = *period;
                }
                lost
            }
            LossState::Burst { turn_bad, turn_good, loss_bad, loss_good, bad } => {
                let turn = if *bad { *turn_good } else { *turn_bad };
                if unit(random.next_u64()) < turn {
                    *bad = !*bad;
                }
                unit(random.next_u64()) < if *bad { *loss_bad } else { *loss_good }
            }
        }
    }
}
