//! Packets as bytes.
//!
//! All integers are big-endian. A datagram is one packet:
//!
//! ```text
//! byte  0       1       2       3         4 .. 11         12 .. 15   16 ..            ..
//!     +-------+-------+-------+---------+---------------+----------+----------------+--------
//!     |  'A'  |  'C'  |   1   | type    | connection of | packet   | congestion     | sealed
//!     |       |       |version| of it   | the receiver  | number   | header, padded | parts
//!     +-------+-------+-------+---------+---------------+----------+----------------+--------
//! ```
//!
//! Routers find the congestion header at byte 16, if the first three bytes and the header's own
//! identifier are as expected. They may rewrite it: neither the seal nor any other field covers it.
//! Everything before it is authenticated, everything after it also encrypted.
//!
//! | type | packet | after byte 11 |
//! |---|---|---|
//! | 0 | data | packet number, congestion header, sealed [parts](Part) |
//! | 1 | initial | cookie's length and cookie, then the first message of the handshake, padded |
//! | 2 | retry | a cookie |
//! | 3 | accept | the second message of the handshake |
//! | 4 | unknown | a proof that the sender of this packet does not know the connection |
//!
//! In an initial packet, and in those that answer one, the connection is the client's.

mod congestion;
mod handshake;
mod packet;
mod params;
mod part;
pub mod varint;

pub use congestion::Congestion;
pub use handshake::{Initial, plain};
pub use packet::{Data, HEADER, HEADER_WITHOUT_CONGESTION, PacketType, TAG, packet_type};
pub use params::{EndKind, LONGEST_APPLICATION, LONGEST_LAW, Params, Target};
pub use part::{AckPart, DataPart, LEAST_FIRST, Part, Parts};

/// Version of the format.
pub const VERSION: u8 = 1;

/// Number of a connection, chosen by the end that receives packets with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// Bytes that are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end too early.
    #[error("the packet ends too early")]
    Short,
    /// The bytes do not begin as a packet of this version.
    #[error("no packet of version {VERSION}")]
    NotOurs,
    /// A field has a value that is not allowed.
    #[error("{0} has a value that is not allowed")]
    Field(&'static str),
}

/// Takes this many bytes from the front.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], WireError> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(WireError::Short)?;
    *bytes = rest;
    Ok(taken)
}

/// Takes an array from the front.
fn take_array<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], WireError> {
    let taken = take(bytes, N)?;
    taken.try_into().map_err(|_| WireError::Short)
}
