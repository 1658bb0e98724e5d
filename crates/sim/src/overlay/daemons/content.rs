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
    /// Bytes on a connection's stream.
    pub(super) size: u32,
    /// Number of the message among the sender's, from 1.
    pub(super) sequence: u64,
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

pub(super) fn size(message: &OnLink) -> Size {
    match (client_data(message), message) {
        (Some(data), LinkMessage::View(_)) => Size::Data(data),
        (data, LinkMessage::Change(_)) => {
            Size::Other(message.frame_len() + data.unwrap_or(Bytes::ZERO))
        }
        (_, LinkMessage::Prices(_)) => Size::Prices(message.frame_len()),
        _ => Size::Other(message.frame_len()),
    }
}

/// Bytes of the client's message that a message has in it.
fn client_data(message: &OnLink) -> Option<Bytes> {
    let body = match message {
        LinkMessage::View(message) => &message.body,
        LinkMessage::Change(change) => match &change.body {
            ChangeBody::Missing(missing) => &missing.body,
            _ => return None,
        },
        _ => return None,
    };
    match body {
        ViewBody::Data { payload, .. } => Some(payload.size()),
        _ => None,
    }
}
