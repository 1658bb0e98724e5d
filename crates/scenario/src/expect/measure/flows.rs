//! Metrics of flows, from samples, completions and totals of the run.

use ratewire_sim::outcome::{FlowOutcome, Outcome};
use ratewire_sim::record::{FlowCompleted, FlowSample};
use ratewire_sim::setup::Setup;
use ratewire_statistics::{is_fair, jain_index, settles_at};
use ratewire_units::{Bytes, Duration, Time};

use crate::expect::metrics::MetricUnit;
use crate::expect::statistics::Statistic;
use crate::expect::{Expectation, Reference};

/// State collected about the flows of one expectation.
#[derive(Clone, Debug)]
pub(super) struct FlowSums {
    /// The measured flows and those that they are compared with.
    members: Vec<usize>,
    /// Index among the members, by flow.
    places: Vec<Option<usize>>,
    /// Full payload of each member's packets, bytes.
    payloads: Vec<f64>,
    /// Ratio of packet size to payload of each member's full packets.
    scales: Vec<f64>,
    /// Fair share of each member relative to members of weight 1.
    weights: Vec<f64>,
    from: Time,
    to: Time,
    interval: Duration,
    samples: Vec<u64>,
    delivered: Vec<f64>,
    retransmitted: f64,
    window: Sums,
    rtt: Sums,
    /// Bytes that each member delivered, by sampling interval.
    series: Vec<Vec<f64>>,
    completed: Vec<Option<f64>>,
    class: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    sum: f64,
    min: Option<f64>,
    max: f64,
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.min = Some(self.min.map_or(value, |min| min.min(value)));
        self.max = self.max.max(value);
    }
}

/// Least number of consecutive averages up to the end that must be fair; fewer may be fair by
/// chance.
const FAIR_AT_LEAST: usize = 3;

impl FlowSums {
    pub fn new(expectation: &Expectation, setup: &Setup) -> FlowSums {
        let measure = &expectation.measure;
        let mut members: Vec<usize> = measure.flows.iter().chain(&measure.of).copied().collect();
        members.sort_unstable();
        members.dedup();
        let mut places = vec![None; members.last().map_or(0, |last| last + 1)];
        for (place, id) in members.iter().enumerate() {
            places[*id] = Some(place);
        }
        let packets = |id: &usize| {
            let flow = &setup.flows[*id];
            let header = setup.laws.get(flow.law).map_or(0.0, |law| law.header_len().as_f64());
            let packet = flow.transport.packet.as_f64();
            (packet, (packet - flow.transport.headers.as_f64() - header).max(1.0))
        };
        let (from, to) = expectation.during.unwrap_or((Time::ZERO, Time::ZERO + setup.duration));
        let count = members.len();
        FlowSums {
            payloads: members.iter().map(|id| packets(id).1).collect(),
            scales: members.iter().map(|id| packets(id).0 / packets(id).1).collect(),
            weights: members.iter().map(|id| setup.weight(*id)).collect(),
            members,
            places,
            from,
            to,
            interval: setup.sample_interval.unwrap_or(setup.duration),
            samples: vec![0; count],
            delivered: vec![0.0; count],
            retransmitted: 0.0,
            window: Sums::default(),
            rtt: Sums::default(),
            series: Vec::new(),
            completed: vec![None; count],
            class: Vec::new(),
        }
    }

    pub fn add(&mut self, sample: &FlowSample, expectation: &Expectation) {
        let place = self.places.get(sample.flow.0 as usize).copied().flatten();
        let Some(place) = place else { return };
        self.samples[place] += 1;
        self.delivered[place] += sample.delivered.as_f64();
        self.retransmitted += sample.retransmitted.as_f64();
        let packets = expectation.bound.unit == MetricUnit::Packets;
        let unit = if packets { self.payloads[place] } else { 1.0 };
        if sample.window != Bytes::MAX {
            self.window.add(sample.window.as_f64() / unit);
        }
        if !sample.rtt.is_zero() {
            self.rtt.add(sample.rtt.secs());
        }
        if matches!(expectation.metric, "convergence_time" | "reference_error") {
            let step = self.interval.ps().max(1);
            let index = (sample.at.since(self.from).ps().div_ceil(step)).max(1) as usize - 1;
            while self.series.len() <= index {
                self.series.push(vec![0.0; self.members.len()]);
            }
            self.series[index][place] += sample.delivered.as_f64();
        }
    }

    pub fn complete(&mut self, completed: &FlowCompleted, expectation: &Expectation) {
        if let Some(class) = expectation.measure.traffic {
            if completed.traffic == Some(class) {
                self.class.push(completed.took.secs());
            }
        } else if let Some(Some(place)) = self.places.get(completed.flow.0 as usize) {
            self.completed[*place] = Some(completed.took.secs());
        }
    }

    /// Value of the metric.
    pub fn value(&self, expectation: &Expectation, outcome: &Outcome) -> Result<f64, String> {
        let measure = &expectation.measure;
        if measure.traffic.is_some() {
            let none = || "no flow of this class completed".to_string();
            return measure.statistic.of(&self.class).ok_or_else(none);
        }
        if expectation.metric == "completion_time" {
            return self.completion(expectation, outcome);
        }
        // The outcome covers the whole run to the last byte; samples end with the last full
        // interval.
        let whole = expectation.during.is_none();
        self.check_samples(expectation, outcome, whole)?;
        let delivered = |id: &usize| match (whole, outcome.flows.get(*id)) {
            (true, Some(flow)) => flow.delivered.as_f64(),
            _ => self.places[*id].map_or(0.0, |place| self.delivered[place]),
        };
        let sum = |ids: &[usize]| ids.iter().map(delivered).sum::<f64>();
        let end = if whole { outcome.ended } else { self.to };
        let seconds = end.since(self.from).secs();
        let outcomes = || measure.flows.iter().filter_map(|id| outcome.flows.get(*id));
        let unknown_rtt = || "no round trip was measured".to_string();
        match expectation.metric {
            "goodput" => Ok(sum(&measure.flows) * 8.0 / seconds),
            "share" | "ratio" => {
                let of = sum(&measure.of);
                if of > 0.0 {
                    Ok(sum(&measure.flows) / of)
                } else {
                    Err("nothing was delivered to what it is compared with".to_string())
                }
            }
            "jain" => {
                let part = |id: &usize| {
                    delivered(id) / self.places[*id].map_or(1.0, |place| self.weights[place])
                };
                let all: Vec<f64> = measure.flows.iter().map(part).collect();
                jain_index(&all).ok_or_else(|| "nothing was delivered".to_string())
            }
            "retransmitted" if whole => Ok(outcomes().map(|f| f.retransmitted.as_f64()).sum()),
            "retransmitted" => Ok(self.retransmitted),
            "clamps" => Ok(outcomes().map(|f| f.clamps as f64).sum()),
            "refused" => Ok(outcomes().map(|f| f.refused as f64).sum()),
            "window_mean" if self.window.count > 0 => {
                Ok(self.window.sum / self.window.count as f64)
            }
            "window_max" if self.window.count > 0 => Ok(self.window.max),
            "window_mean" | "window_max" => Err("no window is known in this time".to_string()),
            "rtt_min" if whole => least(outcomes()).ok_or_else(unknown_rtt),
            "rtt_mean" if whole => mean(outcomes()).ok_or_else(unknown_rtt),
            "rtt_max" if whole => most(outcomes()).ok_or_else(unknown_rtt),
            "rtt_min" => self.rtt.min.ok_or_else(unknown_rtt),
            "rtt_mean" if self.rtt.count > 0 => Ok(self.rtt.sum / self.rtt.count as f64),
            "rtt_max" if self.rtt.count > 0 => Ok(self.rtt.max),
            "rtt_mean" | "rtt_max" => Err(unknown_rtt()),
            "convergence_time" => self.convergence(expectation),
            _ => match &measure.reference {
                Some(reference) => self.error(expectation, reference, outcome),
                None => Err("there is no reference".to_string()),
            },
        }
    }

    /// An error if a flow never started, or lacks samples that the metric needs.
    fn check_samples(
        &self,
        expectation: &Expectation,
        outcome: &Outcome,
        whole: bool,
    ) -> Result<(), String> {
        if self.members.is_empty() {
            return Err("there are no flows".to_string());
        }
        for (place, id) in self.members.iter().enumerate() {
            let flow = outcome.flows.get(*id);
            let name = flow.map_or("a flow", |flow| flow.name.as_str());
            if flow.is_none_or(|flow| flow.started.is_none()) {
                return Err(format!("{name} never started"));
            }
            // These metrics allow a flow to join or end within the window; the others need samples
            // throughout.
            let anywhere = whole || matches!(expectation.metric, "reference_error");
            if self.samples[place] == 0 && !anywhere {
                return Err(format!("{name} has no samples in this time"));
            }
        }
        Ok(())
    }

    fn completion(&self, expectation: &Expectation, outcome: &Outcome) -> Result<f64, String> {
        let mut times = Vec::new();
        let mut open = Vec::new();
        for (place, id) in self.members.iter().enumerate() {
            match self.completed[place] {
                Some(time) => times.push(time),
                None => open.push(outcome.flows.get(*id).map_or("a flow", |flow| &flow.name)),
            }
        }
        match open.as_slice() {
            [] => expectation.measure.statistic.of(&times).ok_or("there are no flows".to_string()),
            [one] => Err(format!("{one} did not complete")),
            [one, others @ ..] => {
                Err(format!("{one} and {} other flows did not complete", others.len()))
            }
        }
    }

    /// Bytes that each member delivered, in blocks of whole intervals. An incomplete last block is
    /// left out.
    fn blocks(&self, average: Duration) -> Vec<Vec<f64>> {
        let per_block = (average.ps() / self.interval.ps().max(1)).max(1) as usize;
        let length = self.to.since(self.from).ps() / self.interval.ps().max(1);
        let mut series = self.series.clone();
        series.resize(length as usize, vec![0.0; self.members.len()]);
        series
            .chunks(per_block)
            .filter(|block| block.len() == per_block)
            .map(|block| {
                let sum = |place: usize| block.iter().map(|interval| interval[place]).sum();
                (0..self.members.len()).map(sum).collect()
            })
            .collect()
    }

    fn convergence(&self, expectation: &Expectation) -> Result<f64, String> {
        let measure = &expectation.measure;
        let average = self.block_length(measure.average);
        let blocks = self.blocks(average);
        if blocks.is_empty() {
            return Err("there are no samples in this time".to_string());
        }
        let held: Vec<bool> =
            blocks.iter().map(|block| is_fair(block, &self.weights, measure.within)).collect();
        let late = || "the flows had not converged by the end".to_string();
        settles_at(&held, FAIR_AT_LEAST.min(held.len()))
            .map(|first| (average * first as u64).secs())
            .ok_or_else(late)
    }

    /// `average`, or the sampling interval where that is longer or `average` is not given.
    fn block_length(&self, average: Duration) -> Duration {
        average.max(self.interval)
    }

    fn error(
        &self,
        expectation: &Expectation,
        reference: &Reference,
        outcome: &Outcome,
    ) -> Result<f64, String> {
        let average = self.block_length(expectation.measure.average);
        let started: Vec<Time> =
            self.members.iter().filter_map(|id| outcome.flows.get(*id)?.started).collect();
        let mut errors = Vec::new();
        for (i, block) in self.blocks(average).iter().enumerate() {
            let from = self.from + average * i as u64;
            let to = from + average;
            if started.iter().any(|start| *start < to && from < *start + reference.skip) {
                continue;
            }
            // Columns are in the order in which the expectation names the flows.
            for (column, id) in expectation.measure.flows.iter().enumerate() {
                let Some(place) = self.places[*id] else { continue };
                let scale = if reference.headers { self.scales[place] } else { 1.0 };
                let measured = block[place] * 8.0 * scale / average.secs();
                if let Some(wanted) = reference.series.mean(column, from.secs(), to.secs()) {
                    errors.push((measured - wanted).abs() / reference.capacity.bps() as f64);
                }
            }
        }
        let none =
            || "no time is in both the run and the file, outside what is skipped".to_string();
        expectation.measure.statistic.of(&errors).ok_or_else(none)
    }
}

fn least<'a>(flows: impl Iterator<Item = &'a FlowOutcome>) -> Option<f64> {
    flows.filter_map(|flow| flow.min_rtt).min().map(Duration::secs)
}

fn most<'a>(flows: impl Iterator<Item = &'a FlowOutcome>) -> Option<f64> {
    flows.filter_map(|flow| flow.max_rtt).max().map(Duration::secs)
}

fn mean<'a>(flows: impl Iterator<Item = &'a FlowOutcome>) -> Option<f64> {
    let all: Vec<f64> = flows.filter_map(|flow| flow.mean_rtt.map(Duration::secs)).collect();
    Statistic::Mean.of(&all)
}
