//! Packets of a connection on their way out.

use ratewire_laws::Header;
use ratewire_transport::{Segment, SegmentKind};
use ratewire_units::{Bytes as Size, Time};

use super::outgoing::Place;
use super::{Connection, DATA_FIELDS};
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
        let next = match is_known && sends_data {
            true => self.held.take().or_else(|| self.out.sender.poll_transmit(now)),
            false => None,
        };
        if let Some(segment) = next {
            let size = segment.payload.get() + DATA_FIELDS;
            if parts.is_empty() || parts.len() as u64 + size <= room {
                (header, has_data) = (segment.header, segment.payload > Size::ZERO);
                self.put_segment(&segment, room, &mut parts);
            } else {
                self.held = Some(segment);
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

    fn put_segment(&mut self, segment: &Segment, room: u64, parts: &mut Vec<u8>) {
        let SegmentKind::Data { again } = segment.kind else { return Part::Open.put(parts) };
        // A packet that was sent on a path for larger ones goes in pieces.
        let length = segment.payload.get().min(room - parts.len() as u64 - DATA_FIELDS);
        let nowhere = Place { frame: 0, within: 0 };
        let Place { frame, within } = self.out.place(segment.offset).unwrap_or(nowhere);
        let (offset, source) = (segment.offset, 0);
        let data = DataPart { offset, source, frame, within, bytes: &[], again };
        data.put_fields(length, parts);
        self.out.copy(offset, length, parts);
        let rest = segment.payload.get() - length;
        if rest > 0 {
            let offset = segment.offset + length;
            self.held = Some(Segment { offset, payload: Size::new(rest), ..*segment });
        }
    }
}
