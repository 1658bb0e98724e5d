//! Messages between nodes.

use ratewire_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use crate::ids::{ClientId, GroupId, NodeSet, OverlayNodeId};
use crate::layout::{ENTRY, HEAD, MARK_BITS, number_len};
use crate::price::Occupancy;

/// A message on its way from one node to others.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Node that sent the message: the root of the tree that it goes down.
    pub origin: OverlayNodeId,
    /// Destinations.
    pub to: NodeSet,
    /// Bytes on a connection's stream.
    pub size: Bytes,
    /// Content.
    pub body: MessageBody,
}

/// A node's place in the order of all events of agreed groups.
pub type OrderStamp = u64;

/// Content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageBody {
    /// A client's message to a group.
    Data {
        /// The group.
        group: GroupId,
        /// The sender.
        client: ClientId,
        /// Number of the message among the sender's, from 0.
        sequence: u64,
        /// Place in the agreed order; zero for other orders.
        stamp: OrderStamp,
        /// When the message was paid for.
        bought: Time,
    },
    /// Queues in front of the origin's links, where they have changed.
    Prices(Vec<QueueLevel>),
    /// The origin will have a member of the group and asks for the group's messages.
    Interest(GroupId),
    /// The origin sends its messages to the group to the node that asked, from this stamp on.
    Included(GroupId, OrderStamp),
    /// A client of the origin joins or leaves a group.
    Change {
        /// The group.
        group: GroupId,
        /// The client.
        client: ClientId,
        /// Whether the client joins.
        joins: bool,
        /// Place in the agreed order; zero for other orders.
        stamp: OrderStamp,
    },
    /// All later messages of the origin come after this stamp. The stamp is sent as its distance
    /// from the last mark's.
    Mark(OrderStamp),
}

impl MessageBody {
    /// Length of a control message; clients' messages state their own length.
    fn encoded_len(&self) -> Bytes {
        let said = match self {
            MessageBody::Data { .. } => 0,
            MessageBody::Prices(told) => ENTRY * told.len() as u64,
            MessageBody::Interest(group) => number_len(group.0.into()),
            MessageBody::Included(group, stamp) => {
                1 + number_len(group.0.into()) + number_len(*stamp)
            }
            MessageBody::Change { group, client, stamp, .. } => {
                number_len(group.0.into()) + number_len(client.0.into()) + number_len(*stamp)
            }
            MessageBody::Mark(beyond) => match beyond >> MARK_BITS {
                0 => 0,
                rest => number_len(rest),
            },
        };
        Bytes::new(HEAD + said)
    }

    /// Whether the message is a client's.
    pub fn is_data(&self) -> bool {
        matches!(self, MessageBody::Data { .. })
    }
}

/// Queue in front of one link of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLevel {
    /// Index of the link among the node's links, in the order of their numbers.
    pub link: u8,
    /// Mean length of the queue.
    pub level: Level,
}

/// A mean number of waiting messages as nodes send it: in sixty-fourths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level(pub u16);

impl Level {
    /// A queue beyond its limit.
    pub const FULL: Level = Level(u16::MAX);

    const STEPS: f64 = 64.0;
    /// A quarter of a message: a few cents of price.
    const NEWS: u16 = 16;
    /// Eight messages: from none, that is a price of a dollar.
    const LEAP: u16 = 512;

    /// The nearest level; the highest is 1,023 and some.
    pub fn of(waiting: Occupancy) -> Level {
        Level(((waiting.get() * Self::STEPS + 0.5) as u16).min(Level::FULL.0 - 1))
    }
    /// Whether the level differs enough from the last one sent to be sent.
    pub fn is_news(self, told: Level) -> bool {
        self.0.abs_diff(told.0) >= Self::NEWS
    }
    /// Whether the level is so far from the last one sent that it should not wait.
    pub fn has_leapt(self, told: Level) -> bool {
        self.0.abs_diff(told.0) >= Self::LEAP.max(told.0 / 4)
    }
    /// The level as a number of messages.
    pub fn occupancy(self) -> Occupancy {
        Occupancy::new(f64::from(self.0) / Self::STEPS)
    }
}

impl Message {
    /// Cost update of the origin's links, for the nodes `to`.
    pub fn prices(origin: OverlayNodeId, to: NodeSet, told: &[QueueLevel]) -> Message {
        Message::control(origin, to, MessageBody::Prices(told.into()))
    }

    /// A message between nodes, of its size on the wire.
    pub fn control(origin: OverlayNodeId, to: NodeSet, body: MessageBody) -> Message {
        let size = body.encoded_len();
        Message { origin, to, size, body }
    }
}
