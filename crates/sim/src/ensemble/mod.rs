//! Anypoint switches at nodes of the network.
//!
//! An edge of an ensemble is a flow like any other: its packets take the flow's routes and carry
//! its number, and at a host the flow's own sender or receiver handles them. At a switch the
//! packets of one edge end, and others leave on other edges. The engine tells packets of ensembles
//! from others by the flow's number alone.

mod keys;
mod relay;

use ratewire_anypoint::{FlowControl, Output, Side, Switch, SwitchConfig};
use ratewire_laws::{Draw, FlowContext};
use ratewire_units::{Bytes, Rate, Time};

use crate::outcome::FlowOutcome;
use crate::setup::{EnsembleEdge, Setup};
use keys::KeySource;

/// The switches of a run.
#[derive(Debug, Default)]
pub(crate) struct Junctions {
    list: Vec<Junction>,
    /// First flow that is an edge; all later flows are edges too.
    first: u32,
    ends: Vec<EdgeEnds>,
    /// What a switch sends after it was given something, in this order: to be taken at once.
    pub(crate) out: Vec<Output>,
}

#[derive(Debug)]
struct Junction {
    switch: Switch,
    peer: EnsembleEdge,
    members: Vec<EnsembleEdge>,
    frame: u64,
    keys: KeySource,
    /// Time of its timer event.
    timer_at: Time,
}

/// Both ends of an edge: a switch and its side, or a host.
#[derive(Clone, Copy, Debug, Default)]
struct EdgeEnds {
    from: Option<(u32, Side)>,
    to: Option<(u32, Side)>,
}

impl Junctions {
    pub(crate) fn new(setup: &Setup) -> Junctions {
        let spec = &setup.ensembles;
        if spec.junctions.is_empty() {
            return Junctions::default();
        }
        let first = spec.first_edge;
        let mut ends = vec![EdgeEnds::default(); setup.flows.len() - first as usize];
        let mut list = Vec::new();
        for (j, junction) in spec.junctions.iter().enumerate() {
            let members = junction.members.iter().enumerate();
            let members = members.map(|(k, edge)| (Side::Member(k), *edge));
            for (side, edge) in members.chain([(Side::Peer, junction.peer)]) {
                let here = Some((j as u32, side));
                let (arrives, leaves) = match side {
                    Side::Peer => (edge.inbound, edge.outbound),
                    Side::Member(_) => (edge.outbound, edge.inbound),
                };
                if let Some(flow) = arrives {
                    ends[(flow - first) as usize].to = here;
                }
                if let Some(flow) = leaves {
                    ends[(flow - first) as usize].from = here;
                }
            }
            let some_flow = junction.peer.inbound.or(junction.peer.outbound).unwrap_or(first);
            let flow = &setup.flows[some_flow as usize];
            let law = &setup.laws[flow.law];
            let headers = flow.transport.headers + law.header_len();
            let payload = flow.transport.packet.saturating_sub(headers).max(Bytes::new(1));
            let frame = flow.app.frame.unwrap_or(payload);
            let context = FlowContext {
                mss: payload,
                packet: flow.transport.packet,
                line_rate: Rate::ZERO,
                back_pressured: false,
                draw: Draw::new(0),
            };
            let soft = law.sink(&context).is_some_and(|sink| sink.watches_buffer());
            let natural = if soft { FlowControl::Soft } else { FlowControl::Strict };
            let config = SwitchConfig {
                law: law.clone(),
                members: junction.members.len(),
                frame,
                payload,
                packet: flow.transport.packet,
                flow_control: junction.flow_control.unwrap_or(natural),
                transforms: junction.transforms,
                idle_expiry: junction.idle_expiry,
                peer_spreads: spec.peer_spreads(j),
            };
            list.push(Junction {
                switch: Switch::new(config, junction.routing.make(j as u64, setup.seed)),
                peer: junction.peer,
                members: junction.members.clone(),
                frame: frame.get().max(1),
                keys: KeySource::new(junction.keys, j as u64, setup.seed),
                timer_at: Time::NEVER,
            });
        }
        Junctions { list, first, ends, out: Vec::new() }
    }

    /// Whether a flow is an edge; other flows' packets pay only for this test.
    #[inline]
    pub(crate) fn has(&self, flow: u32) -> bool {
        flow.wrapping_sub(self.first) < self.ends.len() as u32
    }

    fn ends(&self, flow: u32) -> EdgeEnds {
        self.ends[(flow - self.first) as usize]
    }

    /// Payload that the switch at the far end of an edge has forwarded and knows to be
    /// acknowledged.
    pub(crate) fn passed(&self, flow: u32) -> Bytes {
        if !self.has(flow) {
            return Bytes::ZERO;
        }
        match self.ends(flow).to {
            Some((j, Side::Peer)) => self.list[j as usize].switch.acknowledged_inbound(),
            Some((j, Side::Member(k))) => self.list[j as usize].switch.acknowledged_outbound(k),
            None => Bytes::ZERO,
        }
    }

    /// The edges that complete with this one: those that leave the switch at its far end, if it is
    /// the last open one that arrives there, according to `outcomes`.
    pub(crate) fn over_with(&self, flow: u32, outcomes: &[FlowOutcome]) -> Vec<u32> {
        if !self.has(flow) {
            return Vec::new();
        }
        let Some((j, side)) = self.ends(flow).to else { return Vec::new() };
        let is_open = |id: u32| outcomes[id as usize].completed.is_none();
        let Junction { peer, members, .. } = &self.list[j as usize];
        match side {
            Side::Peer => members.iter().filter_map(|edge| edge.inbound).collect(),
            Side::Member(_) if members.iter().filter_map(|edge| edge.outbound).any(is_open) => {
                Vec::new()
            }
            Side::Member(_) => peer.outbound.into_iter().collect(),
        }
    }

    /// Whether an edge comes from a switch and ends at a host.
    pub(crate) fn arrives_at_host(&self, flow: u32) -> bool {
        self.has(flow) && self.ends(flow).to.is_none()
    }

    /// Bytes that a receiver counts as arrived without having received them: gaps closed by a
    /// switch.
    pub(crate) fn skipped(&self, flow: u32) -> Bytes {
        if !self.has(flow) {
            return Bytes::ZERO;
        }
        match (self.ends(flow).from, self.ends(flow).to) {
            (Some((j, side)), None) => self.list[j as usize].switch.skipped(side),
            _ => Bytes::ZERO,
        }
    }

    /// Unacknowledged bytes that the switch at the start of an edge has sent; `None` for an edge
    /// from a host.
    pub(crate) fn outstanding(&self, flow: u32) -> Option<Bytes> {
        if !self.has(flow) {
            return None;
        }
        let (j, side) = self.ends(flow).from?;
        Some(self.list[j as usize].switch.outstanding(side))
    }
}
