//! A sending client, and the agent that buys for the client at its node (section 4.2.2).
//!
//! The client is at the far end of a line of some rate. The node reads the next message once the
//! last has been sent; while a message cannot be paid for, the node reads no more.

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::benefit::Recent;
use crate::budget::Budget;
use crate::ids::{ClientId, GroupId};
use crate::params::Params;

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
    /// Times that chance delayed an affordable message.
    pub waits: u64,
    /// Times that a message was too dear.
    pub blocks: u64,
}

/// An agent fills whole cache lines. A wake that buys nothing reads the first two, except for what
/// concave benefits need.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Agent {
    /// When the agent's event is due.
    pub wake: Time,
    /// When the next message is ready to be sent.
    pub ready: Time,
    pub budget: Budget,
    pub group: GroupId,
    pub client: ClientId,
    pub blocked: bool,
    pub stopped: bool,
    /// Number of nodes that the messages are for.
    pub receivers: u8,
    /// Number of links that the messages cross.
    pub crossed: u8,
    /// Time of a message on the client's line.
    pub line: Duration,
    /// Time between messages of the source.
    gap: Duration,
    pub counts: SenderCounts,
    pub message: Bytes,
    pub recent: Recent,
}

const _: () = assert!(core::mem::offset_of!(Agent, message) == 128);

impl Agent {
    pub fn new(now: Time, spec: &SenderSpec, params: &Params) -> Agent {
        let time = |rate: Rate| rate.serial_time().map_or(Duration::MAX, |t| t.of(spec.message));
        // A line that takes no time would let a client buy without end at one instant.
        let line = time(spec.line).max(Duration::from_ps(1));
        Agent {
            client: spec.client,
            group: spec.group,
            message: spec.message,
            line,
            gap: spec.offered.map_or(line, |rate| time(rate).max(line)),
            budget: Budget::new(now, params),
            recent: Recent::default(),
            ready: now + line,
            blocked: false,
            stopped: false,
            receivers: 0,
            crossed: 0,
            wake: Time::NEVER,
            counts: SenderCounts::default(),
        }
    }

    /// Notes that a message went. The next is ready when the source has made it and the line has
    /// carried it.
    pub fn sent(&mut self, now: Time) {
        self.ready = (self.ready + self.gap).max(now + self.line);
        self.counts.sent += 1;
    }

    /// When the agent next acts without an event of others.
    pub fn due(&self) -> Time {
        match (self.stopped, self.blocked) {
            (true, _) => Time::NEVER,
            (false, true) => self.budget.payday(),
            (false, false) => self.budget.payday().min(self.ready),
        }
    }
}
