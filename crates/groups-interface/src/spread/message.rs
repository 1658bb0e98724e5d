//! Messages to groups. A client and a daemon send each other the same bytes.

use bytes::{Bytes, BytesMut};
use ratewire_overlay::membership::Service;

use super::header::{Body, ByteOrder, HEADER_SIZE, Header, Hint, Limit, kind};
use super::name::{GroupName, NAME_SIZE, PrivateName};
use super::violation::Violation;

/// Groups that a message may have at most.
pub const MOST_GROUPS: usize = 100;
/// Bytes that the names and data of a message may have at most, a name of 32 bytes for each group.
pub const LONGEST_BODY: usize = 144_000 - HEADER_SIZE;

/// What a client may send.
pub(super) const LIMIT: Limit = Limit { names: MOST_GROUPS, body: LONGEST_BODY };

/// A message to groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Promise about the message.
    pub service: Service,
    /// Whether the sender does not want the message itself.
    pub self_discard: bool,
    /// The destinations: groups, and clients by their private names.
    pub groups: Vec<GroupName>,
    /// Number that the application gives the message.
    pub kind: i16,
    /// Byte order of numbers in the data, if the application writes that of its machine.
    pub order: ByteOrder,
    /// Content.
    pub data: Bytes,
}

impl Message {
    /// A message in this machine's byte order that its sender gets too, if it is a member.
    pub fn new(service: Service, groups: &[GroupName], kind: i16, data: Bytes) -> Message {
        let groups = groups.to_vec();
        Message { service, self_discard: false, groups, kind, order: ByteOrder::NATIVE, data }
    }

    /// Whether the message is short enough to be sent.
    ///
    /// # Errors
    /// If the message has more than [`MOST_GROUPS`] groups, or groups and data are longer than
    /// [`LONGEST_BODY`].
    pub fn check(&self) -> Result<(), Violation> {
        LIMIT.check(self.groups.len(), self.data.len())
    }

    /// The bytes that come before the data of the message, which [`check`](Message::check) allows.
    ///
    /// All receivers get the same bytes. A daemon encodes them once and does not copy the data.
    pub fn head(&self, sender: &PrivateName, order: ByteOrder) -> Bytes {
        let names = self.groups.iter();
        let mut bytes = BytesMut::with_capacity(HEADER_SIZE + names.len() * NAME_SIZE);
        self.header(sender, order).put(&mut bytes);
        names.for_each(|group| bytes.extend_from_slice(group.padded()));
        bytes.freeze()
    }

    /// The whole message, which [`check`](Message::check) allows. Copies the data.
    pub fn encode(&self, sender: &PrivateName, order: ByteOrder) -> Bytes {
        let mut bytes = BytesMut::from(self.head(sender, order));
        bytes.extend_from_slice(&self.data);
        bytes.freeze()
    }

    pub(super) fn header(&self, sender: &PrivateName, order: ByteOrder) -> Header {
        Header {
            order,
            kind: self.kind_bits(),
            name: *GroupName::from(*sender).padded(),
            names: self.groups.len(),
            hint: Hint { order: self.order, kind: self.kind },
            data: self.data.len(),
        }
    }

    pub(super) fn kind_bits(&self) -> u32 {
        let discard = if self.self_discard { kind::SELF_DISCARD } else { 0 };
        kind::of_service(self.service) | discard
    }

    /// Reads a message of this kind. Leaves out names that no group can have, as no one gets what
    /// is sent to them.
    pub(super) fn read(bits: u32, hint: Hint, body: Body) -> Result<Message, Violation> {
        let names = body.names.chunks_exact(NAME_SIZE);
        Ok(Message {
            service: kind::service(bits).ok_or(Violation::Kind(bits))?,
            self_discard: bits & kind::SELF_DISCARD != 0,
            groups: names.filter_map(|name| GroupName::from_padded(name).ok()).collect(),
            kind: hint.kind,
            order: hint.order,
            data: body.data,
        })
    }
}
