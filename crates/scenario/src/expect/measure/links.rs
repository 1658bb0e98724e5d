//! Metrics of links, from samples and from totals of the run.

use ratewire_sim::outcome::{LinkOutcome, Outcome};
use ratewire_sim::record::LinkSample;
use ratewire_sim::setup::Setup;
use ratewire_units::{Duration, Throughput};

use super::rates::Rates;
use crate::expect::Expectation;
use crate::expect::metrics::MetricUnit;
use crate::expect::statistics::Statistic;

/// Sums over the samples of one link, or of all links.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkSums {
    /// Rates of the link, where the bound of a queue is a time.
    rates: Option<Rates>,
    time: Duration,
    busy: f64,
    sent: f64,
    /// Integral of the backlog over time, in the bound's unit times seconds.
    queue: f64,
    queue_max: f64,
    /// Backlog at the end of each sample.
    queues: Vec<f64>,
    drops: u64,
    marks: u64,
    pauses: u64,
    paused: f64,
}

impl LinkSums {
    pub fn new(expectation: &Expectation, setup: &Setup) -> LinkSums {
        let in_time = expectation.measure.link.filter(|_| is_queue_in_time(expectation));
        LinkSums { rates: in_time.map(|link| Rates::of(setup, link)), ..LinkSums::default() }
    }

    pub fn add(&mut self, sample: &LinkSample, expectation: &Expectation) {
        let seconds = sample.interval.secs();
        self.time += sample.interval;
        self.busy += sample.busy * seconds;
        self.sent += sample.sent.as_f64();
        let (mean, max, at_end) = match (&self.rates, expectation.bound.unit) {
            (Some(rates), _) => {
                let rate = rates.mean(sample.at - sample.interval, sample.at);
                let bytes = [
                    sample.queue_bytes_mean,
                    sample.queue_bytes_max.as_f64(),
                    sample.queue_bytes.as_f64(),
                ];
                bytes.map(|bytes| time(bytes, rate)).into()
            }
            (None, MetricUnit::Packets) => (
                sample.queue_packets_mean,
                f64::from(sample.queue_packets_max),
                f64::from(sample.queue_packets),
            ),
            (None, _) => (
                sample.queue_bytes_mean,
                sample.queue_bytes_max.as_f64(),
                sample.queue_bytes.as_f64(),
            ),
        };
        self.queue += mean * seconds;
        self.queue_max = self.queue_max.max(max);
        if expectation.metric == "queue_p99" {
            self.queues.push(at_end);
        }
        self.drops += sample.drops.total();
        self.marks += sample.marks;
        self.pauses += sample.pausing.pauses;
        self.paused += sample.paused * seconds;
    }

    /// Value of the metric over the samples; without a window, from the outcome where it knows the
    /// metric.
    pub fn value(&self, expectation: &Expectation, outcome: &Outcome) -> Result<f64, String> {
        let link = expectation.measure.link;
        if expectation.during.is_none()
            && let Some(value) = self.whole(expectation, link, outcome)
        {
            return known(value);
        }
        if self.time.is_zero() {
            return Err("the link has no samples in this time".to_string());
        }
        let seconds = self.time.secs();
        known(match expectation.metric {
            "utilisation" => self.busy / seconds,
            "throughput" => self.sent * 8.0 / seconds,
            "queue_mean" => self.queue / seconds,
            "queue_max" => self.queue_max,
            "queue_p99" => Statistic::Percentile(99).of(&self.queues).unwrap_or(0.0),
            "drops" => self.drops as f64,
            "pauses" => self.pauses as f64,
            "paused" => self.paused / seconds,
            _ => self.marks as f64,
        })
    }

    /// Value of the whole run, if the outcome knows it.
    fn whole(
        &self,
        expectation: &Expectation,
        link: Option<usize>,
        outcome: &Outcome,
    ) -> Option<f64> {
        // The outcome cannot express a backlog as a time if the link's rate changed.
        let rate = match &self.rates {
            Some(rates) => Some(rates.only()?),
            None => None,
        };
        whole(expectation, link, outcome).map(|value| rate.map_or(value, |rate| time(value, rate)))
    }
}

/// Value of the whole run from the outcome, with queues in packets or bytes.
fn whole(expectation: &Expectation, link: Option<usize>, outcome: &Outcome) -> Option<f64> {
    let total = |f: fn(&LinkOutcome) -> u64| outcome.links.iter().map(f).sum::<u64>() as f64;
    if expectation.metric == "deadlock" {
        return Some(outcome.deadlock.as_ref().map_or(0.0, |found| found.ring.len() as f64));
    }
    let Some(link) = link else {
        return match expectation.metric {
            "drops" => Some(total(|link| link.drops.total())),
            "pauses" => Some(total(|link| link.pausing.pauses)),
            "overflows" => Some(total(|link| link.pausing.overflowed)),
            _ => Some(total(|link| link.marks)),
        };
    };
    let link = outcome.links.get(link)?;
    let run = outcome.ended.since(ratewire_units::Time::ZERO);
    let packets = expectation.bound.unit == MetricUnit::Packets;
    let value = match expectation.metric {
        "utilisation" if !run.is_zero() => link.busy.secs() / run.secs(),
        "throughput" if !run.is_zero() => Throughput::over(link.sent, run).bps(),
        "queue_mean" if packets => link.queue_packets_mean,
        "queue_mean" => link.queue_bytes_mean,
        "queue_max" if packets => f64::from(link.queue_packets_max),
        "queue_max" => link.queue_bytes_max.as_f64(),
        "drops" => link.drops.total() as f64,
        "marks" => link.marks as f64,
        "pauses" => link.pausing.pauses as f64,
        "overflows" => link.pausing.overflowed as f64,
        "paused" if !run.is_zero() => link.pausing.paused.secs() / run.secs(),
        _ => return None,
    };
    Some(value)
}

fn is_queue_in_time(expectation: &Expectation) -> bool {
    expectation.metric.starts_with("queue_") && expectation.bound.unit == MetricUnit::Seconds
}

/// Time to send `bytes` at `rate` bytes a second; no bytes take no time at any rate.
fn time(bytes: f64, rate: f64) -> f64 {
    if bytes > 0.0 { bytes / rate } else { 0.0 }
}

fn known(value: f64) -> Result<f64, String> {
    if value.is_infinite() {
        return Err("a queue in front of a link of rate 0 has no length in time".to_string());
    }
    Ok(value)
}
