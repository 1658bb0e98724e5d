//! What a daemon sends after the handshake.

use bytes::{Bytes, BytesMut};

use super::header::{Body, ByteOrder, HEADER_SIZE, Header, Hint, Limit, kind};
use super::membership::{Membership, MembershipId, put_notice};
use super::message::{LONGEST_BODY, MOST_GROUPS, Message};
use super::name::{GroupName, NAME_SIZE, PrivateName};
use super::request::Request;
use super::violation::Violation;

/// Members of the largest group that a client can be told of.
pub const MOST_MEMBERS: usize = 1 << 16;

/// A rejection has one name more than the message.
const MESSAGE_LIMIT: Limit = Limit { names: MOST_GROUPS, body: LONGEST_BODY + NAME_SIZE };
/// A notice of the largest group has each member in the list, and in a set of its own.
const NOTICE_LIMIT: Limit =
    Limit { names: MOST_MEMBERS, body: MOST_MEMBERS * (2 * NAME_SIZE + 4) + 20 };
/// Bytes of the kind of a rejected message.
const OLD_KIND: usize = 4;

/// What a client receives.
///
/// A client gets [`Membership`](Received::Membership), [`Transition`](Received::Transition) and
/// [`Left`](Received::Left) only if it has asked for them in its [`Hello`](super::Hello).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A message to one of the client's groups or to the client itself.
    Message {
        /// Who sent the message.
        sender: PrivateName,
        /// The message.
        message: Message,
    },
    /// The members of one of the client's groups have changed.
    Membership(Membership),
    /// Daemons have become unreachable. Until the next membership, members there may not get the
    /// messages that the client gets.
    Transition {
        /// The group.
        group: GroupName,
        /// Identifier of the membership that ends.
        id: MembershipId,
    },
    /// The client has left the group, as it asked to.
    Left(GroupName),
    /// The daemon did not do what the client asked.
    Rejected {
        /// Who asked: the client itself.
        sender: PrivateName,
        /// What the client asked.
        request: Request,
    },
}

impl Received {
    /// Takes a message from a daemon off the buffer. Returns `None` if the buffer does not have all
    /// of the message.
    ///
    /// # Errors
    /// If the daemon breaks the protocol, or a group has more than [`MOST_MEMBERS`].
    pub fn parse(buffer: &mut BytesMut) -> Result<Option<Received>, Violation> {
        let Some(header) = Header::peek(buffer)? else { return Ok(None) };
        let is_rejection = header.kind & kind::REJECT != 0;
        let is_message = is_rejection || kind::service(header.kind).is_some();
        let limit = if is_message { MESSAGE_LIMIT } else { NOTICE_LIMIT };
        limit.check(header.names, header.data)?;
        let prefix = if is_rejection { OLD_KIND } else { 0 };
        let Some(body) = header.take(buffer, prefix) else { return Ok(None) };
        let name = || GroupName::from_padded(&header.name);
        Ok(Some(if is_rejection {
            read_rejection(&header, body)?
        } else if is_message {
            let sender = PrivateName::try_from(name()?)?;
            Received::Message { sender, message: Message::read(header.kind, header.hint, body)? }
        } else if header.kind & kind::REGULAR_MEMBERSHIP != 0 {
            Received::Membership(Membership::read(&header, body)?)
        } else if header.kind & kind::TRANSITION != 0 {
            let mut data = body.data;
            let id = MembershipId::read(header.order, &mut data)?;
            Received::Transition { group: name()?, id }
        } else if header.kind & kind::CAUSED_BY_LEAVE != 0 {
            Received::Left(name()?)
        } else {
            return Err(Violation::Kind(header.kind));
        }))
    }

    /// The message's bytes. Copies the data of a message to groups; [`Message::head`] does not.
    ///
    /// All clients get the same bytes, except that [`Change`](super::Change) may name the
    /// receiver's set.
    ///
    /// # Panics
    /// If the receiver's set is not one of the sets.
    pub fn encode(&self, order: ByteOrder) -> Bytes {
        match self {
            Received::Message { sender, message } => message.encode(sender, order),
            Received::Membership(membership) => membership.encode(order),
            Received::Transition { group, id } => {
                let size = MembershipId::SIZE;
                let mut bytes = put_notice(order, kind::TRANSITION, group, &[], size);
                id.put(order, &mut bytes);
                bytes.freeze()
            }
            Received::Left(group) => {
                put_notice(order, kind::CAUSED_BY_LEAVE, group, &[], 0).freeze()
            }
            Received::Rejected { sender, request } => encode_rejection(sender, request, order),
        }
    }
}

/// Reads a rejection: the request's kind, its groups, the sender's name, and its data.
fn read_rejection(header: &Header, mut body: Body) -> Result<Received, Violation> {
    let (_, old_kind) = ByteOrder::get_marked(&mut body.prefix);
    let sender = PrivateName::from_padded(&header.name)?;
    body.names.truncate(body.names.len().saturating_sub(NAME_SIZE));
    let group = || match body.names.get(..NAME_SIZE) {
        Some(name) => Ok(GroupName::from_padded(name)?),
        None => Err(Violation::NoGroup),
    };
    let request = if kind::service(old_kind).is_some() {
        Request::Multicast(Message::read(old_kind, header.hint, body)?)
    } else if old_kind & kind::CAUSED_BY_JOIN != 0 {
        Request::Join(group()?)
    } else if old_kind & kind::CAUSED_BY_LEAVE != 0 {
        Request::Leave(group()?)
    } else if old_kind & kind::KILL != 0 {
        Request::Disconnect
    } else {
        return Err(Violation::Kind(old_kind));
    };
    Ok(Received::Rejected { sender, request })
}

fn encode_rejection(sender: &PrivateName, request: &Request, order: ByteOrder) -> Bytes {
    let name = *GroupName::from(*sender).padded();
    let hint = Hint { order, kind: 0 };
    let none = Header { order, kind: 0, name, names: 0, hint, data: 0 };
    let (header, groups, data) = match request {
        Request::Multicast(message) => {
            (message.header(sender, order), &message.groups[..], &message.data[..])
        }
        Request::Join(group) => {
            (Header { kind: kind::CAUSED_BY_JOIN, ..none }, std::slice::from_ref(group), &[][..])
        }
        Request::Leave(group) => {
            (Header { kind: kind::CAUSED_BY_LEAVE, ..none }, std::slice::from_ref(group), &[][..])
        }
        Request::Disconnect => (Header { kind: kind::KILL, ..none }, &[][..], &[][..]),
    };
    // The sender's name takes the place of the last group if there is no room for both.
    let groups = &groups[..groups.len().min(MOST_GROUPS - 1)];
    let names = groups.len() + 1;
    let size = HEADER_SIZE + OLD_KIND + names * NAME_SIZE + data.len();
    let mut bytes = BytesMut::with_capacity(size);
    let kind = kind::REJECT | header.kind & kind::SELF_DISCARD;
    Header { kind, names, ..header.clone() }.put(&mut bytes);
    order.put_marked(header.kind, &mut bytes);
    groups.iter().for_each(|group| bytes.extend_from_slice(group.padded()));
    bytes.extend_from_slice(&name);
    bytes.extend_from_slice(data);
    bytes.freeze()
}
