//! Observation of a run, and its outcome.

use ratewire_net::spec::LinkId;
use ratewire_units::Bytes;

use super::Simulation;
use crate::error::RunError;
use crate::outcome::{LinkOutcome, Outcome};
use crate::record::{ArrivingSample, FlowSample, LinkSample, Recorder};

impl<R: Recorder> Simulation<'_, R> {
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
        if self.setup.follow.in_turn {
            self.follow_next();
        }
    }

    pub(super) fn finish(mut self) -> Result<Outcome, RunError> {
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
        for flow in &mut self.outcomes {
            flow.clamps = self.network.clamps(flow.flow.0);
            flow.delivered = flow.delivered.saturating_sub(self.junctions.skipped(flow.flow.0));
        }
        let mut links = Vec::with_capacity(self.setup.network.links.len());
        for i in 0..self.setup.network.links.len() as u32 {
            links.push(self.settle_link(LinkId(i)));
        }
        self.packets.dropped = links.iter().map(|l| l.drops.total()).sum();
        self.packets.in_flight = self.network.in_flight();
        let p = self.packets;
        let unbalanced = self.network.unbalanced_link();
        if p.sent != p.delivered + p.dropped + p.in_flight || unbalanced.is_some() {
            return Err(RunError::NotConserved { packets: p, link: unbalanced });
        }
        self.check_overlay()?;
        Ok(Outcome {
            overlay: self.overlay.map(|mut overlay| overlay.outcome(self.end)),
            flows: self.outcomes,
            links,
            packets: p,
            events: self.events,
            data_packets_delivered: self.data_packets,
            ended: self.end,
            deadlock: self.network.deadlock().cloned(),
        })
    }

    pub(super) fn settle_link(&mut self, link: LinkId) -> LinkOutcome {
        let seen = self.network.observe(self.now, link, &mut self.wheel);
        LinkOutcome::of(link, &seen, self.now)
    }
}
