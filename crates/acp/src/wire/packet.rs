//! The clear beginning of a packet.

use super::{ConnectionId, VERSION, WireError, take, take_array};

/// Bytes before the congestion header.
pub const HEADER: usize = 16;
/// Bytes of a data packet's clear part if it has no congestion header: the block has its fixed
/// part.
pub const HEADER_WITHOUT_CONGESTION: usize = HEADER + NONE.len();
/// Bytes of the seal behind the parts.
pub const TAG: usize = 16;

/// A congestion block without a header.
const NONE: [u8; 4] = [0, 4, 0, 0];
const MAGIC: [u8; 2] = *b"AC";

/// Type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketType {
    /// Sealed parts.
    Data,
    /// First packet of a client.
    Initial,
    /// A cookie that the client must send back.
    Retry,
    /// The server's answer to an initial packet.
    Accept,
    /// The answer to a packet of a connection that nobody knows.
    Unknown,
}

const TYPES: [PacketType; 5] = [
    PacketType::Data,
    PacketType::Initial,
    PacketType::Retry,
    PacketType::Accept,
    PacketType::Unknown,
];

/// Type of a packet, the connection that it is for, and what follows.
///
/// # Errors
/// When the bytes do not begin as a packet of this version.
pub fn packet_type(datagram: &[u8]) -> Result<(PacketType, ConnectionId, &[u8]), WireError> {
    let mut rest = datagram;
    let [a, c, version, kind] = take_array(&mut rest)?;
    if ([a, c], version) != (MAGIC, VERSION) {
        return Err(WireError::NotOurs);
    }
    let kind = TYPES.get(usize::from(kind)).ok_or(WireError::NotOurs)?;
    let connection = u64::from_be_bytes(take_array(&mut rest)?);
    Ok((*kind, ConnectionId(connection), rest))
}

/// Writes the first 12 bytes.
pub(super) fn begin(out: &mut Vec<u8>, kind: PacketType, connection: ConnectionId) {
    out.extend(MAGIC);
    out.extend([VERSION, kind as u8]);
    out.extend(connection.0.to_be_bytes());
}

/// The clear part of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// The connection, as the receiver numbers it.
    pub connection: ConnectionId,
    /// Low 32 bits of the packet's number.
    pub number: u32,
    /// The congestion block: `[kind, length, two bytes of identifier, fields]`. Without a header
    /// its kind is 0.
    pub congestion: &'a [u8],
}

impl Data<'_> {
    /// Appends the clear part, without the congestion header if `congestion` is empty.
    pub fn put(&self, out: &mut Vec<u8>) {
        begin(out, PacketType::Data, self.connection);
        out.extend(self.number.to_be_bytes());
        out.extend(if self.congestion.is_empty() { &NONE } else { self.congestion });
    }

    /// Reads the clear part, and returns it with the number of its bytes.
    ///
    /// # Errors
    /// When the bytes are no data packet, or the congestion block is not within them.
    pub fn read(datagram: &[u8]) -> Result<(Data<'_>, usize), WireError> {
        let (kind, connection, mut rest) = packet_type(datagram)?;
        if kind != PacketType::Data {
            return Err(WireError::NotOurs);
        }
        let number = u32::from_be_bytes(take_array(&mut rest)?);
        let length = usize::from(*rest.get(1).ok_or(WireError::Short)?);
        if length < NONE.len() || length % 4 != 0 {
            return Err(WireError::Field("the congestion header's length"));
        }
        let congestion = take(&mut rest, length)?;
        let congestion = if congestion[0] == 0 { &[] } else { congestion };
        Ok((Data { connection, number, congestion }, datagram.len() - rest.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_parts_have_these_bytes() {
        let congestion = [254, 8, b'R', b'x', 1, 2, 3, 4];
        let data = Data { connection: ConnectionId(0x0102), number: 7, congestion: &congestion };
        let mut bytes = Vec::new();
        data.put(&mut bytes);
        let expected =
            [b'A', b'C', 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 7, 254, 8, b'R', b'x', 1, 2, 3, 4];
        assert_eq!(bytes, expected);
        bytes.push(9);
        assert_eq!(Data::read(&bytes), Ok((data, 24)));
        let mut bare = Vec::new();
        Data { congestion: &[], ..data }.put(&mut bare);
        assert_eq!(bare.len(), HEADER_WITHOUT_CONGESTION);
        assert_eq!(Data::read(&bare), Ok((Data { congestion: &[], ..data }, 20)));
    }

    #[test]
    fn other_bytes_are_refused() {
        let mut bytes = Vec::new();
        Data { connection: ConnectionId(1), number: 7, congestion: &[] }.put(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Data::read(&bytes[..length]), Err(WireError::Short));
        }
        for (at, value) in [(0, b'B'), (2, 2), (3, 1), (3, 5)] {
            let mut wrong = bytes.clone();
            wrong[at] = value;
            assert_eq!(Data::read(&wrong), Err(WireError::NotOurs));
        }
        for length in [0, 3, 5] {
            let mut wrong = bytes.clone();
            wrong[HEADER + 1] = length;
            assert!(matches!(Data::read(&wrong), Err(WireError::Field(_))));
        }
    }
}
