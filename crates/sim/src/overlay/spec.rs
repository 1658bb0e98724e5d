//! An overlay in a run: which hosts, which connections, who sends and who is a member when.

use ratewire_net::spec;
use ratewire_overlay::{ClientId, EdgeSpec, GroupId, NodeId, Params, SenderSpec, Service};
use ratewire_units::{Bytes, Duration, Time};

/// An overlay.
#[derive(Clone, Debug)]
pub struct OverlaySpec {
    /// Its settings.
    pub params: Params,
    /// The host of each of its nodes.
    pub nodes: Vec<spec::NodeId>,
    /// Its one-way links, each a connection.
    pub links: Vec<OverlayLink>,
    /// Its groups.
    pub groups: Vec<OverlayGroup>,
    /// Clients that send.
    pub senders: Vec<OverlaySender>,
    /// Who joins and leaves in the course of the run, in any order.
    pub changes: Vec<MemberChange>,
    /// What a message carries of a client's own data; the rest is headers of the overlay.
    pub payload: Bytes,
}

impl OverlaySpec {
    /// Its links, for trees; `delay` is that of a flow's way.
    pub(crate) fn tree_links(&self, delay: impl Fn(usize) -> Duration) -> Vec<EdgeSpec> {
        let link = |l: &OverlayLink| EdgeSpec { from: l.from, to: l.to, delay: delay(l.flow) };
        self.links.iter().map(link).collect()
    }
}

/// A one-way link of an overlay.
#[derive(Clone, Copy, Debug)]
pub struct OverlayLink {
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// The flow that it is, by index into [`Setup::flows`](crate::setup::Setup::flows): one that is
    /// [fed](ratewire_transport::Writer::Fed), starts at once and does not stop.
    pub flow: usize,
}

/// A group.
#[derive(Clone, Debug)]
pub struct OverlayGroup {
    /// Unique name.
    pub name: String,
    /// In which order it delivers.
    pub service: Service,
    /// Its members from the start, and their nodes.
    pub members: Vec<(ClientId, NodeId)>,
}

/// A client that sends.
#[derive(Clone, Debug)]
pub struct OverlaySender {
    /// Its node.
    pub at: NodeId,
    /// What and how it sends.
    pub spec: SenderSpec,
    /// When it begins.
    pub start: Time,
    /// When it stops; what it has paid for is still delivered.
    pub stop: Option<Time>,
}

/// A client joins or leaves a group.
#[derive(Clone, Copy, Debug)]
pub struct MemberChange {
    /// When it says so to its node.
    pub at: Time,
    /// Which group.
    pub group: GroupId,
    /// Who.
    pub client: ClientId,
    /// Its node.
    pub node: NodeId,
    /// Whether it joins.
    pub joins: bool,
}
