//! Messages of simulated clients.

use ratewire_overlay::GroupId;
use ratewire_overlay::daemon::Payload;
use ratewire_overlay::membership::{ChangeBody, LinkMessage, ViewBody};
use ratewire_units::{Bytes, Time};
use serde::{Serialize, Serializer};

/// A message on a link of a simulated overlay.
pub(super) type OnLink = LinkMessage<GroupId, Content>;

/// A client's message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    /// Index of the sender in the setup.
    pub(super) sender: u32,
    /// The sender's group: deliveries are counted without the setup.
    pub(super) group: GroupId,
    /// Bytes on a connection's stream.
    pub(super) size: u32,
    /// Number of the message among the sender's, from 1.
    pub(super) sequence: u32,
    /// When the message was paid for.
    pub(super) bought: Time,
}

impl Payload for Content {
    fn counted(&self) -> u32 {
        1
    }
    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    fn note_sent(&mut self, now: Time) {
        self.bought = now;
    }
}

/// A client's message states its size; only those of other messages follow from their bytes.
impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

/// Kind and bytes of a message on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Data(Bytes),
    Prices(Bytes),
    Other(Bytes),
}

/// The size of a message. `data` is the size of a client's message as its queue knows it, so that
/// the message itself is not read.
pub(super) fn size(data: Bytes, message: &OnLink) -> Size {
    match message {
        LinkMessage::View(_) if data > Bytes::ZERO => Size::Data(data),
        LinkMessage::Change(change) => Size::Other(message.frame_len() + recovered(&change.body)),
        LinkMessage::Prices(_) => Size::Prices(message.frame_len()),
        _ => Size::Other(message.frame_len()),
    }
}

/// Bytes of the client's message that is recovered with a message.
fn recovered(body: &ChangeBody<GroupId, Content>) -> Bytes {
    match body {
        ChangeBody::Missing(missing) => match &missing.body {
            ViewBody::Data { payload, .. } => payload.size(),
            _ => Bytes::ZERO,
        },
        _ => Bytes::ZERO,
    }
}
