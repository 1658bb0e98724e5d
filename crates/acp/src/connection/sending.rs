//! Packets of a connection on their way out.

use std::net::SocketAddr;

use ratewire_laws::{Header, MAX_HEADER};
use ratewire_transport::{Segment, SegmentKind};
use ratewire_units::{Bytes as Size, Time};

use super::outgoing::Place;
use super::{Answer, Connection, DATA_FIELDS, Transmit};
use crate::wire::{AckPart, Congestion, Data, DataPart, HEADER, Part, TAG};

impl Connection {
    /// Appends the next packet to send now to `out`, if there is one; call again until there is
    /// none.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.closing.is_over() {
            return None;
        }
        if let Some(transmit) = self.poll_probe(now, out) {
            return Some(transmit);
        }
        let mut parts = core::mem::take(&mut self.scratch);
        parts.clear();
        let mut to = self.peer;
        let sends_data = self.closing.sends_data();
        if let Some((address, token)) = self.challenge
            && self.closing.may_challenge(now)
        {
            Part::Challenge(token).put(&mut parts);
            to = address;
        } else {
            to = self.put_control(now, &mut parts).unwrap_or(to);
        }
        let (mut header, mut has_data) = (Header::None, false);
        let room = self.payload_room();
        let next = match to == self.peer && sends_data {
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
        let sealed = (!parts.is_empty()).then(|| self.seal(now, to, &header, &parts, out));
        let transmit = sealed.map(|transmit| Transmit { ecn: has_data, ..transmit });
        self.scratch = parts;
        transmit
    }

    /// Bytes of parts that a datagram takes.
    fn payload_room(&self) -> u64 {
        self.path.size() - (HEADER + Congestion::longest(&self.law) + TAG) as u64
    }

    /// Parts beside data. Returns where they must go, if not to the peer's address.
    fn put_control(&mut self, now: Time, parts: &mut Vec<u8>) -> Option<SocketAddr> {
        let elsewhere =
            |answer: &Answer| matches!(answer, Answer::Answer(to, _) if *to != self.peer);
        if let Some(place) = self.answers.iter().position(elsewhere)
            && let Answer::Answer(to, token) = self.answers.remove(place)
        {
            Part::Answer(token).put(parts);
            return Some(to);
        }
        for answer in self.answers.drain(..) {
            match answer {
                Answer::Pong(token) => Part::Pong(token).put(parts),
                Answer::Answer(_, token) => Part::Answer(token).put(parts),
            }
        }
        self.closing.put(now, self.out.sender.rtt().rto(), parts);
        if core::mem::take(&mut self.is_ping_due) {
            Part::Ping(0).put(parts);
        }
        if let Some(ack) = self.inc.poll_ack(now) {
            let mut bytes = [0; MAX_HEADER];
            let length = match ack.header {
                Header::None => 0,
                header => self.law.encode(&header, Size::ZERO, &mut bytes),
            };
            let part = AckPart {
                opens: ack.opens,
                cumulative: ack.cumulative,
                window: ack.window.get(),
                marked: ack.marked,
                sack: ack.sack,
                congestion: &bytes[..length],
            };
            Part::Ack(part).put(parts);
        }
        None
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

    /// A packet that finds out whether the path carries packets of its size.
    fn poll_probe(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Transmit> {
        let srtt = self.out.sender.rtt().srtt();
        let datagram = self.path.poll_probe(now, srtt)?;
        let mut parts = Vec::new();
        Part::Ping(datagram).put(&mut parts);
        parts.resize(datagram as usize - HEADER - 4 - TAG, 0);
        Some(self.seal(now, self.peer, &Header::None, &parts, out))
    }

    fn seal(
        &mut self,
        now: Time,
        to: SocketAddr,
        header: &Header,
        parts: &[u8],
        out: &mut Vec<u8>,
    ) -> Transmit {
        let ip = if to.is_ipv4() { 28 } else { 48 };
        let longest = ip + HEADER + Congestion::longest(&self.law) + parts.len() + TAG;
        let congestion = Congestion::of(&self.law, header, Size::new(longest as u64));
        let number = self.number;
        self.number += 1;
        let start = out.len();
        let clear =
            Data { connection: self.remote, number: number as u32, congestion: congestion.bytes() };
        clear.put(out);
        let begin = out.len() - start;
        out.extend(parts);
        self.keys.seal.seal(number, out, start, HEADER, begin);
        let len = out.len() - start;
        self.sent = now;
        self.metrics.packets_sent += 1;
        Transmit { to, len, ecn: false }
    }
}
