//! The links that are expected to limit flows, whatever law they run.
//!
//! Figures of queue and utilisation are about these where the scenario names no bottleneck, so that
//! the figures of all laws are about the same links.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_net::spec::{Change, LinkId, Service};
use ratewire_sim::setup::Setup;
use ratewire_units::Time;

use super::demand::{Demand, demand, on_wire};
use super::estimate::{arriving, mean_size, measured, overlap};

/// Part by which links may differ that count as alike.
const ALIKE: f64 = 0.01;

/// What is sent in the measured part of the run.
struct Sent {
    /// Paths of flows that take all the rate that they get, and for which share of the time.
    greedy: Vec<(Vec<LinkId>, f64)>,
    /// By link: rates that flows have at most, and for which share of the time.
    capped: Vec<Vec<(f64, f64)>>,
    /// By link: bits that others offer.
    offered: Vec<f64>,
}

/// The links where flows with unlimited data get the least each, besides what flows of a given size
/// offer there (the first links to fill, max-min); without such flows, those with the most on
/// offer for their rate. Flows count by the share of the measured time for which they run. None if
/// nothing is sent.
pub(super) fn expected(setup: &Setup) -> Vec<LinkId> {
    let (from, to) = measured(setup);
    let Sent { greedy, capped, offered } = sent(setup, (from, to));
    let mut crossing = vec![0.0; offered.len()];
    for (path, share) in &greedy {
        path.iter().for_each(|link| crossing[link.index()] += share);
    }
    let seconds = to.since(from).secs();
    let rates = rates(setup, (from, to));
    let score = |(link, rate): (usize, &f64)| {
        let offered = offered[link] / seconds;
        if greedy.is_empty() {
            let capped: f64 = capped[link].iter().map(|(most, share)| most * share).sum();
            return (offered + capped) / rate.max(f64::MIN_POSITIVE);
        }
        match crossing[link] {
            0.0 => 0.0,
            flows => 1.0 / level(rate - offered, flows, &capped[link]).max(f64::MIN_POSITIVE),
        }
    };
    let scores: Vec<f64> = rates.iter().enumerate().map(score).collect();
    let most = scores.iter().copied().fold(0.0, f64::max);
    let is_tight = |link: LinkId| {
        let score = scores[link.index()];
        score > 0.0 && score >= (1.0 - ALIKE) * most
    };
    let behind = behind_others(&greedy, is_tight);
    let links = (0..scores.len()).map(|link| LinkId(link as u32));
    links.filter(|link| is_tight(*link) && !behind.contains(link)).collect()
}

/// The mean rate of each link over a part of the run, in bits per second.
fn rates(setup: &Setup, (from, to): (Time, Time)) -> Vec<f64> {
    let links = setup.network.links.iter();
    let mut now: Vec<(f64, bool)> =
        links.map(|link| (link.lasting_rate().bps() as f64, true)).collect();
    let mut since = vec![from; now.len()];
    let mut bits = vec![0.0; now.len()];
    let sum = |(rate, is_up): (f64, bool), since: Time, until: Time| {
        if is_up { rate * until.since(since).secs() } else { 0.0 }
    };
    let mut changes: Vec<&(Time, LinkId, Change)> = setup.changes.iter().collect();
    changes.sort_by_key(|(at, ..)| *at);
    for (at, link, change) in changes.into_iter().take_while(|(at, ..)| *at < to) {
        let link = link.index();
        bits[link] += sum(now[link], since[link], *at);
        since[link] = since[link].max(*at);
        let spec = &setup.network.links[link];
        match (change, &spec.service) {
            (Change::Rate(rate), Service::Rate(_)) => {
                now[link].0 = spec.lasting(*rate).bps() as f64;
            }
            (Change::Up(up), _) => now[link].1 = *up,
            _ => {}
        }
    }
    let seconds = to.since(from).secs();
    (0..now.len()).map(|i| (bits[i] + sum(now[i], since[i], to)) / seconds).collect()
}

/// Tight links whose flows all come through one other tight link, at which they wait.
fn behind_others(
    greedy: &[(Vec<LinkId>, f64)],
    is_tight: impl Fn(LinkId) -> bool,
) -> BTreeSet<LinkId> {
    let mut before: BTreeMap<LinkId, BTreeSet<LinkId>> = BTreeMap::new();
    for (path, _) in greedy {
        let mut passed = BTreeSet::new();
        for link in path.iter().filter(|link| is_tight(**link)) {
            let known = before.entry(*link).or_insert_with(|| passed.clone());
            known.retain(|link| passed.contains(link));
            passed.insert(*link);
        }
    }
    before.into_iter().filter(|(_, before)| !before.is_empty()).map(|(link, _)| link).collect()
}

/// The rate of each of so many flows on a link that others use up to rates of their own.
fn level(rate: f64, flows: f64, capped: &[(f64, f64)]) -> f64 {
    let mut capped = capped.to_vec();
    capped.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = (rate, flows + capped.iter().map(|(_, share)| share).sum::<f64>());
    for (most, share) in capped {
        if left.0 <= most * left.1 {
            break;
        }
        left = (left.0 - most * share, left.1 - share);
    }
    left.0 / left.1
}

fn sent(setup: &Setup, (from, to): (Time, Time)) -> Sent {
    let links = setup.network.links.len();
    let mut sent =
        Sent { greedy: Vec::new(), capped: vec![Vec::new(); links], offered: vec![0.0; links] };
    // A setup with an invalid path cannot run, and the engine reports why.
    let Ok(mut pathfinder) = setup.pathfinder() else { return sent };
    let listed = setup.flows.iter().enumerate();
    let (seconds, end) = (to.since(from).secs(), Time::ZERO + setup.duration);
    for (id, flow) in listed {
        let runs = overlap(flow.start, flow.stop.unwrap_or(Time::NEVER), (from, to)).secs();
        if runs <= 0.0 {
            continue;
        }
        let path = pathfinder.path(flow.from, flow.to, id as u64).unwrap_or_default();
        match demand(setup, flow, &path, (from, to)) {
            Demand::All => sent.greedy.push((path, runs / seconds)),
            Demand::UpTo(most) => {
                let part = (most, runs / seconds);
                path.iter().for_each(|link| sent.capped[link.index()].push(part));
            }
            Demand::Amount(bits) => {
                let bits = bits * runs / end.since(flow.start).secs().max(runs);
                path.iter().for_each(|link| sent.offered[link.index()] += bits);
            }
        }
    }
    for class in &setup.traffic {
        let bits = on_wire(&class.transport, &setup.laws[class.law], mean_size(class), None);
        let demands = arriving(class, (from, to)).into_iter();
        let demands: Vec<_> = demands.map(|(from, to, flows)| (from, to, flows * bits)).collect();
        pathfinder.spread(&demands, &mut sent.offered);
    }
    sent
}
