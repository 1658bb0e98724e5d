//! What nodes send each other.

use ratewire_units::{Bytes, Time};

use crate::ids::{ClientId, GroupId, NodeId, NodeSet};
use crate::layout::{ENTRY, HEAD, MARK_BITS, number_len};
use crate::price::Occupancy;

/// Something on its way from one node to others.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The node it is from: its root of the tree it goes down.
    pub origin: NodeId,
    /// The nodes it is for.
    pub to: NodeSet,
    /// What it takes of a connection's stream.
    pub size: Bytes,
    /// What it says.
    pub body: MessageBody,
}

/// A node's place in the order of all events that concern agreed groups.
pub type Stamp = u64;

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageBody {
    /// A client's message to a group.
    Data {
        /// The group.
        group: GroupId,
        /// Who sent it.
        client: ClientId,
        /// Which of that client's messages, from 0.
        sequence: u64,
        /// Its place in the agreed order; zero where none is kept.
        stamp: Stamp,
        /// When it was paid for.
        bought: Time,
    },
    /// What waits in front of the origin's links, where that has changed.
    Prices(Vec<QueueLevel>),
    /// The origin will have a member of the group and asks for its messages.
    Interest(GroupId),
    /// The origin's messages to the group go to the one that asked, from this stamp on.
    Included(GroupId, Stamp),
    /// A client of the origin joins or leaves a group.
    Change {
        /// The group.
        group: GroupId,
        /// Who.
        client: ClientId,
        /// Whether it joins.
        joins: bool,
        /// Its place in the agreed order; zero where none is kept.
        stamp: Stamp,
    },
    /// All that the origin will say from now on comes after this stamp, which is so far beyond that of its
    /// last mark.
    Mark(Stamp),
}

impl MessageBody {
    /// Bytes of what a node says to others; a client's message is as long as the client says.
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

    /// Whether it is a client's.
    pub fn is_data(&self) -> bool {
        matches!(self, MessageBody::Data { .. })
    }
    /// Whether it goes before what waits. Only prices may: the order of all else is part of what it
    /// says.
    pub fn overtakes(&self) -> bool {
        matches!(self, MessageBody::Prices(_))
    }
}

/// The level of the queue in front of one link of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLevel {
    /// Which of the node's links, in the order of their numbers.
    pub link: u8,
    /// The level of its queue.
    pub level: Level,
}

/// An average number of waiting messages, as nodes tell each other: in sixty-fourths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level(pub u16);

impl Level {
    const STEPS: f64 = 64.0;
    /// A quarter of a message: a few cents.
    const NEWS: u16 = 16;

    /// The nearest level; the highest is 1,023 and some.
    pub fn of(waiting: Occupancy) -> Level {
        Level((waiting.get() * Self::STEPS + 0.5) as u16)
    }
    /// Whether it is far enough from what was told last to be told.
    pub fn is_news(self, told: Level) -> bool {
        self.0.abs_diff(told.0) >= Self::NEWS
    }
    /// What it says.
    pub fn occupancy(self) -> Occupancy {
        Occupancy::new(f64::from(self.0) / Self::STEPS)
    }
}

impl Message {
    /// The origin's news of its links, for the nodes `to`.
    pub fn prices(origin: NodeId, to: NodeSet, told: &[QueueLevel]) -> Message {
        Message::control(origin, to, MessageBody::Prices(told.into()))
    }

    /// A message between nodes, of the size it has on the wire.
    pub fn control(origin: NodeId, to: NodeSet, body: MessageBody) -> Message {
        let size = body.encoded_len();
        Message { origin, to, size, body }
    }
}
