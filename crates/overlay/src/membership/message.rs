//! What daemons send each other about membership, and in a view.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{ClientId, NodeSet, OverlayNodeId};
use crate::level::Level;

/// A daemon's place in the order of all messages of a view.
pub type OrderStamp = u64;

/// Name of a view of daemons. Later views that a daemon is in have larger names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ViewId {
    /// Larger than that of any view that the members knew.
    pub number: u64,
    /// The daemon that proposed the view.
    pub coordinator: OverlayNodeId,
    /// The coordinator's incarnation. A daemon that has restarted knows no earlier numbers.
    pub incarnation: u64,
}

/// Name of a view of a group: equal at all daemons for the same members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupViewId {
    /// The view of daemons.
    pub view: ViewId,
    /// Number of the group's change in it.
    pub change: u64,
}

/// A client of a daemon. Numbers are unique among the clients of one incarnation of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Client {
    /// The client's daemon.
    pub node: OverlayNodeId,
    /// Number of the client at its daemon.
    pub id: ClientId,
}

/// Name of a client, as views show it.
pub type Label = Arc<str>;

/// Promise about a message. Each keeps those of the services before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Service {
    /// The message may be lost.
    Unreliable,
    /// Every member gets the message.
    Reliable,
    /// A sender's messages of this service or a later one come in the order of sending.
    Fifo,
    /// A message comes after those of this service or a later one that its sender had got before.
    Causal,
    /// All members get messages of this service or a later one in the same order.
    Agreed,
    /// A member gets the message only when all daemons of the view that need it have it.
    Safe,
}

/// Whom a message is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Target<G> {
    /// The members of a group; the sender need not be one.
    Group(G),
    /// One client, by its daemon and name.
    Private(OverlayNodeId, Label),
}

/// A daemon's links, as it tells all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkState {
    /// The daemon.
    pub origin: OverlayNodeId,
    /// Start of the daemon: a later one is larger.
    pub incarnation: u64,
    /// Grows with each change.
    pub version: u64,
    /// Largest number of a view that the daemon knows.
    pub highest: u64,
    /// Neighbours with a connection, and the connection's number, which both ends know.
    pub links: Vec<(OverlayNodeId, u64)>,
    /// Fingerprints of what the daemon knows of the first daemon, the first two, and so on
    /// ([`Member::know`](super::Member::know)).
    pub known: Vec<u64>,
    /// Fingerprint of what the daemon's program may do otherwise than others.
    pub terms: u64,
}

/// The link states of a view's members: (daemon, incarnation, version), in order of daemons.
pub type Topology = Vec<(OverlayNodeId, u64, u64)>;

/// Proposal of a view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Name of the view.
    pub id: ViewId,
    /// Members of the view, and the links between them.
    pub topology: Topology,
}

/// A message on the connection between two daemons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LinkMessage<G, P> {
    /// A daemon's links; passed on to all.
    LinkState(Arc<LinkState>),
    /// Proposal of a view; passed on to all.
    Propose(Arc<Proposal>),
    /// A message among the members of a proposed view.
    Change(Arc<ChangeMessage<G, P>>),
    /// The view of the following messages.
    Enter(Arc<ViewId>),
    /// A message in the view last entered.
    View(Arc<ViewMessage<G, P>>),
    /// How far a daemon is with the messages of the view last entered.
    Progress(Arc<Progress>),
    /// The view of the following prices, which may overtake all other messages.
    EnterPrices(Arc<ViewId>),
    /// Prices in the view last entered for prices.
    Prices(Arc<Prices>),
}

/// Changed queues of a daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// The daemon: the root of the tree that the prices go down.
    pub origin: OverlayNodeId,
    /// Queues in front of the origin's links, by index among its links.
    pub links: Vec<(u8, Level)>,
    /// Queues to the origin's clients, whose names others may not know.
    pub clients: Vec<(ClientId, Label, Level)>,
}

/// A message in a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewMessage<G, P> {
    /// The daemon that sent the message: the root of the tree that it goes down.
    pub origin: OverlayNodeId,
    /// Destinations.
    pub to: NodeSet,
    /// The origin's clock. [`Data`](ViewBody::Data) and [`Update`](ViewBody::Update) have a stamp
    /// of their own; later messages have larger ones.
    pub stamp: OrderStamp,
    /// Content.
    pub body: ViewBody<G, P>,
}

/// Content of a message in a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ViewBody<G, P> {
    /// A client's message.
    Data {
        /// The sender, a client of the origin.
        sender: ClientId,
        /// What is promised.
        service: Service,
        /// Whether the sender does not want the message itself.
        self_discard: bool,
        /// Whom it is for.
        targets: Arc<[Target<G>]>,
        /// The client's data.
        payload: P,
    },
    /// A client of the origin joins or leaves.
    Update(Update<G>),
    /// The origin will have a member of the group and asks for the group's messages.
    Interest(G),
    /// The origin sends the group's messages to the daemon that asked.
    Included(G),
}

impl<G, P> ViewBody<G, P> {
    /// Whether the message is a client's.
    pub fn is_data(&self) -> bool {
        matches!(self, ViewBody::Data { .. })
    }
}

/// How far a daemon is with the messages of its view, beside what it told last in this view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The daemon: the root of the tree that the message goes down.
    pub origin: OverlayNodeId,
    /// Growth of the daemon's clock. Later messages of the daemon have larger stamps.
    pub clock: OrderStamp,
    /// Growth of the stamp up to which the daemon has every message for it, from all daemons.
    pub all: OrderStamp,
    /// Highest stamp of a message of the daemon that waits for the stamps of others and that some
    /// of these do not get, as its distance below the clock. `None` if the stamp is the one told
    /// last.
    pub ordered: Option<OrderStamp>,
    /// Highest stamp of such a message that waits until all have it, in the same form.
    pub safe: Option<OrderStamp>,
}

/// A change of a group by a client of the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Update<G> {
    /// The client joins a group.
    Join(G, ClientId, Label),
    /// The client leaves a group.
    Leave(G, ClientId),
    /// The client leaves all its groups, because its connection has ended.
    Disconnect(ClientId),
}

/// A message among the members of a proposed view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeMessage<G, P> {
    /// Name of the proposed view.
    pub id: ViewId,
    /// The daemon that sent the message.
    pub origin: OverlayNodeId,
    /// Destinations.
    pub to: NodeSet,
    /// Content.
    pub body: ChangeBody<G, P>,
}

/// Content of a message among the members of a proposed view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ChangeBody<G, P> {
    /// What the origin has of its view's messages.
    Report(Report),
    /// A message that the destinations lack, of the view that they and the origin are in.
    Missing(Arc<ViewMessage<G, P>>),
    /// The origin has sent all that others lack.
    Sent,
    /// The origin has all messages. These are the groups of its clients.
    Ready(Vec<(G, Vec<(ClientId, Label)>)>),
}

/// What a daemon has of its view's messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The view that the daemon is in.
    pub view: ViewId,
    /// By daemon: all its messages for the reporter up to this stamp have come.
    pub heard: Vec<OrderStamp>,
    /// Messages beyond these that others have sent since the view's end.
    pub recovered: Vec<(OrderStamp, OverlayNodeId)>,
    /// Up to this stamp, the reporter may have delivered agreed messages.
    pub agreed: OrderStamp,
    /// Up to this stamp, the reporter may have delivered safe messages.
    pub safe: OrderStamp,
}
