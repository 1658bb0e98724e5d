//! Keys of frames: a frame has the same key whenever it is sent.

use rand_core::Rng;
use ratewire_net::random::{stream, unit};

use crate::setup::Keys;

impl Keys {
    /// First bytes of the first frames that a peer sends through the switch of this number, as
    /// many as asked for.
    pub fn first_bytes(self, junction: u64, seed: u64, frames: u64) -> Vec<[u8; 8]> {
        let source = KeySource::new(self, junction, seed);
        (0..frames).map(|frame| source.content(frame)).collect()
    }
}

/// Draws keys.
#[derive(Clone, Debug)]
pub(super) struct KeySource {
    base: u64,
    keys: u64,
    /// Cumulative share of frames up to each key; empty if all keys are equally likely.
    shares: Vec<f64>,
}

impl KeySource {
    pub(super) fn new(keys: Keys, index: u64, seed: u64) -> KeySource {
        let base = stream(seed, "keys", index).next_u64();
        match keys {
            Keys::Uniform(keys) => KeySource { base, keys, shares: Vec::new() },
            Keys::Zipf { keys, exponent } => {
                let weight = |n: u64| libm::pow(n as f64, -exponent);
                let total: f64 = (1..=keys).map(weight).sum();
                let mut sum = 0.0;
                let share = |n| {
                    sum += weight(n) / total;
                    sum
                };
                KeySource { base, keys, shares: (1..=keys).map(share).collect() }
            }
        }
    }

    /// The first bytes of a frame.
    pub(super) fn content(&self, frame: u64) -> [u8; 8] {
        let drawn = unit(mix(self.base.wrapping_add(frame.wrapping_mul(GOLDEN))));
        let key = match self.shares.as_slice() {
            [] => (drawn * self.keys as f64) as u64,
            shares => shares.partition_point(|share| *share <= drawn) as u64,
        };
        key.min(self.keys - 1).to_be_bytes()
    }
}

/// 2^64 over the golden ratio, and the finaliser of SplitMix64: a generator with random access.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(keys: Keys) -> Vec<u64> {
        let source = KeySource::new(keys, 0, 7);
        let mut counts = vec![0; 4];
        for frame in 0..100_000 {
            let key = u64::from_be_bytes(source.content(frame));
            assert_eq!(source.content(frame), key.to_be_bytes());
            counts[key as usize] += 1;
        }
        counts
    }

    #[test]
    fn keys_are_as_likely_as_they_should_be() {
        for count in counts(Keys::Uniform(4)) {
            assert!((24_300..25_700).contains(&count), "{count}");
        }
        // 1, 1/2, 1/3 and 1/4 of 12/25.
        let wanted = [48_000, 24_000, 16_000, 12_000u64];
        for (count, wanted) in counts(Keys::Zipf { keys: 4, exponent: 1.0 }).iter().zip(wanted) {
            assert!(count.abs_diff(wanted) < 600, "{count} {wanted}");
        }
    }
}
