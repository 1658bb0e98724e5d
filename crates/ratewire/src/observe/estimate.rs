//! Estimates the memory that a run will need.
//!
//! Memory fills with traffic that the network cannot carry: packets of senders that do not slow
//! down, and flows that arrive faster than they complete. The estimate counts these, and leaves out
//! what laws and queues keep small.

use ratewire_laws::{Draw, FlowContext};
use ratewire_net::pathfinder::Pathfinder;
use ratewire_net::spec::{Limit, LinkId, NodeId};
use ratewire_sim::setup::{Arrivals, FlowSpec, Setup, Sizes, TrafficSpec};
use ratewire_units::{Bytes, Duration, Time};

/// Bytes of memory for each packet in a queue or on a link, with the sender's state (measured: 230
/// to 250).
const PER_PACKET: f64 = 250.0;
/// Bytes of memory for each unfinished flow (measured: 1,900).
const PER_FLOW: f64 = 2000.0;

/// Estimates the memory that a run needs, within a factor of two if it is large.
pub fn memory(setup: &Setup) -> Bytes {
    // A setup with an invalid path cannot run, and the engine reports why.
    let Ok(mut pathfinder) = setup.pathfinder() else {
        return Bytes::ZERO;
    };
    let flows = setup.flows.iter().enumerate();
    let packets: f64 = flows
        .filter(|(_, flow)| !setup.laws[flow.law].properties().reacts)
        .filter_map(|(id, flow)| {
            let path = pathfinder.path(flow.from, flow.to, id as u64)?;
            Some(waiting(setup, flow, &path))
        })
        .sum();
    let flows = setup.flows.len() as f64 + unfinished(setup, &mut pathfinder);
    Bytes::new((packets * PER_PACKET + flows * PER_FLOW) as u64)
}

/// Packets of a flow that wait at the end of the run, because its path is slower than its sender.
fn waiting(setup: &Setup, flow: &FlowSpec, path: &[LinkId]) -> f64 {
    let links = || path.iter().map(|id| &setup.network.links[id.index()]);
    let Some(line_rate) = links().next().map(|link| link.service.mean_rate()) else { return 0.0 };
    let config = &flow.transport;
    let law = &setup.laws[flow.law];
    let source = law.source(&FlowContext {
        mss: config.packet.saturating_sub(config.headers + law.header_len()),
        packet: config.packet,
        line_rate,
        back_pressured: false,
        draw: Draw::new(0),
    });
    let Some(pace) = source.pacing() else { return 0.0 };
    let (mut speed, mut room) = (pace.bps(), 0.0);
    for link in links() {
        let rate = link.service.mean_rate().bps() as f64;
        if rate < speed {
            speed = rate;
            room += match link.limit {
                Limit::Unlimited => f64::INFINITY,
                Limit::Bytes(bytes) => bytes.as_f64(),
                Limit::Packets(packets) => f64::from(packets) * config.packet.as_f64(),
            };
        }
    }
    let too_much = (pace.bps() - speed) / 8.0
        * overlap(flow.start, flow.stop.unwrap_or(Time::NEVER), whole(setup)).secs();
    let window = source.window().min(config.receive_window.buffer()).as_f64();
    too_much.min(room).min(window) / config.packet.as_f64().max(1.0)
}

/// Arriving flows that will be unfinished: the share of offered bits above the capacity of a link
/// on their path.
fn unfinished(setup: &Setup, pathfinder: &mut Pathfinder) -> f64 {
    let mut offered = vec![0.0; setup.network.links.len()];
    let mut ways = Vec::new();
    for class in &setup.traffic {
        for (from, to, flows) in arriving(class, whole(setup)) {
            let path = pathfinder.path(from, to, 0).unwrap_or_default();
            let bits = flows * mean_size(class) * 8.0;
            path.iter().for_each(|link| offered[link.index()] += bits);
            ways.push((path, flows));
        }
    }
    let time = setup.duration.secs();
    let too_much = |link: &LinkId| {
        let rate = setup.network.links[link.index()].service.mean_rate().bps() as f64;
        1.0 - (rate * time / offered[link.index()]).min(1.0)
    };
    ways.iter().map(|(path, flows)| flows * path.iter().map(too_much).fold(0.0, f64::max)).sum()
}

/// Expected number of flows of a class between each pair of nodes that start within a part of the
/// run.
pub(super) fn arriving(class: &TrafficSpec, part: (Time, Time)) -> Vec<(NodeId, NodeId, f64)> {
    let time = overlap(class.start, class.stop, part).secs();
    let flows = match &class.arrivals {
        Arrivals::Poisson(per_second) => per_second * time * f64::from(class.fan_in),
        Arrivals::Periodic(every) => time / every.secs().max(1e-12) * f64::from(class.fan_in),
        Arrivals::Listed(list) => {
            let within = list.iter().filter(|flow| part.0 <= flow.start && flow.start < part.1);
            return within.map(|flow| (flow.from, flow.to, 1.0)).collect();
        }
    };
    let all: f64 = class.pairs.iter().map(|(_, _, weight)| weight).sum();
    class.pairs.iter().map(|(from, to, weight)| (*from, *to, flows * weight / all)).collect()
}

/// Mean size of a class's flows, bytes.
pub(super) fn mean_size(class: &TrafficSpec) -> f64 {
    match (&class.arrivals, &class.sizes) {
        (Arrivals::Listed(list), _) => {
            let total: f64 = list.iter().map(|flow| flow.size.as_f64()).sum();
            total / (list.len() as f64).max(1.0)
        }
        (_, Sizes::Fixed(size)) => size.as_f64(),
        (_, Sizes::Pareto { mean, .. } | Sizes::LogNormal { mean, .. }) => *mean,
        (_, Sizes::Empirical(cdf)) => cdf.mean(),
    }
}

/// The measured part of the run.
pub(super) fn measured(setup: &Setup) -> (Time, Time) {
    setup.measured.unwrap_or(whole(setup))
}

fn whole(setup: &Setup) -> (Time, Time) {
    (Time::ZERO, Time::ZERO + setup.duration)
}

/// Length of the time from `start` to `stop`, within a part of the run.
pub(super) fn overlap(start: Time, stop: Time, (from, to): (Time, Time)) -> Duration {
    stop.min(to).since(start.max(from))
}
