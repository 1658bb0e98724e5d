//! Packets: labels that move from link to link, and contents that stay in a slab.

use std::slice::from_ref;

use prefetch_index::prefetch_index;
use ratewire_laws::Header;
use ratewire_transport::{Ack, Epoch, ReceiveWindow, SackBlocks, Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Time};

use crate::prefetch::prefetch_bytes;

/// Index of a packet's content in the [`Slab`].
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
    fn of(ack: &Ack) -> AckFlags {
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
pub struct Beyond(u32);

impl Beyond {
    /// An unlimited window without ranges.
    const UNLIMITED: Beyond = Beyond(NIL);
    /// With this bit, the other bits are an index into the slab. Without it, they are the window,
    /// and there are no ranges.
    const KEPT: u32 = 1 << 31;

    /// Index at which the slab keeps window and ranges, if it does.
    #[inline]
    fn place(self) -> Option<u32> {
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
    const EMPTY: Content = Content { header: Header::None, body: Body::Open };

    #[inline]
    fn write(&mut self, header: &Header, body: Body) {
        // Of `Header::None` only the discriminant is written. A copy of the whole would read bytes
        // that were just written in smaller parts, which the CPU cannot forward from its stores.
        match header {
            Header::None => self.header = Header::None,
            header => self.header = *header,
        }
        self.body = body;
    }
}

/// Contents of all packets of a run: no allocation per packet, 32-bit ids.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    contents: Pool<Content>,
    /// Windows and ranges of the few acknowledgements for which [`Beyond`] has no room.
    kept: Pool<(Bytes, SackBlocks)>,
    /// When each packet of a flow's sender was sent, by its content; `None` if nobody asks.
    sent: Option<Vec<Time>>,
}

#[derive(Debug)]
struct Pool<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Pool<T> {
    /// Claims a free place, which still holds its old value, or adds one with `fresh`.
    #[inline]
    fn claim(&mut self, fresh: T) -> (u32, &mut T) {
        let id = self.free.pop().unwrap_or_else(|| {
            self.items.push(fresh);
            (self.items.len() - 1) as u32
        });
        (id, &mut self.items[id as usize])
    }
    #[inline]
    fn remove(&mut self, id: u32) {
        self.free.push(id);
    }
}

impl Slab {
    /// Number of packets in use.
    pub(crate) fn in_use(&self) -> u64 {
        (self.contents.items.len() - self.contents.free.len()) as u64
    }

    /// Largest number of packets that were in use at once.
    pub(crate) fn peak(&self) -> usize {
        self.contents.items.len()
    }

    /// Notes from now on when packets of flows' senders are sent.
    pub(crate) fn time_packets(&mut self) {
        self.sent = Some(Vec::new());
    }

    /// When a packet of a flow's sender was sent, if that was noted.
    #[inline]
    pub(crate) fn sent(&self, id: ContentId) -> Option<Time> {
        self.sent.as_ref()?.get(id as usize).copied()
    }

    /// Inserts a segment from a flow's sender, which sends it now.
    #[inline]
    pub(crate) fn insert(&mut self, now: Time, segment: &Segment) -> ContentId {
        let body = match segment.kind {
            SegmentKind::Open => Body::Open,
            SegmentKind::Data { .. } => {
                let Segment { offset, payload, stamp, .. } = *segment;
                Body::Data { offset, payload: payload.get() as u32, stamp }
            }
        };
        let id = self.put(&segment.header, body);
        if let Some(sent) = &mut self.sent {
            if id as usize >= sent.len() {
                sent.resize(self.contents.items.len(), Time::ZERO);
            }
            sent[id as usize] = now;
        }
        id
    }

    /// Inserts a packet whose bytes the caller keeps under this number.
    pub(crate) fn insert_kept(&mut self, header: Header, kept: u32) -> ContentId {
        self.put(&header, Body::Kept(kept))
    }

    /// Inserts an acknowledgement from a flow's receiver.
    pub(crate) fn insert_ack(&mut self, ack: &Ack) -> ContentId {
        let body = self.acknowledgement(ack);
        self.put(&ack.header, body)
    }

    #[inline]
    fn put(&mut self, header: &Header, body: Body) -> ContentId {
        let (id, content) = self.contents.claim(Content::EMPTY);
        content.write(header, body);
        id
    }

    /// Turns an arrived packet into its own acknowledgement, in place.
    #[inline]
    pub(crate) fn answer(&mut self, id: ContentId, ack: &Ack) {
        let body = self.acknowledgement(ack);
        self.contents.items[id as usize].write(&ack.header, body);
    }

    #[inline]
    fn acknowledgement(&mut self, ack: &Ack) -> Body {
        let Ack { epoch, cumulative, .. } = *ack;
        Body::Ack { flags: AckFlags::of(ack), epoch, beyond: self.pack(ack), cumulative }
    }

    #[inline]
    fn pack(&mut self, ack: &Ack) -> Beyond {
        let fits = u32::try_from(ack.window.get()).ok().filter(|w| w & Beyond::KEPT == 0);
        match fits.map(Beyond) {
            _ if !ack.sack.is_empty() => self.keep(ack),
            Some(beyond) => beyond,
            None if ack.window == ReceiveWindow::UNLIMITED => Beyond::UNLIMITED,
            None => self.keep(ack),
        }
    }

    #[cold]
    fn keep(&mut self, ack: &Ack) -> Beyond {
        let kept = (ack.window, ack.sack);
        let (id, place) = self.kept.claim(kept);
        *place = kept;
        Beyond(id | Beyond::KEPT)
    }

    #[inline]
    fn unpack(&self, beyond: Beyond) -> (Bytes, SackBlocks) {
        if let Some(place) = beyond.place() {
            return self.kept.items[place as usize];
        }
        let is_unlimited = beyond == Beyond::UNLIMITED;
        let window = Bytes::new(u64::from(beyond.0));
        (if is_unlimited { ReceiveWindow::UNLIMITED } else { window }, SackBlocks::default())
    }

    /// The acknowledgement that a packet carries, if any.
    #[inline]
    pub(crate) fn ack(&self, id: ContentId) -> Option<Ack> {
        let content = self.content(id);
        let Body::Ack { flags, epoch, beyond, cumulative } = content.body else { return None };
        let (window, sack) = self.unpack(beyond);
        Some(Ack {
            opens: flags.contains(AckFlags::OPENS),
            cumulative,
            window,
            sack,
            marked: flags.contains(AckFlags::MARKED),
            duplicate: flags.contains(AckFlags::DUPLICATE),
            epoch,
            header: content.header,
        })
    }

    /// Removes a packet.
    #[inline]
    pub(crate) fn remove(&mut self, id: ContentId) {
        if let Body::Ack { beyond, .. } = self.contents.items[id as usize].body
            && let Some(place) = beyond.place()
        {
            self.kept.remove(place);
        }
        self.contents.remove(id);
    }

    /// Prefetches the content of a packet.
    #[inline]
    pub(crate) fn foresee(&self, id: ContentId) {
        if let Some(content) = self.contents.items.get(id as usize) {
            prefetch_index(from_ref(content), 0);
        }
    }
    /// Prefetches the window and ranges of an acknowledgement for which [`Beyond`] has no room.
    #[inline]
    pub(crate) fn foresee_beyond(&self, id: ContentId) {
        if let Body::Ack { beyond, .. } = self.content(id).body
            && let Some(place) = beyond.place()
            && let Some(kept) = self.kept.items.get(place as usize)
        {
            prefetch_bytes(kept, 0..size_of::<(Bytes, SackBlocks)>());
        }
    }
    #[inline]
    pub(crate) fn content(&self, id: ContentId) -> &Content {
        &self.contents.items[id as usize]
    }
    #[inline]
    pub(crate) fn header_mut(&mut self, id: ContentId) -> &mut Header {
        &mut self.contents.items[id as usize].header
    }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::{AnyLaw, Draw, FlowContext};
    use ratewire_units::Rate;

    use super::*;

    #[test]
    fn labels_and_contents_fit_their_cache_lines() {
        assert_eq!(size_of::<Label>(), 32);
        assert_eq!(size_of::<Content>(), 64);
    }

    #[test]
    fn acknowledgements_come_out_as_they_went_in() {
        let mut sack = SackBlocks::default();
        sack.push(7, 8, 9);
        let windows =
            [0, 1, (1 << 31) - 1, 1 << 31, u64::from(NIL), 1 << 40, (1 << 40) + 1, u64::MAX];
        let law = AnyLaw::new("rcp", &[]).expect("a law");
        let context = FlowContext {
            mss: Bytes::new(1),
            packet: Bytes::new(1),
            line_rate: Rate::from_mbps(1),
            back_pressured: false,
            draw: Draw::new(0),
        };
        let header = law.source(&context).on_open(Time::ZERO);
        assert_ne!(header, Header::None);
        let mut slab = Slab::default();
        for (i, window) in windows.into_iter().enumerate() {
            for (header, sack) in [Header::None, header]
                .into_iter()
                .flat_map(|header| [(header, sack), (header, SackBlocks::default())])
            {
                let window = Bytes::new(window);
                let cumulative = i as u64;
                let ack = Ack {
                    opens: false,
                    cumulative,
                    window,
                    sack,
                    marked: true,
                    duplicate: i % 2 == 1,
                    epoch: Epoch::UNKNOWN,
                    header,
                };
                let id = slab.insert_ack(&ack);
                assert_eq!(slab.ack(id), Some(ack));
                slab.remove(id);
                let kept = &slab.kept;
                assert_eq!(kept.items.len(), kept.free.len(), "nothing is left of {ack:?}");
            }
        }
        assert_eq!((slab.contents.items.len(), slab.kept.items.len()), (1, 1), "used again");
    }
}
