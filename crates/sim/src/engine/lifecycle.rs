//! Starts and ends of flows.

use rand_core::Rng;
use ratewire_net::random::stream;
use ratewire_net::spec::{LinkId, Sockets};
use ratewire_transport::TransportConfig;
use ratewire_units::{Bytes, Duration};

use super::{OtherEvent, Simulation};
use crate::SetupError;
use crate::flow::{Flow, FlowTable, Start};
use crate::jitter::FlowJitter;
use crate::outcome::FlowOutcome;
use crate::record::{FlowCompleted, FlowId, FlowStarted};
use crate::setup::FlowSpec;
use crate::small_queue::{Knowledge, is_possible};

impl Simulation<'_> {
    pub(super) fn arrive(&mut self, class: usize) -> Result<(), SetupError> {
        let spec = &self.setup.traffic[class];
        let arrival = self.traffic[class].arrive(spec);
        let count = self.traffic[class].count;
        self.later(self.traffic[class].next(spec), OtherEvent::Arrive(class as u32));
        let Some(arrival) = arrival else { return Ok(()) };
        let id = FlowId(self.outcomes.len() as u32);
        let flow = arrival.flow(spec, count, self.now);
        self.outcomes.push(FlowOutcome { traffic: Some(class), ..outcome(id, &flow) });
        self.slots.push(None);
        self.start(id, &flow, Some(class))
    }

    pub(super) fn start(
        &mut self,
        id: FlowId,
        spec: &FlowSpec,
        traffic: Option<usize>,
    ) -> Result<(), SetupError> {
        let slot = self.open(id, spec)?;
        self.recorder.flow_started(&FlowStarted {
            flow: id,
            name: &spec.name,
            from: spec.from,
            to: spec.to,
            law: spec.law,
            at: self.now,
            size: spec.size(),
            traffic,
        });
        self.outcomes[id.0 as usize].started = Some(self.now);
        self.complete_if_whole(slot);
        if self.setup.follow.asked.is_some_and(|(flow, at)| flow == id && at <= self.now) {
            self.follow_asked();
        }
        self.pump(slot);
        Ok(())
    }

    /// Puts the two ends of a flow on their hosts.
    pub(crate) fn open(&mut self, id: FlowId, spec: &FlowSpec) -> Result<u32, SetupError> {
        let forward = self.routes.get(&mut self.network, spec.from, spec.to, u64::from(id.0))?;
        let reverse = self.routes.get(&mut self.network, spec.to, spec.from, u64::from(id.0))?;
        let own = &self.setup.network.links[forward.first.index()];
        let mut flow = Flow::new(Start {
            now: self.now,
            id,
            law: spec.law,
            laws: &self.setup.laws,
            transport: &spec.transport,
            app: &spec.app(self.setup.seed),
            forward: forward.id,
            reverse: reverse.id,
            line_rate: forward.line_rate,
            lie: spec.lie,
            jitter: FlowJitter::new(self.setup, &spec.transport, &forward, id.0),
            draw: stream(self.setup.seed, "flow", u64::from(id.0)).next_u64(),
            own_link: forward.first,
            back_link: reverse.first,
            paused: own.pause.is_some(),
            waits_for_room: own.driver.sockets != Sockets::Drop,
            knowledge: self.knowledge(spec, forward.first),
            fed: self.overlay.as_ref().and_then(|overlay| overlay.link_of(id.0 as usize)),
        });
        if self.setup.ensembles.holds(id.0, self.now) {
            flow.sender.hold();
        }
        let slot = self.flows.insert(flow);
        self.slots[id.0 as usize] = Some(slot);
        Ok(slot)
    }

    /// How a flow learns what it has in the queue of its host's own link.
    fn knowledge(&self, spec: &FlowSpec, link: LinkId) -> Knowledge {
        let own = &self.setup.network.links[link.index()];
        let law = &self.setup.laws[spec.law];
        if !spec.transport.keeps_small_queues(law) || !is_possible(own) {
            Knowledge::Unneeded
        } else if self.network.foretells(link) {
            Knowledge::Foretold
        } else {
            Knowledge::Seen
        }
    }

    /// Completes a flow that has delivered everything without the arrival of a packet: an empty
    /// flow, or one that is stopped with nothing outstanding.
    pub(super) fn complete_if_whole(&mut self, slot: u32) {
        let whole = |f: &mut Flow| f.receiver.delivered().get() >= f.end && !f.completed;
        if self.flows.at(slot).is_some_and(whole) {
            self.complete(slot);
        }
    }

    /// Notes that the last byte of a flow has arrived.
    #[cold]
    pub(crate) fn complete(&mut self, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        if let Some(link) = flow.fed {
            return self.overlay_arrived(slot, link);
        }
        flow.completed = true;
        let index = flow.id.0 as usize;
        let outcome = &mut self.outcomes[index];
        let start = outcome.started.unwrap_or(self.now);
        // The end of a switch's part of a stream becomes known after its last byte has arrived.
        let at = if self.junctions.arrives_at_host(flow.id.0) { flow.grew } else { self.now };
        outcome.completed = Some(at);
        let (from, to) = (outcome.from, outcome.to);
        flow.passed = self.junctions.passed(flow.id.0);
        let size = flow.receiver.delivered() + flow.passed;
        // Without a law's header, so that laws are measured against the same time.
        let headers = self.transport(index).headers;
        let mss = self.packet_size(index).saturating_sub(headers);
        let retransmitted = flow_retransmitted(&mut self.flows, slot);
        let route = self.routes.get(&mut self.network, from, to, index as u64);
        let back = self.routes.get(&mut self.network, to, from, index as u64);
        let ideal = match (route, back) {
            (Ok(route), Ok(back)) => {
                let sizes = (size, mss, headers);
                route.ideal(&back, self.setup.ideal, self.opens_first(index), sizes)
            }
            _ => Duration::ZERO,
        };
        let outcome = &self.outcomes[index];
        self.recorder.flow_completed(&FlowCompleted {
            flow: FlowId(index as u32),
            law: outcome.law,
            traffic: outcome.traffic,
            size,
            start,
            took: at.since(start),
            ideal,
            retransmitted,
        });
        self.complete_beyond(index as u32);
    }

    fn transport(&self, flow: usize) -> &TransportConfig {
        match self.outcomes[flow].traffic {
            Some(class) => &self.setup.traffic[class].transport,
            None => &self.setup.flows[flow].transport,
        }
    }

    /// Whether the flow waits for a round trip before it may send.
    fn opens_first(&self, flow: usize) -> bool {
        self.transport(flow).handshake
    }

    pub(super) fn packet_size(&self, flow: usize) -> Bytes {
        self.transport(flow).packet
    }

    /// Removes a flow whose data are all acknowledged; its outcome stays.
    #[cold]
    pub(super) fn retire(&mut self, slot: u32) {
        if let Some(flow) = self.flows.remove(slot) {
            self.bury(slot, flow);
        }
    }

    /// Removes a flow whose host has failed; its slot is not reused.
    #[cold]
    pub(crate) fn abandon(&mut self, slot: u32) {
        if let Some(flow) = self.flows.abandon(slot) {
            self.bury(slot, flow);
        }
    }

    fn bury(&mut self, slot: u32, mut flow: Box<Flow>) {
        self.following.forget(slot);
        flow.passed = self.junctions.passed(flow.id.0);
        // The sample is reported with the others, at the end of the interval.
        if self.setup.sample_interval.is_some() && flow.id.0 < self.setup.sampled_flows {
            let interval = self.now.since(self.last_sample);
            self.ended.push(flow.sample(self.now, interval, &self.setup.laws));
        } else {
            self.arrived += flow.newly_delivered();
        }
        self.settle(&flow);
    }

    /// Adds the results of a flow, or of one of its lives, to its outcome.
    pub(super) fn settle(&mut self, flow: &Flow) {
        self.faults.look_at(flow, self.now);
        let passed = self.junctions.passed(flow.id.0);
        let outcome = &mut self.outcomes[flow.id.0 as usize];
        let stats = flow.sender.stats();
        outcome.delivered += flow.receiver.delivered() + passed;
        outcome.refused += flow.receiver.refused();
        outcome.retransmitted += stats.retransmitted;
        outcome.retransmitted_packets += stats.retransmitted_packets;
        outcome.timeouts += stats.timeouts;
        let rtt = flow.sender.rtt();
        outcome.min_rtt = rtt.min().into_iter().chain(outcome.min_rtt).min();
        outcome.max_rtt = rtt.max().into_iter().chain(outcome.max_rtt).max();
        let mean = stats.rtt_sum_ns.checked_div(stats.rtt_samples).map(Duration::from_nanos);
        outcome.mean_rtt = mean.or(outcome.mean_rtt);
    }
}

fn flow_retransmitted(flows: &mut FlowTable, slot: u32) -> Bytes {
    flows.at(slot).map_or(Bytes::ZERO, |f| f.sender.stats().retransmitted)
}

pub(super) fn outcome(flow: FlowId, spec: &FlowSpec) -> FlowOutcome {
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
        retransmitted_packets: 0,
        timeouts: 0,
        refused: 0,
        min_rtt: None,
        max_rtt: None,
        mean_rtt: None,
        clamps: 0,
    }
}
