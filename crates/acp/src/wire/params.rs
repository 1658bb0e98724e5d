//! What the ends tell each other in the handshake.

use super::{ConnectionId, WireError, take, take_array, varint};

/// Longest name of a law.
const LONGEST_NAME: u64 = 64;

/// What an end tells the other in the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Number that packets to this end carry.
    pub connection: ConnectionId,
    /// Longest frame that this end takes.
    pub longest_frame: u64,
    /// Silence after which this end gives the connection up, in milliseconds.
    pub idle_timeout_ms: u64,
    /// The law by which both ends send, with its options as `name key=value ...`.
    pub law: String,
    /// Whether this end is a switch that spreads frames over members: the other end keeps each
    /// frame in one piece of its stream.
    pub spreads: bool,
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
        if self.spreads {
            out.push(1);
        }
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
        if length > LONGEST_NAME {
            return Err(WireError::Field("the law's name"));
        }
        let law = core::str::from_utf8(take(rest, length as usize)?);
        let law = law.map_err(|_| WireError::Field("the law's name"))?.to_string();
        let spreads = rest.first() == Some(&1);
        Ok(Params { connection, longest_frame, idle_timeout_ms, law, spreads, reset_token })
    }
}
