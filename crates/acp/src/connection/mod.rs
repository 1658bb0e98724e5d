//! One end of a connection, sans-IO.
//!
//! After any call, ask [`Connection::poll_transmit`] until it returns `None`, then
//! [`Connection::deadline`]. Calling either, or [`Connection::on_timer`], too often is harmless.

mod closing;
mod incoming;
mod outgoing;
mod path;
mod receiving;
mod sending;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;

pub use closing::CloseReason;
use closing::Closing;
use incoming::Incoming;
use outgoing::Outgoing;
use path::PathSize;
use ratewire_laws::{AnyLaw, FlowContext};
use ratewire_transport::{App, Receiver, Segment, Sender};
use ratewire_units::{Bytes as Size, Duration, Time};

use crate::config::{BASE_DATAGRAM, Config};
use crate::frame::Frame;
use crate::keys::{Keys, Replay};
use crate::wire::{Congestion, ConnectionId, HEADER, Params, TAG};

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
}
