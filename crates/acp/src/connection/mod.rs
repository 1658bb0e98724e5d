//! One end of a connection, sans-IO.
//!
//! After any call, ask [`Connection::poll_transmit`] until it returns `None`, then
//! [`Connection::deadline`]. Calling either, or [`Connection::on_timer`], too often is harmless.

mod closing;
mod incoming;
mod outgoing;
mod path;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use bytes::Bytes;
pub use closing::CloseReason;
use closing::Closing;
use incoming::{Incoming, Violation};
use outgoing::{Outgoing, Place};
use path::PathSize;
use ratewire_laws::{AnyLaw, FlowContext, Header, MAX_HEADER};
use ratewire_transport::{Ack, App, Receiver, Segment, SegmentKind, Sender};
use ratewire_units::{Bytes as Size, Duration, Time};

use crate::config::{BASE_DATAGRAM, Config};
use crate::frame::Frame;
use crate::keys::{Keys, Replay};
use crate::wire::{
    AckPart, Congestion, ConnectionId, Data, DataPart, HEADER, Params, Part, Parts, TAG,
};

/// Fields of a data part, at most: code, offset, source, frame, offset in it, length.
const DATA_FIELDS: u64 = 1 + 8 + 1 + 4 + 4 + 2;
/// Bytes that a frame's number takes, at most.
const FRAME_NUMBER: u64 = 8;
/// Answers to pings and challenges that wait, at most.
const MOST_ANSWERS: usize = 16;

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where to.
    pub to: SocketAddr,
    /// Its length.
    pub len: usize,
    /// Whether routers may mark it (ECT(0)).
    pub ecn: bool,
}

/// Counters and state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// Frames written.
    pub frames_sent: u64,
    /// Frames that have arrived whole.
    pub frames_received: u64,
    /// Packets sent.
    pub packets_sent: u64,
    /// Authentic packets that have come.
    pub packets_received: u64,
    /// Packets that were dropped: not authentic, or come twice.
    pub packets_refused: u64,
    /// Bytes of frames sent a second time or more.
    pub retransmitted: Size,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Smoothed round-trip time; zero while unknown.
    pub srtt: Duration,
    /// Bytes under way.
    pub in_flight: Size,
    /// The law's window.
    pub window: Size,
    /// Bytes written and not acknowledged.
    pub buffered: Size,
    /// Largest UDP payload.
    pub datagram: Size,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    law: AnyLaw,
    local: ConnectionId,
    remote: ConnectionId,
    peer: SocketAddr,
    /// The other end's limits and proof.
    params: Params,
    keys: Keys,
    replay: Replay,
    /// Number of the next packet.
    number: u64,
    out: Outgoing,
    inc: Incoming,
    /// A packet of the transport that has found no room in a datagram.
    held: Option<Segment>,
    answers: Vec<Answer>,
    closing: Closing,
    path: PathSize,
    /// A new address of the peer that has not answered yet.
    challenge: Option<(SocketAddr, [u8; 8])>,
    send_buffer: u64,
    idle_timeout: Duration,
    keep_alive: Option<Duration>,
    heard: Time,
    sent: Time,
    is_ping_due: bool,
    metrics: Metrics,
    /// Sealed parts in preparation.
    scratch: Vec<u8>,
}

/// What the other end waits for.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Pong(u64),
    Answer(SocketAddr, [u8; 8]),
}

/// Who and what a new connection is between.
#[derive(Debug)]
pub struct Ends {
    /// This end's number.
    pub local: ConnectionId,
    /// What the other end has told.
    pub params: Params,
    /// Its address.
    pub peer: SocketAddr,
    /// The connection's keys.
    pub keys: Keys,
}

impl Connection {
    /// A connection whose handshake is over; both ends send by `law`.
    pub fn new(now: Time, law: AnyLaw, config: &Config, ends: Ends) -> Connection {
        let ip = if ends.peer.is_ipv4() { 20 } else { 40 };
        let congestion = Congestion::longest(&law) as u64;
        let headers = ip + 8 + HEADER as u64 + congestion + DATA_FIELDS + TAG as u64;
        let packet = Size::new(ip + 8 + BASE_DATAGRAM);
        let transport = config.transport(packet);
        let mss = packet - Size::new(headers);
        let flow = FlowContext { mss, packet, line_rate: config.line_rate, back_pressured: false };
        let app = App::called();
        let sender = Sender::new(now, law.source(&flow), &transport, Size::new(headers), &app);
        let receiver = Receiver::new(law.sink(&flow), &transport, mss, &app);
        let idle = ends.params.idle_timeout_ms.saturating_mul(1_000_000_000);
        Connection {
            local: ends.local,
            remote: ends.params.connection,
            peer: ends.peer,
            keys: ends.keys,
            replay: Replay::default(),
            number: 0,
            out: Outgoing::new(sender),
            inc: Incoming::new(receiver, config.longest_frame.get() + FRAME_NUMBER),
            held: None,
            answers: Vec::new(),
            closing: Closing::default(),
            path: PathSize::new(config.largest_datagram.get()),
            challenge: None,
            send_buffer: config.send_buffer.get(),
            idle_timeout: config.idle_timeout.min(Duration::from_ps(idle)),
            keep_alive: config.keep_alive,
            heard: now,
            sent: now,
            is_ping_due: false,
            metrics: Metrics::default(),
            scratch: Vec::new(),
            params: ends.params,
            law,
        }
    }

    /// This end's number.
    pub fn local(&self) -> ConnectionId {
        self.local
    }
    /// Address of the other end.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }
    /// Longest frame that the other end takes, in bytes.
    pub fn longest_frame(&self) -> Size {
        Size::new(self.params.longest_frame)
    }
    /// Why the connection is over; `None` while it lasts.
    pub fn closed(&self) -> Option<&CloseReason> {
        self.closing.reason()
    }
    /// Whether all that is known of the connection may be forgotten.
    pub fn is_over(&self) -> bool {
        self.closing.is_over()
    }
    /// Whether the connection ends if its other end proves that it does not know it.
    pub fn is_proof(&self, token: &[u8; 16]) -> bool {
        self.params.reset_token == *token
    }

    /// Counters and state.
    pub fn metrics(&self) -> Metrics {
        let sender = &self.out.sender;
        Metrics {
            frames_sent: self.out.frames_sent(),
            frames_received: self.inc.frames_received(),
            retransmitted: sender.stats().retransmitted,
            timeouts: sender.stats().timeouts,
            srtt: sender.rtt().srtt(),
            in_flight: sender.in_flight(),
            window: sender.source().window(),
            buffered: Size::new(self.out.buffered()),
            datagram: Size::new(self.path.size()),
            ..self.metrics
        }
    }

    /// Whether this end has sent its last frame.
    pub fn is_finished(&self) -> bool {
        !self.closing.may_write()
    }
    /// Whether the send buffer has room.
    pub fn is_writable(&self) -> bool {
        self.out.buffered() < self.send_buffer && self.closing.may_write()
    }
    /// Writes a frame. It may exceed the send buffer, if that has any room.
    ///
    /// # Errors
    /// The frame, if the buffer has no room, the connection is closed, or the frame is longer than
    /// the other end takes.
    pub fn write(&mut self, frame: Frame) -> Result<(), Frame> {
        if !self.is_writable() || frame.data.len() as u64 > self.longest_frame().get() {
            return Err(frame);
        }
        self.out.write(frame);
        Ok(())
    }
    /// The next frame.
    pub fn read(&mut self) -> Option<Frame> {
        self.inc.read()
    }
    /// Whether there is a frame to read.
    pub fn is_readable(&self) -> bool {
        self.inc.is_readable()
    }
    /// Whether no more frames come after those that can be read.
    pub fn is_at_end(&self) -> bool {
        self.inc.is_whole() || self.closed().is_some()
    }

    /// Sends no more frames, and ends the connection when both ends have all frames.
    pub fn close(&mut self) {
        if self.closing.may_write() {
            self.out.sender.stop();
            self.closing.close_own(self.out.end());
        }
    }

    /// Ends the connection at once.
    pub fn reset(&mut self, code: u64, text: &str) {
        self.closing.reset(CloseReason::Local { code, text: text.to_string() });
    }

    /// Notes that the other end has proved not to know the connection.
    pub fn forgotten(&mut self) {
        self.closing.end(CloseReason::Forgotten);
    }

    /// Handles a datagram for this connection; `marked` says whether a router marked it.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, datagram: &mut [u8], marked: bool) {
        if let Err(violation) = self.take_in(now, from, datagram, marked) {
            self.closing.reset(CloseReason::Violation(violation));
        }
    }

    fn take_in(
        &mut self,
        now: Time,
        from: SocketAddr,
        datagram: &mut [u8],
        marked: bool,
    ) -> Result<(), Violation> {
        self.metrics.packets_refused += 1;
        let Ok((head, begin)) = Data::read(datagram) else { return Ok(()) };
        let number = self.replay.expand(head.number);
        if !self.replay.may_be_new(number) {
            return Ok(());
        }
        let ip = if from.is_ipv4() { 28 } else { 48 };
        let packet = Size::new(ip + datagram.len() as u64);
        let header = Congestion::read(&self.law, head.congestion, packet).unwrap_or(Header::None);
        let Some(length) = self.keys.open.open(number, datagram, HEADER, begin) else {
            return Ok(());
        };
        self.replay.note(number);
        self.metrics.packets_refused -= 1;
        self.metrics.packets_received += 1;
        self.heard = now;
        self.is_ping_due = false;
        if from != self.peer && self.replay.is_highest(number) {
            self.challenge_new(from);
        }
        for part in Parts::new(&datagram[begin..begin + length]) {
            let part = part.map_err(|_| "a part cannot be read")?;
            self.take_part(now, from, &part, &header, marked)?;
        }
        Ok(())
    }

    fn take_part(
        &mut self,
        now: Time,
        from: SocketAddr,
        part: &Part<'_>,
        header: &Header,
        marked: bool,
    ) -> Result<(), Violation> {
        match part {
            Part::Padding => {}
            Part::Ping(token) => self.answer(Answer::Pong(*token)),
            Part::Pong(token) => {
                if let Some(datagram) = self.path.on_pong(*token) {
                    self.out.sender.set_payload(self.payload_of(datagram));
                }
            }
            Part::Open => self.inc.open(now, header),
            Part::Data(data) => {
                let keep = || Bytes::copy_from_slice(data.bytes);
                self.inc.on_data(now, data, keep, header, marked)?;
                self.look_at_end();
            }
            Part::Empty { offset, length, source } => {
                self.inc.on_empty(now, *offset, *length, *source)?;
                self.look_at_end();
            }
            Part::Ack(ack) => self.on_ack(now, ack),
            Part::Close(end) => {
                self.inc.set_end(*end)?;
                self.closing.other_asks();
                self.look_at_end();
            }
            Part::Closed => self.closing.own_is_closed(),
            Part::Reset { code, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                self.closing.end(CloseReason::Reset { code: *code, text });
            }
            Part::Challenge(token) => self.answer(Answer::Answer(from, *token)),
            Part::Answer(token) => {
                if let Some((address, expected)) = self.challenge
                    && (address, expected) == (from, *token)
                {
                    self.peer = address;
                    self.challenge = None;
                    self.path.restart();
                }
            }
        }
        Ok(())
    }

    fn look_at_end(&mut self) {
        if self.inc.is_whole() {
            self.closing.other_is_whole();
        }
    }

    fn answer(&mut self, answer: Answer) {
        if self.answers.len() < MOST_ANSWERS {
            self.answers.push(answer);
        }
    }

    fn on_ack(&mut self, now: Time, part: &AckPart<'_>) {
        let header = match part.congestion {
            [] => Header::None,
            bytes => self.law.decode(bytes, Size::ZERO).unwrap_or(Header::None),
        };
        let ack = Ack {
            opens: part.opens,
            cumulative: part.cumulative,
            window: Size::new(part.window),
            sack: part.sack,
            marked: part.marked,
            header,
        };
        self.out.sender.on_ack(now, &ack);
        if self.out.forget_acknowledged() {
            self.path.on_arrival(self.out.sender.stats().timeouts);
        }
    }

    /// Data goes to a new address of the peer once it has answered from there.
    fn challenge_new(&mut self, address: SocketAddr) {
        if self.challenge.is_none_or(|(known, _)| known != address) {
            let mut token = [0; 8];
            // Only the seal must not be guessed: the token tells answers apart.
            token.copy_from_slice(&(self.number ^ self.local.0).to_be_bytes());
            self.challenge = Some((address, token));
        }
    }

    /// When to call [`Connection::on_timer`].
    pub fn deadline(&self) -> Time {
        if self.closing.is_over() {
            return Time::NEVER;
        }
        let alive = self.keep_alive.filter(|_| self.closing.may_write());
        let alive = alive.map_or(Time::NEVER, |every| self.heard.max(self.sent) + every);
        let transport = self.out.sender.deadline().min(self.inc.receiver.deadline());
        let idle = self.heard + self.idle_timeout;
        transport.min(alive).min(idle).min(self.closing.deadline()).min(self.path.deadline())
    }

    /// Does what is due; call it at [`Connection::deadline`].
    pub fn on_timer(&mut self, now: Time) {
        if now >= self.heard + self.idle_timeout {
            self.closing.end(CloseReason::Idle);
        }
        if let Some(every) = self.keep_alive
            && now >= self.heard.max(self.sent) + every
            && self.closing.may_write()
        {
            self.is_ping_due = true;
        }
        if let Some(segment) = self.out.sender.on_timer(now) {
            self.held.get_or_insert(segment);
        }
        self.inc.on_timer(now);
        self.closing.on_timer(now);
        if let Some(datagram) = self.path.on_timer(now, self.out.sender.stats().timeouts) {
            self.out.sender.set_payload(self.payload_of(datagram));
        }
    }

    fn payload_of(&self, datagram: u64) -> Size {
        let headers = (HEADER + Congestion::longest(&self.law) + TAG) as u64 + DATA_FIELDS;
        Size::new(datagram - headers)
    }

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
        let mut header = Header::None;
        let room = self.payload_room();
        let next = match to == self.peer && sends_data {
            true => self.held.take().or_else(|| self.out.sender.poll_transmit(now)),
            false => None,
        };
        if let Some(segment) = next {
            let size = segment.payload.get() + DATA_FIELDS;
            if parts.is_empty() || parts.len() as u64 + size <= room {
                header = segment.header;
                self.put_segment(&segment, room, &mut parts);
            } else {
                self.held = Some(segment);
            }
        }
        let transmit = (!parts.is_empty()).then(|| self.seal(now, to, &header, &parts, out));
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
        let mut bytes = Vec::with_capacity(length as usize);
        let place = self.out.copy(segment.offset, length, &mut bytes);
        let Place { frame, within } = place
            .or_else(|| self.out.place(segment.offset))
            .unwrap_or(Place { frame: 0, within: 0 });
        let data =
            DataPart { offset: segment.offset, source: 0, frame, within, bytes: &bytes, again };
        Part::Data(data).put(parts);
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
        let mut packet = core::mem::take(out);
        let from = packet.len();
        let clear =
            Data { connection: self.remote, number: number as u32, congestion: congestion.bytes() };
        clear.put(&mut packet);
        let begin = packet.len() - from;
        packet.extend(parts);
        let mut sealed = packet.split_off(from);
        self.keys.seal.seal(number, &mut sealed, HEADER, begin);
        let len = sealed.len();
        packet.append(&mut sealed);
        *out = packet;
        self.sent = now;
        self.metrics.packets_sent += 1;
        Transmit { to, len, ecn: *header != Header::None || parts.len() > 64 }
    }
}
