//! Packets of a connection on their way out.

use ratewire_laws::Header;
use ratewire_transport::{Segment, SegmentKind};
use ratewire_units::{Bytes as Size, Time};

use super::Connection;
use crate::channel::{Draft, Transmit};
use crate::wire::{DataPart, Part};

impl Connection {
    /// Appends the next packet to send now to `out`, if there is one; call again until there is
    /// none.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.closing.is_over() {
            return None;
        }
        let srtt = self.out.sender.rtt().srtt();
        if let Some(transmit) = self.channel.poll_probe(now, srtt, out) {
            return Some(transmit);
        }
        let draft = self.channel.begin(out);
        let to = self.channel.put(now, out);
        let is_known = to == self.channel.peer();
        if is_known {
            self.put_control(now, out);
        }
        let (mut header, mut has_data) = (Header::None, false);
        let (room, sends_data) = (self.channel.room(), self.closing.sends_data());
        let before = draft.len(out);
        let next = match is_known && sends_data {
            true => self
                .held
                .take()
                .filter(|held| !self.out.is_acknowledged(held))
                .or_else(|| self.out.poll_transmit(now, room.saturating_sub(before as u64))),
            false => None,
        };
        if let Some(segment) = next {
            let rest = self.put_segment(&segment, room, &draft, out);
            if rest.is_some() && before > 0 {
                out.truncate(draft.parts() + before);
                self.held = Some(segment);
            } else {
                (header, has_data) = (segment.header, segment.payload > Size::ZERO);
                self.held = rest;
            }
        }
        if draft.len(out) == 0 {
            out.truncate(draft.start());
            return None;
        }
        let transmit = self.channel.finish(now, to, &header, &draft, out);
        Some(Transmit { ecn: has_data, ..transmit })
    }

    /// Parts beside data.
    fn put_control(&mut self, now: Time, parts: &mut Vec<u8>) {
        self.closing.put(now, self.out.sender.rtt().rto(), parts);
        if let Some(ack) = self.inc.poll_ack(now) {
            self.channel.put_ack(&ack, parts);
        }
    }

    /// Appends the parts of a packet of the transport. Returns what of it has no room.
    fn put_segment(
        &self,
        segment: &Segment,
        room: u64,
        draft: &Draft,
        out: &mut Vec<u8>,
    ) -> Option<Segment> {
        let SegmentKind::Data { again } = segment.kind else {
            Part::Open.put(out);
            return None;
        };
        let end = segment.offset + segment.payload.get();
        if segment.payload == Size::ZERO {
            // It asks for the receiver's window.
            let empty = DataPart { offset: end, source: 0, frame: 0, within: 0, bytes: &[], again };
            Part::Data(empty).put(out);
        }
        let offset = self.out.put(segment.offset..end, again, room, draft, out);
        let payload = Size::new(end - offset);
        (offset < end).then_some(Segment { offset, payload, ..*segment })
    }
}
