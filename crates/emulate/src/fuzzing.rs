//! Properties of anything that a device hands over. The fuzz target, the test that replays its
//! corpus, and property tests share them.

use std::sync::LazyLock;

use ratewire_laws::kernel::option_form::FIXED;
use ratewire_laws::{AnyLaw, Header};

use crate::bundle::{Bundle, Bundles, Leaving};
use crate::dialect::Dialects;
use crate::packet::{self, Carrier, Shape};
use crate::tun::{OFFLOAD, Offload};

/// Number of routers that forward each packet.
const ROUTERS: u32 = 3;

const LAWS: [&str; 7] =
    ["xcp", "rcp", "piqi-rcp", "xcp@kernel", "rcp@kernel", "piqi-rcp@kernel", "jetmax@kernel"];
static ALL: LazyLock<[Dialects; LAWS.len()]> = LazyLock::new(|| {
    LAWS.map(|name| Dialects::of([AnyLaw::new(name, &[]).expect("a law")].iter()))
});

/// Reads `data` as bytes from a device, after a byte that says which packets are dropped, which
/// arrive twice, which are marked, and what ports change; returns whether it was a packet. Packets
/// that leave the network are whole, have together the payload that came in, and have right
/// checksums if the input had. What ports write is in the congestion header alone, and reads back
/// equal.
///
/// # Panics
/// If one of these does not hold.
pub fn packets(data: &[u8]) -> bool {
    let Some((choice, read)) = data.split_first() else { return false };
    let Some(bundle) = Bundle::read(read) else { return false };
    let (mut came, shape) = (read[OFFLOAD..][..bundle.shape.total].to_vec(), bundle.shape);
    let offload = Offload::read(read.first_chunk().expect("it was read")).expect("it was read");
    let was_right = is_right(&came, &shape, &offload);
    congestion_header(&came[..shape.clear], &shape);
    let dialects = &ALL[usize::from(*choice) % ALL.len()];
    let header = changed(&came[..shape.clear], &shape, dialects, *choice);
    hide_fields(&mut came, &shape);
    let mut bundles = Bundles::default();
    let mut entering = Vec::new();
    bundles.take_in(bundle, 7, &mut entering);
    let mut payload = Vec::new();
    let mut leaving: Option<Leaving> = None;
    let mut left = Vec::new();
    for (i, packet) in entering.iter().enumerate() {
        assert_eq!(bundles.stream(packet.kept), 7);
        assert!(packet.size as usize <= shape.total);
        if choice >> (i % 7) & 1 == 1 && i % 3 == 2 {
            bundles.drop(packet.kept);
            continue;
        }
        let start = shape.headers + i * usize::from(offload.payload.unwrap_or(0));
        let len = packet.size as usize - shape.headers;
        let copies = usize::from(choice >> (i % 4) & 8 == 8);
        (0..copies).for_each(|_| bundles.copy(packet.kept));
        for _ in 0..=copies {
            payload.extend_from_slice(&came[start..start + len]);
            let marked = choice >> (i % 5) & 2 == 2;
            let next = bundles.leave(packet.kept, header, marked, ROUTERS);
            if !leaving.as_mut().is_some_and(|last| last.joined(&next)) {
                left.extend(leaving.replace(next));
            }
        }
    }
    left.extend(leaving);
    let mut arrived = Vec::new();
    for leaving in left {
        let first = leaving.first();
        let is_last = leaving.is_last_of(entering.len());
        bundles.hand_over(leaving, dialects, |parts| {
            let written: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
            let (again, bytes) = written.split_first_chunk().expect("what was written is whole");
            let again = Offload::read(again).expect("what was written can be read");
            let out = Shape::of(bytes).expect("what was written is a packet");
            let mut hidden = bytes.to_vec();
            hide_fields(&mut hidden, &out);
            assert_eq!((out.total, out.stream), (bytes.len(), shape.stream));
            assert_eq!(bytes[8], came[8].saturating_sub(ROUTERS as u8), "the time to live");
            assert_eq!(packet::sum_of_header(bytes, out.ip), 0xffff, "the IP header's checksum");
            assert!(
                !was_right || is_right(bytes, &out, &again),
                "the checksum was right, and is not"
            );
            let none = |bytes: &[u8]| {
                shape.checksum().is_some_and(|at| bytes[shape.ip + at..][..2] == [0; 2])
            };
            let is_finished_udp = !shape.is_tcp() && offload.checksum.is_none();
            assert!(
                !is_finished_udp || none(bytes) == none(&came),
                "UDP's 0 says that there is none"
            );
            if offload.payload.is_some() {
                let sequence = |bytes: &[u8]| {
                    u32::from_be_bytes(*bytes[shape.ip + 4..].first_chunk().expect("it is TCP"))
                };
                let before = first * u32::from(offload.payload.unwrap_or(0));
                assert_eq!(sequence(bytes), sequence(&came).wrapping_add(before));
                let ends = came[shape.ip + 13] & 9;
                assert_eq!(bytes[shape.ip + 13] & 9, if is_last { ends } else { 0 }, "FIN and PSH");
            }
            arrived.extend_from_slice(&hidden[out.headers..]);
        });
    }
    assert_eq!(arrived, payload);
    assert!(bundles.is_empty(), "what has left is forgotten");
    true
}

/// The congestion header of a packet, as if ports had changed all its fields.
fn changed(clear: &[u8], shape: &Shape, dialects: &Dialects, choice: u8) -> Header {
    let mut clear = clear.to_vec();
    if let Some(found) = packet::congestion(&clear, shape.ip) {
        clear[found.at].iter_mut().skip(FIXED).for_each(|byte| *byte ^= choice);
    }
    dialects.read(None, &clear, shape.ip, shape.total as u32).unwrap_or_default()
}

/// Zeroes what ports may change in the payload of a datagram.
fn hide_fields(bytes: &mut [u8], shape: &Shape) {
    if let Some(found) = packet::congestion(&bytes[..shape.clear], shape.ip)
        && found.carrier == Carrier::Acp
    {
        bytes[found.at].iter_mut().skip(FIXED).for_each(|byte| *byte = 0);
    }
}

/// Reads the congestion header in these bytes under each law, and writes it back.
fn congestion_header(clear: &[u8], shape: &Shape) {
    let found = packet::congestion(clear, shape.ip);
    for (dialects, name) in ALL.iter().zip(LAWS) {
        let pass = |clear: &[u8]| {
            let header = dialects.read(None, clear, shape.ip, shape.total as u32);
            let mut written = clear.to_vec();
            dialects.write(&header.unwrap_or_default(), shape.total, &mut written, shape.ip);
            written
        };
        let once = pass(clear);
        for (i, (before, after)) in clear.iter().zip(&once).enumerate() {
            let is_field = found
                .as_ref()
                .is_some_and(|found| found.at.contains(&i) && i >= found.at.start + FIXED);
            assert!(is_field || before == after, "{name}: byte {i} is no field");
        }
        assert_eq!(pass(&once), once, "{name}");
    }
}

/// Whether the checksum of TCP or UDP is right, finished as the kernel would if it is left
/// unfinished.
fn is_right(bytes: &[u8], shape: &Shape, offload: &Offload) -> bool {
    let Some(at) = shape.checksum() else { return true };
    let checksum = packet::u16_at(bytes, shape.ip + at);
    if !shape.is_tcp() {
        if offload.checksum.is_none() && checksum == Some(0) {
            return true;
        }
        let length = packet::u16_at(bytes, shape.ip + 4).map(usize::from);
        if length != Some(shape.total - shape.ip) {
            return false;
        }
    }
    let pseudo = packet::pseudo_sum(bytes, shape.ip, bytes.len());
    match offload.checksum {
        Some((start, offset)) => {
            let is_own = usize::from(start) == shape.ip && usize::from(offset) == at;
            is_own && checksum == Some(pseudo)
        }
        None => packet::fold(u64::from(pseudo) + packet::sum(&bytes[shape.ip..])) == 0xffff,
    }
}
