//! Streams of packets between hosts, and the flows whose data they carry.

use std::collections::BTreeMap;

use ratewire_net::spec::NodeId;
use ratewire_sim::routes::RouteInfo;
use ratewire_sim::setup::Setup;
use ratewire_units::{Bytes, Time};

use super::World;
use crate::flow::Flow;
use crate::packet::Stream;
use crate::ports::at_port;
use crate::seen::Seen;

/// A stream of packets between two hosts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) route: RouteInfo,
    /// The flow whose data the stream carries.
    pub(super) flow: Option<u32>,
    /// The stream in the other direction, once it is known.
    opposite: Option<u32>,
    pub(super) to: usize,
    pub(super) class: u8,
    /// Dialect of the flow's own law, if some port has it.
    pub(super) dialect: Option<usize>,
}

/// Data of a stream that has entered the network, and that has arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Passed {
    sent: Seen,
    arrived: Seen,
}

impl World<'_> {
    /// Notes a packet of a stream that enters.
    pub(super) fn note_sent(&mut self, now: Time, number: u32, kept: u32) {
        self.round_trips.answer(self.streams[number as usize].opposite, kept);
        let Some(flow) = self.counted(number) else { return };
        let segment = self.bundles.segment(kept);
        let again = segment.payload - self.passed[number as usize].sent.fresh(&segment);
        if segment.payload > 0 || segment.opens {
            // As a sender does, which cannot tell which copy was answered (Karn).
            self.round_trips.depart(now, again == 0, kept);
        }
        self.counts[flow as usize].sent_again += Bytes::new(again);
        self.counts[flow as usize].packets_sent_again += u64::from(again > 0);
    }

    /// Notes a packet that has reached its host.
    pub(super) fn note_arrived(&mut self, at: Time, number: u32, kept: u32) {
        self.note_answered(at, number, kept);
        if self.streams[number as usize].flow.is_none() {
            return;
        }
        let segment = self.bundles.segment(kept);
        self.data_packets += u64::from(segment.payload > 0);
        let Some(flow) = self.counted(number) else { return };
        if segment.payload > 0 || segment.opens {
            let took = self.round_trips.arrive(at, number, kept);
            if segment.payload > 0 {
                self.delays.one_way(at, flow, took);
            }
        }
        let fresh = self.passed[number as usize].arrived.fresh(&segment);
        self.counts[flow as usize].arrived += Bytes::new(fresh);
    }

    /// Notes a packet that was dropped.
    pub(super) fn note_dropped(&mut self, at: Time, kept: u32) {
        if let Some(flow) = self.counted(self.bundles.stream(kept))
            && self.bundles.segment(kept).payload > 0
        {
            self.delays.lose(at, flow, 1);
        }
    }

    fn note_answered(&mut self, at: Time, number: u32, kept: u32) {
        let opposite = self.streams[number as usize].opposite;
        let flow = opposite.and_then(|data| self.streams[data as usize].flow);
        if let (Some(flow), Some(rtt)) = (flow, self.round_trips.answered(at, kept)) {
            self.counts[flow as usize].round_trips.note(rtt);
            self.delays.round_trip(at, flow, rtt);
        }
    }

    /// The flow of a stream, if the network counts its data. Of ACP they are sealed.
    fn counted(&self, number: u32) -> Option<u32> {
        let flow = self.streams[number as usize].flow?;
        let is_acp = self.flows[flow as usize].as_ref().is_some_and(Flow::is_acp);
        (!is_acp).then_some(flow)
    }

    /// Number of a stream from a host; `None` if it leads to no host.
    pub(super) fn number(&mut self, from: usize, stream: &Stream) -> Option<u32> {
        if let Some(number) = self.numbers.get(stream) {
            return Some(*number);
        }
        let to = *self.by_address.get(&stream.to)?;
        let number = self.streams.len() as u32;
        let nodes = (self.hosts[from].spec.node, self.hosts[to].spec.node);
        let flow = self.flow_of(nodes, stream);
        // Acknowledgements belong to their flow.
        let back = stream.back();
        let either = flow.or_else(|| self.flow_of((nodes.1, nodes.0), &back));
        let spread = either.map_or(u64::from(number), u64::from);
        let route = self.routes.get(&mut self.network, nodes.0, nodes.1, spread).ok()?;
        let spec = either.map(|flow| &self.setup.flows[flow as usize]);
        let class = spec.map_or(0, |spec| spec.transport.class);
        let law = spec.map(|spec| &self.setup.laws[spec.law]);
        let dialect = law.and_then(|law| self.dialects.position(law));
        let opposite = self.numbers.get(&back).copied();
        if let Some(back) = opposite {
            self.streams[back as usize].opposite = Some(number);
        }
        self.passed.push(Passed::default());
        self.streams.push(Known { route, flow, opposite, to, class, dialect });
        self.numbers.insert(*stream, number);
        Some(number)
    }

    /// The flow whose data a stream carries: by its port, or a program's flow between the same
    /// hosts.
    fn flow_of(&self, (from, to): (NodeId, NodeId), stream: &Stream) -> Option<u32> {
        let [source, destination] = stream.ports;
        for (port, direction, nodes) in [(destination, 0, [from, to]), (source, 1, [to, from])] {
            let known = self.acp.get(&port).filter(|_| !stream.is_tcp());
            if let Some(known) = known.filter(|known| known.nodes == nodes) {
                return known.flows[direction];
            }
        }
        let own = at_port(stream.ports[1]).filter(|n| {
            let spec = self.setup.flows.get(*n);
            spec.is_some_and(|spec| (spec.from, spec.to) == (from, to)) && self.flows[*n].is_some()
        });
        own.map(|n| n as u32).or_else(|| self.of_programs.get(&(from, to)).copied())
    }
}

/// The first flow of a program between each two nodes.
pub(super) fn of_programs(
    setup: &Setup,
    flows: &[Option<Flow>],
) -> BTreeMap<(NodeId, NodeId), u32> {
    let mut first = BTreeMap::new();
    for (n, spec) in setup.flows.iter().enumerate().filter(|(n, _)| flows[*n].is_none()) {
        first.entry((spec.from, spec.to)).or_insert(n as u32);
    }
    first
}
