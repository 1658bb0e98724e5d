//! Admission control of circuits by opportunity cost (section 4.1, Theorem 1), beside the best that
//! a planner can do who knows all requests.
//!
//! A request is for a share of each link of a path, for ever. A unit of a link with the utilisation
//! u costs `gamma^u`. A request is accepted if its benefit is at least the cost of its path and
//! there is room. The benefit of a unit is from 1 for each link of the path up to gamma.
//!
//! The planner is bounded by a linear programme, which may accept requests in part.
//!
//! As the theorem's source needs (Awerbuch, Azar, Plotkin, 1993), no request is for more than
//! `1 / log2 gamma` of a link. The bound that tests hold follows:
//! - Acceptance raises the cost of all links by at most `log2 gamma` times the benefit gained,
//!   since `2^x - 1 <= x` for x from 0 to 1. At the start each link costs 1.
//! - A unit that the planner has beyond the accepted ones is worth at most twice the final cost of
//!   its path: it was too dear, or a link without room for it cost more than `gamma / 2`.
//! - The planner has at most one unit of each link, so that
//!   `planner <= (1 + 2 log2 gamma) accepted + 2 links`.

use std::ops::Range;

use proptest::prelude::*;
use ratewire_overlay::optimum::{self, Commodity};
use ratewire_units::Throughput;

/// Links of the chain that circuits cross.
const LINKS: usize = 5;

/// Ratios of greatest to least benefit.
const GAMMAS: [f64; 10] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// A request for a circuit.
#[derive(Clone, Debug)]
struct Request {
    path: Range<usize>,
    /// Share of each link, at most `1 / log2 gamma`.
    share: f64,
    /// Benefit of a unit, from the number of links up to gamma.
    benefit: f64,
}

impl Request {
    /// A request whose three numbers, from 0 to 1, are where it lies in the allowed ranges.
    fn at(gamma: f64, ends: [usize; 2], share: f64, benefit: f64) -> Request {
        let start = ends[0].min(ends[1]);
        let hops = (ends[0].abs_diff(ends[1]) + 1).min(gamma as usize);
        let least = hops as f64;
        Request {
            path: start..start + hops,
            share: (0.2 + 0.8 * share) / libm::log2(gamma),
            benefit: least * libm::pow(gamma / least, benefit),
        }
    }
}

/// Benefit of the requests that are accepted in this order, if a unit of a link costs `price`.
fn accepted(requests: &[Request], price: impl Fn(f64) -> f64) -> f64 {
    let mut used = [0.0; LINKS];
    let mut benefit = 0.0;
    for request in requests {
        let path = &mut used[request.path.clone()];
        let cost: f64 = path.iter().map(|used| price(*used)).sum();
        let has_room = path.iter().all(|used| *used + request.share <= 1.0 + 1e-9);
        // Prices of the adversary's requests equal their benefits but for rounding.
        if request.benefit >= cost * (1.0 - 1e-9) && has_room {
            path.iter_mut().for_each(|used| *used += request.share);
            benefit += request.benefit * request.share;
        }
    }
    benefit
}

/// Bound on the benefit of any choice among the requests.
fn planned(requests: &[Request]) -> f64 {
    let demand = |request: &Request| Commodity {
        uses: request.path.clone().map(|link| (link, 1.0)).collect(),
        benefit: request.benefit,
        most: Throughput::new(request.share),
    };
    let demands: Vec<Commodity> = requests.iter().map(demand).collect();
    let rates = optimum::best(&[Throughput::new(1.0); LINKS], &demands).unwrap();
    demands.iter().zip(rates).map(|(demand, rate)| demand.benefit * rate.get()).sum()
}

/// What the planner may have at most beside `accepted`.
fn bound(gamma: f64, accepted: f64) -> f64 {
    (1.0 + 2.0 * libm::log2(gamma)) * accepted + 2.0 * LINKS as f64
}

/// The adversary's order: requests for each link that fill it once with each benefit 1, 2, 4 and so
/// on up to `2^last`.
fn rising(gamma: f64, last: u32) -> Vec<Request> {
    let steps = libm::log2(gamma).round() as usize;
    let one = |benefit: u32, link: usize| Request {
        path: link..link + 1,
        share: 1.0 / steps as f64,
        benefit: f64::from(1u32 << benefit),
    };
    let of_benefit =
        |benefit| (0..steps).flat_map(move |_| (0..LINKS).map(move |link| one(benefit, link)));
    (0..=last).flat_map(of_benefit).collect()
}

/// The largest ratio of planner to accepted over all times at which the adversary may stop, and
/// whether the bound held at each.
fn adversary(gamma: f64, price: impl Fn(f64) -> f64) -> (f64, bool) {
    let stops = 0..=libm::log2(gamma).round() as u32;
    let outcome = |last| {
        let requests = rising(gamma, last);
        let (planned, accepted) = (planned(&requests), accepted(&requests, &price));
        (planned / accepted, planned <= bound(gamma, accepted))
    };
    stops
        .map(outcome)
        .fold((0.0, true), |(most, held), (ratio, holds)| (most.max(ratio), held && holds))
}

/// Requests in random order, from numbers of a fixed sequence (Knuth's MMIX generator).
fn random(gamma: f64, seed: u64) -> Vec<Request> {
    let mut state = seed;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut request = || {
        let ends = [draw(), draw()].map(|end| (end * LINKS as f64) as usize);
        Request::at(gamma, ends, draw(), draw())
    };
    (0..200).map(|_| request()).collect()
}

/// The adversary, and ten random orders. With --nocapture: the table of
/// `papers/cost-benefit-multicast/README.md`.
#[test]
fn opportunity_cost_stays_within_a_multiple_of_the_logarithm() {
    for gamma in GAMMAS {
        let price = |used: f64| libm::pow(gamma, used);
        let (worst, holds) = adversary(gamma, price);
        assert!(holds, "gamma {gamma}: {worst}");
        let ratios = (1..=10).map(|seed| {
            let requests = random(gamma, seed);
            let (planned, accepted) = (planned(&requests), accepted(&requests, price));
            assert!(accepted <= planned * (1.0 + 1e-9), "more than the linear programme's bound");
            assert!(planned <= bound(gamma, accepted), "gamma {gamma}, seed {seed}");
            planned / accepted
        });
        let ratios: Vec<f64> = ratios.collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let (greedy, linear) =
            (adversary(gamma, |_| 0.0).0, adversary(gamma, |used| 1.0 + (gamma - 1.0) * used).0);
        println!(
            "| {gamma} | {worst:.2} | {:.2} | {least:.2} to {most:.2} | {greedy:.0} | {linear:.1} |",
            worst / libm::log2(gamma)
        );
    }
}

/// Rules that the bound tells apart from the paper's.
#[test]
fn other_rules_break_the_bound() {
    let gamma = 1024.0;
    assert!(!adversary(gamma, |_| 0.0).1, "first come, first served");
    assert!(!adversary(gamma, |used| 1.0 + (gamma - 1.0) * used).1, "a linear cost");
    assert!(!adversary(gamma, |used| libm::pow(gamma, used * used * used * used)).1, "a late rise");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_breaks_the_bound(
        gamma in prop::sample::select(&GAMMAS[..]),
        drawn in prop::collection::vec(
            (prop::array::uniform2(0..LINKS), 0.0..=1.0f64, 0.0..=1.0f64), 1..100),
    ) {
        let at = |(ends, share, benefit)| Request::at(gamma, ends, share, benefit);
        let requests: Vec<Request> = drawn.into_iter().map(at).collect();
        let accepted = accepted(&requests, |used| libm::pow(gamma, used));
        prop_assert!(planned(&requests) <= bound(gamma, accepted));
    }
}
