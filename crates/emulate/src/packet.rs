//! IP packets as bytes: the fields that the network reads.

use std::net::Ipv4Addr;
use std::ops::Range;

use ratewire_laws::kernel::option_form::{self, OptionForm};

/// Protocols with ports.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;
/// First bytes of a data packet of ACP: `AC`, version 1, type 0.
const ACP_DATA: [u8; 4] = [b'A', b'C', 1, 0];
/// Bytes of a data packet of ACP before its congestion header.
const ACP_HEADER: usize = 16;
/// Longest congestion header that routers read in ACP.
const ACP_MOST: usize = 28;

/// Layout of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Identity of the packet's stream.
    pub(crate) stream: Stream,
    /// Bytes of the IP header.
    pub(crate) ip: usize,
    /// Bytes of all headers, TCP's or UDP's included.
    pub(crate) headers: usize,
    /// Bytes that ports read and write: the headers, and what ACP has in clear behind them.
    pub(crate) clear: usize,
    /// Network-layer bytes.
    pub(crate) total: usize,
}

/// Identity of a stream of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stream {
    pub(crate) from: Ipv4Addr,
    pub(crate) to: Ipv4Addr,
    pub(crate) protocol: u8,
    pub(crate) ports: [u16; 2],
}

impl Stream {
    pub(crate) fn is_tcp(&self) -> bool {
        self.protocol == TCP
    }
    /// The stream in the other direction.
    pub(crate) fn back(&self) -> Stream {
        let [source, destination] = self.ports;
        Stream { from: self.to, to: self.from, ports: [destination, source], ..*self }
    }
}

impl Shape {
    /// Layout of a whole IPv4 packet; `None` if it is none.
    pub(crate) fn of(bytes: &[u8]) -> Option<Shape> {
        let first = *bytes.first()?;
        let ip = usize::from(first & 15) * 4;
        if first >> 4 != 4 || ip < 20 || bytes.len() < ip {
            return None;
        }
        let total = usize::from(u16_at(bytes, 2)?);
        if total < ip || total > bytes.len() {
            return None;
        }
        let bytes = &bytes[..total];
        let address =
            |at: usize| Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
        let is_fragment = u16_at(bytes, 6)? & 0x1fff != 0;
        let protocol = bytes[9];
        let after = match protocol {
            TCP if !is_fragment => usize::from(bytes.get(ip + 12)? >> 4) * 4,
            UDP if !is_fragment => UDP_HEADER,
            _ => 0,
        };
        let least = if protocol == TCP && !is_fragment { 20 } else { 0 };
        if after < least || ip + after > total {
            return None;
        }
        let ports = match after {
            0 => [0; 2],
            _ => [u16_at(bytes, ip)?, u16_at(bytes, ip + 2)?],
        };
        let stream = Stream { from: address(12), to: address(16), protocol, ports };
        let headers = ip + after;
        let clear = match (protocol, after) {
            (UDP, UDP_HEADER) => headers + clear_of_acp(&bytes[ip..]).unwrap_or(0),
            _ => headers,
        };
        Some(Shape { stream, ip, headers, clear, total })
    }

    /// Offset of the checksum in the header of TCP or UDP.
    pub(crate) fn checksum(&self) -> Option<usize> {
        match self.stream.protocol {
            _ if self.headers == self.ip => None,
            TCP => Some(16),
            UDP => Some(6),
            _ => None,
        }
    }

    pub(crate) fn is_tcp(&self) -> bool {
        self.stream.is_tcp() && self.headers > self.ip
    }
}

/// The two bits of ECN (RFC 3168).
pub(crate) fn ecn(bytes: &[u8]) -> u8 {
    bytes[1] & 3
}

/// Marks a packet: congestion experienced.
pub(crate) fn mark(bytes: &mut [u8]) {
    bytes[1] |= 3;
}

/// Offset of the time to live in an IP header.
const TTL: usize = 8;

/// Whether a packet's time to live is enough for this many routers.
pub(crate) fn outlives(bytes: &[u8], routers: u32) -> bool {
    u32::from(bytes[TTL]) > routers
}

/// Lowers the time to live as this many routers do that forward the packet (RFC 1812, 5.3.1).
pub(crate) fn forward(bytes: &mut [u8], routers: u32) {
    bytes[TTL] = u32::from(bytes[TTL]).saturating_sub(routers) as u8;
}

/// What carries a congestion header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// An option of TCP.
    Tcp,
    /// A data packet of ACP.
    Acp,
}

impl Carrier {
    /// Length of a law's congestion header on packets with data.
    pub(crate) fn length(self, form: &OptionForm) -> usize {
        match self {
            Carrier::Tcp => form.len,
            Carrier::Acp => form.one_way,
        }
    }
}

/// A congestion header's place in a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Congestion {
    pub(crate) at: Range<usize>,
    pub(crate) carrier: Carrier,
}

/// Finds a packet's congestion header; `clear` ends with what ports read, as [`Shape`] says.
pub(crate) fn congestion(clear: &[u8], ip: usize) -> Option<Congestion> {
    match clear[9] {
        TCP => option(clear, ip).map(|at| Congestion { at, carrier: Carrier::Tcp }),
        // Otherwise nothing of the payload is among the bytes.
        UDP if clear.len() > ip + UDP_HEADER => {
            let at = ip + UDP_HEADER + ACP_HEADER..clear.len();
            Some(Congestion { at, carrier: Carrier::Acp })
        }
        _ => None,
    }
}

/// Range of the TCP option with a congestion header; `headers` end with TCP's.
fn option(headers: &[u8], ip: usize) -> Option<Range<usize>> {
    let mut at = ip + 20;
    while let Some(kind) = headers.get(at) {
        match kind {
            0 => return None,
            1 => at += 1,
            _ => {
                let len = usize::from(*headers.get(at + 1)?);
                if len < 2 || at + len > headers.len() {
                    return None;
                }
                if *kind == option_form::KIND && len >= option_form::FIXED {
                    return Some(at..at + len);
                }
                at += len;
            }
        }
    }
    None
}

/// Bytes of a datagram's payload up to the end of a congestion header that routers read; `None` if
/// the payload is no data packet of ACP with such a header.
fn clear_of_acp(datagram: &[u8]) -> Option<usize> {
    // The checksum covers this many bytes. A first fragment has fewer.
    let covered = usize::from(u16_at(datagram, 4)?);
    let payload = datagram.get(UDP_HEADER..covered)?;
    let [kind, len] = *payload.get(ACP_HEADER..)?.first_chunk()?;
    let len = usize::from(len);
    let is_read = payload.starts_with(&ACP_DATA)
        && kind == option_form::KIND
        && (option_form::FIXED..=ACP_MOST).contains(&len)
        && payload.len() >= ACP_HEADER + len;
    is_read.then_some(ACP_HEADER + len)
}

/// Sum of 16-bit words for a checksum (RFC 1071), not folded.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2);
    let odd = words.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
    words.map(|word| u64::from(u16::from_be_bytes([word[0], word[1]]))).sum::<u64>() + odd
}

/// Folds a sum into 16 bits.
pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Folded sum of an IP header: all ones if its checksum is right.
pub(crate) fn sum_of_header(bytes: &[u8], ip: usize) -> u16 {
    fold(sum(&bytes[..ip]))
}

/// Writes the IP header's checksum.
pub(crate) fn seal(bytes: &mut [u8], ip: usize) {
    put_u16(bytes, 10, 0);
    let checksum = !fold(sum(&bytes[..ip]));
    put_u16(bytes, 10, checksum);
}

/// Sum of the pseudo header that TCP's and UDP's checksums cover.
pub(crate) fn pseudo_sum(bytes: &[u8], ip: usize, total: usize) -> u16 {
    fold(sum(&bytes[12..20]) + u64::from(bytes[9]) + (total - ip) as u64)
}

/// The checksum over `after`, from the one over `before` (RFC 1624, equation 3). UDP's of 0 says
/// that there is none, and stays.
pub(crate) fn updated(protocol: u8, checksum: u16, before: &[u8], after: &[u8]) -> u16 {
    if protocol == UDP && checksum == 0 {
        return 0;
    }
    let folded = u64::from(!checksum) + u64::from(!fold(sum(before))) + sum(after);
    match !fold(folded) {
        0 if protocol == UDP => 0xffff,
        updated => updated,
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

pub(crate) fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_updated_checksum_is_udps_none_only_if_there_was_none() {
        let (before, after) = ([0x12, 0x34, 0xff, 0], [0xfe, 1, 2, 3]);
        assert_eq!(updated(UDP, 0, &before, &after), 0);
        for checksum in 1..=0xffff {
            let whole = u64::from(!checksum) + u64::from(!fold(sum(&before))) + sum(&after);
            let udp = updated(UDP, checksum, &before, &after);
            assert!(udp != 0 && fold(u64::from(udp) + whole) == 0xffff, "{checksum:#x}: {udp:#x}");
            let tcp = updated(TCP, checksum, &before, &after);
            assert_eq!(fold(u64::from(tcp) + whole), 0xffff, "{checksum:#x}: {tcp:#x}");
        }
    }
}
