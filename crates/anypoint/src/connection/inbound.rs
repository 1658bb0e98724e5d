//! Packets from the peer to the members.

use ratewire_laws::Header;
use ratewire_laws::junction::Junction;
use ratewire_transport::{Ack, Epoch, Segment};
use ratewire_units::{Bytes, Throughput, Time};

use super::{ActiveConnection, INBOUND};
use crate::packets::{FrameOf, Output, Side};
use crate::persistent::PersistentState;
use crate::relay::{Sent, StreamMapping};
use crate::routing::Frame;

impl ActiveConnection {
    /// Asks all members to open; the peer is answered when all have answered.
    pub(super) fn open_inbound(
        &mut self,
        persistent: &PersistentState,
        segment: &Segment,
        out: &mut Vec<Output>,
    ) {
        for k in persistent.members_up() {
            self.unanswered[k] = true;
            let mut segment = *segment;
            self.split.open(persistent.law(), k, &mut segment.header);
            out.push(Output::Segment(Side::Member(k), segment));
        }
    }

    pub(super) fn answer_open(
        &mut self,
        persistent: &PersistentState,
        header: Header,
        out: &mut Vec<Output>,
    ) {
        let ack = self.ack_to_peer(persistent, header, false);
        out.push(Output::Ack(Side::Peer, Ack { opens: true, ..ack }));
    }

    /// Passes on the peer's question for room, to the member with the least.
    pub(super) fn probe_inbound(
        &mut self,
        persistent: &PersistentState,
        segment: &Segment,
        out: &mut Vec<Output>,
    ) {
        let up = persistent.members_up().into_iter();
        if let Some(k) = up.min_by_key(|k| persistent.windows.of_member(*k)) {
            let segment = Segment { offset: self.inbound.next(k), ..*segment };
            out.push(Output::Segment(Side::Member(k), segment));
        }
    }

    pub(super) fn inbound_data(
        &mut self,
        persistent: &mut PersistentState,
        now: Time,
        segment: &Segment,
        frame: FrameOf<'_>,
        marked: bool,
        out: &mut Vec<Output>,
    ) {
        let Segment { offset, payload, .. } = *segment;
        if self.inbound.is_acknowledged(0, offset, offset.saturating_add(payload.get())) {
            let ack = self.ack_to_peer(persistent, self.last_header[INBOUND], false);
            out.push(Output::Ack(Side::Peer, ack));
            return;
        }
        if let Some(k) = self.inbound.holder(0, offset, offset.saturating_add(payload.get())) {
            self.hurry(persistent, k, out);
        }
        // The packet goes whole to one member. But a packet that does not begin where one is
        // expected may have parts with places of their own.
        let (mut offset, end) = (offset, offset.saturating_add(payload.get()));
        while offset < end {
            let known = self.inbound.find(0, offset);
            let Some(mapping) = known.or_else(|| self.route(persistent, offset, end, frame)) else {
                return;
            };
            let (k, at) = (mapping.target as usize, mapping.at + (offset - mapping.start));
            let payload = Bytes::new(mapping.end.min(end) - offset);
            let mut segment = Segment { offset: at, payload, ..*segment };
            let wish = self.split.data(now, persistent.law(), k, payload, &mut segment.header);
            self.inbound.note(now, k, at, Sent { payload: payload.get() as u32, wish, marked });
            out.push(Output::Segment(Side::Member(k), segment));
            offset += payload.get();
        }
    }

    /// Acknowledges to the peer, not for good, data that waits at the switch.
    pub(crate) fn hold(
        &mut self,
        persistent: &PersistentState,
        start: u64,
        end: u64,
        out: &mut Vec<Output>,
    ) {
        self.inbound.note_received(0, start, end);
        let ack = self.ack_to_peer(persistent, self.last_header[INBOUND], false);
        out.push(Output::Ack(Side::Peer, ack));
    }

    /// Handles data that a member has and the peer sends again, as a transport does after a
    /// timeout. If the member waits for the rest of a frame that the peer has begun, the member no
    /// longer waits.
    fn hurry(&mut self, persistent: &mut PersistentState, k: usize, out: &mut Vec<Output>) {
        if let Some((from, to)) = self.inbound.give_up_rest(0, k) {
            persistent.members[k].outstanding = self.inbound.outstanding(k);
            out.push(Output::skip(Side::Member(k), from, to));
        }
    }

    /// Gives a place to the frame of the packet from `offset` to `end`. Lost frames before it get
    /// theirs too, if the module can route them unread. Each member's order is then the peer's.
    fn route(
        &mut self,
        persistent: &mut PersistentState,
        offset: u64,
        end: u64,
        frame: FrameOf<'_>,
    ) -> Option<StreamMapping> {
        if let Some((start, end)) = frame.bounds {
            // The module must see the beginning, which comes again.
            if persistent.routing.reads_content() && frame.content.is_empty() && offset > start {
                return None;
            }
            // What lies between two frames that are known is whole frames. They stay together, so
            // that they keep their place before this one.
            let lost = self.inbound.placed(0);
            if lost < start && !persistent.routing.reads_content() {
                self.place_next(persistent, lost, start, &[])?;
            }
            self.place_next(persistent, start, end, frame.content)?;
            return self.inbound.find(0, offset);
        }
        // The begin of a frame of several packets follows from its number. A frame of one packet is
        // the packet: in the stream of a merging switch it may begin anywhere.
        let size = persistent.frame();
        let numbered = |start: u64, content| Frame { number: start / size, content };
        let start = if size > persistent.payload() { offset - offset % size } else { offset };
        let end =
            if size > persistent.payload() { end.max(start.saturating_add(size)) } else { end };
        if !persistent.routing.reads_content() {
            let mut lost = self.inbound.placed(0);
            while lost < start {
                let next = (lost - lost % size).saturating_add(size).min(start);
                self.place(persistent, lost, next, &numbered(lost, &[]), false)?;
                lost = next;
            }
        }
        self.place(persistent, start, end, &numbered(start, frame.content), false)?;
        self.inbound.find(0, offset)
    }

    /// Gives a place to a frame of its own size.
    fn place_next(
        &mut self,
        persistent: &mut PersistentState,
        start: u64,
        end: u64,
        content: &[u8],
    ) -> Option<()> {
        let number = self.placed;
        self.placed += 1;
        self.place(persistent, start, end, &Frame { number, content }, true)
    }

    fn place(
        &mut self,
        persistent: &mut PersistentState,
        start: u64,
        end: u64,
        frame: &Frame<'_>,
        is_unit: bool,
    ) -> Option<()> {
        let k = persistent.routing.route(frame, &persistent.members)?;
        self.inbound.place(0, start, end, k, is_unit);
        persistent.members[k].outstanding = self.inbound.outstanding(k);
        Some(())
    }

    pub(super) fn inbound_ack(
        &mut self,
        persistent: &mut PersistentState,
        now: Time,
        k: usize,
        ack: &Ack,
        out: &mut Vec<Output>,
    ) {
        persistent.windows.set_member(k, ack.window);
        let mut header = ack.header;
        if ack.opens {
            self.split.acknowledge(persistent.law(), k, 0.0, &mut header);
            self.unanswered[k] = false;
            if !self.unanswered.contains(&true) {
                self.answer_open(persistent, header, out);
            }
            return;
        }
        let mut newly_acked = core::mem::take(&mut self.newly_acked);
        if let Some(left) = self.inbound.acknowledge(k, ack, &mut newly_acked) {
            persistent.members[k].measure(now.since(left));
        }
        persistent.skipped[k] += self.inbound.take_skipped(k);
        persistent.members[k].outstanding = self.inbound.outstanding(k);
        let (wish, marked) = newly_acked.first().map_or((0.0, false), |f| (f.wish, f.marked));
        self.newly_acked = newly_acked;
        self.split.acknowledge(persistent.law(), k, wish, &mut header);
        self.last_header[INBOUND] = header;
        if let (Junction::Changes, Some(change)) =
            (persistent.law().junction(), persistent.law().fed_back(&header))
        {
            self.inbound.hold(0, change.get());
        }
        out.push(Output::Ack(
            Side::Peer,
            self.ack_to_peer(persistent, header, ack.marked || marked),
        ));
    }

    /// To the peer, everything is acknowledged below the first byte that some member has not
    /// acknowledged.
    fn ack_to_peer(
        &mut self,
        persistent: &PersistentState,
        mut header: Header,
        marked: bool,
    ) -> Ack {
        let (sack, end) = self.inbound.sack(0);
        if persistent.law().junction() == Junction::Changes {
            let change = Throughput::new(self.inbound.release(0, end));
            persistent.law().feed_back(&mut header, change);
        }
        Ack {
            opens: false,
            cumulative: self.inbound.below(0),
            // The members' rooms begin behind what they have.
            window: persistent.windows.for_peer() + Bytes::new(self.inbound.unfinished()),
            sack,
            marked,
            duplicate: false,
            epoch: Epoch::UNKNOWN,
            header,
        }
    }
}
