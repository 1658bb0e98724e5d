//! Collects a stream of samples into bounded series, in memory that does not grow with the run.

use std::collections::BTreeMap;

use ratewire_units::{Duration, Throughput, Time};

use crate::collected::{Collected, FlowSeries, Limits, LinkSeries, OverlaySeries};
use crate::completed::Completed;
use crate::plots::recorded;
use crate::recorded::{Recorded, Tracks};
use crate::thinned::Thinned;
use crate::{
    Answer, Completion, ConnectionRow, FlowRow, GroupRow, LinkInfo, LinkRow, OverlayRows, RunInfo,
    Series,
};

/// Takes the samples of one run as they come, in order of time.
#[derive(Debug)]
pub struct Collector {
    limits: Limits,
    flows_total: usize,
    /// Number of flows known by name.
    listed: usize,
    /// By flow: whether totals leave the flow out.
    go_on: Vec<bool>,
    flows: BTreeMap<u32, FlowSeries>,
    /// Indices of the links to keep, when there are too many to keep all.
    chosen: Option<Vec<u32>>,
    links: BTreeMap<u32, LinkSeries>,
    link_points: usize,
    /// The interval of the first sample, which all series start from; zero before it.
    base: Duration,
    of: RecordedSeries,
    all_flows: Tracks,
    tick: Tick,
    completions: Thinned<Completion>,
    answers: BTreeMap<u32, Thinned<Answer>>,
    overlay: Option<OverlaySeries>,
    /// Number of flows whose answers are kept.
    asked: usize,
    completed: Completed,
}

/// The series that plots record, by the samples they are of.
#[derive(Debug)]
struct RecordedSeries {
    flow: Vec<&'static Recorded<FlowRow>>,
    all_flows: Vec<&'static Recorded<f64>>,
    link: Vec<&'static Recorded<LinkRow>>,
    group: Vec<&'static Recorded<GroupRow>>,
    connection: Vec<&'static Recorded<ConnectionRow>>,
}

/// Data delivered by all flows since the last instant anything was sampled.
#[derive(Clone, Copy, Debug, Default)]
struct Tick {
    at: Time,
    before: Time,
    interval: Duration,
    bits: f64,
}

impl Collector {
    /// A collector for the run `info`, with the usual [`Limits`].
    pub fn new(info: &RunInfo) -> Collector {
        Collector::with_limits(info, Limits::default())
    }

    /// A collector for the run `info` that keeps as much as `limits` say.
    pub fn with_limits(info: &RunInfo, limits: Limits) -> Collector {
        let links = &info.topology.links;
        let chosen = (links.len() > limits.links).then(|| {
            let mut order: Vec<u32> = (0..).take(links.len()).collect();
            let first = |link: &LinkInfo| (!link.bottleneck, !link.slowest);
            order.sort_by_key(|&i| first(&links[i as usize]));
            order.truncate(limits.links);
            order.sort_unstable();
            order
        });
        // Full series of hundreds of links would take tens of megabytes a run, and few are drawn.
        let link_points = if links.len() > 64 { limits.points / 2 } else { limits.points };
        let of = RecordedSeries {
            flow: recorded(),
            all_flows: recorded(),
            link: recorded(),
            group: recorded(),
            connection: recorded(),
        };
        Collector {
            limits,
            flows_total: info.flows.len(),
            listed: info.flows.len(),
            go_on: info.flows.iter().map(|flow| flow.goes_on).collect(),
            flows: BTreeMap::new(),
            chosen,
            links: BTreeMap::new(),
            link_points,
            base: info.sampling,
            all_flows: Tracks::new(&of.all_flows, limits.points, info.sampling),
            of,
            tick: Tick::default(),
            completions: Thinned::new(limits.completions),
            answers: BTreeMap::new(),
            overlay: None,
            asked: info.flows.len().min(limits.flows).max(1),
            completed: Completed::new(
                limits.exact_completions,
                info.traffic.iter().map(|class| class.name.clone()).collect(),
            ),
        }
    }

    /// Takes a sample of a flow.
    pub fn flow(&mut self, s: &FlowRow) {
        let index = s.flow as usize;
        self.flows_total = self.flows_total.max(index.saturating_add(1));
        let goes_on = self.go_on.get(index).is_some_and(|goes_on| *goes_on);
        self.add(s.at, s.interval, if goes_on { Throughput::ZERO } else { s.goodput });
        if !self.is_drawn(s.flow) {
            return;
        }
        let points = self.limits.points;
        let base = self.base(s.interval);
        let of = &self.of.flow;
        let series = self
            .flows
            .entry(s.flow)
            .or_insert_with(|| FlowSeries { flow: s.flow, tracks: Tracks::new(of, points, base) });
        series.tracks.push(of, s.at, s.interval, s);
    }

    /// Adds the goodput of flows without samples of their own to the total, for the `interval` that
    /// ended `at`.
    pub fn add(&mut self, at: Time, interval: Duration, goodput: Throughput) {
        if at != self.tick.at {
            self.flush();
            self.tick.at = at;
        }
        self.tick.interval = self.tick.interval.max(interval);
        let bits = goodput.bps() * interval.secs();
        self.tick.bits += if bits.is_finite() { bits } else { 0.0 };
    }

    /// Takes a sample of a link.
    pub fn link(&mut self, s: &LinkRow) {
        let kept = match &self.chosen {
            Some(chosen) => chosen.binary_search(&s.link).is_ok(),
            None => self.links.len() < self.limits.links || self.links.contains_key(&s.link),
        };
        if !kept {
            return;
        }
        let points = self.link_points;
        let base = self.base(s.interval);
        let of = &self.of.link;
        let series = self
            .links
            .entry(s.link)
            .or_insert_with(|| LinkSeries { link: s.link, tracks: Tracks::new(of, points, base) });
        series.tracks.push(of, s.at, s.interval, s);
    }

    /// Takes a sample of the overlay.
    pub fn overlay(&mut self, s: &OverlayRows) {
        let (at, dt) = (s.at, s.interval);
        let (points, base) = (self.limits.points, self.base(dt));
        let most = self.limits.flows;
        let (of_group, of_connection) = (&self.of.group, &self.of.connection);
        let series = self.overlay.get_or_insert_with(|| OverlaySeries {
            groups: vec![Tracks::new(of_group, points, base); s.groups.len().min(most)],
            connections: vec![
                Tracks::new(of_connection, points, base);
                s.connections.len().min(most)
            ],
        });
        for (tracks, group) in series.groups.iter_mut().zip(&s.groups) {
            tracks.push(of_group, at, dt, group);
        }
        for (tracks, connection) in series.connections.iter_mut().zip(&s.connections) {
            tracks.push(of_connection, at, dt, connection);
        }
    }

    /// Takes a flow that has delivered all its data.
    pub fn completion(&mut self, c: Completion) {
        self.completed.add(&c);
        self.completions.push(c);
    }

    /// Takes what bound a flow's rate at a time.
    pub fn answer(&mut self, answer: Answer) {
        if self.is_drawn(answer.flow) {
            let of_flow = || Thinned::new(self.limits.answers / self.asked);
            self.answers.entry(answer.flow).or_insert_with(of_flow).push(answer);
        }
    }

    /// Ends the run.
    pub fn finish(mut self) -> Collected {
        self.flush();
        let mut flows: Vec<FlowSeries> = self.flows.into_values().collect();
        let mut links: Vec<LinkSeries> = self.links.into_values().collect();
        let of_flows = flows.iter_mut().map(|flow| &mut flow.tracks);
        on_one_grid(of_flows.chain([&mut self.all_flows]));
        on_one_grid(links.iter_mut().map(|link| &mut link.tracks));
        Collected {
            limits: self.limits,
            flows,
            flows_total: self.flows_total,
            all_flows: self.all_flows,
            links,
            completions: self.completions.kept,
            completions_total: self.completions.total,
            completions_stride: self.completions.stride,
            completion_summary: self.completed.summary(),
            answers: self.answers.into_values().flat_map(|thinned| thinned.kept).collect(),
            overlay: self.overlay,
        }
    }

    /// Whether a flow has series of its own: every k-th listed flow has.
    fn is_drawn(&self, flow: u32) -> bool {
        let (flow, most) = (flow as usize, self.limits.flows);
        if self.listed <= most || flow >= self.listed {
            return flow < most;
        }
        let place = |flow: usize| (flow * most).div_ceil(self.listed);
        place(flow) != place(flow + 1)
    }

    /// The width series start from: the interval of the run's info, else that of the first sample.
    fn base(&mut self, interval: Duration) -> Duration {
        if self.base.is_zero() {
            self.base = interval;
        }
        self.base
    }

    /// Adds the current instant to the total.
    fn flush(&mut self) {
        let Tick { at, before, interval, bits } = self.tick;
        if !interval.is_zero() {
            // Flows sampled one after the other report overlapping intervals.
            let new = at.since(before).min(interval);
            self.all_flows.push(&self.of.all_flows, at, new, &bits);
        }
        self.tick = Tick { before: at, ..Tick::default() };
    }
}

/// Gives series that ended at different times buckets of the same width.
fn on_one_grid<'a>(all: impl Iterator<Item = &'a mut Tracks>) {
    let mut all: Vec<&mut Tracks> = all.collect();
    let series = || all.iter().flat_map(|tracks| tracks.all());
    let widest = series().map(Series::interval).max().unwrap_or_default();
    for series in all.iter_mut().flat_map(|tracks| tracks.all_mut()) {
        series.widen_to(widest);
    }
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
