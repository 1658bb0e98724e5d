//! Random delays of packets on a link.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::Duration;

use super::Link;
use crate::random::{normal, stream, unit};
use crate::spec::LinkJitter;

/// The jitter of a link. Packets keep their order: one that would overtake others arrives with the
/// last of them.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    spec: LinkJitter,
    random: Xoshiro256PlusPlus,
    /// Additional delay of the packet that was sent last.
    last: Duration,
}

impl Jitter {
    /// The jitter of link number `index`, in a run with this seed.
    pub(super) fn new(spec: LinkJitter, index: u64, seed: u64) -> Jitter {
        Jitter { spec, random: stream(seed, "link jitter", index), last: Duration::ZERO }
    }

    fn draw(&mut self) -> Duration {
        self.last = match self.spec {
            LinkJitter::Uniform(most) => most.scale(unit(self.random.next_u64())),
            LinkJitter::Normal { mean, deviation } => {
                let delay = mean.secs() + deviation.secs() * normal(&mut self.random);
                Duration::from_secs_f64(delay.max(0.0))
            }
        };
        self.last
    }
}

impl Link {
    /// Draws the additional delay of a packet that is sent now.
    pub(crate) fn draw_jitter(&mut self) -> Duration {
        let jitter = self.extra.as_mut().and_then(|extra| extra.jitter.as_mut());
        jitter.map_or(Duration::ZERO, Jitter::draw)
    }

    /// Additional delay of the packet that was sent last.
    pub(crate) fn last_jitter(&self) -> Duration {
        let jitter = self.extra.as_ref().and_then(|extra| extra.jitter.as_ref());
        jitter.map_or(Duration::ZERO, |jitter| jitter.last)
    }
}
