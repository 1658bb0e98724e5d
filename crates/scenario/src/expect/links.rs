//! Metrics of links, from samples and from the whole run.

use ratewire_sim::outcome::{LinkOutcome, Outcome};
use ratewire_sim::record::LinkSample;
use ratewire_units::{Duration, Rate, Throughput};

use super::{Expectation, Statistic, Unit};

/// Sums over the samples of one link, or of all.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkSums {
    time: Duration,
    busy: f64,
    sent: f64,
    queue_packets: f64,
    queue_bytes: f64,
    queue_packets_max: f64,
    queue_bytes_max: f64,
    means: Vec<f64>,
    drops: u64,
    marks: u64,
    pauses: u64,
    paused: f64,
}

impl LinkSums {
    /// Adds a sample; `unit` is what percentiles are to be in.
    pub fn add(&mut self, sample: &LinkSample, expectation: &Expectation) {
        let seconds = sample.interval.secs();
        self.time += sample.interval;
        self.busy += sample.busy * seconds;
        self.sent += sample.sent.as_f64();
        self.queue_packets += sample.queue_packets_mean * seconds;
        self.queue_bytes += sample.queue_bytes_mean * seconds;
        self.queue_packets_max = self.queue_packets_max.max(f64::from(sample.queue_packets_max));
        self.queue_bytes_max = self.queue_bytes_max.max(sample.queue_bytes_max.as_f64());
        self.drops += sample.drops;
        self.marks += sample.marks;
        self.pauses += sample.pauses;
        self.paused += sample.paused * seconds;
        if expectation.metric == "queue_p99" {
            let in_packets = expectation.bound.unit == Unit::Packets;
            let mean = if in_packets { sample.queue_packets_mean } else { sample.queue_bytes_mean };
            self.means.push(mean);
        }
    }

    /// The metric over the samples; without a window, over the run where it knows better.
    pub fn value(&self, expectation: &Expectation, outcome: &Outcome) -> Result<f64, String> {
        let link = expectation.measure.link;
        if expectation.during.is_none()
            && let Some(value) = whole(expectation, link, outcome)
        {
            return Ok(value);
        }
        if self.time.is_zero() {
            return Err("the link has no samples in this time".to_string());
        }
        let seconds = self.time.secs();
        let packets = expectation.bound.unit == Unit::Packets;
        let value = match expectation.metric {
            "utilisation" => self.busy / seconds,
            "throughput" => self.sent * 8.0 / seconds,
            "queue_mean" if packets => self.queue_packets / seconds,
            "queue_mean" => self.queue_bytes / seconds,
            "queue_max" if packets => self.queue_packets_max,
            "queue_max" => self.queue_bytes_max,
            "queue_p99" => Statistic::Percentile(99).of(&self.means).unwrap_or(0.0),
            "drops" => self.drops as f64,
            "pauses" => self.pauses as f64,
            "paused" => self.paused / seconds,
            _ => self.marks as f64,
        };
        in_unit(expectation, value)
    }
}

/// What the outcome knows about the whole run.
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
    let packets = expectation.bound.unit == Unit::Packets;
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
    in_unit(expectation, value).ok()
}

/// Turns bytes waiting into time waiting, where that is asked for.
fn in_unit(expectation: &Expectation, value: f64) -> Result<f64, String> {
    if expectation.bound.unit != Unit::Seconds {
        return Ok(value);
    }
    let rate = expectation.measure.rate;
    if rate == Rate::ZERO {
        return Err("a queue in front of a link of rate 0 has no length in time".to_string());
    }
    Ok(value / rate.throughput().get())
}
