//! What a flood is to do.

use ratewire_groups::client::{Address, GroupName};
use ratewire_units::{Bytes, Duration, Time};

use super::super::service::Service;

/// When senders stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// After this many messages of each sender.
    Count(u64),
    /// At this time.
    At(Time),
}

/// What a flood is to do.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Number of the flood.
    pub run: u32,
    /// Where the daemons listen, at least one.
    pub at: Vec<Address>,
    /// Clients that send.
    pub senders: usize,
    /// Clients that receive; with 0, the senders do.
    pub receivers: usize,
    /// Groups, at least one.
    pub groups: Vec<GroupName>,
    /// Size of each message's data.
    pub size: Bytes,
    /// Promise about the messages.
    pub service: Service,
    /// Messages that all senders send in a second, at most.
    pub rate: Option<f64>,
    /// Messages of a sender that not all receivers have got, at most.
    pub window: Option<u64>,
    /// Time at the start that does not count.
    pub warmup: Duration,
    /// When senders stop.
    pub end: End,
}

impl Plan {
    /// Clients that receive.
    pub(super) fn receiving(&self) -> usize {
        if self.is_closed() { self.senders } else { self.receivers }
    }

    /// Whether the senders receive too, over the same connections.
    pub(super) fn is_closed(&self) -> bool {
        self.receivers == 0
    }

    /// The daemon of a client that sends.
    pub(super) fn daemon_of_sender(&self, sender: usize) -> &Address {
        &self.at[sender % self.at.len()]
    }

    /// The daemon of a client that only receives. Counts from the last daemon, so that messages
    /// cross the links.
    pub(super) fn daemon_of_receiver(&self, receiver: usize) -> &Address {
        &self.at[self.at.len() - 1 - receiver % self.at.len()]
    }
}
