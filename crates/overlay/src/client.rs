//! A sending client, and the agent that buys for it at its node (section 4.2.2).
//!
//! The client is at the far end of a line of some rate; the node reads its next message once the last
//! has been sent, and while it cannot be paid for, nothing more is read.

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::benefit::Recent;
use crate::budget::Budget;
use crate::ids::{ClientId, GroupId};
use crate::params::Params;

/// A client that sends to a group.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderSpec {
    /// Who.
    pub client: ClientId,
    /// To which group; it need not be a member.
    pub group: GroupId,
    /// What each message takes of a connection, headers of the overlay included.
    pub message: Bytes,
    /// Rate of the client's line to its node, above zero.
    pub line: Rate,
    /// What it has to send, message bytes a second; `None` for as much as it can.
    pub offered: Option<Rate>,
}

/// What a sending client has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounts {
    /// Messages paid for.
    pub sent: u64,
    /// Deliveries that they are owed: one for each node they are for.
    pub owed: u64,
    /// Times that chance kept an affordable message back.
    pub waits: u64,
    /// Times that a message could not be afforded.
    pub blocks: u64,
}

/// In whole cache lines: a message that is thought of and not bought needs the first two, but for what concave benefits
/// look at.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Agent {
    /// When its event is due.
    pub wake: Time,
    /// From when on there is a message that may be sent.
    pub ready: Time,
    pub budget: Budget,
    pub group: GroupId,
    pub client: ClientId,
    pub blocked: bool,
    pub stopped: bool,
    /// Nodes that its messages are for.
    pub receivers: u8,
    /// Links that they cross.
    pub crossed: u8,
    /// What a message takes on the line.
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
        // A line that takes no time would let a client buy for ever in an instant.
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

    /// A message went: the next is there when the source has made it and the line has brought it.
    pub fn sent(&mut self, now: Time) {
        self.ready = (self.ready + self.gap).max(now + self.line);
        self.counts.sent += 1;
    }

    /// When it next has something to do by itself.
    pub fn due(&self) -> Time {
        match (self.stopped, self.blocked) {
            (true, _) => Time::NEVER,
            (false, true) => self.budget.payday(),
            (false, false) => self.budget.payday().min(self.ready),
        }
    }
}
