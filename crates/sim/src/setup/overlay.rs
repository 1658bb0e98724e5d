//! An overlay in a setup: hosts, connections, senders, and members over time.

use ratewire_net::spec;
use ratewire_overlay::{
    ClientId, DeliveryOrder, Dollars, EdgeSpec, GroupId, OverlayNodeId, Params, SenderSpec,
};
use ratewire_units::{Bytes, Duration, Time};

/// An overlay.
#[derive(Clone, Debug)]
pub struct OverlaySpec {
    /// Parameters of the overlay.
    pub params: Params,
    /// Host of each node.
    pub nodes: Vec<spec::NodeId>,
    /// One-way links, each a connection.
    pub links: Vec<OverlayLink>,
    /// Groups of clients.
    pub groups: Vec<OverlayGroup>,
    /// Sending clients.
    pub senders: Vec<OverlaySender>,
    /// Joins and leaves during the run, in any order.
    pub changes: Vec<MemberChange>,
    /// Faults of nodes and links, in any order.
    pub faults: Vec<OverlayFault>,
    /// Client's own data in a message; the rest is headers of the overlay.
    pub payload: Bytes,
}

impl OverlaySpec {
    /// Links for building trees; `delay` is the delay of a flow's route.
    pub(crate) fn tree_links(&self, delay: impl Fn(usize) -> Duration) -> Vec<EdgeSpec> {
        let link = |l: &OverlayLink| EdgeSpec { from: l.from, to: l.to, delay: delay(l.flow) };
        self.links.iter().map(link).collect()
    }
}

/// A one-way link of an overlay.
#[derive(Clone, Copy, Debug)]
pub struct OverlayLink {
    /// Node at its start.
    pub from: OverlayNodeId,
    /// Node at its end.
    pub to: OverlayNodeId,
    /// Index of its flow in [`Setup::flows`](crate::setup::Setup::flows).
    ///
    /// The flow is [fed](ratewire_transport::Writer::Fed), starts at once and does not stop.
    pub flow: usize,
}

/// A group.
#[derive(Clone, Debug)]
pub struct OverlayGroup {
    /// Unique name.
    pub name: String,
    /// Order of delivery.
    pub service: DeliveryOrder,
    /// Members from the start, and their nodes.
    pub members: Vec<(ClientId, OverlayNodeId)>,
    /// Salary of the clients that send to the group; `None` for that of all clients.
    pub salary: Option<Dollars>,
    /// Weight of the benefit of messages to the group, above zero.
    pub weight: f64,
}

/// A sending client.
#[derive(Clone, Debug)]
pub struct OverlaySender {
    /// Node of the client.
    pub at: OverlayNodeId,
    /// Rate and size of its messages.
    pub spec: SenderSpec,
    /// Time at which it starts.
    pub start: Time,
    /// Time at which it stops; messages paid for are still delivered.
    pub stop: Option<Time>,
}

/// A client joins or leaves a group.
#[derive(Clone, Copy, Debug)]
pub struct MemberChange {
    /// Time at which the client tells its node.
    pub at: Time,
    /// The group.
    pub group: GroupId,
    /// The client.
    pub client: ClientId,
    /// Node of the client.
    pub node: OverlayNodeId,
    /// Whether the client joins or leaves.
    pub joins: bool,
}

/// A fault of an overlay, or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverlayFault {
    /// Time at which it happens.
    pub at: Time,
    /// What happens.
    pub kind: FaultKind,
}

/// What happens to a node or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The node's daemon ends, and its clients lose their connections. Its neighbours notice at
    /// once, because the host resets the daemon's connections.
    Crash(OverlayNodeId),
    /// The daemon of a crashed node starts again, and its clients connect again.
    Restart(OverlayNodeId),
    /// The link between two nodes delivers nothing more, in both directions. Both ends notice five
    /// seconds later.
    Cut(OverlayNodeId, OverlayNodeId),
    /// The link between two nodes has a new connection.
    Heal(OverlayNodeId, OverlayNodeId),
}
