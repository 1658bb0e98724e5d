//! A message to a client.

use bytes::Bytes;
use tokio::time::Instant;

/// A message to a client.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) head: Bytes,
    /// The rest of a large message, which all receivers share.
    pub(super) data: Bytes,
    /// Number of messages that it counts as.
    pub(super) counted: u32,
    /// Whether the daemon itself says it: no sender waits for room in the queue.
    pub(super) is_notice: bool,
    /// When it came.
    pub(super) at: Instant,
}

impl Item {
    /// Bytes on the wire.
    pub(super) fn size(&self) -> usize {
        self.head.len() + self.data.len()
    }

    /// Bytes on the wire, if the message is a notice.
    pub(super) fn notice_size(&self) -> usize {
        if self.is_notice { self.size() } else { 0 }
    }
}
