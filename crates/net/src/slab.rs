//! The contents of all packets of a network.

use std::slice::from_ref;

use prefetch_index::prefetch_index;
use ratewire_laws::Header;
use ratewire_transport::{Ack, ReceiveWindow, SackBlocks, Segment, SegmentKind};
use ratewire_units::{Bytes, Time};

use crate::packet::{AckFlags, Beyond, Body, Content, ContentId};
use crate::prefetch::prefetch_bytes;

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
    #[inline]
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
        self.note_sent(id, now);
        id
    }

    /// Notes when a packet of a flow's sender was sent, if somebody asks.
    #[inline]
    fn note_sent(&mut self, id: ContentId, at: Time) {
        if let Some(sent) = &mut self.sent {
            if id as usize >= sent.len() {
                sent.resize(self.contents.items.len(), Time::ZERO);
            }
            sent[id as usize] = at;
        }
    }

    /// Inserts a packet whose bytes the caller keeps under this number.
    pub(crate) fn insert_kept(&mut self, header: Header, kept: u32) -> ContentId {
        self.put(&header, Body::Kept(kept))
    }

    /// Inserts a copy of a packet. Its bytes, if the caller keeps them, have the same number.
    pub(crate) fn copy(&mut self, id: ContentId) -> ContentId {
        let content = *self.content(id);
        let copy = match self.ack(id) {
            Some(ack) => self.insert_ack(&ack),
            None => self.put(&content.header, content.body),
        };
        if let Some(at) = self.sent(id) {
            self.note_sent(copy, at);
        }
        copy
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
    use ratewire_transport::{Epoch, Stamp};
    use ratewire_units::Rate;

    use super::*;
    use crate::packet::NIL;

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

    #[test]
    fn a_copy_has_what_its_original_has_and_a_place_of_its_own() {
        let mut slab = Slab::default();
        slab.time_packets();
        let at = Time::ZERO + ratewire_units::Duration::from_millis(3);
        let segment = Segment {
            kind: SegmentKind::Data { again: false },
            offset: 7,
            payload: Bytes::new(9),
            stamp: Stamp::NONE,
            header: Header::None,
        };
        let sent = slab.insert(at, &segment);
        let copy = slab.copy(sent);
        assert_eq!(slab.content(copy).body, slab.content(sent).body);
        assert_eq!(slab.sent(copy), Some(at));
        let mut sack = SackBlocks::default();
        sack.push(7, 8, 9);
        let ack = Ack {
            opens: false,
            cumulative: 5,
            window: Bytes::new(1 << 40),
            sack,
            marked: true,
            duplicate: false,
            epoch: Epoch::UNKNOWN,
            header: Header::None,
        };
        let original = slab.insert_ack(&ack);
        let copy = slab.copy(original);
        slab.remove(original);
        // The place of the original's ranges is taken anew.
        let other = slab.insert_ack(&Ack { cumulative: 6, window: Bytes::new(1 << 41), ..ack });
        assert_eq!((slab.ack(copy), slab.in_use()), (Some(ack), 4));
        [copy, other].into_iter().for_each(|id| slab.remove(id));
        assert_eq!(slab.kept.items.len(), slab.kept.free.len());
    }
}
