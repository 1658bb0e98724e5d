//! A sending client of an overlay, as a scenario states it, and the order of its group.

use ratewire_units::{Bytes, Rate};

use crate::ids::{ClientId, GroupId};

/// A client that sends to a group.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderSpec {
    /// The client.
    pub client: ClientId,
    /// The group that it sends to; the client need not be a member.
    pub group: GroupId,
    /// Bytes of a message on a connection, headers of the overlay included.
    pub message: Bytes,
    /// Rate of the client's line to its node, above zero.
    pub line: Rate,
    /// Rate at which the source makes message bytes; `None` for unlimited.
    pub offered: Option<Rate>,
}

/// Counters of a sending client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounts {
    /// Messages paid for.
    pub sent: u64,
    /// Deliveries that these messages owe: one for each destination node.
    pub owed: u64,
}

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
