//! The event loop.

use ratewire_net::spec::LinkId;
use ratewire_net::{Body, Captured, Ecn, Label, Network, Scheduler};
use ratewire_transport::{App, Reply};
use ratewire_units::{Bytes, Duration, Time};

use crate::SetupError;
use crate::flow::{Flow, FlowTable, Start};
use crate::outcome::{Drops, FlowOutcome, LinkOutcome, Outcome, PacketCounts};
use crate::record::{FlowCompleted, FlowId, FlowStarted, LinkSample, PacketSeen, Recorder};
use crate::routes::{RouteInfo, RouteTable};
use crate::setup::{Arrivals, FlowSpec, Setup, TrafficSpec};
use crate::traffic::Traffic;
use crate::wheel::Wheel;

/// What an event is about: the kind in the two highest bits, an index in the rest.
const KIND_SHIFT: u32 = 30;
const INDEX: u32 = (1 << KIND_SHIFT) - 1;
const LINK: u32 = 0;
const FLOW_TIMER: u32 = 1 << KIND_SHIFT;
const OTHER: u32 = 2 << KIND_SHIFT;

/// More events than this at one instant mean that something goes round without end.
const MOST_AT_ONCE: u64 = 1 << 26;

/// Events between two calls of [`Recorder::progress`].
const PROGRESS_EVERY: u64 = 1 << 16;

impl Scheduler for Wheel {
    #[inline]
    fn schedule(&mut self, at: Time, link: LinkId) {
        self.push(at, LINK | link.0);
    }
}

/// Events that are rare.
#[derive(Clone, Copy, Debug)]
enum Rare {
    Start(u32),
    Stop(u32),
    Arrive(u32),
    Change(u32),
    Sample,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// It cannot start.
    Setup(SetupError),
    /// Time stands still: a bug in Ratewire.
    Stuck(Time),
    /// Packets were made or lost by the engine: a bug in Ratewire.
    NotConserved {
        /// What became of all packets.
        packets: PacketCounts,
        /// A link whose books do not balance, if that is where it shows.
        link: Option<LinkId>,
    },
}

impl core::fmt::Display for RunError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            RunError::Setup(e) => e.fmt(f),
            RunError::Stuck(at) => {
                write!(f, "time stands still at {at}: this is a bug in Ratewire")
            }
            RunError::NotConserved { packets, link } => write!(
                f,
                "packets are not conserved ({packets:?}, link {link:?}): this is a bug in Ratewire"
            ),
        }
    }
}
impl core::error::Error for RunError {}

impl From<SetupError> for RunError {
    fn from(e: SetupError) -> RunError {
        RunError::Setup(e)
    }
}

/// Runs a setup to its end.
///
/// # Errors
/// When a flow has no route, or packets are not conserved.
pub fn run(setup: &Setup, recorder: &mut impl Recorder) -> Result<Outcome, RunError> {
    let mut simulation = Simulation::new(setup, recorder)?;
    simulation.run()?;
    simulation.finish()
}

struct Simulation<'a, R> {
    setup: &'a Setup,
    recorder: &'a mut R,
    network: Network,
    routes: RouteTable,
    wheel: Wheel,
    now: Time,
    end: Time,
    rare: Vec<Rare>,
    /// Entries of `rare` whose event is over, to be used again.
    rare_free: Vec<u32>,
    flows: FlowTable,
    /// Slot of each flow that has started.
    slots: Vec<Option<u32>>,
    outcomes: Vec<FlowOutcome>,
    traffic: Vec<Traffic>,
    sampled: Vec<LinkId>,
    last_sample: Time,
    link_before: Vec<LinkBefore>,
    packets: PacketCounts,
    data_packets: u64,
    events: u64,
}

/// A link's counters as of the last sample.
#[derive(Clone, Copy, Debug, Default)]
struct LinkBefore {
    busy: Duration,
    sent: Bytes,
    drops: u64,
    marks: u64,
    area_packets: u128,
    area_bytes: u128,
}

impl<'a, R: Recorder> Simulation<'a, R> {
    fn new(setup: &'a Setup, recorder: &'a mut R) -> Result<Simulation<'a, R>, SetupError> {
        let mut network = Network::new(&setup.network, &setup.laws, setup.exact_wire, setup.seed);
        let routes = RouteTable::new(&setup.network, &setup.paths)?;
        setup.captured_links.iter().for_each(|link| network.capture(*link));
        let all_links = || (0..setup.network.links.len() as u32).map(LinkId).collect();
        let mut simulation = Simulation {
            setup,
            recorder,
            network,
            routes,
            wheel: Wheel::default(),
            now: Time::ZERO,
            end: Time::ZERO + setup.duration,
            rare: Vec::new(),
            rare_free: Vec::new(),
            flows: FlowTable::default(),
            slots: vec![None; setup.flows.len()],
            outcomes: Vec::with_capacity(setup.flows.len()),
            traffic: Vec::new(),
            sampled: setup.sampled_links.clone().unwrap_or_else(all_links),
            last_sample: Time::ZERO,
            link_before: vec![LinkBefore::default(); setup.network.links.len()],
            packets: PacketCounts::default(),
            data_packets: 0,
            events: 0,
        };
        simulation.check_routes()?;
        simulation.schedule_all();
        Ok(simulation)
    }

    /// Every flow must have a way there and back before anything starts.
    fn check_routes(&mut self) -> Result<(), SetupError> {
        let listed = self.setup.flows.iter().map(|f| (f.from, f.to));
        let random = |t: &&TrafficSpec| !matches!(t.arrivals, Arrivals::Listed(_));
        let pairs = self.setup.traffic.iter().filter(random);
        let pairs = pairs.flat_map(|t| t.pairs.iter().map(|p| (p.0, p.1)));
        let arrivals = self.setup.traffic.iter().flat_map(|t| match &t.arrivals {
            Arrivals::Listed(list) => &list[..],
            Arrivals::Poisson(_) | Arrivals::Periodic(_) => &[],
        });
        let arrivals = arrivals.map(|a| (a.from, a.to));
        for (from, to) in listed.chain(pairs).chain(arrivals) {
            self.routes.get(&mut self.network, from, to, 0)?;
            self.routes.get(&mut self.network, to, from, 0)?;
        }
        Ok(())
    }

    fn schedule_all(&mut self) {
        // Before the packets of the same instant.
        for (i, (at, ..)) in self.setup.changes.iter().enumerate() {
            self.later(*at, Rare::Change(i as u32));
        }
        for (i, flow) in self.setup.flows.iter().enumerate() {
            self.outcomes.push(outcome(FlowId(i as u32), flow));
            let stop = flow.stop.unwrap_or(Time::NEVER);
            if stop > flow.start {
                self.later(flow.start, Rare::Start(i as u32));
                self.later(stop, Rare::Stop(i as u32));
            }
        }
        for (i, spec) in self.setup.traffic.iter().enumerate() {
            let traffic = Traffic::new(spec, i as u64, self.setup.seed);
            let next = traffic.next(spec);
            self.traffic.push(traffic);
            self.later(next, Rare::Arrive(i as u32));
        }
        self.schedule_sample();
    }

    fn schedule_sample(&mut self) {
        if let Some(interval) = self.setup.sample_interval.filter(|i| !i.is_zero()) {
            self.later(self.now + interval, Rare::Sample);
        }
    }

    fn later(&mut self, at: Time, rare: Rare) {
        if at > self.end || at == Time::NEVER {
            return;
        }
        let index = match self.rare_free.pop() {
            Some(index) => {
                self.rare[index as usize] = rare;
                index
            }
            None => {
                self.rare.push(rare);
                self.rare.len() as u32 - 1
            }
        };
        self.wheel.push(at, OTHER | index);
    }

    fn run(&mut self) -> Result<(), RunError> {
        let mut events_before = 0;
        while let Some((at, what)) = self.wheel.pop() {
            if at > self.end {
                break;
            }
            debug_assert!(at >= self.now, "an event at {at} after {}", self.now);
            if at > self.now {
                self.now = at;
                events_before = self.events;
            } else if self.events - events_before > MOST_AT_ONCE {
                return Err(RunError::Stuck(at));
            }
            self.events += 1;
            let index = what & INDEX;
            match what & !INDEX {
                LINK => {
                    if let Some(packet) = self.network.on_event(at, LinkId(index), &mut self.wheel)
                    {
                        self.deliver(&packet);
                    }
                    if let Some(captured) = self.network.take_captured() {
                        self.tell_captured(&captured);
                    }
                }
                FLOW_TIMER => self.flow_timer(index),
                _ => {
                    self.rare_free.push(index);
                    self.rare_event(self.rare[index as usize])?;
                }
            }
            if self.events.is_multiple_of(PROGRESS_EVERY) {
                self.recorder.progress(at);
            }
        }
        self.now = self.end;
        Ok(())
    }

    #[cold]
    fn tell_captured(&mut self, captured: &[Captured]) {
        for packet in captured {
            let flow = FlowId(packet.label.generation);
            self.recorder.packet(&PacketSeen { flow, packet: *packet });
        }
    }

    /// A packet has arrived at the host it was for.
    #[inline]
    fn deliver(&mut self, label: &Label) {
        let now = self.now;
        self.packets.delivered += 1;
        let slot = label.flow;
        let Some(flow) = self.flows.get(slot, label.generation) else {
            let is_data = matches!(self.network.content(label).body, Body::Data { .. });
            self.data_packets += u64::from(is_data);
            self.network.remove(label);
            return;
        };
        let content = self.network.content(label);
        match content.body {
            Body::Ack { .. } => {
                if let Some(ack) = self.network.ack(label) {
                    flow.sender.on_ack(now, &ack);
                }
                self.network.remove(label);
                self.pump(slot);
            }
            Body::Data { offset, payload } => {
                self.data_packets += 1;
                let marked = label.ecn == Ecn::Marked;
                let payload = Bytes::new(u64::from(payload));
                let reply = flow.receiver.on_data(now, offset, payload, &content.header, marked);
                if flow.receiver.delivered().get() >= flow.end && !flow.completed {
                    self.complete(slot);
                }
                match reply {
                    Reply::Now => self.acknowledge(slot, label),
                    Reply::Later => {
                        self.network.remove(label);
                        self.arm(slot);
                    }
                }
            }
            Body::Open => {
                let ack = flow.receiver.open(now);
                let address = flow.back(slot, flow.open_size);
                self.packets.sent += 1;
                self.network.answer(now, label, &address, &ack, &mut self.wheel);
            }
        }
    }

    /// Sends the packet that has arrived back as its acknowledgement.
    #[inline]
    fn acknowledge(&mut self, slot: u32, label: &Label) {
        let Some(flow) = self.flows.at(slot) else { return };
        let mut ack = flow.receiver.acknowledge(self.now);
        let address = flow.back(slot, flow.ack_size);
        let waits = flow.receiver.deadline() != Time::NEVER;
        if self.setup.exact_wire {
            let law = &self.setup.laws[flow.law as usize];
            ack.header = law.quantise(ack.header, Bytes::new(u64::from(address.size)));
        }
        self.packets.sent += 1;
        self.network.answer(self.now, label, &address, &ack, &mut self.wheel);
        if waits {
            self.arm(slot);
        }
    }

    /// Sends what the sender may send now, and notes when it wants to be called.
    #[inline]
    fn pump(&mut self, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        while let Some(mut segment) = flow.sender.poll_transmit(self.now) {
            self.packets.sent += 1;
            let address = flow.out(slot, &mut segment, self.setup);
            self.network.send(self.now, &address, &segment, &mut self.wheel);
        }
        if flow.end == u64::MAX {
            flow.end = flow.sender.stream_end().unwrap_or(u64::MAX);
        }
        if flow.sender.is_done() {
            self.retire(slot);
        } else {
            self.arm(slot);
        }
    }

    #[inline]
    fn arm(&mut self, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        let due = flow.sender.deadline().min(flow.receiver.deadline());
        if due < flow.timer_at {
            flow.timer_at = due;
            self.wheel.push(due, FLOW_TIMER | slot);
        }
    }

    fn flow_timer(&mut self, slot: u32) {
        let now = self.now;
        let Some(flow) = self.flows.at(slot) else { return };
        if flow.timer_at != now {
            return;
        }
        flow.timer_at = Time::NEVER;
        if flow.receiver.deadline() <= now && flow.receiver.on_timer(now) {
            let mut ack = flow.receiver.acknowledge(now);
            let address = flow.back(slot, flow.ack_size);
            if self.setup.exact_wire {
                let law = &self.setup.laws[flow.law as usize];
                ack.header = law.quantise(ack.header, Bytes::new(u64::from(address.size)));
            }
            self.packets.sent += 1;
            self.network.acknowledge(now, &address, &ack, &mut self.wheel);
        }
        if let Some(mut segment) = flow.sender.on_timer(now) {
            self.packets.sent += 1;
            let address = flow.out(slot, &mut segment, self.setup);
            self.network.send(now, &address, &segment, &mut self.wheel);
        }
        self.pump(slot);
    }

    #[cold]
    fn rare_event(&mut self, rare: Rare) -> Result<(), SetupError> {
        match rare {
            Rare::Start(index) => {
                let spec = &self.setup.flows[index as usize];
                self.start(FlowId(index), spec, None)?;
            }
            Rare::Stop(index) => {
                if let Some(slot) = self.slots[index as usize]
                    && let Some(flow) = self.flows.get(slot, index)
                {
                    flow.sender.stop();
                    flow.end = flow.sender.stream_end().unwrap_or(u64::MAX);
                    self.complete_if_whole(slot);
                    self.pump(slot);
                }
            }
            Rare::Arrive(class) => self.arrive(class as usize)?,
            Rare::Change(index) => {
                let (_, link, change) = &self.setup.changes[index as usize];
                self.network.change(self.now, *link, change, &mut self.wheel);
            }
            Rare::Sample => {
                self.sample();
                self.schedule_sample();
            }
        }
        Ok(())
    }

    fn arrive(&mut self, class: usize) -> Result<(), SetupError> {
        let spec = &self.setup.traffic[class];
        let arrival = self.traffic[class].arrive(spec);
        let count = self.traffic[class].count;
        self.later(self.traffic[class].next(spec), Rare::Arrive(class as u32));
        let Some(arrival) = arrival else { return Ok(()) };
        let id = FlowId(self.outcomes.len() as u32);
        let flow = FlowSpec {
            name: format!("{}.{count}", spec.name),
            from: arrival.from,
            to: arrival.to,
            law: spec.law,
            start: self.now,
            stop: None,
            app: App::sized(arrival.size),
            transport: spec.transport.clone(),
        };
        self.outcomes.push(FlowOutcome { traffic: Some(class), ..outcome(id, &flow) });
        self.slots.push(None);
        self.start(id, &flow, Some(class))
    }

    fn start(
        &mut self,
        id: FlowId,
        spec: &FlowSpec,
        traffic: Option<usize>,
    ) -> Result<(), SetupError> {
        let forward = self.routes.get(&mut self.network, spec.from, spec.to, u64::from(id.0))?;
        let reverse = self.routes.get(&mut self.network, spec.to, spec.from, u64::from(id.0))?;
        let flow = Flow::new(&Start {
            now: self.now,
            id,
            law: spec.law,
            laws: &self.setup.laws,
            transport: &spec.transport,
            app: &spec.app,
            forward: forward.id,
            reverse: reverse.id,
            line_rate: forward.line_rate,
        });
        self.recorder.flow_started(&FlowStarted {
            flow: id,
            name: &spec.name,
            from: spec.from,
            to: spec.to,
            law: spec.law,
            at: self.now,
            traffic,
        });
        let slot = self.flows.insert(flow);
        self.slots[id.0 as usize] = Some(slot);
        self.outcomes[id.0 as usize].started = Some(self.now);
        self.complete_if_whole(slot);
        self.pump(slot);
        Ok(())
    }

    /// Completes a flow that turns out to have delivered everything without a packet's arriving: an
    /// empty one, or one that is stopped when nothing is on the way.
    fn complete_if_whole(&mut self, slot: u32) {
        let whole = |f: &mut Flow| f.receiver.delivered().get() >= f.end && !f.completed;
        if self.flows.at(slot).is_some_and(whole) {
            self.complete(slot);
        }
    }

    /// The last byte of a flow has arrived.
    #[cold]
    fn complete(&mut self, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        flow.completed = true;
        let index = flow.id.0 as usize;
        let outcome = &mut self.outcomes[index];
        outcome.completed = Some(self.now);
        let start = outcome.started.unwrap_or(self.now);
        let (from, to) = (outcome.from, outcome.to);
        let size = flow.receiver.delivered();
        let headers = Bytes::new(u64::from(flow.headers));
        let mss = self.packet_size(index).saturating_sub(headers);
        let retransmitted = flow_retransmitted(&mut self.flows, slot);
        let route: Result<RouteInfo, _> =
            self.routes.get(&mut self.network, from, to, index as u64);
        let outcome = &self.outcomes[index];
        self.recorder.flow_completed(&FlowCompleted {
            flow: FlowId(index as u32),
            law: outcome.law,
            traffic: outcome.traffic,
            size,
            start,
            took: self.now.since(start),
            ideal: route.map_or(Duration::ZERO, |r| r.ideal(size, mss, headers)),
            retransmitted,
        });
    }

    fn packet_size(&self, flow: usize) -> Bytes {
        match self.outcomes[flow].traffic {
            Some(class) => self.setup.traffic[class].transport.packet,
            None => self.setup.flows[flow].transport.packet,
        }
    }

    /// Everything is acknowledged: the flow's state goes, its outcome stays.
    #[cold]
    fn retire(&mut self, slot: u32) {
        if let Some(flow) = self.flows.remove(slot) {
            self.settle(&flow);
        }
    }

    fn settle(&mut self, flow: &Flow) {
        let outcome = &mut self.outcomes[flow.id.0 as usize];
        let stats = flow.sender.stats();
        outcome.delivered = flow.receiver.delivered();
        outcome.retransmitted = stats.retransmitted;
        outcome.timeouts = stats.timeouts;
        outcome.min_rtt = flow.sender.rtt().min();
        outcome.mean_rtt =
            stats.rtt_sum_ns.checked_div(stats.rtt_samples).map(Duration::from_nanos);
    }

    fn sample(&mut self) {
        let interval = self.now.since(self.last_sample);
        if interval.is_zero() {
            return;
        }
        self.last_sample = self.now;
        for slot in 0..self.flows.slots() {
            let Some(flow) = self.flows.at(slot) else { continue };
            if flow.id.0 < self.setup.sampled_flows {
                let sample = flow.sample(self.now, interval);
                self.recorder.flow_sample(&sample);
            }
        }
        for i in 0..self.sampled.len() {
            let link = self.sampled[i];
            self.sample_link(link, interval);
        }
    }

    fn sample_link(&mut self, link: LinkId, interval: Duration) {
        let seen = self.network.observe(self.now, link, &mut self.wheel);
        let before = &mut self.link_before[link.index()];
        let ps = interval.ps() as f64;
        self.recorder.link_sample(&LinkSample {
            at: self.now,
            interval,
            link,
            busy: seen.busy.saturating_sub(before.busy).ps() as f64 / ps,
            sent: seen.sent_bytes - before.sent,
            queue_packets_mean: (seen.area_packets - before.area_packets) as f64 / ps,
            queue_packets_max: seen.peak_packets,
            queue_bytes_mean: (seen.area_bytes - before.area_bytes) as f64 / ps,
            queue_bytes_max: seen.peak_bytes,
            queue_packets: seen.waiting_packets,
            queue_bytes: seen.waiting_bytes,
            drops: seen.drops() - before.drops,
            marks: seen.marked - before.marks,
        });
        *before = LinkBefore {
            busy: seen.busy,
            sent: seen.sent_bytes,
            drops: seen.drops(),
            marks: seen.marked,
            area_packets: seen.area_packets,
            area_bytes: seen.area_bytes,
        };
    }

    fn finish(mut self) -> Result<Outcome, RunError> {
        if self.setup.sample_interval.is_some() {
            self.sample();
        }
        for slot in 0..self.flows.slots() {
            if let Some(flow) = self.flows.remove(slot) {
                self.settle(&flow);
            }
        }
        let mut links = Vec::new();
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
        Ok(Outcome {
            flows: self.outcomes,
            links,
            packets: p,
            events: self.events,
            data_packets_delivered: self.data_packets,
            ended: self.end,
        })
    }

    fn settle_link(&mut self, link: LinkId) -> LinkOutcome {
        let seen = self.network.observe(self.now, link, &mut self.wheel);
        let ps = self.now.ps().max(1) as f64;
        LinkOutcome {
            link,
            busy: seen.busy,
            sent: seen.sent_bytes,
            packets: seen.sent_packets,
            queue_packets_mean: seen.area_packets as f64 / ps,
            queue_bytes_mean: seen.area_bytes as f64 / ps,
            queue_packets_max: seen.peak_packets_run,
            queue_bytes_max: seen.peak_bytes_run,
            drops: Drops {
                full: seen.dropped_full,
                early: seen.dropped_early,
                lost: seen.lost,
                down: seen.dropped_down,
            },
            marks: seen.marked,
        }
    }
}

fn flow_retransmitted(flows: &mut FlowTable, slot: u32) -> Bytes {
    flows.at(slot).map_or(Bytes::ZERO, |f| f.sender.stats().retransmitted)
}

fn outcome(flow: FlowId, spec: &FlowSpec) -> FlowOutcome {
    FlowOutcome {
        flow,
        name: spec.name.clone(),
        from: spec.from,
        to: spec.to,
        law: spec.law,
        traffic: None,
        started: None,
        completed: None,
        delivered: Bytes::ZERO,
        retransmitted: Bytes::ZERO,
        timeouts: 0,
        min_rtt: None,
        mean_rtt: None,
    }
}
