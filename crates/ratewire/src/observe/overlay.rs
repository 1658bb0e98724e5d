//! Converts overlays for the report.

use ratewire_overlay::{Benefit, Dollars};
use ratewire_report::{ConnectionRow, ConnectionSummary, GroupSummary, OverlaySummary};
use ratewire_sim::outcome::{GroupOutcome, OverlayOutcome};
use ratewire_sim::overlay::optimum::{Period, optimum};
use ratewire_sim::overlay::spec::{OverlayLink, OverlaySpec};
use ratewire_sim::record::{GroupSample, OverlayLinkSample, OverlaySample, SenderSample};
use ratewire_sim::setup::Setup;
use ratewire_units::{Bytes, Duration, Throughput, Time};

/// Sums over samples, for mean prices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prices {
    /// Integral of each connection's price over time, in dollar seconds.
    sums: Vec<f64>,
    seconds: f64,
}

impl Prices {
    pub(crate) fn add(&mut self, sample: &OverlaySample<'_>) {
        self.sums.resize(sample.links.len(), 0.0);
        self.seconds += sample.interval.secs();
        for (sum, link) in self.sums.iter_mut().zip(sample.links) {
            *sum += link.price.get() * sample.interval.secs();
        }
    }

    fn mean(&self, connection: usize) -> f64 {
        self.sums.get(connection).map_or(0.0, |sum| sum / self.seconds)
    }
}

/// Converts a sample for the report.
pub(crate) fn sample(
    sample: &OverlaySample<'_>,
    spec: &OverlaySpec,
) -> ratewire_report::OverlayRows {
    let data = |messages: u64| Throughput::over(spec.payload * messages, sample.interval);
    let group = |(group, seen): (u32, &GroupSample)| ratewire_report::GroupRow {
        group,
        sent: data(seen.sent),
        sent_messages: seen.sent,
        delivered_messages: seen.delivered.iter().sum(),
    };
    let connection = |(link, seen): (&OverlayLink, &OverlayLinkSample)| ConnectionRow {
        flow: link.flow as u32,
        price: seen.price.get(),
        waiting_mean: seen.queue_mean,
        waiting_max: seen.queue_max,
        data: seen.data,
        control: seen.control,
    };
    let sender = |(sender, seen): (u32, &SenderSample)| ratewire_report::SenderRow {
        sender,
        sent: data(seen.sent),
        money: seen.money.map(Dollars::get),
        period: seen.period,
        blocked: seen.blocked,
    };
    ratewire_report::OverlayRows {
        at: sample.at,
        interval: sample.interval,
        groups: (0..).zip(sample.groups).map(group).collect(),
        connections: spec.links.iter().zip(sample.links).map(connection).collect(),
        senders: (0..).zip(sample.senders).map(sender).collect(),
    }
}

/// Figures of an overlay.
pub(crate) fn summary(
    setup: &Setup,
    spec: &OverlaySpec,
    outcome: &OverlayOutcome,
    prices: &Prices,
) -> OverlaySummary {
    let best = optimum(setup).unwrap_or_default();
    let groups = outcome.groups.iter().enumerate();
    let connections = outcome.links.iter().enumerate().map(|(i, link)| ConnectionSummary {
        name: setup.flows[link.flow].name.clone(),
        waiting_mean: link.queue_mean,
        waiting_max: link.queue_max,
        price_mean: prices.mean(i),
        data_bytes: link.counts.data.get(),
        control_bytes: link.counts.control().get(),
    });
    let data: Bytes = outcome.links.iter().map(|link| link.counts.data).sum();
    let control: Bytes = outcome.links.iter().map(|link| link.counts.control()).sum();
    let sent = outcome.groups.iter().map(|group| group.sent).sum();
    OverlaySummary {
        groups: groups.map(|(i, group)| of_group(setup, spec, outcome, i, group)).collect(),
        connections: connections.collect(),
        sent_bps: bps(setup, spec, sent),
        optimum_bps: optimum_bps(setup, spec, outcome, &best),
        optimum_ratio: over_optimum(spec, outcome, &best),
        views: outcome.views.iter().copied().max().unwrap_or(0),
        control_share: control.as_f64() / data.as_f64().max(1.0),
    }
}

fn of_group(
    setup: &Setup,
    spec: &OverlaySpec,
    overlay: &OverlayOutcome,
    index: usize,
    outcome: &GroupOutcome,
) -> GroupSummary {
    let end = Time::ZERO + setup.duration;
    let senders = spec.senders.iter().zip(&overlay.senders);
    let senders = senders.filter(|(sender, _)| sender.spec.group.index() == index);
    let blocked = senders.map(|(sender, outcome)| {
        let time = sender.stop.unwrap_or(end).min(end).since(sender.start);
        outcome.counts.blocked.secs() / time.secs().max(1e-9)
    });
    let blocked: Vec<f64> = blocked.collect();
    let receiving: Vec<u64> = outcome.delivered.iter().copied().filter(|n| *n > 0).collect();
    let received = receiving.iter().sum::<u64>() / (receiving.len() as u64).max(1);
    GroupSummary {
        name: spec.groups[index].name.clone(),
        senders: blocked.len() as u64,
        sent_bps: bps(setup, spec, outcome.sent),
        blocked_share: blocked.iter().sum::<f64>() / blocked.len().max(1) as f64,
        receiving_nodes: receiving.len() as u64,
        received_bps: bps(setup, spec, received),
        delivery_mean_s: outcome.latency_mean.map(Duration::secs),
        delivery_max_s: outcome.latency_max.map(Duration::secs),
    }
}

/// Rate of the clients' own data in `messages` messages, over the run, in bits per second.
fn bps(setup: &Setup, spec: &OverlaySpec, messages: u64) -> f64 {
    Throughput::over(spec.payload * messages, setup.duration).bps()
}

/// Bytes that links carried for a message. Real daemons have headers of their own, which are
/// shorter than those of the scenario, and so more messages fit a link.
fn message(spec: &OverlaySpec, outcome: &OverlayOutcome) -> Option<f64> {
    let written = spec.senders.first()?.spec.message.as_f64();
    Some(outcome.carried_message().unwrap_or(written))
}

fn optimum_bps(
    setup: &Setup,
    spec: &OverlaySpec,
    outcome: &OverlayOutcome,
    best: &[Period],
) -> Option<f64> {
    let own = spec.payload.as_f64() / message(spec, outcome)?;
    let of = |p: &Period| {
        p.groups.iter().map(|rate| rate.bps()).sum::<f64>() * p.to.since(p.from).secs()
    };
    (!best.is_empty()).then(|| best.iter().map(of).sum::<f64>() * own / setup.duration.secs())
}

fn over_optimum(spec: &OverlaySpec, outcome: &OverlayOutcome, best: &[Period]) -> Option<f64> {
    let message = message(spec, outcome)?;
    let most: f64 = best.iter().map(|p| p.worth.get() * p.to.since(p.from).secs()).sum();
    let worth: u64 = match spec.params.benefit {
        Benefit::PerReceiver => outcome.groups.iter().map(|group| group.owed).sum(),
        Benefit::PerMessage | Benefit::Concave(_) | Benefit::Layered(_) => {
            outcome.groups.iter().map(|group| group.sent).sum()
        }
    };
    (most > 0.0).then(|| message * worth as f64 / most)
}
