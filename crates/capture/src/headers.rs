//! Writes a simulated packet's headers: IPv4, the congestion header if there is one, and TCP.

use ratewire_laws::{AnyLaw, Header, MAX_HEADER};
use ratewire_net::spec::NodeId;
use ratewire_net::{Body, Captured, Ecn};
use ratewire_sim::record::FlowId;
use ratewire_transport::{Ack, SackBlocks};
use ratewire_units::Bytes;

const IPV4_LEN: usize = 20;
const TCP_LEN: usize = 20;
const TCP_OPTIONS_MAX: usize = 40;
/// All headers at their longest: the snap length of a capture without payload.
pub(crate) const MAX_LEN: usize = IPV4_LEN + MAX_HEADER + TCP_LEN + TCP_OPTIONS_MAX;
/// The largest IPv4 packet: the snap length of a capture with payload.
pub(crate) const MAX_PACKET: usize = u16::MAX as usize;

const DONT_FRAGMENT: u16 = 0x4000;
/// Time to live with which hosts send, as Linux does.
const TTL: u8 = 64;
const TCP: u8 = 6;
/// IP protocol number for experiments (RFC 3692), used for laws without a number of their own.
const EXPERIMENT: u8 = 253;

/// Shift of the window field in both directions, in bits: the most that RFC 7323 allows.
const WINDOW_SHIFT: u8 = 14;

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;

/// First of the dynamic ports (RFC 6335), which no dissector claims.
const FIRST_PORT: u16 = 0xc000;
const PORT_BITS: u32 = 14;

/// The endpoints of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) id: FlowId,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) law: AnyLaw,
}

/// What the capture writes of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) size: u32,
    /// Number of routers that have forwarded it.
    pub(crate) routers: u32,
    pub(crate) ecn: Ecn,
    pub(crate) header: Header,
    pub(crate) load: Load,
}

/// What the TCP header says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    Open,
    Data { offset: u64, payload: u32 },
    Ack(Ack),
}

impl From<&Captured> for Packet {
    fn from(captured: &Captured) -> Packet {
        Packet {
            size: captured.label.size,
            routers: captured.crossed,
            ecn: captured.label.ecn,
            header: captured.content.header,
            load: match (captured.content.body, captured.ack) {
                (Body::Data { offset, payload, .. }, _) => Load::Data { offset, payload },
                (_, Some(ack)) => Load::Ack(ack),
                // Real packets are captured by tcpdump at their hosts.
                (Body::Open | Body::Kept(_) | Body::Ack { .. }, None) => Load::Open,
            },
        }
    }
}

/// The fields of a TCP header that differ between packets.
struct Tcp {
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    window: u16,
}

/// Writes the packet's bytes into `buf`, with its payload (as zeros) only if `with_payload`.
/// Returns the packet's length on the link.
pub(crate) fn write(packet: &Packet, flow: &Flow, with_payload: bool, buf: &mut Vec<u8>) -> u32 {
    let (tcp, options) = tcp(packet);
    let payload = match packet.load {
        Load::Data { payload, .. } => u64::from(payload),
        _ => 0,
    };
    let mut header = [0; MAX_HEADER];
    let size = Bytes::new(u64::from(packet.size));
    let header_len = flow.law.encode(&packet.header, size, &mut header);
    let before_tcp = IPV4_LEN + header_len;
    let needed = (before_tcp + TCP_LEN + options.len()) as u64 + payload;
    // Simulated headers longer than these are made up for by padding the TCP options.
    let spare = u64::from(packet.size).saturating_sub(needed) & !3;
    let padding = spare.min((TCP_OPTIONS_MAX - options.len()) as u64);
    let total = (needed + padding).min(MAX_PACKET as u64) as u16;
    let tcp_len = TCP_LEN + options.len() + padding as usize;

    let outwards = !matches!(packet.load, Load::Ack(_));
    let (from, to) = if outwards { (flow.from, flow.to) } else { (flow.to, flow.from) };
    let addresses = [address(from), address(to)];

    buf.clear();
    let protocol = match header_len {
        0 => TCP,
        _ => flow.law.ip_protocol().unwrap_or(EXPERIMENT),
    };
    ipv4(packet, total, protocol, &addresses, buf);
    buf.extend_from_slice(&header[..header_len]);

    let [own, other] = ports(flow.id);
    let [source, destination] = if outwards { [own, other] } else { [other, own] };
    buf.extend_from_slice(&source.to_be_bytes());
    buf.extend_from_slice(&destination.to_be_bytes());
    buf.extend_from_slice(&tcp.sequence.to_be_bytes());
    buf.extend_from_slice(&tcp.acknowledgement.to_be_bytes());
    buf.extend_from_slice(&[((tcp_len / 4) << 4) as u8, tcp.flags]);
    buf.extend_from_slice(&tcp.window.to_be_bytes());
    // Checksum, filled in below, and urgent pointer.
    buf.extend_from_slice(&[0; 4]);
    buf.extend_from_slice(&options);
    // End of options (kind 0) and what follows it are zeros.
    buf.resize(before_tcp + tcp_len, 0);

    // The payload is zeros, which add nothing to the sum.
    let segment = u32::from(total) - before_tcp as u32;
    let pseudo = sum(addresses.as_flattened()) + u32::from(TCP) + segment;
    let checksum = fold(pseudo + sum(&buf[before_tcp..]));
    buf[before_tcp + 16..][..2].copy_from_slice(&checksum.to_be_bytes());

    if with_payload {
        buf.resize(usize::from(total), 0);
    }
    packet.size.max(u32::from(total))
}

/// TCP's fields, and its options in whole words.
fn tcp(packet: &Packet) -> (Tcp, Vec<u8>) {
    match packet.load {
        Load::Open => {
            let tcp = Tcp { sequence: 0, acknowledgement: 0, flags: SYN, window: u16::MAX };
            (tcp, opening_options())
        }
        Load::Data { offset, .. } => {
            let sequence = sequence(offset);
            (Tcp { sequence, acknowledgement: 1, flags: ACK, window: u16::MAX }, Vec::new())
        }
        Load::Ack(Ack { opens: true, cumulative, window, .. }) => {
            // The window of a segment with SYN is not scaled.
            let window = window.get().min(u64::from(u16::MAX)) as u16;
            let acknowledgement = sequence(cumulative);
            (Tcp { sequence: 0, acknowledgement, flags: SYN | ACK, window }, opening_options())
        }
        Load::Ack(ack) => {
            let units = ack.window.get().div_ceil(1 << WINDOW_SHIFT);
            let acknowledgement = sequence(ack.cumulative);
            let tcp = Tcp {
                sequence: 1,
                acknowledgement,
                flags: if ack.marked { ACK | ECE } else { ACK },
                window: units.min(u64::from(u16::MAX)) as u16,
            };
            (tcp, sack_option(&ack.sack, acknowledgement))
        }
    }
}

/// The low 32 bits of the sequence number of a byte of the stream; the SYN has number 0.
fn sequence(offset: u64) -> u32 {
    offset.wrapping_add(1) as u32
}

/// Two fillers (kind 1), SACK permitted (RFC 2018), a filler, window scale (RFC 7323).
fn opening_options() -> Vec<u8> {
    vec![1, 1, 4, 2, 1, 3, 3, WINDOW_SHIFT]
}

/// Two fillers and the SACK ranges, if there are any.
fn sack_option(sack: &SackBlocks, acknowledgement: u32) -> Vec<u8> {
    if sack.is_empty() {
        return Vec::new();
    }
    let mut option = vec![1, 1, 5, 2];
    for edges in sack.iter(0) {
        for edge in [edges.0, edges.1] {
            option.extend_from_slice(&acknowledgement.wrapping_add(edge as u32).to_be_bytes());
        }
    }
    option[3] = (option.len() - 2) as u8;
    option
}

fn ipv4(packet: &Packet, total: u16, protocol: u8, addresses: &[[u8; 4]; 2], buf: &mut Vec<u8>) {
    let ecn = match packet.ecn {
        Ecn::NotCapable => 0b00,
        Ecn::Scalable => 0b01,
        Ecn::Capable => 0b10,
        Ecn::Marked => 0b11,
    };
    buf.extend_from_slice(&[0x45, ecn]);
    buf.extend_from_slice(&total.to_be_bytes());
    // A packet that is never fragmented needs no identification (RFC 6864).
    buf.extend_from_slice(&[0; 2]);
    buf.extend_from_slice(&DONT_FRAGMENT.to_be_bytes());
    // No simulated packet expires.
    let ttl = u32::from(TTL).saturating_sub(packet.routers).max(1) as u8;
    buf.extend_from_slice(&[ttl, protocol, 0, 0]);
    buf.extend_from_slice(addresses.as_flattened());
    let checksum = fold(sum(&buf[..IPV4_LEN]));
    buf[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Address of a node: 10.x.y.z, the low three bytes of its index.
fn address(node: NodeId) -> [u8; 4] {
    let [_, x, y, z] = node.0.to_be_bytes();
    [10, x, y, z]
}

/// MAC address of a node: 02-00-00-x-y-z, administered locally.
pub(crate) fn mac_address(node: NodeId) -> [u8; 6] {
    let [_, x, y, z] = node.0.to_be_bytes();
    [2, 0, 0, x, y, z]
}

/// The ports at the flow's sender and receiver.
fn ports(flow: FlowId) -> [u16; 2] {
    let part = |bits: u32| FIRST_PORT | (bits & ((1 << PORT_BITS) - 1)) as u16;
    [part(flow.0), part(flow.0 >> PORT_BITS)]
}

/// The sum of the 16-bit words of an even number of bytes.
fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum()
}

/// The Internet checksum (RFC 1071) of words that add up to `sum`.
fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
