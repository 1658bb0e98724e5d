//! Metrics of overlays: their groups, their connections, and the whole overlay.

use ratewire_overlay::Benefit;
use ratewire_sim::outcome::{GroupOutcome, Outcome, OverlayOutcome};
use ratewire_sim::overlay::optimum::{self, Period};
use ratewire_sim::record::OverlaySample;
use ratewire_sim::setup::Setup;
use ratewire_units::{Duration, Time};

use crate::expect::statistics::Statistic;
use crate::expect::{Expectation, OverlayPart};

/// Sums over the samples of an overlay.
#[derive(Clone, Debug)]
pub(super) struct OverlaySums {
    time: Duration,
    window: (Time, Time),
    /// Payload of a message, bytes.
    payload: f64,
    /// Size of a message, bytes, as the scenario has it.
    message: f64,
    benefit: Benefit,
    /// Group of each sender.
    senders: Vec<usize>,
    /// Messages sent by each sender.
    sent: Vec<u64>,
    owed: u64,
    received: Vec<Vec<u64>>,
    waiting: f64,
    waiting_max: u64,
    price: f64,
    price_max: f64,
    data: f64,
    control: f64,
    optimum: Vec<Period>,
}

impl OverlaySums {
    pub fn new(expectation: &Expectation, setup: &Setup) -> OverlaySums {
        let spec = setup.overlay.as_deref();
        let senders = spec.map_or(&[][..], |spec| &spec.senders);
        let groups = spec.map_or(0, |spec| spec.groups.len());
        let end = Time::ZERO + setup.duration;
        let optimum =
            if expectation.metric == "optimum_ratio" { optimum::optimum(setup) } else { None };
        OverlaySums {
            time: Duration::ZERO,
            window: expectation.during.unwrap_or((Time::ZERO, end)),
            payload: spec.map_or(0.0, |spec| spec.payload.as_f64()),
            message: senders.first().map_or(0.0, |sender| sender.spec.message.as_f64()),
            benefit: spec.map_or(Benefit::PerMessage, |spec| spec.params.benefit),
            senders: senders.iter().map(|sender| sender.spec.group.index()).collect(),
            sent: vec![0; senders.len()],
            owed: 0,
            received: vec![Vec::new(); groups],
            waiting: 0.0,
            waiting_max: 0,
            price: 0.0,
            price_max: 0.0,
            data: 0.0,
            control: 0.0,
            optimum: optimum.unwrap_or_default(),
        }
    }

    /// Adds a sample.
    pub fn add(&mut self, sample: &OverlaySample<'_>, expectation: &Expectation) {
        let seconds = sample.interval.secs();
        self.time += sample.interval;
        self.sent.iter_mut().zip(sample.senders).for_each(|(sum, sender)| *sum += sender.sent);
        self.owed += sample.owed;
        for (sums, group) in self.received.iter_mut().zip(sample.groups) {
            sums.resize(group.delivered.len(), 0);
            sums.iter_mut().zip(&group.delivered).for_each(|(sum, new)| *sum += new);
        }
        for link in sample.links {
            self.data += link.data.as_f64();
            self.control += link.control.as_f64();
        }
        if let Some(link) = expectation.measure.part.link.and_then(|link| sample.links.get(link)) {
            self.waiting += link.queue_mean * seconds;
            self.waiting_max = self.waiting_max.max(link.queue_max);
            self.price += link.price.get() * seconds;
            self.price_max = self.price_max.max(link.price.get());
        }
    }

    /// Value of the metric over the samples.
    pub fn value(&self, expectation: &Expectation, outcome: &Outcome) -> Result<f64, String> {
        let part = &expectation.measure.part;
        if self.time.is_zero() {
            return Err("the overlay has no samples in this time".to_string());
        }
        let seconds = self.time.secs();
        let bits = self.payload * 8.0 / seconds;
        match expectation.metric {
            "sent" => Ok(self.sent_by(part).iter().sum::<u64>() as f64 * bits),
            "received" => self.received(part).map(|messages| messages * bits),
            "sender_spread" => self.spread(part),
            "delivery_time" => {
                let groups = outcome.overlay.as_ref().map(|overlay| &overlay.groups);
                let chosen = groups.into_iter().flatten().enumerate();
                let chosen = chosen.filter(|(id, _)| part.groups.contains(id)).map(|(_, g)| g);
                delivery_time(chosen, expectation)
            }
            "waiting_mean" => Ok(self.waiting / seconds),
            "waiting_max" => Ok(self.waiting_max as f64),
            "price_mean" => Ok(self.price / seconds),
            "price_max" => Ok(self.price_max),
            "control_share" if self.data > 0.0 => Ok(self.control / self.data),
            "control_share" => Err("no messages were carried".to_string()),
            _ => self.over_optimum(outcome),
        }
    }

    fn sent_by(&self, part: &OverlayPart) -> Vec<u64> {
        let mine =
            self.senders.iter().zip(&self.sent).filter(|(group, _)| part.groups.contains(group));
        mine.map(|(_, sent)| *sent).collect()
    }

    /// Messages that reached the chosen node, or the average over the nodes that got any.
    fn received(&self, part: &OverlayPart) -> Result<f64, String> {
        let groups = part.groups.iter().filter_map(|group| self.received.get(*group));
        let mut sum = 0.0;
        for nodes in groups {
            let some: Vec<u64> = match part.node {
                Some(node) => nodes.get(node).copied().into_iter().collect(),
                None => nodes.iter().copied().filter(|messages| *messages > 0).collect(),
            };
            if !some.is_empty() {
                sum += some.iter().sum::<u64>() as f64 / some.len() as f64;
            }
        }
        Ok(sum)
    }

    /// Largest relative distance of a sender from the mean of its group.
    fn spread(&self, part: &OverlayPart) -> Result<f64, String> {
        let mut most = None;
        for group in &part.groups {
            let one = OverlayPart { groups: vec![*group], ..OverlayPart::default() };
            let sent = self.sent_by(&one);
            let mean = sent.iter().sum::<u64>() as f64 / sent.len().max(1) as f64;
            for messages in sent.iter().filter(|_| mean > 0.0) {
                let off = (*messages as f64 / mean - 1.0).abs();
                most = Some(most.map_or(off, |most: f64| most.max(off)));
            }
        }
        most.ok_or("these groups sent nothing".to_string())
    }

    /// Worth of the sent messages over that of the optimum.
    fn over_optimum(&self, outcome: &Outcome) -> Result<f64, String> {
        let (from, to) = self.window;
        let best: f64 = self
            .optimum
            .iter()
            .map(|period| {
                let overlap = period.to.min(to).since(period.from.max(from));
                period.worth.get() * overlap.secs()
            })
            .sum();
        if best <= 0.0 {
            return Err("the optimum is to send nothing".to_string());
        }
        let worth = match self.benefit {
            Benefit::PerReceiver => self.owed,
            Benefit::PerMessage | Benefit::Concave(_) | Benefit::Layered(_) => {
                self.sent.iter().sum()
            }
        };
        // Real daemons have shorter headers than those of the scenario.
        let carried = outcome.overlay.as_ref().and_then(OverlayOutcome::carried_message);
        Ok(worth as f64 * carried.unwrap_or(self.message) / best)
    }
}

fn delivery_time<'a>(
    groups: impl Iterator<Item = &'a GroupOutcome>,
    expectation: &Expectation,
) -> Result<f64, String> {
    let none = || "these groups were delivered nothing".to_string();
    if expectation.measure.statistic == Statistic::Max {
        let most = groups.filter_map(|group| group.latency_max).max();
        return most.map(Duration::secs).ok_or_else(none);
    }
    let (mut sum, mut count) = (0.0, 0);
    for group in groups {
        let delivered: u64 = group.delivered.iter().sum();
        sum += group.latency_mean.map_or(0.0, Duration::secs) * delivered as f64;
        count += delivered;
    }
    if count == 0 { Err(none()) } else { Ok(sum / count as f64) }
}
