//! Amounts that an application draws anew each time.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Duration};

/// How an amount is distributed around its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Always the mean.
    None,
    /// The exponential distribution.
    Exponential,
    /// The Pareto distribution with this tail index, above 1.
    Pareto(f64),
}

/// An amount with its distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Varying<T> {
    /// Mean of what is drawn.
    pub mean: T,
    /// Distribution around it.
    pub spread: Spread,
}

impl<T> From<T> for Varying<T> {
    /// An amount that is always the same.
    fn from(mean: T) -> Varying<T> {
        Varying { mean, spread: Spread::None }
    }
}

impl Spread {
    /// Inverts the distribution function at `unit`, a number in [0, 1), with portable functions
    /// only.
    pub fn at(self, mean: f64, unit: f64) -> f64 {
        match self {
            Spread::None => mean,
            Spread::Exponential => -libm::log(1.0 - unit) * mean,
            Spread::Pareto(shape) => {
                let scale = mean * (shape - 1.0) / shape;
                scale * libm::pow(1.0 - unit, -1.0 / shape)
            }
        }
    }
}

/// Seeds of an application's random streams: bursts and pauses do not shift each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// Seed of the sizes of bursts.
    pub bursts: u64,
    /// Seed of the lengths of pauses.
    pub pauses: u64,
}

/// The random streams of an application.
#[derive(Clone, Debug)]
pub struct Draws {
    bursts: Xoshiro256PlusPlus,
    pauses: Xoshiro256PlusPlus,
}

impl Draws {
    /// Streams with these seeds.
    pub fn new(seeds: Seeds) -> Draws {
        Draws {
            bursts: Xoshiro256PlusPlus::seed_from_u64(seeds.bursts),
            pauses: Xoshiro256PlusPlus::seed_from_u64(seeds.pauses),
        }
    }

    /// The next burst, at least one byte.
    pub fn burst(&mut self, burst: Varying<Bytes>) -> Bytes {
        let drawn = match burst.spread {
            Spread::None => burst.mean,
            spread => {
                let bytes = spread.at(burst.mean.as_f64(), unit(&mut self.bursts));
                Bytes::new((bytes + 0.5) as u64)
            }
        };
        drawn.max(Bytes::new(1))
    }

    /// The next pause.
    pub fn pause(&mut self, pause: Varying<Duration>) -> Duration {
        match pause.spread {
            Spread::None => pause.mean,
            spread => {
                let ps = spread.at(pause.mean.ps() as f64, unit(&mut self.pauses));
                Duration::from_ps((ps + 0.5) as u64)
            }
        }
    }
}

/// A number in [0, 1) of 53 random bits.
fn unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 100_000;

    /// Mean, and standard deviation over the mean.
    fn moments(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        (mean, libm::sqrt(square / values.len() as f64) / mean)
    }

    fn bursts(spread: Spread, seeds: Seeds) -> Vec<f64> {
        let mut draws = Draws::new(seeds);
        let burst = Varying { mean: Bytes::new(500_000), spread };
        (0..COUNT).map(|_| draws.burst(burst).as_f64()).collect()
    }

    fn pauses(spread: Spread, seeds: Seeds) -> Vec<f64> {
        let mut draws = Draws::new(seeds);
        let pause = Varying { mean: Duration::from_secs(1), spread };
        (0..COUNT).map(|_| draws.pause(pause).secs()).collect()
    }

    /// The coefficient of variation is 1 for the exponential distribution, and 1/sqrt(a (a - 2))
    /// for Pareto's with tail index a; equal amounts have 0. At a = 6 the fourth moment exists, so
    /// that the variation of a sample says something.
    #[test]
    fn means_and_variations_are_those_of_the_distributions() {
        let pareto = Spread::Pareto(6.0);
        for (spread, wanted) in [(Spread::Exponential, 1.0), (pareto, 1.0 / libm::sqrt(24.0))] {
            for seed in 1..4 {
                let seeds = Seeds { bursts: seed, pauses: seed };
                for (drawn, mean) in [(bursts(spread, seeds), 5e5), (pauses(spread, seeds), 1.0)] {
                    let (found, variation) = moments(&drawn);
                    assert!((found / mean - 1.0).abs() < 0.02, "{spread:?}: {found}");
                    assert!((variation / wanted - 1.0).abs() < 0.05, "{spread:?}: {variation}");
                }
            }
        }
        assert_eq!(moments(&bursts(Spread::None, Seeds::default())), (5e5, 0.0));
    }

    #[test]
    fn the_tail_of_pareto_is_heavier() {
        let beyond = |spread: Spread| {
            bursts(spread, Seeds::default()).iter().filter(|burst| **burst > 5e6).count()
        };
        // Ten means and more: exp(-10), and (10 a/(a - 1))^-a with a = 1.5.
        assert!(beyond(Spread::Exponential) < 20);
        assert!(
            (500..700).contains(&beyond(Spread::Pareto(1.5))),
            "{}",
            beyond(Spread::Pareto(1.5))
        );
    }

    #[test]
    fn streams_depend_on_their_own_seed_alone() {
        let of = |bursts: u64, pauses: u64| Seeds { bursts, pauses };
        let exponential = Spread::Exponential;
        assert_eq!(bursts(exponential, of(1, 2)), bursts(exponential, of(1, 3)));
        assert_ne!(bursts(exponential, of(1, 2)), bursts(exponential, of(2, 2)));
        assert_eq!(pauses(exponential, of(1, 2)), pauses(exponential, of(3, 2)));
        assert_ne!(pauses(exponential, of(1, 2)), pauses(exponential, of(1, 3)));
    }
}
