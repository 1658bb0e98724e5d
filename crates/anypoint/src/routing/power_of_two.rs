//! The better of two random members, by load and latency.
//!
//! The rule is that of Prequal (Wydrowski and others, *Load is not what you should balance*, NSDI
//! 2024). A member is *hot* if its load is above a quantile of the recent loads of all members, and
//! *cold* otherwise. A cold member is better than a hot one, the cold member with the lower latency
//! is better than the other, and so is the hot member with the lower load.
//!
//! What differs from Prequal:
//!
//! - No probes. A switch sees each frame leave and each acknowledgement come, so it knows loads and
//!   latencies as of now. Prequal's clients ask servers, keep the answers in a pool, and age them.
//! - Load is the connection's own outstanding payload in bytes, not the number of requests at the
//!   server. What other connections send to a member shows only in its latency.
//! - Latency is the smoothed time to a frame's acknowledgement by the member's transport. Prequal's
//!   is the server's median time for a request at about the present load. A member whose latency is
//!   unknown counts as the fastest, so it is measured soon.
//! - Two random members are compared, as in Mitzenmacher's *The power of two choices* (2001).
//!   Prequal compares all probes in its pool, at most 16.
//! - The recent loads are those of the last 64 members that were drawn.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::Bytes;

use super::{Frame, Member, Routing};

/// Number of recent loads whose quantile is the limit of hot members.
const RECENT: usize = 64;

/// The better of two random members, by Prequal's rule: cold before hot, cold ones by latency, hot
/// ones by load.
#[derive(Clone, Debug)]
pub struct PowerOfTwo {
    random: Xoshiro256PlusPlus,
    quantile: f64,
    /// Loads of the members drawn last, as a ring.
    recent: [Bytes; RECENT],
    /// Number of loads that were noted.
    noted: usize,
}

impl PowerOfTwo {
    /// Prequal's baseline for the quantile, `2^-0.25`.
    pub const Q_RIF: f64 = 0.84;

    /// A module with Prequal's quantile. Modules with the same seed choose alike.
    pub fn new(seed: u64) -> PowerOfTwo {
        PowerOfTwo::with_quantile(seed, PowerOfTwo::Q_RIF)
    }

    /// A module with this quantile, from 0 to 1. Near 0 the load decides, at 1 only the latency.
    pub fn with_quantile(seed: u64, quantile: f64) -> PowerOfTwo {
        PowerOfTwo {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            quantile: quantile.clamp(0.0, 1.0),
            recent: [Bytes::ZERO; RECENT],
            noted: 0,
        }
    }

    /// A random number below `count`.
    fn below(&mut self, count: usize) -> usize {
        // The upper half of the product; its bias is below count / 2^64.
        ((u128::from(self.random.next_u64()) * count as u128) >> 64) as usize
    }

    /// Notes the load of a drawn member.
    fn note(&mut self, load: Bytes) {
        self.recent[self.noted % RECENT] = load;
        self.noted += 1;
    }

    /// Whether a load is above the quantile of the recent loads.
    fn is_hot(&self, load: Bytes) -> bool {
        let recent = &self.recent[..self.noted.min(RECENT)];
        let below = recent.iter().filter(|known| **known < load).count();
        // The quantile is the load at this index in order, so it is below if so many others are.
        let index = self.quantile * recent.len().saturating_sub(1) as f64;
        below > index as usize
    }
}

impl Routing for PowerOfTwo {
    fn route(&mut self, _: &Frame<'_>, members: &[Member]) -> Option<usize> {
        let up = || (0..members.len()).filter(|k| members[*k].is_up);
        let count = up().count();
        if count < 2 {
            return up().next();
        }
        let first = self.below(count);
        let other = self.below(count - 1);
        let second = if other < first { other } else { other + 1 };
        let (first, second) = (up().nth(first)?, up().nth(second)?);
        self.note(members[first].outstanding);
        self.note(members[second].outstanding);
        let rank = |k: &usize| {
            let Member { outstanding, latency, .. } = members[*k];
            match self.is_hot(outstanding) {
                true => (1, outstanding.get(), 0),
                false => (0, latency.ps(), outstanding.get()),
            }
        };
        [first, second].into_iter().min_by_key(rank)
    }
}

#[cfg(test)]
mod tests {
    use ratewire_units::Duration;

    use super::*;
    use crate::routing::testing::members;

    const FRAME: Frame<'_> = Frame { number: 0, content: b"" };

    fn member(outstanding: u64, millis: u64) -> Member {
        let outstanding = Bytes::new(outstanding);
        Member { is_up: true, outstanding, latency: Duration::from_millis(millis) }
    }

    /// How many of 1000 frames each of these members gets.
    fn counts(routing: &mut PowerOfTwo, members: &[Member]) -> Vec<usize> {
        let mut counts = vec![0; members.len()];
        for _ in 0..1000 {
            counts[routing.route(&FRAME, members).unwrap()] += 1;
        }
        counts
    }

    #[test]
    fn only_members_that_are_up_are_drawn_and_all_of_them() {
        let mut routing = PowerOfTwo::new(1);
        assert_eq!(routing.route(&FRAME, &members(&[false; 4])), None);
        assert_eq!(routing.route(&FRAME, &members(&[false, false, true])), Some(2));
        let counts = counts(&mut routing, &members(&[true, false, true, true]));
        assert_eq!(counts[1], 0);
        assert!([0, 2, 3].iter().all(|k| (280..390).contains(&counts[*k])), "{counts:?}");
    }

    #[test]
    fn the_seed_decides_alone() {
        let routes = |seed| {
            let mut routing = PowerOfTwo::new(seed);
            let up = members(&[true; 9]);
            (0..20).map(|_| routing.route(&FRAME, &up).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(routes(7), routes(7));
        assert_ne!(routes(7), routes(8));
    }

    #[test]
    fn a_hot_member_loses_to_a_cold_one_however_slow() {
        // Of these loads one in ten is high: the quantile is a low one.
        let mut some: Vec<Member> = (0..9).map(|_| member(1_000, 80)).collect();
        some.push(member(50_000, 1));
        let counts = counts(&mut PowerOfTwo::new(1), &some);
        assert!(counts[9] < 20, "{counts:?}");
    }

    #[test]
    fn among_cold_members_the_faster_wins_and_the_slowest_gets_nothing() {
        let some = [member(900, 3), member(1_000, 2), member(800, 9)];
        // At a quantile of 1 no member is hot.
        let counts = counts(&mut PowerOfTwo::with_quantile(1, 1.0), &some);
        assert_eq!(counts[2], 0);
        assert!(counts[1] > 600, "in two of three pairs: {counts:?}");
    }

    #[test]
    fn among_hot_members_the_less_loaded_wins() {
        // At a quantile of 0 all are hot but the least loaded.
        let some = [member(100, 9), member(200, 5), member(300, 1)];
        let counts = counts(&mut PowerOfTwo::with_quantile(1, 0.0), &some);
        // The very first draws may be of the loaded ones alone.
        assert!(counts[2] <= 1, "{counts:?}");
        assert!(counts[0] > 600 && counts[1] > 250, "{counts:?}");
    }

    #[test]
    fn a_member_of_unknown_latency_is_tried() {
        let some = [member(0, 1), member(0, 0)];
        assert_eq!(counts(&mut PowerOfTwo::new(1), &some)[1], 1000);
    }

    #[test]
    fn the_limit_is_the_quantile_of_the_last_loads() {
        let mut routing = PowerOfTwo::with_quantile(1, 0.5);
        assert!(!routing.is_hot(Bytes::new(1)), "nothing to compare with");
        (0..200).for_each(|load| routing.note(Bytes::new(load)));
        // The last 64 loads are 136 to 199: the median is 167.
        assert!(!routing.is_hot(Bytes::new(167)) && routing.is_hot(Bytes::new(168)));
    }
}
