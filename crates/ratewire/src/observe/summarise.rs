//! Computes the figures of a run from the engine's counters.

use ratewire_net::DropReason;
use ratewire_report::{
    Conservation, DeadlockSummary, DelaySummary, DisturbancesSummary, EngineFigures, FlowSummary,
    LinkSummary, PausingSummary, RunInfo, Summary,
};
use ratewire_sim::outcome::{Disturbances, FlowOutcome, LinkOutcome, Outcome, Pausing};
use ratewire_sim::setup::{FlowSpec, Setup};
use ratewire_statistics::{jain_index, max_min};
use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::observer::Seen;
use super::overlay;

pub(crate) fn summarise(setup: &Setup, info: &RunInfo, outcome: &Outcome, seen: &Seen) -> Summary {
    let mut summary = Summary::of(info);
    let part = seen.window.as_ref().map(|window| window.outcome(outcome));
    let (flows, links) = match &part {
        Some((flows, links)) => (flows, links),
        None => (&outcome.flows, &outcome.links),
    };
    let life = |flow: &FlowOutcome| match &seen.window {
        Some(window) => window.life(flow, outcome.ended),
        None => {
            let started = flow.started.unwrap_or(outcome.ended);
            flow.completed.unwrap_or(outcome.ended).since(started)
        }
    };
    for (flow, (spec, end)) in summary.flows.iter_mut().zip(setup.flows.iter().zip(flows)) {
        fill_flow(flow, spec, end, life(end));
        if let Some(delays) = outcome.delays.of_flow(flow.flow as usize) {
            flow.rtt = DelaySummary::of(&delays.round_trip);
            flow.one_way = DelaySummary::of(&delays.one_way);
            flow.loss_share = delays.loss_share();
        }
    }
    let all = outcome.delays.total();
    let longest = match &seen.window {
        Some(_) => all.round_trip.max().map(|ns| ns / 1e9),
        None => outcome.flows.iter().filter_map(|f| f.max_rtt).max().map(Duration::secs),
    };
    summary.rtt_max_s = longest;
    summary.rtt = DelaySummary::of(&all.round_trip);
    summary.one_way = DelaySummary::of(&all.one_way);
    summary.loss_share = all.loss_share();
    // Data that a switch forwards are not counted twice.
    let last = summary.flows.iter().zip(&info.flows).filter(|(_, about)| !about.goes_on);
    let total: u64 = last.map(|(flow, _)| flow.delivered_bytes).sum();
    for flow in &mut summary.flows {
        flow.share = flow.delivered_bytes as f64 / total.max(1) as f64;
    }
    let whole = outcome.ended.since(Time::ZERO);
    let over = seen.window.as_ref().map_or(whole, |window| window.length(outcome.ended));
    for (i, (link, end)) in summary.links.iter_mut().zip(links).enumerate() {
        fill_link(link, end, over);
        let (packets, bytes) = &seen.queues[i];
        link.queue_packets_p99 = packets.quantile(0.99).unwrap_or(0.0);
        link.queue_bytes_p99 = bytes.quantile(0.99).unwrap_or(0.0);
    }
    let together = seen.together.iter().enumerate();
    let together: Vec<(usize, f64)> =
        together.filter_map(|(id, delivered)| Some((id, delivered.as_ref()?.as_f64()))).collect();
    let fair = fair_rates(setup, together.iter().map(|(id, _)| *id));
    let together: Vec<f64> =
        together.iter().zip(fair).map(|((_, delivered), fair)| delivered / fair).collect();
    // With one flow the index is always 1.
    summary.jain_index = jain_index(&together).filter(|_| together.len() > 1);
    summary.jain_over_time = seen.shared.jain_over_time();
    summary.settlings.clone_from(&seen.shared.settlings);
    for (class, seen) in summary.traffic.iter_mut().zip(&seen.arrived) {
        class.arrived_flows = seen.flows;
        class.arrived_bytes = seen.size.get();
        class.retransmitted_bytes = seen.retransmitted.get();
    }
    let arrived = seen.arrived.iter().map(|class| class.flows).sum();
    summary.arrived_flows = (!setup.traffic.is_empty()).then_some(arrived);
    let is_any = arrived > 0 || setup.flows.iter().any(|flow| flow.size().is_some());
    summary.unfinished_flows = is_any.then_some(seen.unfinished);
    summary.completions = seen.collected.completion_summary.clone();
    summary.overlay = match (&setup.overlay, &outcome.overlay) {
        (Some(spec), Some(end)) => Some(overlay::summary(setup, spec, end, &seen.prices)),
        _ => None,
    };
    summary.conservation = Conservation {
        sent_packets: outcome.packets.sent,
        duplicated_packets: outcome.packets.duplicated,
        delivered_packets: outcome.packets.delivered,
        dropped_packets: outcome.packets.dropped,
        in_flight_packets: outcome.packets.in_flight,
    };
    summary.deadlock = outcome.deadlock.as_ref().map(|found| DeadlockSummary {
        at_s: found.at.secs(),
        ring: found.ring.iter().map(|id| setup.network.links[id.index()].name.clone()).collect(),
    });
    summary.engine = EngineFigures {
        events: outcome.events,
        data_packets_delivered: outcome.data_packets_delivered,
    };
    Summary { figures: summary.asked(&info.figures), ..summary }
}

/// Max-min fair rates of flows that have the network for themselves. Where a link sends nothing,
/// only their weights are known.
fn fair_rates(setup: &Setup, flows: impl Iterator<Item = usize>) -> Vec<f64> {
    // A setup with an invalid path cannot run.
    let Ok(mut pathfinder) = setup.pathfinder() else { return Vec::new() };
    let way = |id: usize| {
        let flow = &setup.flows[id];
        let path = pathfinder.path(flow.from, flow.to, id as u64).unwrap_or_default();
        (path.iter().map(|link| link.index()).collect(), setup.weight(id))
    };
    let ways: Vec<(Vec<usize>, f64)> = flows.map(way).collect();
    let rates = setup.network.links.iter().map(|link| link.lasting_rate().bps() as f64);
    let fair = max_min(&rates.collect::<Vec<f64>>(), &ways);
    let known = |(fair, (_, weight)): (f64, (_, f64))| {
        if fair.is_finite() && fair > 0.0 { fair } else { weight }
    };
    fair.into_iter().zip(ways).map(known).collect()
}

fn fill_flow(flow: &mut FlowSummary, spec: &FlowSpec, end: &FlowOutcome, over: Duration) {
    let started = end.started.unwrap_or(spec.start);
    flow.start_s = started.secs();
    flow.size_bytes = spec.size().map(Bytes::get);
    flow.delivered_bytes = end.delivered.get();
    flow.goodput_bps = Throughput::over(end.delivered, over).bps();
    flow.completion_s = end.completed.map(|at| at.since(started).secs());
    flow.retransmitted_bytes = end.retransmitted.get();
    flow.retransmitted_packets = end.retransmitted_packets;
    flow.rtt_mean_s = end.mean_rtt.map(Duration::secs);
    flow.rtt_min_s = end.min_rtt.map(Duration::secs);
    let rtt = flow.rtt_mean_s.filter(|rtt| *rtt > 0.0);
    flow.power_bps2 = rtt.map(|rtt| flow.goodput_bps / rtt);
    flow.clamps = end.clamps;
    flow.rtt_max_s = end.max_rtt.map(Duration::secs);
}

fn fill_link(link: &mut LinkSummary, end: &LinkOutcome, over: Duration) {
    let secs = over.secs();
    link.utilisation = if secs > 0.0 { end.busy.secs() / secs } else { 0.0 };
    link.throughput_bps = Throughput::over(end.sent, over).bps();
    link.queue_packets_mean = end.queue_packets_mean;
    link.queue_packets_max = u64::from(end.queue_packets_max);
    link.queue_bytes_mean = end.queue_bytes_mean;
    link.queue_bytes_max = end.queue_bytes_max.get();
    let reasons = [
        (DropReason::Full, end.drops.full),
        (DropReason::Early, end.drops.early),
        (DropReason::Lost, end.drops.lost),
        (DropReason::Down, end.drops.down),
        (DropReason::Policed, end.drops.policed),
        (DropReason::Exceeding, end.drops.exceeding),
    ];
    let counted = reasons.into_iter().filter(|(_, n)| *n > 0);
    link.drops = counted.map(|(reason, n)| (reason.to_string(), n)).collect();
    let lost = end.drops.total();
    let all = lost + end.packets - end.drops.lost;
    link.loss_share = (all > 0).then(|| lost as f64 / all as f64);
    link.marks = end.marks;
    link.clamps = end.clamps;
    let of = &end.pausing;
    link.pausing = (*of != Pausing::default()).then(|| PausingSummary {
        pauses: of.pauses,
        paused_s: of.paused.secs(),
        frames: of.frames,
        overflowed: of.overflowed,
    });
    let of = &end.disturbances;
    link.disturbances = (*of != Disturbances::default()).then(|| DisturbancesSummary {
        outages: of.outages,
        down_s: of.down.secs(),
        duplicated: of.duplicated,
    });
}
