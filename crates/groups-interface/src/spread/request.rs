//! What a client sends after the handshake.

use bytes::{Bytes, BytesMut};

use super::header::{ByteOrder, HEADER_SIZE, Header, Hint, kind};
use super::message::{LIMIT, Message};
use super::name::{GroupName, NAME_SIZE, PrivateName};
use super::violation::Violation;

/// What a client asks its daemon to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Send a message to groups. The client need not be a member.
    Multicast(Message),
    /// Make the client a member of a group.
    Join(GroupName),
    /// End the client's membership of a group.
    Leave(GroupName),
    /// End the connection.
    Disconnect,
}

impl Request {
    /// Takes a request of this client off the buffer. Returns `None` if the buffer does not have
    /// all of the request.
    ///
    /// Checks the header before the rest has come: a buffer that is read until this returns a
    /// request or an error stays shorter than 144 kB and one read.
    ///
    /// # Errors
    /// If the request breaks the protocol. The daemon then ends the connection.
    pub fn parse(
        buffer: &mut BytesMut,
        client: &PrivateName,
    ) -> Result<Option<Request>, Violation> {
        let Some(header) = Header::peek(buffer)? else { return Ok(None) };
        LIMIT.check(header.names, header.data)?;
        // Other bits mean nothing from a client; Spread's daemon accepts them.
        let request = header.kind & kind::REQUESTS;
        if request.count_ones() != 1 {
            return Err(Violation::Kind(header.kind));
        }
        let sender = PrivateName::from_padded(&header.name)?;
        if sender != *client {
            return Err(Violation::Sender(sender.to_string()));
        }
        let changes_membership = request & (kind::JOIN | kind::LEAVE) != 0;
        if changes_membership && header.names == 0 {
            return Err(Violation::NoGroup);
        }
        let Some(body) = header.take(buffer, 0) else { return Ok(None) };
        // Spread's daemon reads the first name only.
        let group = || GroupName::from_padded(&body.names[..NAME_SIZE]);
        let request = match request {
            kind::JOIN => Request::Join(group()?),
            kind::LEAVE => Request::Leave(group()?),
            kind::KILL => Request::Disconnect,
            _ => Request::Multicast(Message::read(header.kind, header.hint, body)?),
        };
        request.check()?;
        Ok(Some(request))
    }

    /// Whether a daemon may accept the request.
    ///
    /// # Errors
    /// If a message is too long (see [`Message::check`]), or the name to join or leave is private.
    pub fn check(&self) -> Result<(), Violation> {
        match self {
            Request::Multicast(message) => message.check(),
            Request::Join(group) | Request::Leave(group) => match group.as_private() {
                Some(name) => Err(Violation::PrivateGroup(name.to_string())),
                None => Ok(()),
            },
            Request::Disconnect => Ok(()),
        }
    }

    /// The request's bytes. Copies the data of a message; [`parts`](Request::parts) does not.
    pub fn encode(&self, client: &PrivateName, order: ByteOrder) -> Bytes {
        let (head, data) = self.parts(client, order);
        let mut bytes = BytesMut::from(head);
        bytes.extend_from_slice(&data);
        bytes.freeze()
    }

    /// The bytes before the data of a message, and its data. All other requests have no data.
    pub fn parts(&self, client: &PrivateName, order: ByteOrder) -> (Bytes, Bytes) {
        let (kind, group) = match self {
            Request::Multicast(message) => {
                return (message.head(client, order), message.data.clone());
            }
            Request::Join(group) => (kind::JOIN, *group),
            Request::Leave(group) => (kind::LEAVE, *group),
            Request::Disconnect => (kind::KILL, GroupName::from(*client)),
        };
        let name = *GroupName::from(*client).padded();
        let hint = Hint { order, kind: 0 };
        let mut bytes = BytesMut::with_capacity(HEADER_SIZE + NAME_SIZE);
        Header { order, kind, name, names: 1, hint, data: 0 }.put(&mut bytes);
        bytes.extend_from_slice(group.padded());
        (bytes.freeze(), Bytes::new())
    }
}
