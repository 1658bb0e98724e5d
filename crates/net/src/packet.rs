//! Packets, and the slab they live in.

use ratewire_laws::Header;
use ratewire_transport::{Ack, SackBlocks, Segment, SegmentKind};
use ratewire_units::{Bytes, Time};

/// Index of a packet in the [`Slab`].
pub type PacketId = u32;

/// No packet.
pub(crate) const NIL: PacketId = u32::MAX;

/// What a packet carries beside its congestion header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// Opens a flow.
    Open,
    /// Data.
    Data {
        /// Stream offset of the first byte.
        offset: u64,
        /// Payload bytes.
        payload: u32,
    },
    /// An acknowledgement.
    Ack {
        /// Whether it answers [`Body::Open`].
        opens: bool,
        /// Whether what it answers was marked.
        marked: bool,
        /// Ranges beyond the cumulative acknowledgement.
        sack: SackBlocks,
        /// All below has arrived.
        cumulative: u64,
        /// Payload allowed beyond `cumulative`.
        window: Bytes,
    },
}

/// Explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not capable: dropped where others are marked.
    NotCapable,
    /// Capable, not marked.
    Capable,
    /// Congestion experienced.
    Marked,
}

/// A packet as a host hands it to the network.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// What every hop needs.
    pub label: Label,
    /// What ports and hosts need.
    pub content: Content,
}

/// The part of a packet that every hop touches: half a cache line.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// While waiting: when it came into the queue. While on a link: when it arrives.
    pub(crate) time: Time,
    /// Next packet in the same queue.
    pub(crate) next: PacketId,
    /// Where in the route table the link after this one stands.
    pub(crate) hop: u32,
    /// Network-layer bytes.
    pub size: u32,
    /// The flow it belongs to, in the caller's numbering.
    pub flow: u32,
    /// Tells apart flows that used the same `flow` number one after the other.
    pub generation: u32,
    /// Congestion mark.
    pub ecn: Ecn,
    /// Lost on the link it is on; noticed where it would arrive.
    pub(crate) lost: bool,
}

/// The part of a packet that only ports and hosts touch.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// Congestion header; routers rewrite it.
    pub header: Header,
    /// What it carries.
    pub body: Body,
}

impl Packet {
    /// A packet from a flow's sender.
    #[inline]
    pub fn data(flow: u32, generation: u32, size: u32, ecn: bool, segment: &Segment) -> Packet {
        let body = match segment.kind {
            SegmentKind::Open => Body::Open,
            SegmentKind::Data { .. } => {
                Body::Data { offset: segment.offset, payload: segment.payload.get() as u32 }
            }
        };
        let ecn = if ecn { Ecn::Capable } else { Ecn::NotCapable };
        Packet {
            label: Label::new(flow, generation, size, ecn),
            content: Content { header: segment.header, body },
        }
    }

    /// A packet from a flow's receiver.
    pub fn acknowledgement(flow: u32, generation: u32, size: u32, ack: &Ack) -> Packet {
        Packet {
            label: Label::new(flow, generation, size, Ecn::NotCapable),
            content: Content::acknowledgement(ack),
        }
    }
}

impl Label {
    fn new(flow: u32, generation: u32, size: u32, ecn: Ecn) -> Label {
        Label { time: Time::ZERO, next: NIL, hop: 0, size, flow, generation, ecn, lost: false }
    }
}

impl Content {
    #[inline]
    fn acknowledgement(ack: &Ack) -> Content {
        let body = Body::Ack {
            opens: ack.opens,
            marked: ack.marked,
            sack: ack.sack,
            cumulative: ack.cumulative,
            window: ack.window,
        };
        Content { header: ack.header, body }
    }

    /// The acknowledgement it carries, if it does.
    #[inline]
    pub fn ack(&self) -> Option<Ack> {
        match self.body {
            Body::Ack { opens, marked, sack, cumulative, window } => {
                Some(Ack { opens, cumulative, window, sack, marked, header: self.header })
            }
            _ => None,
        }
    }
}

/// All packets of a run: no allocation per packet, 32-bit ids.
#[derive(Debug)]
pub(crate) struct Slab {
    labels: Vec<Label>,
    contents: Vec<Content>,
    free: PacketId,
    in_use: u32,
}

impl Slab {
    pub(crate) fn new() -> Slab {
        Slab { labels: Vec::new(), contents: Vec::new(), free: NIL, in_use: 0 }
    }
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        self.in_use += 1;
        if self.free == NIL {
            self.labels.push(packet.label);
            self.contents.push(packet.content);
            return (self.labels.len() - 1) as PacketId;
        }
        let id = self.free;
        let slot = &mut self.labels[id as usize];
        self.free = slot.next;
        *slot = packet.label;
        self.contents[id as usize] = packet.content;
        id
    }
    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) {
        self.in_use -= 1;
        self.labels[id as usize].next = self.free;
        self.free = id;
    }
    pub(crate) fn in_use(&self) -> u32 {
        self.in_use
    }
    #[inline]
    pub(crate) fn content(&self, id: PacketId) -> &Content {
        &self.contents[id as usize]
    }
    #[inline]
    pub(crate) fn content_mut(&mut self, id: PacketId) -> &mut Content {
        &mut self.contents[id as usize]
    }
    /// Turns a data packet that has arrived into the acknowledgement that answers it, in place.
    #[inline]
    pub(crate) fn answer(&mut self, id: PacketId, ack: &Ack, size: u32) {
        let label = &mut self.labels[id as usize];
        label.size = size;
        label.ecn = Ecn::NotCapable;
        self.contents[id as usize] = Content::acknowledgement(ack);
    }
}

impl core::ops::Index<PacketId> for Slab {
    type Output = Label;
    #[inline]
    fn index(&self, id: PacketId) -> &Label {
        &self.labels[id as usize]
    }
}
impl core::ops::IndexMut<PacketId> for Slab {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Label {
        &mut self.labels[id as usize]
    }
}

/// A first-in-first-out list of packets, threaded through them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    head: PacketId,
    tail: PacketId,
}

impl Fifo {
    pub(crate) const EMPTY: Fifo = Fifo { head: NIL, tail: NIL };

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NIL
    }
    #[inline]
    pub(crate) fn head(&self) -> Option<PacketId> {
        (self.head != NIL).then_some(self.head)
    }
    #[inline]
    pub(crate) fn tail(&self) -> Option<PacketId> {
        (self.head != NIL).then_some(self.tail)
    }
    /// Walks the list.
    pub(crate) fn len(&self, slab: &Slab) -> u64 {
        let mut count = 0;
        let mut at = self.head;
        while at != NIL {
            count += 1;
            at = slab[at].next;
        }
        count
    }
    #[inline]
    pub(crate) fn push(&mut self, slab: &mut Slab, id: PacketId) {
        slab[id].next = NIL;
        if self.head == NIL {
            self.head = id;
        } else {
            slab[self.tail].next = id;
        }
        self.tail = id;
    }
    #[inline]
    pub(crate) fn pop(&mut self, slab: &Slab) -> Option<PacketId> {
        let id = self.head()?;
        self.head = slab[id].next;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_labels_fit_a_cache_line() {
        assert_eq!(size_of::<Label>(), 32);
        assert!(size_of::<Content>() <= 112, "{}", size_of::<Content>());
    }
}
