//! Counters since a daemon's start.

use serde::{Deserialize, Serialize};

/// What a daemon has done for its clients since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Clients that were accepted.
    pub accepted: u64,
    /// Clients that were refused.
    pub refused: u64,
    /// Clients that were cut off: further behind than `lag` allows, or with too many notices.
    pub cut_off: u64,
    /// Connections of clients and daemons that broke their protocol.
    pub violations: u64,
    /// Messages that came from clients. One of a blocked client counts at once.
    pub messages_in: u64,
    /// Bytes of data in these messages.
    pub bytes_in: u64,
    /// Messages and notices that were written to clients.
    pub messages_out: u64,
    /// Bytes that were written to clients, with headers.
    pub bytes_out: u64,
    /// Unreliable messages that found a client's queue full, counted once for each such client.
    pub dropped: u64,
    /// Time for which clients waited to send, in seconds. A wait counts when its message is sent.
    pub blocked_s: f64,
    /// Views that the daemon has entered.
    pub views: u64,
    /// Events that the log left out, because others came too fast.
    pub log_left_out: u64,
}

/// Traffic of a link in one direction: bytes of whole frames, before encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Clients' messages.
    pub messages: u64,
    /// Bytes of clients' messages.
    pub data_bytes: u64,
    /// Bytes of cost updates.
    pub update_bytes: u64,
    /// Bytes of other control: views, acknowledgements, signs of life.
    pub other_bytes: u64,
}

impl Traffic {
    /// Bytes of all kinds.
    pub fn bytes(&self) -> u64 {
        self.data_bytes.saturating_add(self.update_bytes).saturating_add(self.other_bytes)
    }
}
