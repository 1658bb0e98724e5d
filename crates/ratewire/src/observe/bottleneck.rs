//! The links that are expected to limit flows, whatever law they run.
//!
//! Figures of queue and utilisation are about these where the scenario names no bottleneck, so that
//! the figures of all laws are about the same links.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_net::spec::{LinkId, LinkSpec};
use ratewire_sim::setup::Setup;
use ratewire_transport::Writer;
use ratewire_units::Time;

use super::estimate::{active, arriving, mean_size};

/// Part by which links may differ that count as alike.
const ALIKE: f64 = 0.01;

/// What is sent.
struct Sent {
    /// Paths of flows that take all the rate that they get.
    greedy: Vec<Vec<LinkId>>,
    /// By link: bits that others offer.
    offered: Vec<f64>,
}

/// The links where flows with unlimited data get the least each, besides what flows of a given size
/// offer there (the first links to fill, max-min); without such flows, those with the most on
/// offer for their rate. None if nothing is sent.
pub(super) fn expected(setup: &Setup) -> Vec<LinkId> {
    let Sent { greedy, offered } = sent(setup);
    let mut crossing = vec![0.0; offered.len()];
    greedy.iter().flatten().for_each(|link| crossing[link.index()] += 1.0);
    let seconds = setup.duration.secs();
    let score = |(link, spec): (usize, &LinkSpec)| {
        let rate = spec.lasting_rate().bps() as f64;
        let offered = offered[link] / seconds;
        match greedy.is_empty() {
            true => offered / rate.max(f64::MIN_POSITIVE),
            false => crossing[link] / (rate - offered).max(f64::MIN_POSITIVE),
        }
    };
    let scores: Vec<f64> = setup.network.links.iter().enumerate().map(score).collect();
    let most = scores.iter().copied().fold(0.0, f64::max);
    let is_tight = |link: LinkId| {
        let score = scores[link.index()];
        score > 0.0 && score >= (1.0 - ALIKE) * most
    };
    let behind = behind_others(&greedy, is_tight);
    let links = (0..scores.len()).map(|link| LinkId(link as u32));
    links.filter(|link| is_tight(*link) && !behind.contains(link)).collect()
}

/// Tight links whose flows all come through one other tight link, at which they wait.
fn behind_others(greedy: &[Vec<LinkId>], is_tight: impl Fn(LinkId) -> bool) -> BTreeSet<LinkId> {
    let mut before: BTreeMap<LinkId, BTreeSet<LinkId>> = BTreeMap::new();
    for path in greedy {
        let mut passed = BTreeSet::new();
        for link in path.iter().filter(|link| is_tight(**link)) {
            let known = before.entry(*link).or_insert_with(|| passed.clone());
            known.retain(|link| passed.contains(link));
            passed.insert(*link);
        }
    }
    before.into_iter().filter(|(_, before)| !before.is_empty()).map(|(link, _)| link).collect()
}

fn sent(setup: &Setup) -> Sent {
    let mut sent = Sent { greedy: Vec::new(), offered: vec![0.0; setup.network.links.len()] };
    // A setup with an invalid path cannot run, and the engine reports why.
    let Ok(mut pathfinder) = setup.pathfinder() else { return sent };
    let listed = setup.flows.iter().enumerate();
    for (id, flow) in listed.filter(|(_, flow)| flow.start < Time::ZERO + setup.duration) {
        let path = pathfinder.path(flow.from, flow.to, id as u64).unwrap_or_default();
        let bits = match flow.app.writer {
            Writer::Sized(size) => size.as_f64() * 8.0,
            Writer::Constant { rate } => {
                rate.bps() as f64 * active(setup, flow.start, flow.stop).secs()
            }
            Writer::Unlimited | Writer::OnOff { .. } | Writer::Fed => {
                sent.greedy.push(path);
                continue;
            }
        };
        path.iter().for_each(|link| sent.offered[link.index()] += bits);
    }
    for class in &setup.traffic {
        let bits = mean_size(class) * 8.0;
        let demands = arriving(setup, class).into_iter();
        let demands: Vec<_> = demands.map(|(from, to, flows)| (from, to, flows * bits)).collect();
        pathfinder.spread(&demands, &mut sent.offered);
    }
    sent
}
