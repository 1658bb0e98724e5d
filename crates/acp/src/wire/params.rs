//! What the ends tell each other in the handshake.

use super::{ConnectionId, WireError, take, take_array, varint};

/// Most bytes of a law's name with its options.
pub const LONGEST_LAW: usize = 512;

/// What an end is to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndKind {
    /// A host.
    #[default]
    Host,
    /// A switch that spreads frames over members: the other end keeps each frame in one piece of
    /// its stream. This end's stream ends first.
    Switch,
    /// A switch that spreads frames, too. The other end's stream ends first.
    SwitchAfter,
}

impl EndKind {
    const CODES: [(EndKind, u8); 2] = [(EndKind::Switch, 1), (EndKind::SwitchAfter, 2)];

    /// The byte for a switch.
    fn code(self) -> Option<u8> {
        Self::CODES.iter().find(|(kind, _)| *kind == self).map(|(_, code)| *code)
    }

    /// The kind of a byte; one of a later version is a host.
    fn of(code: Option<&u8>) -> EndKind {
        let known = Self::CODES.iter().find(|(_, known)| Some(known) == code);
        known.map_or(EndKind::Host, |(kind, _)| *kind)
    }
}

/// What an end tells the other in the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Number that packets to this end carry.
    pub connection: ConnectionId,
    /// Longest frame that this end takes.
    pub longest_frame: u64,
    /// Silence after which this end gives the connection up, in milliseconds.
    pub idle_timeout_ms: u64,
    /// The law by which both ends send, with its options as `name key=value ...`; at most
    /// [`LONGEST_LAW`].
    pub law: String,
    /// What this end is.
    pub kind: EndKind,
    /// Proof with which this end may later say that it does not know the connection.
    pub reset_token: [u8; 16],
}

impl Params {
    /// The parameters as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.connection.0.to_be_bytes());
        out.extend(self.reset_token);
        varint::put(&mut out, self.longest_frame);
        varint::put(&mut out, self.idle_timeout_ms);
        varint::put(&mut out, self.law.len() as u64);
        out.extend(self.law.as_bytes());
        out.extend(self.kind.code());
        out
    }

    /// Reads parameters. Bytes that follow are of a later version, and do not matter.
    ///
    /// # Errors
    /// When the bytes end too early, or the law's name is too long or no text.
    pub fn read(mut bytes: &[u8]) -> Result<Params, WireError> {
        let rest = &mut bytes;
        let connection = ConnectionId(u64::from_be_bytes(take_array(rest)?));
        let reset_token = take_array(rest)?;
        let (longest_frame, idle_timeout_ms) = (varint::take(rest)?, varint::take(rest)?);
        let length = varint::take(rest)?;
        if length > LONGEST_LAW as u64 {
            return Err(WireError::Field("the law's name"));
        }
        let law = core::str::from_utf8(take(rest, length as usize)?);
        let law = law.map_err(|_| WireError::Field("the law's name"))?.to_string();
        let kind = EndKind::of(rest.first());
        Ok(Params { connection, longest_frame, idle_timeout_ms, law, kind, reset_token })
    }
}
