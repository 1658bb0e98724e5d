//! The event loop.
//!
//! [`Simulation::event`] takes each event to the part that it concerns: links to the network,
//! timers of flows to [`Hosts`], packets to their host or to an ensemble's switch. A part returns
//! what concerns others, and the loop carries that out. No part knows the loop.

mod begin;
mod environment;
mod faults;
mod hosts;
mod observing;
mod outcomes;
mod records;
mod relays;
mod schedule;
mod steps;
mod turns;

use ratewire_net::Label;
use ratewire_transport::Reply;
use ratewire_units::Time;

use crate::ensemble::Junctions;
use crate::error::RunError;
use crate::flow::Flow;
use crate::outcome::Outcome;
use crate::record::{FlowId, FollowedFate, PROGRESS_EVERY, Recorder};
use crate::setup::{FlowSpec, Setup, SetupError};
use crate::speed::Speed;
use crate::traffic::Traffic;
use environment::Environment;
use faults::Faults;
use hosts::{Action, Delivered, Hosts};
use outcomes::Outcomes;
use records::Records;
use schedule::{OtherEvent, Subject};
pub use steps::{FlowState, Route, Steps};
use turns::Turns;

/// Runs a setup to its end.
///
/// # Errors
/// An error if a flow has no route, if a law breaks a rule of its traits, or if packets are not
/// conserved.
pub fn run(setup: &Setup, recorder: &mut dyn Recorder) -> Result<Outcome, RunError> {
    run_with(setup, recorder, Speed::full())
}

/// Runs a setup to its end with the given means of speed.
///
/// The outcome does not depend on them, except for the order of events at one instant, and the
/// number of events. A recorder that ends the run gets the outcome so far: [`Outcome::ended`] is
/// then before the end of the setup.
///
/// # Errors
/// An error if a flow has no route, if a law breaks a rule of its traits, if packets are not
/// conserved, or if the recorder ends the run at its start.
pub fn run_with(
    setup: &Setup,
    recorder: &mut dyn Recorder,
    speed: Speed,
) -> Result<Outcome, RunError> {
    let mut simulation = Simulation::new(setup, Box::new(recorder), speed)?;
    match simulation.run() {
        Err(RunError::Stopped(at)) if at > Time::ZERO => {
            (simulation.env.clock.now, simulation.env.clock.end) = (at, at);
        }
        ran => ran?,
    }
    simulation.outcome()
}

/// One run: `new`; then `run`, or `run_until` for each step of one in steps; `outcome` is the last.
pub(crate) struct Simulation<'a> {
    setup: &'a Setup,
    env: Environment,
    hosts: Hosts<'a>,
    junctions: Junctions,
    traffic: Vec<Traffic>,
    outcomes: Outcomes<'a>,
    records: Records<'a>,
    faults: Faults,
    /// State of turns, if hosts take turns with the network.
    turns: Option<Turns>,
    /// Packets in the network at once above which memory that coming events need is fetched.
    few_packets: usize,
}

impl<'a> Simulation<'a> {
    fn run(&mut self) -> Result<(), RunError> {
        self.run_in_turns()?;
        while let Some((at, subject)) = self.env.schedule.pop() {
            if at > self.env.clock.end {
                break;
            }
            self.event(at, subject)?;
        }
        self.env.clock.now = self.env.clock.end;
        Ok(())
    }

    /// Handles all events before this time, and reaches it. Hosts must not take turns.
    fn run_until(&mut self, limit: Time) -> Result<(), RunError> {
        while let Some((at, subject)) = self.env.schedule.pop_before(limit) {
            self.event(at, subject)?;
        }
        self.env.clock.now = limit;
        Ok(())
    }

    #[inline]
    fn looks_ahead(&self) -> bool {
        self.env.network.most_packets() > self.few_packets
    }

    #[inline(always)]
    fn event(&mut self, at: Time, subject: Subject) -> Result<(), RunError> {
        debug_assert!(at >= self.env.clock.now, "an event at {at} after {}", self.env.clock.now);
        self.env.clock.advance(at)?;
        match subject {
            Subject::Link(link) => {
                if self.looks_ahead() {
                    self.env.network.look_ahead().foresee_next(link);
                }
                if let Some(packet) = self.env.network.on_event(at, link, &mut self.env.schedule) {
                    self.deliver(&packet);
                }
                if self.env.network.news().take_any() {
                    self.take_news();
                }
            }
            Subject::Timer(slot) => self.flow_timer(slot),
            Subject::Release(link) => self.env.network.release(at, link, &mut self.env.schedule),
            Subject::Other(index) => self.other_event(index)?,
        }
        if self.env.clock.events.is_multiple_of(PROGRESS_EVERY) || self.records.is_to_end {
            // Without a packet to report them with, the frames would wait until the end.
            self.records.report_frames(&mut self.env);
            self.report_progress(at)?;
        }
        Ok(())
    }

    /// A packet has arrived at the end of its route.
    #[inline]
    fn deliver(&mut self, label: &Label) {
        if self.junctions.has(label.generation) && self.relay(label) {
            return;
        }
        match self.hosts.deliver(&mut self.env, label) {
            Delivered::Taken(None) => {}
            Delivered::Taken(Some(action)) => self.carry_out(action),
            Delivered::Data(slot, reply) => {
                self.complete_if_whole(slot);
                if reply == Reply::Later && self.env.network.tracer().follows(label) {
                    self.end_following(FollowedFate::AcknowledgedLater);
                }
                self.hosts.reply(&mut self.env, slot, label, reply);
            }
            Delivered::Followed(slot, header) => {
                self.end_following(FollowedFate::Acknowledged(self.env.clock.now, *header));
                self.pump(slot);
            }
        }
    }

    fn flow_timer(&mut self, slot: u32) {
        if let Some(action) = self.hosts.on_timer(&mut self.env, slot) {
            self.carry_out(action);
        }
    }

    /// Lets a flow send what it may.
    fn pump(&mut self, slot: u32) {
        if let Some(action) = self.hosts.pump(&mut self.env, slot) {
            self.carry_out(action);
        }
    }

    /// Does what is to be done about a flow that has sent what it could.
    #[cold]
    fn carry_out(&mut self, action: Action) {
        let mut next = Some(action);
        while let Some(action) = next {
            next = match action {
                Action::Retire(slot) => {
                    let flow = self.hosts.remove(slot);
                    self.end_flow(flow);
                    None
                }
                Action::Complete(slot) => {
                    self.complete(slot);
                    self.hosts.rest(&mut self.env, slot)
                }
                Action::Report(slot) => {
                    let ends = self.records.is_told_to_end(&self.env, &self.hosts);
                    if ends {
                        self.hosts.rest(&mut self.env, slot)
                    } else {
                        self.hosts.pump(&mut self.env, slot)
                    }
                }
            };
        }
    }

    /// Reports captured packets, and lets sockets send that have room, a packet each in turn.
    #[cold]
    fn take_news(&mut self) {
        self.records.report_captured(&mut self.env);
        for link in self.env.network.news().take_unblocked() {
            while let Some(slot) = self.hosts.next_with_room(&mut self.env, link) {
                if let Some(action) = self.hosts.send_one(&mut self.env, slot) {
                    self.carry_out(action);
                }
            }
        }
    }

    #[cold]
    fn other_event(&mut self, index: u32) -> Result<(), RunError> {
        let (setup, now) = (self.setup, self.env.clock.now);
        match self.env.schedule.take(index) {
            OtherEvent::Start(index) => {
                self.start(FlowId(index), &setup.flows[index as usize], None)?;
            }
            OtherEvent::Stop(id) => {
                if let Some(slot) = self.hosts.stop(id) {
                    self.complete_if_whole(slot);
                    self.pump(slot);
                }
            }
            OtherEvent::Arrive(class) => self.arrive(class as usize)?,
            OtherEvent::Change(index) => {
                let (_, link, change) = &setup.changes[index as usize];
                self.env.network.change(now, *link, change, &mut self.env.schedule);
            }
            OtherEvent::Member(index) => {
                self.member_event(setup.ensembles.events[index as usize].1)
            }
            OtherEvent::Switch(switch) => {
                self.junctions.on_timer(now, switch);
                self.send_on(switch, None);
            }
            OtherEvent::Follow => self.hosts.follow_asked(&mut self.env),
            OtherEvent::Overlay(event) => self.overlay_event(event),
            OtherEvent::Sample => {
                self.sample();
                self.records.report_frames(&mut self.env);
                self.report_progress(now)?;
                self.schedule_sample();
            }
        }
        Ok(())
    }

    /// The next flow of a class of traffic arrives.
    fn arrive(&mut self, class: usize) -> Result<(), SetupError> {
        let (spec, traffic) = (&self.setup.traffic[class], &mut self.traffic[class]);
        let arrival = traffic.arrive(spec);
        self.env.schedule.later(traffic.next(spec), OtherEvent::Arrive(class as u32));
        let Some(arrival) = arrival else { return Ok(()) };
        let flow = arrival.flow(spec, traffic.count, self.env.clock.now);
        let id = self.outcomes.add(&flow, class);
        self.start(id, &flow, Some(class))
    }

    fn start(
        &mut self,
        id: FlowId,
        spec: &FlowSpec,
        class: Option<usize>,
    ) -> Result<(), SetupError> {
        let now = self.env.clock.now;
        let slot = self.hosts.open(&mut self.env, id, spec)?;
        self.records.start(now, id, spec, class);
        self.outcomes.list[id.0 as usize].started = Some(now);
        self.complete_if_whole(slot);
        if self.setup.follow.asked.is_some_and(|(flow, at)| flow == id && at <= now) {
            self.hosts.follow_asked(&mut self.env);
        }
        self.pump(slot);
        Ok(())
    }

    /// Notes that all data of a flow have arrived, unless not all have or it is noted already.
    fn complete_if_whole(&mut self, slot: u32) {
        if self.hosts.is_whole(slot) {
            self.complete(slot);
        }
    }

    /// Notes that the last byte of a flow, or of a message on a link of an overlay, has arrived.
    #[cold]
    fn complete(&mut self, slot: u32) {
        let now = self.env.clock.now;
        let Some(flow) = self.hosts.flows.at(slot) else { return };
        if let Some(link) = flow.fed {
            let Some(overlay) = &mut self.env.overlay else { return };
            let (node, end) = overlay.arrived(now, link, flow.receiver.delivered());
            flow.end = end;
            return self.stir(node);
        }
        let id = flow.id.0;
        flow.completed = true;
        flow.passed = self.junctions.passed(id);
        // The end of a switch's part of a stream becomes known after its last byte has arrived.
        let at = if self.junctions.arrives_at_host(id) { flow.grew } else { now };
        let paths = (&mut self.hosts.paths.routes, &mut self.env.network);
        let completed = self.outcomes.complete(at, flow, paths);
        self.records.recorder.flow_completed(&completed);
        for beyond in self.junctions.over_with(id, &self.outcomes.list) {
            if let Some(slot) = self.hosts.slot_of(beyond)
                && self.hosts.flows.at(slot).is_some_and(|flow| !flow.completed)
            {
                self.complete(slot);
            }
        }
    }

    /// Keeps the results of a flow, or of one of its lives, that has ended.
    fn end_flow(&mut self, flow: Option<Box<Flow>>) {
        let Some(mut flow) = flow else { return };
        flow.passed = self.junctions.passed(flow.id.0);
        self.records.end(self.env.clock.now, &mut flow);
        self.faults.look_at(&flow, self.env.clock.now);
        self.outcomes.settle(&flow);
    }
}
