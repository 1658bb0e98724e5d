//! Who is in a group, as one node knows it.
//!
//! A client that joins has to be sent all that comes after the view that has it. A node that has not
//! heard of it yet would not send it anything, so the joining node asks first
//! ([`Interest`](crate::message::MessageBody::Interest)): the others include it and say from which stamp on;
//! once all have, the join gets its stamp, which is above all of theirs.

use ratewire_units::Time;

use crate::ids::{ClientId, GroupId, NodeId, NodeSet};

/// In which order a group's messages and view changes are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Service {
    /// None is promised. Links keep order, so each sender's messages come in order all the same.
    Unordered,
    /// Each sender's messages in the order in which it sent them.
    #[default]
    Fifo,
    /// One order for all messages of all senders, and all view changes, the same everywhere.
    Agreed,
}

/// A group at the start: all nodes know it.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSpec {
    /// In which order it delivers.
    pub service: Service,
    /// Its members at the start.
    pub members: Vec<(ClientId, NodeId)>,
}

/// A group as one node knows it.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Where this node's messages to the group go.
    to: NodeSet,
    me: NodeId,
    /// The members in the view, in order.
    members: Vec<(ClientId, NodeId)>,
    /// Counts view changes.
    pub view: u64,
    /// Nodes whose clients are about to join: they are sent messages already.
    interested: Vec<NodeId>,
    /// Clients of this node that wait to join.
    joining: Vec<Joining>,
}

impl Group {
    pub fn new(me: NodeId, spec: &GroupSpec) -> Group {
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

    /// Where this node's messages to the group go.
    pub fn to(&self) -> &NodeSet {
        &self.to
    }
    /// The members in the view, in order.
    pub fn members(&self) -> &[(ClientId, NodeId)] {
        &self.members
    }
    /// Whether some of them are clients of this node.
    pub fn is_here(&self) -> bool {
        self.members.iter().any(|(_, node)| *node == self.me)
    }

    fn aim(&mut self) {
        let nodes = self.members.iter().map(|(_, node)| *node);
        self.to = nodes.chain(self.interested.iter().copied()).collect();
    }

    /// A client of `node` is about to join.
    pub fn include(&mut self, node: NodeId) {
        self.interested.push(node);
        self.aim();
    }

    /// A view change has its turn. Returns whether it changed anything.
    pub fn change(&mut self, client: ClientId, node: NodeId, joins: bool) -> bool {
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

    /// A client of this node is to join once all of `others` have included it.
    pub fn prepare(&mut self, client: ClientId, others: NodeSet) {
        self.joining.push(Joining { client, missing: others, leaves: false });
    }

    /// A client that is about to join is to leave again. Returns whether there is one.
    pub fn regret(&mut self, client: ClientId) -> bool {
        let mut mine = self.joining.iter_mut().filter(|joining| joining.client == client);
        mine.next_back().filter(|last| !last.leaves).map(|joining| joining.leaves = true).is_some()
    }

    /// `node` sends its messages here from now on. It answers questions in their order, so this is
    /// about the first client that it has not answered for.
    pub fn included(&mut self, node: NodeId) {
        let waits = |joining: &&mut Joining| joining.missing.contains(node);
        if let Some(joining) = self.joining.iter_mut().find(waits) {
            joining.missing.remove(node);
        }
    }

    /// The next client that all have included.
    pub fn ready(&mut self) -> Option<Joining> {
        let ready = self.joining.first().is_some_and(|joining| joining.missing.is_empty());
        ready.then(|| self.joining.remove(0))
    }
}

/// A client that waits to join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joining {
    pub client: ClientId,
    /// Nodes that do not send their messages here yet.
    missing: NodeSet,
    /// Whether it is to leave as soon as it has joined.
    pub leaves: bool,
}

/// What a node hands to its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A message, to all members here.
    Data {
        /// The group.
        group: GroupId,
        /// Who sent it.
        client: ClientId,
        /// Which of that client's messages, from 0.
        sequence: u64,
        /// When it was paid for.
        bought: Time,
    },
    /// The group's view has changed.
    View {
        /// The group.
        group: GroupId,
        /// Counts view changes; the same for the same view everywhere.
        number: u64,
        /// Who has joined or left.
        client: ClientId,
        /// Whether it has joined.
        joined: bool,
    },
}
