//! What clients of a daemon send and get.

use std::ops::Deref;
use std::slice::from_ref;
use std::sync::Arc;

use super::message::{Client, GroupViewId, Label, Service, Target, ViewId};
use crate::ids::{ClientId, NodeSet};

/// Why a group has a new view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A client has joined.
    Join(Client, Label),
    /// A client has left.
    Leave(Client, Label),
    /// A client's connection has ended.
    Disconnect(Client, Label),
    /// Daemons can be reached, or not, that could not, or could.
    Network {
        /// The members in sets of those that were in one view before. All receivers of the group's
        /// view have the same sets in the same order.
        sets: Vec<Vec<Client>>,
        /// Index of the receiver's set. All receivers of one daemon are in the same set.
        own: usize,
    },
}

/// An event for clients of a daemon.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<G, P> {
    /// A message.
    Message {
        /// The sender.
        sender: Client,
        /// What was promised.
        service: Service,
        /// Whether the sender did not want the message itself.
        self_discard: bool,
        /// Whom it is for.
        targets: Arc<[Target<G>]>,
        /// The sender's data.
        payload: P,
    },
    /// Some members of the group's view do not come along to the next one.
    Transition {
        /// The group.
        group: G,
        /// Name of the view that ends.
        id: GroupViewId,
    },
    /// A group has a new view.
    View {
        /// The group.
        group: G,
        /// Name of the view.
        id: GroupViewId,
        /// The members, in order.
        members: Vec<(Client, Label)>,
        /// Why.
        cause: Cause,
    },
    /// The receiver has left a group.
    Left {
        /// The group.
        group: G,
    },
    /// The daemon has entered a view, with these members, after another one. For no client.
    Entered(ViewId, NodeSet, Arc<Ended>),
}

/// An event, and the clients of the daemon that it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery<G, P> {
    /// The clients.
    pub to: Recipients,
    /// The event.
    pub event: Event<G, P>,
}

/// Clients that an event is for. One client, the usual number, takes no memory elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipients(Few);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Few {
    One(ClientId),
    Others(Arc<[ClientId]>),
}

impl Deref for Recipients {
    type Target = [ClientId];

    fn deref(&self) -> &[ClientId] {
        match &self.0 {
            Few::One(client) => from_ref(client),
            Few::Others(clients) => clients,
        }
    }
}

impl Default for Recipients {
    fn default() -> Recipients {
        Recipients(Few::Others(Arc::default()))
    }
}

impl From<ClientId> for Recipients {
    fn from(client: ClientId) -> Recipients {
        Recipients(Few::One(client))
    }
}

impl FromIterator<ClientId> for Recipients {
    fn from_iter<I: IntoIterator<Item = ClientId>>(clients: I) -> Recipients {
        let clients: Vec<ClientId> = clients.into_iter().collect();
        match clients[..] {
            [client] => client.into(),
            _ => Recipients(Few::Others(clients.into())),
        }
    }
}

/// A message as its sender gives it.
#[derive(Clone, Debug)]
pub struct Outgoing<G, P> {
    /// What is promised.
    pub service: Service,
    /// Whether the sender does not want the message itself.
    pub self_discard: bool,
    /// Whom it is for.
    pub targets: Arc<[Target<G>]>,
    /// The data.
    pub payload: P,
}

/// A view that a daemon has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The view.
    pub view: ViewId,
    /// Clients' messages of the view.
    pub tally: Tally,
}

/// Clients' messages of one view, as one of its daemons knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// By daemon: messages of this one that are for it.
    pub sent: Vec<u64>,
    /// By daemon: messages of it that have come here.
    pub came: Vec<u64>,
}

impl Tally {
    pub(super) fn new(nodes: usize) -> Tally {
        Tally { sent: vec![0; nodes], came: vec![0; nodes] }
    }

    pub(super) fn grow(&mut self, nodes: usize) {
        self.sent.resize(nodes, 0);
        self.came.resize(nodes, 0);
    }
}
