//! The client's side of the handshake.

use bytes::BytesMut;

use super::error::Error;
use crate::spread::{Acceptance, ClientName, Hello, PrivateName, Version, choice, parse_offer};

/// Bytes that a client reads at once.
pub(super) const READ_SIZE: usize = 1 << 16;

/// How answers of other servers begin: where, with what, and what they speak. A daemon's offer
/// begins with its length and names.
const OTHERS: [(usize, &[u8], &str); 4] = [
    (0, b"HTTP/", "HTTP"),
    (0, b"SSH-", "SSH"),
    // An alert of any version.
    (0, b"\x15\x03", "TLS"),
    // The greeting in a frame, after the frame's length.
    (4, b"RWGROUPS", "with other daemons only"),
];

/// How a client wants to be known and served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Name of the client, or `None` for a name of the daemon's choice.
    pub name: Option<ClientName>,
    /// Whether the client wants notices of its groups' members.
    pub membership: bool,
    /// Priority, at most 15; Spread's clients say 0 or 1, and its daemon ignores it.
    pub priority: u8,
}

/// A handshake in which the client has said hello.
pub(super) struct Handshake {
    is_offered: bool,
}

/// Next action of the client.
pub(super) enum Step {
    /// Read more of what the daemon sends.
    Read,
    /// Send these bytes.
    Send(Vec<u8>),
    /// Nothing, because the daemon has accepted the client under this name.
    Done(PrivateName),
}

impl Handshake {
    /// Starts a handshake; these bytes are to be sent first.
    pub fn start(options: Options) -> (Handshake, Vec<u8>) {
        let Options { name, membership, priority } = options;
        let hello = Hello { version: Version::NEWEST, membership, priority, name };
        (Handshake { is_offered: false }, hello.encode().to_vec())
    }

    /// Returns the next step. The buffer has what the daemon has sent.
    pub fn step(&mut self, buffer: &mut BytesMut) -> Result<Step, Error> {
        if self.is_offered {
            let acceptance = Acceptance::parse(buffer, Version::NEWEST).map_err(Error::Refused)?;
            return Ok(acceptance.map_or(Step::Read, |acceptance| Step::Done(acceptance.name)));
        }
        let is_start = |(at, start, _): &&(usize, &[u8], _)| {
            buffer.get(*at..).is_some_and(|answer| answer.starts_with(start))
        };
        if let Some((.., protocol)) = OTHERS.iter().find(is_start) {
            return Err(Error::OtherServer(protocol));
        }
        match parse_offer(buffer).map_err(Error::Refused)? {
            None => Ok(Step::Read),
            Some(()) => {
                self.is_offered = true;
                Ok(Step::Send(choice().to_vec()))
            }
        }
    }
}
