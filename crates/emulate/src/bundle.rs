//! Packets in the network, and the bundles that hold their bytes.
//!
//! A bundle is what a host's kernel hands over at once with segmentation offload (TSO, GSO): up to
//! 64 KiB of a stream with one header. The bytes stay here, and the model moves the number of each
//! packet.
//!
//! Packets of one bundle that arrive together leave as one bundle again. The model thus queues and
//! drops single packets, while a host's kernel is called for many at once.

use std::io::IoSlice;

use ratewire_laws::Header;

use crate::dialect::Dialects;
use crate::packet::{self, Shape};
use crate::seen::DataRange;
use crate::tun::{OFFLOAD, Offload};

/// Room for an IP and a TCP header of maximum length. ACP's clear bytes behind UDP take less.
pub(crate) const HEADERS_MOST: usize = 120;

const FIN: u8 = 1;
const SYN: u8 = 2;
const PSH: u8 = 8;
/// Offset of the flags in a TCP header.
const FLAGS: usize = 13;

/// A bundle that a host's kernel handed over.
#[derive(Debug)]
pub(crate) struct Bundle {
    bytes: Vec<u8>,
    pub(crate) shape: Shape,
    offload: Offload,
    /// Number of the stream, in the caller's numbering.
    stream: u32,
    /// Packets of the bundle that are on their way.
    left: u32,
}

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
struct PacketOfBundle {
    bundle: u32,
    /// Number of the packet in its bundle.
    place: u32,
    /// Copies of it that are on their way, besides itself.
    copies: u32,
}

/// All packets on their way.
#[derive(Debug, Default)]
pub(crate) struct Bundles {
    bundles: Vec<Option<Bundle>>,
    free_bundles: Vec<u32>,
    packets: Vec<PacketOfBundle>,
    free_packets: Vec<u32>,
}

/// A packet that enters the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entering {
    /// Its number.
    pub(crate) kept: u32,
    /// Its network-layer bytes.
    pub(crate) size: u32,
}

/// Consecutive packets of one bundle that leave the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    bundle: u32,
    first: u32,
    count: u32,
    /// Congestion header with which they arrive.
    header: Header,
    marked: bool,
    /// Number of routers that have forwarded them.
    routers: u32,
}

impl Bundle {
    /// Reads a bundle from a device; `None` if it is no packet, or a bundle of a kind that cannot
    /// be cut.
    pub(crate) fn read(read: &[u8]) -> Option<Bundle> {
        let (offload, bytes) = read.split_first_chunk::<OFFLOAD>()?;
        let (offload, shape) = (Offload::read(offload)?, Shape::of(bytes)?);
        let is_tcps = shape.is_tcp() && offload.checksum.is_some();
        let can_be_cut = offload.payload.is_none() || is_tcps;
        // Elsewhere an unfinished checksum is of a kind that is not known here.
        let is_known = offload.checksum.is_none_or(|(start, offset)| {
            usize::from(start) == shape.ip && Some(usize::from(offset)) == shape.checksum()
        });
        let bytes = bytes[..shape.total].to_vec();
        let is_ours = can_be_cut && is_known;
        is_ours.then_some(Bundle { bytes, shape, offload, stream: 0, left: 0 })
    }

    /// What ports read: the headers, and what ACP has in clear behind them.
    pub(crate) fn clear(&self) -> &[u8] {
        &self.bytes[..self.shape.clear]
    }

    /// Payload of each packet but the last.
    fn payload(&self) -> usize {
        let all = self.shape.total - self.shape.headers;
        self.offload.payload.map_or(all, usize::from)
    }

    fn packets(&self) -> usize {
        let all = self.shape.total - self.shape.headers;
        all.div_ceil(self.payload().max(1)).max(1)
    }

    /// Range of the payload of this many packets, from this one on.
    fn range(&self, first: u32, count: u32) -> std::ops::Range<usize> {
        let start = self.shape.headers + first as usize * self.payload();
        start..(start + count as usize * self.payload()).min(self.shape.total)
    }
}

impl Bundles {
    /// Keeps a bundle that a host handed over, of this stream, and puts its packets into
    /// `entering`.
    pub(crate) fn take_in(
        &mut self,
        mut bundle: Bundle,
        stream: u32,
        entering: &mut Vec<Entering>,
    ) {
        let packets = bundle.packets() as u32;
        (bundle.left, bundle.stream) = (packets, stream);
        entering.clear();
        for place in 0..packets {
            let size = bundle.shape.headers + bundle.range(place, 1).len();
            entering.push(Entering { kept: 0, size: size as u32 });
        }
        let id = match self.free_bundles.pop() {
            Some(id) => {
                self.bundles[id as usize] = Some(bundle);
                id
            }
            None => {
                self.bundles.push(Some(bundle));
                self.bundles.len() as u32 - 1
            }
        };
        for (place, entering) in entering.iter_mut().enumerate() {
            let packet = PacketOfBundle { bundle: id, place: place as u32, copies: 0 };
            entering.kept = match self.free_packets.pop() {
                Some(number) => {
                    self.packets[number as usize] = packet;
                    number
                }
                None => {
                    self.packets.push(packet);
                    self.packets.len() as u32 - 1
                }
            };
        }
    }

    /// Stream of a packet.
    pub(crate) fn stream(&self, kept: u32) -> u32 {
        let bundle = self.packets[kept as usize].bundle;
        self.bundles[bundle as usize].as_ref().map_or(u32::MAX, |bundle| bundle.stream)
    }

    /// A packet's facts about its data.
    pub(crate) fn segment(&self, kept: u32) -> DataRange {
        let packet = self.packets[kept as usize];
        let Some(bundle) = &self.bundles[packet.bundle as usize] else {
            return DataRange { sequence: None, opens: false, payload: 0 };
        };
        let payload = bundle.range(packet.place, 1).len() as u64;
        if !bundle.shape.is_tcp() {
            return DataRange { sequence: None, opens: false, payload };
        }
        let tcp = &bundle.bytes[bundle.shape.ip..];
        let before = packet.place * bundle.payload() as u32;
        let sequence = Some(sequence(tcp).wrapping_add(before));
        DataRange { sequence, opens: tcp[FLAGS] & SYN != 0, payload }
    }

    /// Notes a copy of a packet: it leaves the network, or is dropped, once more.
    pub(crate) fn copy(&mut self, kept: u32) {
        let packet = &mut self.packets[kept as usize];
        packet.copies += 1;
        if let Some(bundle) = &mut self.bundles[packet.bundle as usize] {
            bundle.left += 1;
        }
    }

    /// Forgets a packet that was dropped.
    pub(crate) fn drop(&mut self, kept: u32) {
        let bundle = self.end(kept).bundle;
        self.let_go(bundle, 1);
    }

    /// Ends a packet, or one of its copies.
    fn end(&mut self, kept: u32) -> PacketOfBundle {
        let packet = &mut self.packets[kept as usize];
        match packet.copies.checked_sub(1) {
            Some(copies) => packet.copies = copies,
            None => self.free_packets.push(kept),
        }
        *packet
    }

    /// Takes a packet that leaves the network.
    pub(crate) fn leave(
        &mut self,
        kept: u32,
        header: Header,
        marked: bool,
        routers: u32,
    ) -> Leaving {
        let PacketOfBundle { bundle, place, .. } = self.end(kept);
        Leaving { bundle, first: place, count: 1, header, marked, routers }
    }

    /// Whether no packet is on its way.
    pub(crate) fn is_empty(&self) -> bool {
        self.bundles.len() == self.free_bundles.len()
    }

    fn let_go(&mut self, bundle: u32, packets: u32) {
        let Some(held) = &mut self.bundles[bundle as usize] else { return };
        held.left -= packets;
        if held.left == 0 {
            self.bundles[bundle as usize] = None;
            self.free_bundles.push(bundle);
        }
    }

    /// Hands packets that leave to `write`, as one, and forgets them.
    pub(crate) fn hand_over(
        &mut self,
        leaving: Leaving,
        dialects: &Dialects,
        write: impl FnOnce(&[IoSlice<'_>]),
    ) {
        let Some(bundle) = &self.bundles[leaving.bundle as usize] else { return };
        let mut room = [0; HEADERS_MOST];
        let headers = &mut room[..bundle.shape.clear];
        let (payload, offload) = cut(bundle, &leaving, dialects, headers);
        let offload: [u8; OFFLOAD] = offload.write(bundle.shape.headers);
        write(&[IoSlice::new(&offload), IoSlice::new(headers), IoSlice::new(payload)]);
        self.let_go(leaving.bundle, leaving.count);
    }
}

impl Leaving {
    /// Number of the first packet in its bundle.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }
    /// Whether the last packet of a bundle of this many is among them.
    pub(crate) fn is_last_of(&self, packets: usize) -> bool {
        (self.first + self.count) as usize == packets
    }

    /// Adds a packet that leaves right behind these, if it can share their bundle.
    pub(crate) fn joined(&mut self, next: &Leaving) -> bool {
        let fits = self.bundle == next.bundle
            && self.first + self.count == next.first
            && self.marked == next.marked
            && self.routers == next.routers
            && self.header == next.header;
        if fits {
            self.count += next.count;
        }
        fits
    }
}

/// Writes the headers of a bundle's leaving packets, with what ACP has in clear; returns where the
/// rest of their payload is and what remains to be done with them.
fn cut<'a>(
    bundle: &'a Bundle,
    leaving: &Leaving,
    dialects: &Dialects,
    headers: &mut [u8],
) -> (&'a [u8], Offload) {
    let Shape { ip, .. } = bundle.shape;
    headers.copy_from_slice(bundle.clear());
    let range = bundle.range(leaving.first, leaving.count);
    let payload = &bundle.bytes[range.start.max(headers.len())..range.end];
    let total = headers.len() + payload.len();
    if bundle.packets() > leaving.count as usize {
        packet::put_u16(headers, 2, total as u16);
        let number = packet::u16_at(headers, 4).unwrap_or_default();
        packet::put_u16(headers, 4, number.wrapping_add(leaving.first as u16));
        advance(&mut headers[ip..], leaving.first, bundle.payload());
        if !leaving.is_last_of(bundle.packets()) {
            headers[ip + FLAGS] &= !(FIN | PSH);
        }
    }
    if leaving.marked {
        packet::mark(headers);
    }
    packet::forward(headers, leaving.routers);
    dialects.write(&leaving.header, total, headers, ip);
    packet::seal(headers, ip);
    if let Some(at) = bundle.shape.checksum().map(|at| ip + at) {
        let checksum = if bundle.offload.checksum.is_some() {
            packet::pseudo_sum(headers, ip, total)
        } else {
            let (old, new) = (&bundle.bytes[ip..headers.len()], &headers[ip..]);
            packet::updated(
                bundle.shape.stream.protocol,
                packet::u16_at(headers, at).unwrap_or_default(),
                old,
                new,
            )
        };
        packet::put_u16(headers, at, checksum);
    }
    let single = leaving.count == 1;
    let offload = Offload { payload: bundle.offload.payload.filter(|_| !single), ..bundle.offload };
    (payload, offload)
}

fn sequence(tcp: &[u8]) -> u32 {
    u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]])
}

/// Advances a TCP header by this many packets.
fn advance(tcp: &mut [u8], packets: u32, payload: usize) {
    let sequence = sequence(tcp).wrapping_add(packets * payload as u32);
    tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
}
