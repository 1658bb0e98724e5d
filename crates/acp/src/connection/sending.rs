//! Packets of a connection on their way out.

use ratewire_laws::Header;
use ratewire_transport::{Segment, SegmentKind};
use ratewire_units::{Bytes as Size, Time};

use super::Connection;
use crate::channel::Transmit;
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
        let mut parts = core::mem::take(&mut self.scratch);
        parts.clear();
        let to = self.channel.put(now, &mut parts);
        let is_known = to == self.channel.peer();
        if is_known {
            self.put_control(now, &mut parts);
        }
        let (mut header, mut has_data) = (Header::None, false);
        let (room, sends_data) = (self.channel.room(), self.closing.sends_data());
        let before = parts.len();
        let next = match is_known && sends_data {
            true => self
                .held
                .take()
                .filter(|held| !self.out.is_acknowledged(held))
                .or_else(|| self.out.poll_transmit(now, room.saturating_sub(before as u64))),
            false => None,
        };
        if let Some(segment) = next {
            let rest = self.put_segment(&segment, room, &mut parts);
            if rest.is_some() && before > 0 {
                parts.truncate(before);
                self.held = Some(segment);
            } else {
                (header, has_data) = (segment.header, segment.payload > Size::ZERO);
                self.held = rest;
            }
        }
        let sealed = (!parts.is_empty()).then(|| self.channel.seal(now, to, &header, &parts, out));
        let transmit = sealed.map(|transmit| Transmit { ecn: has_data, ..transmit });
        self.scratch = parts;
        transmit
    }

    /// Parts beside data.
    fn put_control(&mut self, now: Time, parts: &mut Vec<u8>) {
        self.closing.put(now, self.out.sender.rtt().rto(), parts);
        if let Some(ack) = self.inc.poll_ack(now) {
            self.channel.put_ack(&ack, parts);
        }
    }

    /// Appends the parts of a packet of the transport. Returns what of it has no room.
    fn put_segment(&self, segment: &Segment, room: u64, parts: &mut Vec<u8>) -> Option<Segment> {
        let SegmentKind::Data { again } = segment.kind else {
            Part::Open.put(parts);
            return None;
        };
        let end = segment.offset + segment.payload.get();
        if segment.payload == Size::ZERO {
            // It asks for the receiver's window.
            let empty = DataPart { offset: end, source: 0, frame: 0, within: 0, bytes: &[], again };
            Part::Data(empty).put(parts);
        }
        let offset = self.out.put(segment.offset..end, again, room, parts);
        let payload = Size::new(end - offset);
        (offset < end).then_some(Segment { offset, payload, ..*segment })
    }
}
