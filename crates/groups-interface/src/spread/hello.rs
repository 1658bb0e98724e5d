//! A client's first message.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::name::ClientName;
use super::refusal::Refusal;

/// Version of Spread that a client or a daemon is compatible with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major version.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
    /// Patch version; 0 if the version is too old to have one.
    pub patch: u8,
}

impl Version {
    /// The newest version of the protocol that this module knows.
    pub const NEWEST: Version = Version::new(5, 0, 1);
    pub(super) const OLDEST: Version = Version::new(3, 1, 0);

    /// A version.
    pub const fn new(major: u8, minor: u8, patch: u8) -> Version {
        Version { major, minor, patch }
    }

    /// Whether a client of this version sends the patch version and expects the daemon's.
    pub(super) fn has_patch(self) -> bool {
        self >= Version::new(3, 15, 0)
    }

    /// Whether a client of this version expects an [`offer`](super::offer) before the answer.
    pub fn authenticates(self) -> bool {
        self >= Version::new(3, 16, 0)
    }

    /// Writes the version as a client of another version does, or as a daemon does to it.
    pub(super) fn put(self, client: Version, bytes: &mut BytesMut) {
        bytes.put_slice(&[self.major, self.minor]);
        if client.has_patch() {
            bytes.put_u8(self.patch);
        }
    }
}

/// First message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Version of the client's library.
    pub version: Version,
    /// Whether the client wants notices of its groups' members.
    pub membership: bool,
    /// Priority of the client, at most 15. Spread's clients say 0 or 1, and its daemon ignores it.
    pub priority: u8,
    /// Name of the client. The daemon gives a name to a client that has none.
    pub name: Option<ClientName>,
}

impl Hello {
    /// Takes a client's first message off the buffer. Returns `None` if the buffer does not have
    /// all of the message.
    ///
    /// # Errors
    /// If the version is too old or the name is not valid. The daemon then sends the refusal and
    /// ends the connection.
    pub fn parse(buffer: &mut BytesMut) -> Result<Option<Hello>, Refusal> {
        let [major, minor, ..] = buffer[..] else { return Ok(None) };
        let version = Version::new(major, minor, 0);
        if version < Version::OLDEST {
            return Err(Refusal::Version);
        }
        let fields = if version.has_patch() { 3 } else { 2 };
        let Some(&[flags, length]) = buffer.get(fields..fields + 2) else { return Ok(None) };
        let patch = if version.has_patch() { buffer[2] } else { 0 };
        let end = fields + 2 + usize::from(length);
        let name = match (length, buffer.get(fields + 2..end)) {
            (0, _) => None,
            (11.., _) => return Err(Refusal::IllegalName),
            (_, None) => return Ok(None),
            (_, Some(name)) => {
                Some(ClientName::from_bytes(name).map_err(|_| Refusal::IllegalName)?)
            }
        };
        buffer.advance(end);
        let version = Version { patch, ..version };
        Ok(Some(Hello { version, membership: flags & 1 == 1, priority: flags >> 4, name }))
    }

    /// The message's bytes.
    pub fn encode(&self) -> Bytes {
        let name = self.name.as_ref().map_or("", ClientName::as_str);
        let mut bytes = BytesMut::with_capacity(5 + name.len());
        self.version.put(self.version, &mut bytes);
        bytes.put_u8(self.priority << 4 | u8::from(self.membership));
        bytes.put_u8(name.len() as u8);
        bytes.put_slice(name.as_bytes());
        bytes.freeze()
    }
}
