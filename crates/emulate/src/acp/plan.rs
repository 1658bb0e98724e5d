//! Which connections of ACP a setup has, and which processes are at their ends.

use std::collections::BTreeMap;

use ratewire_laws::{Draw, FlowContext};
use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{EnsembleEdge, FlowSpec, Setup};
use ratewire_units::Rate;

use crate::ports::port;

/// Place of the key that all ends share. No other machine reaches the hosts.
pub(super) const KEY: &str = "/tmp/ratewire-switch.key";

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A host's, of this number among [`Plan::hosts`].
    Host(usize),
    /// A switch's, of this number among the setup's.
    Switch(usize),
}

/// A connection, from the end that begins it to the end that waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) near: End,
    pub(crate) far: End,
    pub(crate) nodes: [NodeId; 2],
    /// Flow of the data from near to far.
    pub(crate) inbound: Option<usize>,
    /// Flow of the data from far to near.
    pub(crate) outbound: Option<usize>,
    /// Whether the ends are switches that face each other: neither is a member.
    pub(crate) is_facing: bool,
}

/// A process at a host, for one end of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostEnd {
    pub(crate) node: NodeId,
    pub(crate) edge: usize,
    /// Whether it begins the connection.
    pub(crate) connects: bool,
    /// Flow that it writes.
    pub(crate) writes: Option<usize>,
    /// Flow that it reads.
    pub(crate) reads: Option<usize>,
}

/// All connections of ACP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) edges: Vec<Edge>,
    pub(crate) hosts: Vec<HostEnd>,
}

/// Where the figures of a flow come from: numbers of [`Plan::hosts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sources {
    /// The host that sends the flow's data, unless it is a switch.
    pub(crate) sender: Option<usize>,
    /// The host that receives them, unless it is a switch.
    pub(crate) receiver: Option<usize>,
    /// The hosts whose figures show what has been delivered.
    pub(crate) beyond: Vec<usize>,
    /// Whether these hosts report what they have received; otherwise, what has been acknowledged.
    pub(crate) is_received: bool,
}

/// Whether a flow of one sender and one receiver is an ACP connection, because its receiver limits
/// its sender by a rate: no kernel has soft flow control.
fn is_soft(setup: &Setup, flow: &FlowSpec) -> bool {
    watches_buffer(setup, flow)
}

/// Whether receivers under a flow's law limit senders by a rate.
pub(super) fn watches_buffer(setup: &Setup, flow: &FlowSpec) -> bool {
    let packet = flow.transport.packet;
    let mss = packet.saturating_sub(flow.transport.headers);
    let context = FlowContext {
        mss,
        packet,
        line_rate: Rate::ZERO,
        back_pressured: false,
        draw: Draw::new(0),
    };
    setup.laws[flow.law].sink(&context).is_some_and(|sink| sink.watches_buffer())
}

/// Flows of ACP, by number.
pub(crate) fn flows(setup: &Setup) -> impl Iterator<Item = usize> {
    let is_acp = |(n, flow): &(usize, &FlowSpec)| {
        setup.ensembles.has_edge(*n) || is_own_connection(setup, *n, flow)
    };
    setup.flows.iter().enumerate().filter(is_acp).map(|(n, _)| n)
}

fn is_own_connection(setup: &Setup, n: usize, flow: &FlowSpec) -> bool {
    let of_program = || setup.programs.iter().any(|program| program.flow == Some(n));
    let of_overlay = || {
        let mut links = setup.overlay.iter().flat_map(|overlay| &overlay.links);
        links.any(|link| link.flow == n)
    };
    is_soft(setup, flow) && !setup.ensembles.has_edge(n) && !of_program() && !of_overlay()
}

impl Plan {
    /// The connections of a setup.
    pub(crate) fn of(setup: &Setup) -> Plan {
        let mut plan = Plan::default();
        let ensembles = &setup.ensembles;
        for (j, junction) in ensembles.junctions.iter().enumerate() {
            if ensembles.outer(junction.peer).is_none() {
                match ensembles.facing(junction.peer) {
                    None => plan.add(setup, junction.peer, None, Some(j)),
                    // Of two that face each other, the first connects.
                    Some(other) if other < j => {
                        plan.add(setup, junction.peer, Some(other), Some(j));
                    }
                    Some(_) => {}
                }
            }
            for member in &junction.members {
                let below = ensembles.junctions.iter().position(|other| other.peer == *member);
                plan.add(setup, *member, Some(j), below);
            }
        }
        for (n, flow) in setup.flows.iter().enumerate() {
            if is_own_connection(setup, n, flow) {
                let edge = EnsembleEdge { inbound: Some(n as u32), outbound: None };
                plan.add(setup, edge, None, None);
            }
        }
        plan
    }

    /// Adds a connection; an end without a switch is a host.
    fn add(&mut self, setup: &Setup, edge: EnsembleEdge, near: Option<usize>, far: Option<usize>) {
        let flow = |id: Option<u32>| id.map(|id| id as usize);
        let (inbound, outbound) = (flow(edge.inbound), flow(edge.outbound));
        let ends = |n: usize| (setup.flows[n].from, setup.flows[n].to);
        let nodes = inbound.map(ends).or_else(|| outbound.map(ends).map(|(from, to)| (to, from)));
        let Some((from, to)) = nodes else { return };
        let number = self.edges.len();
        let mut end = |switch: Option<usize>, node, connects| match switch {
            Some(switch) => End::Switch(switch),
            None => {
                let (writes, reads) =
                    if connects { (inbound, outbound) } else { (outbound, inbound) };
                self.hosts.push(HostEnd { node, edge: number, connects, writes, reads });
                End::Host(self.hosts.len() - 1)
            }
        };
        let (near, far) = (end(near, from, true), end(far, to, false));
        let is_facing = setup.ensembles.facing(edge).is_some();
        self.edges.push(Edge { near, far, nodes: [from, to], inbound, outbound, is_facing });
    }

    /// The connection that a switch accepts.
    pub(super) fn of_peer(&self, switch: usize) -> Option<usize> {
        self.edges.iter().position(|edge| edge.far == End::Switch(switch))
    }

    /// The connection that a switch begins with one that it faces.
    pub(super) fn of_facing(&self, switch: usize) -> Option<usize> {
        let begins = |edge: &Edge| edge.is_facing && edge.near == End::Switch(switch);
        self.edges.iter().position(begins)
    }

    /// The connections that a switch begins with its members, in their order.
    pub(super) fn of_members(&self, switch: usize) -> impl Iterator<Item = usize> {
        let edges = self.edges.iter().enumerate();
        let is_its = move |edge: &Edge| edge.near == End::Switch(switch) && !edge.is_facing;
        edges.filter(move |(_, edge)| is_its(edge)).map(|(n, _)| n)
    }

    /// Port at the far end of a connection, which distinguishes its packets.
    pub(crate) fn port(&self, edge: usize) -> Option<u16> {
        let Edge { inbound, outbound, .. } = &self.edges[edge];
        inbound.iter().chain(outbound).min().and_then(|flow| port(*flow))
    }

    /// Connections by port.
    pub(crate) fn by_port(&self) -> BTreeMap<u16, &Edge> {
        let edges = self.edges.iter().enumerate();
        edges.filter_map(|(n, edge)| Some((self.port(n)?, edge))).collect()
    }

    /// Where the figures of each flow come from, by flow.
    pub(crate) fn sources(&self) -> BTreeMap<usize, Sources> {
        let mut all = BTreeMap::new();
        for edge in &self.edges {
            let host = |end: End| match end {
                End::Host(host) => Some(host),
                End::Switch(_) => None,
            };
            let (near, far) = (host(edge.near), host(edge.far));
            for (flow, sender, receiver) in [(edge.inbound, near, far), (edge.outbound, far, near)]
            {
                let Some(flow) = flow else { continue };
                let inbound = edge.inbound == Some(flow);
                let (beyond, is_received) = match (receiver, sender) {
                    (Some(receiver), _) => (vec![receiver], true),
                    (None, Some(sender)) => (vec![sender], false),
                    (None, None) => (self.below(edge.far), inbound),
                };
                all.insert(flow, Sources { sender, receiver, beyond, is_received });
            }
        }
        all
    }

    /// The hosts behind an end, away from the peer.
    fn below(&self, end: End) -> Vec<usize> {
        match end {
            End::Host(host) => vec![host],
            End::Switch(switch) => {
                let members = self.of_members(switch).map(|edge| self.edges[edge].far);
                members.flat_map(|far| self.below(far)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cascade, facing, setup};
    use super::*;

    #[test]
    fn a_switch_has_a_connection_with_each_neighbour() {
        let setup = setup();
        let plan = Plan::of(&setup);
        let ends: Vec<(End, End)> = plan.edges.iter().map(|edge| (edge.near, edge.far)).collect();
        let switch = End::Switch(0);
        let expected = [(End::Host(0), switch), (switch, End::Host(1)), (switch, End::Host(2))];
        assert_eq!(ends, expected);
        assert!(plan.hosts[0].connects && !plan.hosts[1].connects);
        assert_eq!((plan.hosts[0].writes, plan.hosts[1].reads), (Some(0), Some(1)));
        assert_eq!(plan.by_port().len(), 3);
        let sources = plan.sources();
        let whole =
            Sources { sender: Some(0), receiver: None, beyond: vec![0], is_received: false };
        assert_eq!(sources[&0], whole);
        assert_eq!((sources[&1].sender, sources[&1].receiver), (None, Some(1)));
    }

    #[test]
    fn of_two_switches_that_face_each_other_one_connects() {
        let plan = Plan::of(&facing());
        let between: Vec<&Edge> = plan.edges.iter().filter(|edge| edge.is_facing).collect();
        assert_eq!(between.len(), 1);
        assert_eq!((between[0].near, between[0].far), (End::Switch(0), End::Switch(1)));
        assert_eq!((plan.of_facing(0), plan.of_facing(1)), (plan.of_peer(1), None));
        assert_eq!(plan.of_peer(0), None);
        assert_eq!([0, 1].map(|switch| plan.of_members(switch).count()), [2, 2]);
        assert!(plan.hosts.iter().all(|host| !host.connects));
    }

    #[test]
    fn between_two_switches_the_hosts_beyond_report_what_is_delivered() {
        let plan = Plan::of(&cascade());
        let between = plan.edges.iter().find(|edge| edge.near == End::Switch(0));
        let between = between.filter(|edge| edge.far == End::Switch(1)).expect("the first member");
        let sources = &plan.sources()[&between.inbound.unwrap()];
        assert_eq!((sources.sender, sources.receiver, sources.is_received), (None, None, true));
        assert_eq!(sources.beyond.len(), 2);
    }
}
