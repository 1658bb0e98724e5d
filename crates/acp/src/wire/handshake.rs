//! Packets that make a connection.

use super::packet::begin;
use super::{ConnectionId, PacketType, WireError, take};

/// Bytes of an initial packet, at least: no answer is longer, so nobody can use a server to send
/// others more than they send it.
pub const INITIAL: usize = 1200;

/// First packet of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Initial<'a> {
    /// Cookie that the server has sent; empty at first.
    pub cookie: &'a [u8],
    /// First message of the handshake.
    pub message: &'a [u8],
}

impl<'a> Initial<'a> {
    /// The packet, padded.
    pub fn encode(&self, client: ConnectionId) -> Vec<u8> {
        let mut out = Vec::with_capacity(INITIAL);
        begin(&mut out, PacketType::Initial, client);
        out.push(self.cookie.len() as u8);
        out.extend(self.cookie);
        out.extend((self.message.len() as u16).to_be_bytes());
        out.extend(self.message);
        out.resize(out.len().max(INITIAL), 0);
        out
    }

    /// Reads what follows byte 11 of a packet of `datagram` bytes.
    ///
    /// # Errors
    /// When the packet is shorter than 1,200 bytes, or its fields are not within it.
    pub fn read(mut rest: &'a [u8], datagram: usize) -> Result<Initial<'a>, WireError> {
        if datagram < INITIAL {
            return Err(WireError::Short);
        }
        let rest = &mut rest;
        let length = usize::from(take(rest, 1)?[0]);
        let cookie = take(rest, length)?;
        let length = take(rest, 2)?;
        let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
        Ok(Initial { cookie, message: take(rest, length)? })
    }
}

/// A packet of another type than data and initial: `content` follows byte 11.
///
/// - retry: a cookie, for the client of this number;
/// - accept: the second message of the handshake, for the client of this number;
/// - unknown: the proof, about a packet that was for this connection.
pub fn plain(kind: PacketType, connection: ConnectionId, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    begin(&mut out, kind, connection);
    out.extend(content);
    out
}
