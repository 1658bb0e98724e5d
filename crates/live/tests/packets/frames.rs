//! Ethernet frames of TCP and of ACP's datagrams, and their checksums.

use ratewire_live::KernelLaw;
use ratewire_live::probe::{Probe, ProbeMemory};
use ratewire_units::Rate;

pub(crate) const CAPACITY: Rate = Rate::from_bps(100_000_000);
pub(crate) const ETHERNET: usize = 14;
const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
/// Bytes of a data packet of ACP before its congestion header.
pub(crate) const ACP_HEADER: usize = 16;

/// Whether the test can run; with `RATEWIRE_REQUIRE_ROOT=1` it fails if it cannot.
pub(crate) fn can_run() -> bool {
    let mut room = ProbeMemory::uninit();
    let Err(why) = Probe::new(&mut room, KernelLaw::Xcp, CAPACITY) else { return true };
    assert!(std::env::var_os("RATEWIRE_REQUIRE_ROOT").is_none(), "cannot run: {why}");
    eprintln!("skipped: {why}");
    false
}

/// One's complement sum of 16-bit words.
fn sum(bytes: &[u8]) -> u32 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |b| u32::from(*b));
    bytes.chunks(2).map(word).sum()
}
fn fold(mut sum: u32) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Sum of a segment or datagram with its pseudo header: 0xffff if its checksum is right.
pub(crate) fn sum_of(frame: &[u8], ip: usize) -> u16 {
    let (addresses, protocol) = match frame[ip] >> 4 {
        4 => (12..20, frame[ip + 9]),
        _ => (8..40, frame[ip + 6]),
    };
    let segment = &frame[transport(frame, ip)..];
    let addresses = &frame[ip + addresses.start..ip + addresses.end];
    fold(sum(addresses) + u32::from(protocol) + segment.len() as u32 + sum(segment))
}

/// Offset of TCP's or UDP's header.
pub(crate) fn transport(frame: &[u8], ip: usize) -> usize {
    ip + if frame[ip] >> 4 == 4 { usize::from(frame[ip] & 15) * 4 } else { 40 }
}

/// Offset of a congestion header's fields in ACP.
pub(crate) fn fields_of_acp(frame: &[u8], ip: usize) -> usize {
    transport(frame, ip) + UDP_HEADER + ACP_HEADER + 4
}

/// How a packet is carried.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Carried {
    V4,
    V6,
    Tagged,
    TwiceTagged,
}

impl Carried {
    pub(crate) const ALL: [Carried; 4] =
        [Carried::V4, Carried::V6, Carried::Tagged, Carried::TwiceTagged];
}

/// A frame up to its IP header's end, for a segment of this length; and the offset of that header.
fn begin(carried: Carried, protocol: u8, len: usize) -> (Vec<u8>, usize) {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    match carried {
        Carried::V4 | Carried::V6 => {}
        Carried::Tagged => frame.extend([0x81, 0, 0, 7]),
        Carried::TwiceTagged => frame.extend([0x88, 0xa8, 0, 7, 0x81, 0, 0, 8]),
    }
    let is_v6 = matches!(carried, Carried::V6);
    frame.extend(if is_v6 { [0x86, 0xdd] } else { [8, 0] });
    let ip = frame.len();
    if is_v6 {
        frame.extend([0x60, 0, 0, 0]);
        frame.extend((len as u16).to_be_bytes());
        frame.extend([protocol, 64]);
        frame.extend([0xfd; 16]);
        frame.extend([0xfe; 16]);
    } else {
        frame.extend([0x45, 0]);
        frame.extend((20 + len as u16).to_be_bytes());
        frame.extend([0, 1, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let sum = !fold(sum(&frame[ip..ip + 20]));
        frame[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
    }
    (frame, ip)
}

/// A frame of TCP with these option bytes, a multiple of four, and payload; and the offset of its
/// IP header.
pub(crate) fn tcp(carried: Carried, options: &[u8], payload: usize) -> (Vec<u8>, usize) {
    let (mut frame, ip) = begin(carried, TCP, 20 + options.len() + payload);
    let tcp = frame.len();
    frame.extend([0x9c, 0x40, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 1]);
    frame.extend([((20 + options.len()) / 4 * 16) as u8, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    frame.extend(options);
    frame.extend((0..payload).map(|i| i as u8));
    let sum = !sum_of(&frame, ip);
    frame[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(sum_of(&frame, ip), 0xffff);
    (frame, ip)
}

/// A frame of UDP with this payload; and the offset of its IP header.
pub(crate) fn udp(carried: Carried, payload: &[u8]) -> (Vec<u8>, usize) {
    let len = UDP_HEADER + payload.len();
    let (mut frame, ip) = begin(carried, UDP, len);
    frame.extend([0x9c, 0x40, 0x14, 0x51]);
    frame.extend((len as u16).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(payload);
    set_checksum(&mut frame, ip);
    (frame, ip)
}

/// Computes UDP's checksum.
pub(crate) fn set_checksum(frame: &mut [u8], ip: usize) {
    let at = transport(frame, ip) + 6;
    frame[at..at + 2].fill(0);
    let sum = match !sum_of(frame, ip) {
        0 => 0xffff,
        sum => sum,
    };
    frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(sum_of(frame, ip), 0xffff);
}

/// Leaves UDP's checksum to the card: it has the sum of the pseudo header.
pub(crate) fn leave_checksum(frame: &mut [u8], ip: usize) {
    let at = transport(frame, ip);
    frame[at + 6..at + 8].fill(0);
    let pseudo = sum_of(frame, ip) as u32 + u32::from(!fold(sum(&frame[at..])));
    frame[at + 6..at + 8].copy_from_slice(&fold(pseudo).to_be_bytes());
}

/// A data packet of ACP of this length, with a congestion header.
pub(crate) fn acp(number: u32, congestion: &[u8], len: usize) -> Vec<u8> {
    let mut packet = b"AC\x01\x00\x00\x00\x00\x00\x00\x00\x00\x05".to_vec();
    packet.extend(number.to_be_bytes());
    packet.extend(congestion);
    let sealed = len.saturating_sub(packet.len());
    packet.extend((0..sealed).map(|i| (i * 7 + 3) as u8));
    packet
}

/// Kind, length, identifier and fields of a law's congestion header in ACP, from a sender that
/// states 1.6 MB/s and 50 ms, and wishes for as much as there is.
pub(crate) fn wish(law: KernelLaw) -> Vec<u8> {
    let (len, identifier, words): (u8, &[u8; 2], &[u32]) = match law {
        KernelLaw::Xcp => (16, b"Rx", &[100_000, 50_000, 0x7fff_ffff]),
        KernelLaw::Jetmax => (28, b"Rj", &[0, 0x00ff_ffff, 0x03ff_ffff, 0, 0x00ff_ffff, 0x20_0000]),
        _ => (12, b"Rr", &[u32::MAX, 50_000]),
    };
    let start = [254, len].into_iter().chain(*identifier);
    start.chain(words.iter().flat_map(|word| word.to_be_bytes())).collect()
}

/// Range of a law's fields, in bytes from the first on, that a router may change.
pub(crate) fn rewritten(law: KernelLaw) -> std::ops::Range<usize> {
    match law {
        KernelLaw::Xcp => 8..12,
        // Bottleneck to load.
        KernelLaw::Jetmax => 0..14,
        _ => 0..4,
    }
}
