//! What the recorder of a run is told.

use core::ops::ControlFlow;

use ratewire_net::Observation;
use ratewire_net::spec::LinkId;
use ratewire_units::{Bytes, Time};

use super::environment::Environment;
use super::faults::Faults;
use super::hosts::Hosts;
use crate::ensemble::Junctions;
use crate::flow::Flow;
use crate::record::{
    ArrivingSample, FlowId, FlowSample, FlowStarted, Followed, LinkSample, PacketSeen, Progress,
    Recorder,
};
use crate::setup::{FlowSpec, Setup};

/// The recorder, and what it has not been told yet.
pub(super) struct Records<'a> {
    setup: &'a Setup,
    pub(super) recorder: Box<dyn Recorder + 'a>,
    /// Sampled links, with their last observation.
    sampled: Vec<(LinkId, Observation)>,
    last_sample: Time,
    /// Samples of flows that have ended since the last sample.
    ended: Vec<FlowSample>,
    /// Data of ended arriving flows since the last sample.
    arrived: Bytes,
    /// Whether the recorder ends the run after this event.
    pub(super) is_to_end: bool,
}

impl<'a> Records<'a> {
    pub(super) fn new(setup: &'a Setup, recorder: Box<dyn Recorder + 'a>) -> Records<'a> {
        let all = || (0..setup.network.links.len() as u32).map(LinkId).collect();
        let sampled = setup.sampled_links.clone().unwrap_or_else(all).into_iter();
        let sampled = sampled.filter(|_| setup.sample_interval.is_some());
        Records {
            setup,
            recorder,
            sampled: sampled.map(|link| (link, Observation::default())).collect(),
            last_sample: Time::ZERO,
            ended: Vec::new(),
            arrived: Bytes::ZERO,
            is_to_end: false,
        }
    }

    pub(super) fn start(&mut self, at: Time, flow: FlowId, spec: &FlowSpec, class: Option<usize>) {
        self.recorder.flow_started(&FlowStarted {
            flow,
            name: &spec.name,
            from: spec.from,
            to: spec.to,
            law: spec.law,
            at,
            size: spec.size(),
            traffic: class,
        });
    }

    /// Notes the last sample of a flow that ends. It is reported with the others, at the end of the
    /// interval.
    pub(super) fn end(&mut self, now: Time, flow: &mut Flow) {
        if self.setup.sample_interval.is_some() && flow.id.0 < self.setup.sampled_flows {
            let interval = now.since(self.last_sample);
            self.ended.push(flow.sample(now, interval, &self.setup.laws));
        } else {
            self.arrived += flow.newly_delivered();
        }
    }

    /// Reports what has happened since the last sample, if time has passed.
    pub(super) fn sample(
        &mut self,
        env: &mut Environment,
        hosts: &mut Hosts<'_>,
        junctions: &Junctions,
        faults: &mut Faults,
    ) {
        let at = env.clock.now;
        let interval = at.since(core::mem::replace(&mut self.last_sample, at));
        if interval.is_zero() {
            return;
        }
        for ended in self.ended.drain(..) {
            self.recorder.flow_sample(&FlowSample { at, interval, ..ended });
        }
        for slot in 0..hosts.flows.slots() {
            let Some(flow) = hosts.flows.at(slot) else { continue };
            if flow.id.0 < self.setup.sampled_flows {
                flow.passed = junctions.passed(flow.id.0);
                let mut sample = flow.sample(at, interval, &self.setup.laws);
                if let Some(outstanding) = junctions.outstanding(flow.id.0) {
                    (sample.window, sample.in_flight) = (Bytes::MAX, Some(outstanding));
                }
                faults.look_at(flow, at);
                self.recorder.flow_sample(&sample);
            } else {
                self.arrived += flow.newly_delivered();
            }
        }
        if !self.setup.traffic.is_empty() {
            let delivered = core::mem::take(&mut self.arrived);
            self.recorder.arriving_sample(&ArrivingSample { at, interval, delivered });
        }
        for (link, before) in &mut self.sampled {
            let seen = env.network.observe(at, *link, &mut env.schedule);
            self.recorder.link_sample(&LinkSample::of(*link, before, &seen, at, interval));
            *before = seen;
        }
        if let Some(overlay) = &mut env.overlay {
            overlay.sample(at, interval, &mut *self.recorder);
        }
        hosts.count_losses(env);
        if self.setup.follow.in_turn {
            let followed = hosts.follow_next(env);
            self.report_followed(followed);
        }
    }

    /// Reports captured packets.
    pub(super) fn report_captured(&mut self, env: &mut Environment) {
        let mut captured = env.network.news().take_captured();
        // Packets on their way to lagging hosts are captured later than others.
        captured.sort_by_key(|packet| packet.at);
        if !captured.is_empty() {
            self.report_frames(env);
        }
        for packet in captured {
            let flow = FlowId(packet.label.generation);
            self.recorder.packet(&PacketSeen { flow, packet });
        }
    }

    /// Reports frames that captured links have carried or obeyed.
    pub(super) fn report_frames(&mut self, env: &mut Environment) {
        for frame in env.network.news().take_frames(env.clock.now) {
            self.recorder.frame(&frame);
        }
    }

    /// Reports a followed packet.
    pub(super) fn report_followed(&mut self, followed: Option<Followed>) {
        if let Some(followed) = followed {
            self.recorder.followed(&followed);
        }
    }

    /// Reports the progress up to this time, after which the recorder may end the run.
    pub(super) fn report_progress(
        &mut self,
        now: Time,
        env: &Environment,
        hosts: &Hosts<'_>,
    ) -> ControlFlow<()> {
        self.is_to_end = false;
        let (packets, flows) = (env.network.in_flight(), hosts.flows.in_use());
        self.recorder.progress(&Progress { now, packets, flows })
    }

    /// Reports the progress within an event that sends many packets; returns whether the run is to
    /// end after this event.
    #[cold]
    pub(super) fn is_told_to_end(&mut self, env: &Environment, hosts: &Hosts<'_>) -> bool {
        self.is_to_end = self.report_progress(env.clock.now, env, hosts).is_break();
        self.is_to_end
    }
}
