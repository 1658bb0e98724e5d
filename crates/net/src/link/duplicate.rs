//! Packets that arrive twice.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::random::{stream, unit};

/// Chooses the packets of a link that arrive twice.
#[derive(Clone, Debug)]
pub(crate) struct Duplicates {
    share: f64,
    random: Xoshiro256PlusPlus,
}

impl Duplicates {
    /// Each packet of link number `index` with this probability, in a run with this seed; `None`
    /// without any.
    pub(super) fn new(share: f64, index: u64, seed: u64) -> Option<Duplicates> {
        (share > 0.0).then(|| Duplicates { share, random: stream(seed, "duplicates", index) })
    }

    /// Draws whether the next packet arrives twice.
    pub(crate) fn draw(&mut self) -> bool {
        unit(self.random.next_u64()) < self.share
    }
}
