//! Observation of a run, and its outcome.

use ratewire_net::spec::LinkId;
use ratewire_units::{Bytes, Throughput, Time};

use super::Simulation;
use crate::error::RunError;
use crate::flow::Flow;
use crate::outcome::{LinkOutcome, Outcome};
use crate::record::{ArrivingSample, FlowId, FlowSample, LinkSample};

impl Simulation<'_> {
    pub(super) fn sample(&mut self) {
        let interval = self.now.since(self.last_sample);
        if interval.is_zero() {
            return;
        }
        self.last_sample = self.now;
        for ended in self.ended.drain(..) {
            self.recorder.flow_sample(&FlowSample { at: self.now, interval, ..ended });
        }
        for slot in 0..self.flows.slots() {
            let Some(flow) = self.flows.at(slot) else { continue };
            if flow.id.0 < self.setup.sampled_flows {
                flow.passed = self.junctions.passed(flow.id.0);
                let mut sample = flow.sample(self.now, interval, &self.setup.laws);
                if let Some(outstanding) = self.junctions.outstanding(flow.id.0) {
                    (sample.window, sample.in_flight) = (Bytes::MAX, Some(outstanding));
                }
                self.faults.look_at(flow, self.now);
                self.recorder.flow_sample(&sample);
            } else {
                self.arrived += flow.newly_delivered();
            }
        }
        if !self.setup.traffic.is_empty() {
            let delivered = core::mem::take(&mut self.arrived);
            self.recorder.arriving_sample(&ArrivingSample { at: self.now, interval, delivered });
        }
        for (link, before) in &mut self.sampled {
            let seen = self.network.observe(self.now, *link, &mut self.wheel);
            let sample = LinkSample::of(*link, before, &seen, self.now, interval);
            self.recorder.link_sample(&sample);
            *before = seen;
        }
        if let Some(overlay) = &mut self.overlay {
            let recorder = &mut *self.recorder;
            overlay.sample(self.now, interval, &mut |sample| recorder.overlay_sample(sample));
        }
        self.count_losses();
        if self.setup.follow.in_turn {
            self.follow_next();
        }
    }

    /// Counts packets that were dropped or lost since the last sample.
    fn count_losses(&mut self) {
        for (flow, packets) in self.network.news().take_lost_data() {
            self.delays.lose(self.now, flow, packets);
        }
    }

    pub(super) fn finish(mut self) -> Result<Outcome, RunError> {
        self.outcome()
    }

    /// The outcome of the run, which has reached its end; to be called once.
    pub(super) fn outcome(&mut self) -> Result<Outcome, RunError> {
        if self.setup.sample_interval.is_some() {
            self.sample();
        }
        self.give_up_following();
        self.report_frames();
        self.network.look_for_deadlocks(self.now);
        for slot in 0..self.flows.slots() {
            if let Some(flow) = self.flows.remove(slot) {
                self.settle(&flow);
            }
        }
        self.check_laws()?;
        for flow in &mut self.outcomes {
            flow.clamps = self.network.clamps(flow.flow.0);
            flow.delivered = flow.delivered.saturating_sub(self.junctions.skipped(flow.flow.0));
        }
        let mut links = Vec::with_capacity(self.setup.network.links.len());
        for i in 0..self.setup.network.links.len() as u32 {
            links.push(self.settle_link(LinkId(i)));
        }
        self.packets.dropped = links.iter().map(|l| l.drops.total()).sum();
        self.packets.duplicated = links.iter().map(|link| link.disturbances.duplicated).sum();
        self.packets.in_flight = self.network.in_flight();
        let p = self.packets;
        let unbalanced = self.network.unbalanced_link();
        if !p.are_conserved() || unbalanced.is_some() {
            return Err(RunError::NotConserved { packets: p, link: unbalanced });
        }
        self.check_overlay()?;
        Ok(Outcome {
            overlay: self.overlay.as_mut().map(|overlay| overlay.outcome(self.end)),
            flows: core::mem::take(&mut self.outcomes),
            links,
            packets: p,
            events: self.events,
            data_packets_delivered: self.data_packets,
            ended: self.end,
            delays: core::mem::take(&mut self.delays),
            deadlock: self.network.deadlock().cloned(),
        })
    }

    /// Checks that no law has broken a rule of its traits.
    pub(super) fn check_laws(&self) -> Result<(), RunError> {
        let name = |law: usize| self.setup.laws[law].info().name.to_string();
        if let Some((link, at)) = self.network.stalled_port()
            && let spec = &self.setup.network.links[link.index()]
            && let Some(law) = spec.law
        {
            return Err(RunError::TimerStalled { law: name(law), link: spec.name.clone(), at });
        }
        if let Some((link, what)) = self.network.port_fault()
            && let spec = &self.setup.network.links[link.index()]
            && let Some(law) = spec.law
        {
            let place = format!("link {:?}", spec.name);
            return Err(RunError::LawFault { law: name(law), place, at: self.now, what });
        }
        let Some((flow, at, fault)) = &self.faults.0 else { return Ok(()) };
        let (flow, at) = (&self.outcomes[flow.0 as usize], *at);
        let (law, flow) = (name(flow.law), flow.name.clone());
        Err(match fault {
            Fault::Pace => RunError::WrongPace { law, flow, at },
            Fault::Told(what) => {
                let (place, what) = (format!("flow {flow:?}"), what.clone());
                RunError::LawFault { law, place, at, what }
            }
        })
    }

    pub(super) fn settle_link(&mut self, link: LinkId) -> LinkOutcome {
        let seen = self.network.observe(self.now, link, &mut self.wheel);
        LinkOutcome::of(link, &seen, self.now)
    }
}

const TIMER: &str = "the timer of the sender does not advance\n  help: after \
                     `Source::on_timer(now)`, `Source::next_timer` must return a time later than `now`";

/// What a source has done that no law may do.
#[derive(Debug)]
enum Fault {
    /// The source's pace is negative, endless or not a number.
    Pace,
    /// What it told of itself.
    Told(String),
}

/// The first flow whose law has broken a rule, and the time at which that was noticed.
#[derive(Debug, Default)]
pub(super) struct Faults(Option<(FlowId, Time, Fault)>);

impl Faults {
    pub(super) fn look_at(&mut self, flow: &Flow, now: Time) {
        let is_wrong = |pace: Throughput| !pace.get().is_finite() || pace < Throughput::ZERO;
        let sender = &flow.sender;
        let fault = match sender.source().fault() {
            Some(what) => Some(Fault::Told(what)),
            None if sender.law_timer_stands_still() => Some(Fault::Told(TIMER.to_string())),
            None => sender.pacing().is_some_and(is_wrong).then_some(Fault::Pace),
        };
        if let (None, Some(fault)) = (&self.0, fault) {
            self.0 = Some((flow.id, now, fault));
        }
    }
}
