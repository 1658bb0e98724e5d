//! The event loop.

mod follow;
mod hosts;
mod lifecycle;
mod overlay;
mod samples;
mod sockets;
pub(crate) mod speed;
mod spread;
mod steps;

use std::ops::ControlFlow;

use ratewire_net::spec::{LinkId, NodeId};
use ratewire_net::{Network, Observation, Scheduler};
use ratewire_units::{Bytes, Time};

use crate::SetupError;
use crate::delays::AllDelays;
use crate::ensemble::Junctions;
use crate::error::RunError;
use crate::flow::FlowTable;
use crate::jitter;
use crate::outcome::{FlowOutcome, Outcome, PacketCounts};
use crate::overlay::Daemons;
use crate::record::{FlowId, FlowSample, PacketSeen, Progress, Recorder};
use crate::routes::RouteTable;
use crate::setup::{Arrivals, Setup, TrafficSpec};
use crate::traffic::Traffic;
use crate::wheel::Wheel;
use follow::Following;
use lifecycle::outcome;
use overlay::OverlayEvent;
use samples::Faults;
use sockets::Waits;
pub use speed::Speed;
use speed::foresight::Foresight;
use speed::turns::Turns;
use spread::Spread;
pub use steps::{FlowState, Route, Steps};

/// Layout of an event's subject: the kind in the two highest bits, an index in the rest.
const KIND_SHIFT: u32 = 30;
const INDEX: u32 = (1 << KIND_SHIFT) - 1;
const LINK: u32 = 0;
const FLOW_TIMER: u32 = 1 << KIND_SHIFT;
const OTHER: u32 = 2 << KIND_SHIFT;
/// A host has processed a packet, and puts it on this link.
const RELEASE: u32 = 3 << KIND_SHIFT;

/// Events at one instant above which the simulation is stuck in a loop.
const MOST_AT_ONCE: u64 = 1 << 26;

/// Events between two calls of [`Recorder::progress`], and packets that one event may send between
/// two. A recorder that ends the run must not wait for long, whatever an event costs.
const PROGRESS_EVERY: u64 = 1 << 14;

impl Scheduler for Wheel {
    #[inline]
    fn schedule(&mut self, at: Time, link: LinkId) {
        self.push_in_any_order(at, LINK | link.0);
    }

    fn schedule_release(&mut self, at: Time, link: LinkId) {
        self.push_in_any_order(at, RELEASE | link.0);
    }
}

/// Events that belong neither to links nor to flows' timers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OtherEvent {
    Start(u32),
    Stop(u32),
    Arrive(u32),
    Change(u32),
    Member(u32),
    Switch(u32),
    Follow,
    Sample,
    Overlay(OverlayEvent),
}

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
            (simulation.now, simulation.end) = (at, at);
        }
        ran => ran?,
    }
    simulation.finish()
}

/// The links to sample, before any observation.
fn sampled_links(setup: &Setup) -> Vec<(LinkId, Observation)> {
    let all_links = || (0..setup.network.links.len() as u32).map(LinkId).collect();
    let listed = setup.sampled_links.clone().unwrap_or_else(all_links);
    let sampled = listed.into_iter().filter(|_| setup.sample_interval.is_some());
    sampled.map(|link| (link, Observation::default())).collect()
}

/// The pairs of nodes that have flows.
fn pairs(setup: &Setup) -> impl Iterator<Item = (NodeId, NodeId)> {
    let listed = setup.flows.iter().map(|f| (f.from, f.to));
    let random = |t: &&TrafficSpec| !matches!(t.arrivals, Arrivals::Listed(_));
    let random = setup.traffic.iter().filter(random);
    let random = random.flat_map(|t| t.pairs.iter().map(|p| (p.0, p.1)));
    let arrivals = setup.traffic.iter().flat_map(|t| match &t.arrivals {
        Arrivals::Listed(list) => &list[..],
        Arrivals::Poisson(_) | Arrivals::Periodic(_) => &[],
    });
    listed.chain(random).chain(arrivals.map(|a| (a.from, a.to)))
}

/// One run: `new`; then `run`, or `run_until` for each step of one in steps; `finish` is the last.
pub(crate) struct Simulation<'a> {
    pub(crate) setup: &'a Setup,
    recorder: Box<dyn Recorder + 'a>,
    pub(crate) network: Network,
    routes: RouteTable,
    /// Paths of packets, if those of a flow take several.
    spread: Option<Spread>,
    pub(crate) wheel: Wheel,
    /// State of turns, if hosts take turns with the network.
    turns: Option<Turns>,
    foresight: Foresight,
    pub(crate) now: Time,
    end: Time,
    others: Vec<OtherEvent>,
    /// Free entries of `others`.
    others_free: Vec<u32>,
    pub(crate) flows: FlowTable,
    /// Slot of each flow that has started.
    pub(crate) slots: Vec<Option<u32>>,
    pub(crate) junctions: Junctions,
    pub(crate) outcomes: Vec<FlowOutcome>,
    traffic: Vec<Traffic>,
    /// Sampled links, with their last observation.
    sampled: Vec<(LinkId, Observation)>,
    last_sample: Time,
    faults: Faults,
    /// Samples of flows that have ended since the last sample.
    ended: Vec<FlowSample>,
    /// Data of ended arriving flows since the last sample.
    arrived: Bytes,
    pub(crate) delays: AllDelays,
    pub(crate) packets: PacketCounts,
    pub(crate) data_packets: u64,
    events: u64,
    /// Number of events before those of this instant.
    events_before: u64,
    /// Whether the recorder ends the run after this event.
    is_to_end: bool,
    following: Following,
    waits: Waits,
    overlay: Option<Box<Daemons>>,
    /// Times at which hosts acted.
    #[cfg(test)]
    acts: Vec<Time>,
}

impl<'a> Simulation<'a> {
    fn new(
        setup: &'a Setup,
        recorder: Box<dyn Recorder + 'a>,
        speed: Speed,
    ) -> Result<Simulation<'a>, SetupError> {
        let mut network = Network::new(&setup.network, &setup.laws, setup.exact_wire, setup.seed);
        let routes = RouteTable::new(setup)?;
        jitter::begin(setup, speed, &mut network, &routes);
        let foresight = Foresight::new(setup, speed, &mut network);
        let turns = Turns::new(setup, speed, &mut network, &routes);
        let mut wheel = Wheel::default();
        if turns.is_some() {
            // Lagging hosts give work to links late, so the order in which links are scheduled
            // depends on where turns end.
            wheel.order_by_what();
        }
        if setup.sample_interval.is_some() {
            network.time_packets();
        }
        let told = setup.captured_links.iter().chain(&setup.watched_links);
        told.for_each(|link| network.watch(*link));
        setup.captured_links.iter().for_each(|link| network.tap(*link));
        let mut simulation = Simulation {
            setup,
            recorder,
            foresight,
            network,
            routes,
            spread: Spread::new(setup),
            wheel,
            turns,
            now: Time::ZERO,
            end: Time::ZERO + setup.duration,
            others: Vec::new(),
            others_free: Vec::new(),
            flows: FlowTable::default(),
            slots: vec![None; setup.flows.len()],
            junctions: Junctions::new(setup),
            outcomes: Vec::with_capacity(setup.flows.len()),
            traffic: Vec::new(),
            sampled: sampled_links(setup),
            last_sample: Time::ZERO,
            faults: Faults::default(),
            ended: Vec::new(),
            arrived: Bytes::ZERO,
            delays: AllDelays::new(setup.measured, setup.flows.len()),
            packets: PacketCounts::default(),
            data_packets: 0,
            events: 0,
            events_before: 0,
            is_to_end: false,
            following: Following::default(),
            waits: Waits::new(setup.seed),
            overlay: None,
            #[cfg(test)]
            acts: Vec::new(),
        };
        simulation.check_routes()?;
        if speed.merges_links {
            simulation.merge_links();
        }
        simulation.schedule_all();
        simulation.open_overlay()?;
        Ok(simulation)
    }

    /// Checks before the start that every flow has a route there and back.
    fn check_routes(&mut self) -> Result<(), SetupError> {
        for (from, to) in pairs(self.setup) {
            self.routes.get(&mut self.network, from, to, 0)?;
            self.routes.get(&mut self.network, to, from, 0)?;
        }
        Ok(())
    }

    /// Lets packets enter links ahead of time, if all routes are known: each pair has one.
    fn merge_links(&mut self) {
        let Simulation { setup, network, routes, .. } = self;
        let has_lines = network.look_ahead().links_without_delay_line() < setup.network.links.len();
        if has_lines {
            return;
        }
        if pairs(setup).any(|(from, to)| routes.has_choice(from, to) || routes.has_choice(to, from))
        {
            return;
        }
        network.merge_links();
    }

    fn schedule_all(&mut self) {
        // Changes come before packets of the same instant.
        for (i, (at, ..)) in self.setup.changes.iter().enumerate() {
            self.later(*at, OtherEvent::Change(i as u32));
        }
        for (i, (at, _)) in self.setup.ensembles.events.iter().enumerate() {
            self.later(*at, OtherEvent::Member(i as u32));
        }
        for (i, flow) in self.setup.flows.iter().enumerate() {
            self.outcomes.push(outcome(FlowId(i as u32), flow));
            let stop = flow.stop.unwrap_or(Time::NEVER);
            if stop > flow.start {
                self.later(flow.start, OtherEvent::Start(i as u32));
                self.later(stop, OtherEvent::Stop(i as u32));
            }
        }
        for (i, spec) in self.setup.traffic.iter().enumerate() {
            let traffic = Traffic::new(spec, i as u64, self.setup.seed);
            let next = traffic.next(spec);
            self.traffic.push(traffic);
            self.later(next, OtherEvent::Arrive(i as u32));
        }
        if let Some((flow, at)) = self.setup.follow.asked
            && self.setup.flows.get(flow.0 as usize).is_some_and(|f| f.start < at)
        {
            self.later(at, OtherEvent::Follow);
        }
        self.schedule_sample();
    }

    fn schedule_sample(&mut self) {
        // `finish` takes the last sample, after all events of the last instant.
        let interval = self.setup.sample_interval.filter(|i| !i.is_zero());
        let next = interval.map(|interval| self.now + interval).filter(|at| *at < self.end);
        self.network.set_observed_at(next.unwrap_or(self.end));
        if let Some(at) = next {
            self.later(at, OtherEvent::Sample);
        }
    }

    pub(crate) fn later(&mut self, at: Time, event: OtherEvent) {
        if at > self.end || at == Time::NEVER {
            return;
        }
        let index = match self.others_free.pop() {
            Some(index) => {
                self.others[index as usize] = event;
                index
            }
            None => {
                self.others.push(event);
                self.others.len() as u32 - 1
            }
        };
        self.wheel.push(at, OTHER | index);
    }

    fn run(&mut self) -> Result<(), RunError> {
        self.run_in_turns()?;
        while let Some((at, what)) = self.wheel.pop() {
            if at > self.end {
                break;
            }
            self.event(at, what)?;
        }
        self.now = self.end;
        Ok(())
    }

    /// Handles all events before this time, and reaches it. Hosts must not take turns.
    fn run_until(&mut self, limit: Time) -> Result<(), RunError> {
        while let Some((at, what)) = self.wheel.pop_before(limit) {
            self.event(at, what)?;
        }
        self.now = limit;
        Ok(())
    }

    #[inline(always)]
    fn event(&mut self, at: Time, what: u32) -> Result<(), RunError> {
        debug_assert!(at >= self.now, "an event at {at} after {}", self.now);
        self.advance(at)?;
        self.foresight.look(what, &mut self.wheel, &self.network, &self.flows);
        let index = what & INDEX;
        match what & !INDEX {
            LINK => {
                if let Some(packet) = self.network.on_event(at, LinkId(index), &mut self.wheel) {
                    self.deliver(&packet);
                }
                if self.network.news().take_any() {
                    self.take_news();
                }
            }
            FLOW_TIMER => self.flow_timer(index),
            RELEASE => self.network.release(at, LinkId(index), &mut self.wheel),
            _ => self.other_event_at(index)?,
        }
        if self.events.is_multiple_of(PROGRESS_EVERY) || self.is_to_end {
            // Without a packet to report them with, the frames would wait until the end.
            self.report_frames();
            self.report_progress(at)?;
        }
        Ok(())
    }

    /// Reports the progress of the run, unless a law has broken a rule of its traits. Hosts and
    /// network must have reached this time: the run may end.
    fn report_progress(&mut self, now: Time) -> Result<(), RunError> {
        self.check_laws()?;
        self.is_to_end = false;
        let (packets, flows) = (self.network.in_flight(), self.flows.in_use());
        match self.recorder.progress(&Progress { now, packets, flows }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(RunError::Stopped(now)),
        }
    }

    /// Reports the progress within an event that sends many packets; returns whether the run is to
    /// end after this event.
    #[cold]
    fn is_told_to_end(&mut self) -> bool {
        let (packets, flows) = (self.network.in_flight(), self.flows.in_use());
        let progress = Progress { now: self.now, packets, flows };
        self.is_to_end = self.recorder.progress(&progress).is_break();
        self.is_to_end
    }

    /// Counts an event and advances the time.
    #[inline]
    fn advance(&mut self, at: Time) -> Result<(), RunError> {
        if at != self.now {
            self.now = at;
            self.events_before = self.events;
        } else if self.events - self.events_before > MOST_AT_ONCE {
            return Err(RunError::Stuck(at));
        }
        self.events += 1;
        Ok(())
    }

    /// Reports captured packets, and lets sockets send that have room.
    #[cold]
    fn take_news(&mut self) {
        let mut captured = self.network.news().take_captured();
        // Packets on their way to lagging hosts are captured later than others.
        captured.sort_by_key(|packet| packet.at);
        if !captured.is_empty() {
            self.report_frames();
        }
        for packet in captured {
            let flow = FlowId(packet.label.generation);
            self.recorder.packet(&PacketSeen { flow, packet });
        }
        let unblocked = self.network.news().take_unblocked();
        self.let_sockets_send(&unblocked);
    }

    /// Reports frames that captured links have carried or obeyed.
    fn report_frames(&mut self) {
        for frame in self.network.news().take_frames(self.now) {
            self.recorder.frame(&frame);
        }
    }

    #[cold]
    fn other_event_at(&mut self, index: u32) -> Result<(), RunError> {
        self.others_free.push(index);
        self.other_event(self.others[index as usize])
    }

    fn other_event(&mut self, event: OtherEvent) -> Result<(), RunError> {
        match event {
            OtherEvent::Start(index) => {
                let spec = &self.setup.flows[index as usize];
                self.start(FlowId(index), spec, None)?;
            }
            OtherEvent::Stop(index) => {
                if let Some(slot) = self.slots[index as usize]
                    && let Some(flow) = self.flows.get(slot, index)
                {
                    flow.sender.stop();
                    flow.end = flow.sender.stream_end().unwrap_or(u64::MAX);
                    self.complete_if_whole(slot);
                    self.pump(slot);
                }
            }
            OtherEvent::Arrive(class) => self.arrive(class as usize)?,
            OtherEvent::Change(index) => {
                let (_, link, change) = &self.setup.changes[index as usize];
                self.network.change(self.now, *link, change, &mut self.wheel);
            }
            OtherEvent::Member(index) => {
                self.member_event(self.setup.ensembles.events[index as usize].1)
            }
            OtherEvent::Switch(junction) => self.switch_timer(junction),
            OtherEvent::Follow => self.follow_asked(),
            OtherEvent::Overlay(event) => self.overlay_event(event),
            OtherEvent::Sample => {
                self.sample();
                self.report_frames();
                self.report_progress(self.now)?;
                self.schedule_sample();
            }
        }
        Ok(())
    }
}
