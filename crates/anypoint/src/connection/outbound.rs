//! Packets from the members to the peer.

use ratewire_laws::Header;
use ratewire_transport::{Ack, Segment};
use ratewire_units::{Bytes, Time};

use super::{ActiveConnection, OUTBOUND};
use crate::packets::{FrameOf, Output, Side};
use crate::persistent::PersistentState;
use crate::relay::Sent;

impl ActiveConnection {
    #[expect(clippy::too_many_arguments, reason = "all that is known of a packet")]
    pub(super) fn outbound_data(
        &mut self,
        persistent: &PersistentState,
        now: Time,
        k: usize,
        segment: &Segment,
        frame: FrameOf<'_>,
        marked: bool,
        out: &mut Vec<Output>,
    ) {
        let Segment { offset, payload, .. } = *segment;
        let end = offset.saturating_add(payload.get());
        if payload == Bytes::ZERO {
            self.asking[k] = true;
            let segment = Segment { offset: self.outbound.next(0), ..*segment };
            out.push(Output::Segment(Side::Peer, segment));
            return;
        }
        if self.outbound.is_acknowledged(k, offset, end) {
            let ack = self.ack_to_member(persistent, k, self.last_header[OUTBOUND], false);
            out.push(Output::Ack(Side::Member(k), ack));
            return;
        }
        // Data that the peer has, but not for good, is forwarded again: it may be a switch whose
        // member has died. The acknowledgement was lost, and nothing else brings another. The rest
        // of the frame may be gone as well, and the member would not send what is acknowledged.
        if self.outbound.holder(k, offset, end).is_some() {
            let (start, last) = frame.bounds.unwrap_or((offset, end));
            self.outbound.doubt(k, start, last.min(self.outbound.placed(k)), 0);
            let ack = self.ack_to_member(persistent, k, self.last_header[OUTBOUND], false);
            out.push(Output::Ack(Side::Member(k), ack));
        }
        // Data that was lost on its way to the switch keeps a place, so that the peer gets each
        // member's data in order.
        let placed = self.outbound.placed(k).max(self.outbound.below(k));
        if end > placed {
            if offset > placed {
                self.outbound.place(k, placed, offset, 0, false);
            }
            // A switch takes a frame for one piece of its peer's stream: nothing may come between.
            let last = frame.bounds.filter(|_| persistent.config.peer_spreads);
            let end = last.map_or(end, |(_, last)| end.max(last));
            self.outbound.place(k, offset.max(placed), end, 0, false);
        }
        let Some(mapping) = self.outbound.find(k, offset) else { return };
        let at = mapping.at + (offset - mapping.start);
        let mut segment = Segment { offset: at, ..*segment };
        let size = frame.size.unwrap_or(persistent.size(payload));
        let wish = self.merge.data(now, persistent.law(), k, size, &mut segment.header);
        self.outbound.note(now, 0, at, Sent { payload: payload.get() as u32, wish, marked });
        out.push(Output::Segment(Side::Peer, segment));
    }

    pub(super) fn outbound_ack(
        &mut self,
        persistent: &mut PersistentState,
        now: Time,
        ack: &Ack,
        out: &mut Vec<Output>,
    ) {
        let grown = persistent.windows.set_peer(ack.cumulative, ack.window);
        let mut newly_acked = core::mem::take(&mut self.newly_acked);
        self.outbound.acknowledge(0, ack, &mut newly_acked);
        self.merge.acknowledge(now, persistent.law(), &newly_acked, &ack.header);
        self.last_header[OUTBOUND] = ack.header;
        if ack.opens {
            for k in persistent.members_up() {
                if !core::mem::take(&mut self.opening[k]) {
                    continue;
                }
                let ack = self.ack_to_member(persistent, k, ack.header, ack.marked);
                out.push(Output::Ack(Side::Member(k), Ack { opens: true, ..ack }));
            }
        }
        for one in &newly_acked {
            let marked = ack.marked || one.marked;
            let ack = self.ack_to_member(persistent, one.source, ack.header, marked);
            out.push(Output::Ack(Side::Member(one.source), ack));
        }
        // A window update alone concerns all members; an answer to an opening concerns the member
        // that asked.
        if newly_acked.is_empty() && !ack.opens {
            for k in persistent.members_up() {
                if grown || self.asking[k] {
                    let ack = self.ack_to_member(persistent, k, self.last_header[OUTBOUND], false);
                    out.push(Output::Ack(Side::Member(k), ack));
                }
            }
        }
        self.newly_acked = newly_acked;
        if self.close_again != Time::NEVER && self.outbound.abandoned(0).is_empty() {
            self.close_again = Time::NEVER;
        }
    }

    fn ack_to_member(
        &mut self,
        persistent: &PersistentState,
        k: usize,
        mut header: Header,
        marked: bool,
    ) -> Ack {
        self.asking[k] = false;
        self.merge.feed_back(persistent.law(), k, &mut header);
        let (own, all) = match persistent.config.peer_spreads {
            true => {
                let all = (0..persistent.members.len()).map(|k| self.outbound.ahead(k)).sum();
                (self.outbound.ahead(k), all)
            }
            // A host has nothing that is not acknowledged for good.
            false => (Bytes::ZERO, Bytes::ZERO),
        };
        Ack {
            sack: self.outbound.sack(k).0,
            marked,
            header,
            ..Ack::plain(
                self.outbound.below(k),
                persistent.windows.for_member(persistent.up, all, own),
            )
        }
    }
}
