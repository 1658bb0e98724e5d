//! Membership of a group, as one node knows it.
//!
//! A client that joins must get all messages after the view that first has it. Nodes that do not
//! know of the client would send it nothing, so the joining node asks first
//! ([`Interest`](crate::message::MessageBody::Interest)). The other nodes include it and answer
//! with the stamp from which on they send. Once all have answered, the join gets its stamp, which
//! is above all of theirs.

use ratewire_units::Time;

use crate::ids::{ClientId, GroupId, NodeSet, OverlayNodeId};

/// Order in which a group's messages and view changes are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeliveryOrder {
    /// No order is promised. In practice each sender's messages arrive in order, because links keep
    /// order.
    Unordered,
    /// Each sender's messages in the order in which they were sent.
    #[default]
    Fifo,
    /// One order for all messages of all senders, and all view changes, the same everywhere.
    Agreed,
}

/// A group at the start, known to all nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSpec {
    /// Delivery order.
    pub service: DeliveryOrder,
    /// Members at the start.
    pub members: Vec<(ClientId, OverlayNodeId)>,
}

/// A group as one node knows it.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Destinations of this node's messages to the group.
    to: NodeSet,
    me: OverlayNodeId,
    /// Members of the view, in order.
    members: Vec<(ClientId, OverlayNodeId)>,
    /// Number of view changes.
    pub view: u64,
    /// Nodes whose clients are about to join: they already get messages.
    interested: Vec<OverlayNodeId>,
    /// Clients of this node that are about to join.
    joining: Vec<Joining>,
}

impl Group {
    pub fn new(me: OverlayNodeId, spec: &GroupSpec) -> Group {
        let mut members = spec.members.clone();
        members.sort_unstable();
        members.dedup_by_key(|(client, _)| *client);
        let mut group = Group {
            me,
            members,
            view: 0,
            interested: Vec::new(),
            to: NodeSet::EMPTY,
            joining: Vec::new(),
        };
        group.aim();
        group
    }

    /// Destinations of this node's messages to the group.
    pub fn to(&self) -> &NodeSet {
        &self.to
    }
    /// Members of the view, in order.
    pub fn members(&self) -> &[(ClientId, OverlayNodeId)] {
        &self.members
    }
    /// Whether some member is a client of this node.
    pub fn is_here(&self) -> bool {
        self.members.iter().any(|(_, node)| *node == self.me)
    }

    fn aim(&mut self) {
        let nodes = self.members.iter().map(|(_, node)| *node);
        self.to = nodes.chain(self.interested.iter().copied()).collect();
    }

    /// Includes a node whose client is about to join.
    pub fn include(&mut self, node: OverlayNodeId) {
        self.interested.push(node);
        self.aim();
    }

    /// Applies a view change. Returns whether the view changed.
    pub fn change(&mut self, client: ClientId, node: OverlayNodeId, joins: bool) -> bool {
        let found = self.members.binary_search_by_key(&client, |(member, _)| *member);
        if joins && let Some(place) = self.interested.iter().position(|at| *at == node) {
            self.interested.remove(place);
        }
        let changed = match (found, joins) {
            (Err(place), true) => {
                self.members.insert(place, (client, node));
                true
            }
            (Ok(place), false) => {
                self.members.remove(place);
                true
            }
            _ => false,
        };
        self.view += u64::from(changed);
        self.aim();
        changed
    }

    /// Prepares the join of a client of this node, for when all of `others` have included it.
    pub fn prepare(&mut self, client: ClientId, others: NodeSet) {
        self.joining.push(Joining { client, missing: others, leaves: false });
    }

    /// Lets a client that is about to join leave again. Returns whether there is one.
    pub fn regret(&mut self, client: ClientId) -> bool {
        let mut mine = self.joining.iter_mut().filter(|joining| joining.client == client);
        mine.next_back().filter(|last| !last.leaves).map(|joining| joining.leaves = true).is_some()
    }

    /// Notes that `node` sends its messages here from now on. A node answers questions in order, so
    /// the answer belongs to the first client that the node has not answered for.
    pub fn included(&mut self, node: OverlayNodeId) {
        let waits = |joining: &&mut Joining| joining.missing.contains(node);
        if let Some(joining) = self.joining.iter_mut().find(waits) {
            joining.missing.remove(node);
        }
    }

    /// The next client that all nodes have included.
    pub fn ready(&mut self) -> Option<Joining> {
        let ready = self.joining.first().is_some_and(|joining| joining.missing.is_empty());
        ready.then(|| self.joining.remove(0))
    }
}

/// A client that is about to join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joining {
    pub client: ClientId,
    /// Nodes that do not send their messages here yet.
    missing: NodeSet,
    /// Whether the client is to leave as soon as it has joined.
    pub leaves: bool,
}

/// An event for the clients of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A message, for all members at this node.
    Data {
        /// The group.
        group: GroupId,
        /// The sender.
        client: ClientId,
        /// Number of the message among the sender's, from 0.
        sequence: u64,
        /// When the message was paid for.
        bought: Time,
    },
    /// The group's view has changed.
    View {
        /// The group.
        group: GroupId,
        /// Number of the view; equal at all nodes for the same view.
        number: u64,
        /// The client that joined or left.
        client: ClientId,
        /// Whether the client joined.
        joined: bool,
    },
}
