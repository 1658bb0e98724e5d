//! Packets: labels that move from link to link, and contents that stay in a slab.

use ratewire_laws::Header;
use ratewire_transport::{Ack, Epoch, Stamp};
use ratewire_units::Time;

/// Index of a packet's content in the [`Slab`](crate::slab::Slab).
pub(crate) type ContentId = u32;

/// An absent index.
pub(crate) const NIL: u32 = u32::MAX;

/// Explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable: dropped where capable packets are marked.
    NotCapable,
    /// ECN-capable, not marked: ECT(0).
    Capable,
    /// ECN-capable, not marked, from a sender with a scalable law: ECT(1) (RFC 9331).
    Scalable,
    /// Congestion experienced.
    Marked,
}

impl Ecn {
    /// Whether a packet is unmarked and may be marked.
    #[inline]
    pub fn may_be_marked(self) -> bool {
        matches!(self, Ecn::Capable | Ecn::Scalable)
    }
}

/// The part of a packet that every hop needs. It fills half a cache line and is passed by value, so
/// that a link reads and writes memory in order.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// While the packet waits: time of its arrival at the queue. While it is on a link: time of its
    /// arrival at the far end.
    pub(crate) time: Time,
    pub(crate) content: ContentId,
    /// Index of the packet's next link in the route table.
    pub(crate) hop: u32,
    /// Size in network-layer bytes.
    pub size: u32,
    /// Flow of the packet, in the caller's numbering.
    pub flow: u32,
    /// Tells apart flows that used the same `flow` number one after the other.
    pub generation: u32,
    /// Priority class, 0 to 7.
    pub class: u8,
    /// With queues by flow: the queue that the packet left at the start of its current link.
    pub(crate) lane: u8,
    /// Congestion mark.
    pub ecn: Ecn,
    pub(crate) fate: Fate,
}

impl Label {
    /// Time at which a packet arrived at its host.
    #[inline]
    pub fn arrived(&self) -> Time {
        self.time
    }
    /// Label of no packet, for empty slots.
    pub(crate) const NONE: Label = Label {
        time: Time::ZERO,
        content: NIL,
        hop: 0,
        size: 0,
        flow: 0,
        generation: 0,
        class: 0,
        lane: 0,
        ecn: Ecn::NotCapable,
        fate: Fate::Arrives,
    };
}

/// How a packet's time on its current link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    /// The packet arrives, and is captured at the far end.
    Watched,
    /// The packet is lost; this is counted when it would arrive.
    Lost,
    /// The packet is late; it is put aside when it would arrive.
    Late,
    /// The packet was dropped from the middle of the FIFO, where its place remains.
    Gone,
    /// The packet is a copy, which is not copied again where it arrives.
    Copied,
}

/// What a packet carries besides its congestion header.
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
        /// See [`Stamp`].
        stamp: Stamp,
    },
    /// An acknowledgement, see [`Ack`].
    Ack {
        /// What there is to say of the acknowledged packet.
        flags: AckFlags,
        /// See [`Epoch`].
        epoch: Epoch,
        /// The receiver's window, and the ranges that arrived out of order.
        beyond: Beyond,
        /// Stream offset below which all data have arrived.
        cumulative: u64,
    },
    /// A real packet, whose bytes the caller keeps under this number.
    Kept(u32),
}

bitflags::bitflags! {
    /// The switches of an [`Ack`], in a byte.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AckFlags: u8 {
        /// It acknowledges [`Body::Open`].
        const OPENS = 1;
        /// The acknowledged packet was marked.
        const MARKED = 1 << 1;
        /// Its data had arrived before.
        const DUPLICATE = 1 << 2;
    }
}

impl AckFlags {
    pub(crate) fn of(ack: &Ack) -> AckFlags {
        let mut flags = AckFlags::empty();
        flags.set(AckFlags::OPENS, ack.opens);
        flags.set(AckFlags::MARKED, ack.marked);
        flags.set(AckFlags::DUPLICATE, ack.duplicate);
        flags
    }
}

/// The receiver's window and the ranges that arrived out of order, in four bytes.
///
/// Holds either a window without ranges, or the index at which the slab keeps both.
/// [`Captured::ack`](crate::Captured::ack) has both in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond(pub(crate) u32);

impl Beyond {
    /// An unlimited window without ranges.
    pub(crate) const UNLIMITED: Beyond = Beyond(NIL);
    /// With this bit, the other bits are an index into the slab. Without it, they are the window,
    /// and there are no ranges.
    pub(crate) const KEPT: u32 = 1 << 31;

    /// Index at which the slab keeps window and ranges, if it does.
    #[inline]
    pub(crate) fn place(self) -> Option<u32> {
        let is_none = self == Beyond::UNLIMITED || self.0 & Beyond::KEPT == 0;
        if is_none { None } else { Some(self.0 & !Beyond::KEPT) }
    }
}

/// The part of a packet that only ports and hosts need: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Content {
    /// Congestion header; routers rewrite it.
    pub header: Header,
    /// What the packet carries.
    pub body: Body,
}

impl Content {
    pub(crate) const EMPTY: Content = Content { header: Header::None, body: Body::Open };

    #[inline]
    pub(crate) fn write(&mut self, header: &Header, body: Body) {
        // Of `Header::None` only the discriminant is written. A copy of the whole would read bytes
        // that were just written in smaller parts, which the CPU cannot forward from its stores.
        match header {
            Header::None => self.header = Header::None,
            header => self.header = *header,
        }
        self.body = body;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_contents_fit_their_cache_lines() {
        assert_eq!(size_of::<Label>(), 32);
        assert_eq!(size_of::<Content>(), 64);
    }
}
