//! Turns ends into edges: a tree of switches as flows.

use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{
    EnsembleEdge, Ensembles, FlowSpec, JunctionSpec, Keys, MemberEvent, RoutingSpec,
};
use ratewire_transport::{App, ReceiveWindow, TransportConfig, Writer};
use ratewire_units::{Bytes, Rate};

use super::ends::{End, EndKind, Host};
use super::{ConnectionSettings, Ways};
use crate::context::Context;
use crate::diagnostic::Span;
use crate::traffic::Senders;

/// A connection's tree while it is built.
pub(super) struct Tree<'a, 's, 'n, 'c> {
    pub connection: &'a ConnectionSettings,
    pub senders: &'s mut Senders<'n>,
    pub flows: &'s mut Vec<FlowSpec>,
    pub ensembles: &'s mut Ensembles,
    pub context: &'c Context<'c>,
    pub span: Span,
    pub first: FirstWindows,
}

/// First window of senders towards a switch, before the switch has announced one. It is at most the
/// smallest buffer of the receivers behind the switch, because a window is never withdrawn.
#[derive(Clone, Copy, Default)]
pub(super) struct FirstWindows {
    inbound: Option<Bytes>,
    outbound: Option<Bytes>,
}

/// Smallest receive buffer given to one of the hosts.
fn smallest(ends: &[End]) -> Option<Bytes> {
    let of = |end: &End| match &end.kind {
        EndKind::Host(host) => host.receive_window,
        EndKind::Switch { members, .. } => smallest(members),
    };
    ends.iter().filter_map(of).min()
}

/// The two nodes of an edge.
struct Pair<'e> {
    name: String,
    near: (usize, Option<&'e Host>),
    far: (usize, Option<&'e Host>),
    span: Span,
}

impl Tree<'_, '_, '_, '_> {
    /// Adds the switch that the peer sees, and everything behind that switch.
    pub fn grow(
        &mut self,
        switch: usize,
        peer: &End,
        members: &[End],
        routing: RoutingSpec,
        keys: Keys,
    ) {
        let of_peer = smallest(std::slice::from_ref(peer));
        let part = |window: Bytes| Bytes::new(window.get() / members.len().max(1) as u64);
        self.first = FirstWindows { inbound: smallest(members), outbound: of_peer.map(part) };
        let name = self.connection.name.clone();
        let pair = Pair {
            name: name.clone(),
            near: (peer.node, peer.host()),
            far: (switch, None),
            span: peer.span,
        };
        let edge = self.edge(&pair);
        self.junction(switch, edge, members, routing, keys, &name, false);
        // A switch on the peer's side sees the edge in the other direction.
        if let EndKind::Switch { members, routing, keys, .. } = &peer.kind {
            let edge = turned(edge);
            self.junction(peer.node, edge, members, routing.clone(), *keys, &name, true);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all that a switch is")]
    fn junction(
        &mut self,
        node: usize,
        peer: EnsembleEdge,
        members: &[End],
        routing: RoutingSpec,
        keys: Keys,
        path: &str,
        is_turned: bool,
    ) {
        let at = self.ensembles.junctions.len();
        self.ensembles.junctions.push(JunctionSpec {
            name: self.connection.name.clone(),
            node: NodeId(node as u32),
            peer,
            members: Vec::new(),
            routing,
            flow_control: self.connection.flow_control,
            transforms: self.connection.transforms,
            idle_expiry: self.connection.idle_expiry,
            keys,
        });
        for (k, member) in members.iter().enumerate() {
            let name = format!("{path}.{}", member.name);
            let (here, there) = ((node, None), (member.node, member.host()));
            let (near, far) = if is_turned { (there, here) } else { (here, there) };
            let edge = self.edge(&Pair { name: name.clone(), near, far, span: member.span });
            let edge = if is_turned { turned(edge) } else { edge };
            self.ensembles.junctions[at].members.push(edge);
            match &member.kind {
                EndKind::Host(host) => self.failures(host, at as u32, k as u32),
                EndKind::Switch { members, routing, keys, .. } => {
                    let routing = routing.clone();
                    self.junction(member.node, edge, members, routing, *keys, &name, is_turned);
                }
            }
        }
    }

    fn failures(&mut self, host: &Host, junction: u32, member: u32) {
        for (from, to) in &host.fails {
            let events = &mut self.ensembles.events;
            events.push((*from, MemberEvent::Fail { junction, member }));
            events.push((*to, MemberEvent::Recover { junction, member }));
        }
    }

    /// Adds the flows of an edge; `near` is on the peer's side.
    fn edge(&mut self, pair: &Pair<'_>) -> EnsembleEdge {
        let (near, far) = (pair.near.0, pair.far.0);
        if near == far {
            let node = &self.senders.net.nodes[near].name;
            self.context
                .error(pair.span, format!("{node:?} is on both ends of an edge of the ensemble"))
                .help("a switch, its peer and its members are at different nodes");
            return EnsembleEdge::default();
        }
        self.senders.check_route(self.context, (near, far), pair.span);
        let Ways { inbound, outbound } = self.connection.ways;
        let name = |suffix| format!("{}{suffix}", pair.name);
        EnsembleEdge {
            inbound: inbound.then(|| self.flow(name(""), pair.near, pair.far, self.first.inbound)),
            outbound: outbound
                .then(|| self.flow(name(".out"), pair.far, pair.near, self.first.outbound)),
        }
    }

    fn flow(
        &mut self,
        name: String,
        from: (usize, Option<&Host>),
        to: (usize, Option<&Host>),
        first_window: Option<Bytes>,
    ) -> u32 {
        let id = self.flows.len() as u32;
        let ConnectionSettings { app, transport, law, start, stop, .. } = self.connection;
        self.senders.take_name(self.context, &name, self.span);
        let reader = to.1.and_then(|host| host.reader).unwrap_or(app.reader);
        // No application writes where a switch sends.
        let silent = Writer::Constant { rate: Rate::ZERO };
        let writer = if from.1.is_some() { app.writer.clone() } else { silent };
        let window = to.1.map_or(first_window, |host| host.receive_window);
        for (from, to) in from.1.iter().flat_map(|host| &host.idle) {
            self.ensembles.events.push((*from, MemberEvent::Hold(id)));
            self.ensembles.events.push((*to, MemberEvent::Resume(id)));
        }
        self.flows.push(FlowSpec {
            name,
            from: NodeId(from.0 as u32),
            to: NodeId(to.0 as u32),
            law: *law,
            start: *start,
            // A switch stops sending when its input does.
            stop: stop.filter(|_| from.1.is_some()),
            app: App { writer, reader, ..app.clone() },
            transport: TransportConfig {
                handshake: transport.handshake && from.1.is_some(),
                receive_window: window.map_or(transport.receive_window, ReceiveWindow::Fixed),
                ..transport.clone()
            },
            lie: None,
        });
        id
    }
}

impl End {
    fn host(&self) -> Option<&Host> {
        match &self.kind {
            EndKind::Host(host) => Some(host),
            EndKind::Switch { .. } => None,
        }
    }
}

fn turned(edge: EnsembleEdge) -> EnsembleEdge {
    EnsembleEdge { inbound: edge.outbound, outbound: edge.inbound }
}
