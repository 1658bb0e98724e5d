//! One end of a connection, sans-IO.
//!
//! After any call, ask [`Connection::poll_transmit`] until it returns `None`, then
//! [`Connection::deadline`]. Calling either, or [`Connection::on_timer`], too often is harmless.

mod incoming;
mod outgoing;
mod receiving;
mod sending;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use incoming::Incoming;
use outgoing::Outgoing;
use ratewire_laws::{AnyLaw, Draw, FlowContext};
use ratewire_transport::{App, ReceiveWindow, Receiver, Segment, Sender, TransportConfig};
use ratewire_units::{Bytes as Size, Duration, Time};

use crate::channel::{Channel, CloseReason, Closing, Ends};
use crate::config::Config;
use crate::frame::Frame;
use crate::wire::ConnectionId;

/// Fields of a data part of a host, at most: code, offset, source, frame, offset in it, length.
const DATA_FIELDS: u64 = 1 + 8 + 1 + 4 + 4 + 4;
/// Bytes that a frame's number takes, at most.
const FRAME_NUMBER: u64 = 8;
/// Frames for which an idle connection keeps memory.
const KEPT: usize = 32;
/// Counters and state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// Frames written.
    pub frames_sent: u64,
    /// Frames of which the other end has acknowledged every byte.
    pub frames_acknowledged: u64,
    /// Frames that have arrived whole.
    pub frames_received: u64,
    /// Frames that were dropped because a member behind a switch failed in the middle of them.
    pub frames_broken: u64,
    /// Packets sent.
    pub packets_sent: u64,
    /// Authentic packets that have come.
    pub packets_received: u64,
    /// Packets that were dropped: not authentic, or come twice.
    pub packets_refused: u64,
    /// Packets with data that found no room in the receive buffer.
    pub packets_without_room: u64,
    /// Bytes of frames sent a second time or more.
    pub retransmitted: Size,
    /// Packets with data sent a second time or more.
    pub packets_retransmitted: u64,
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
    channel: Channel,
    out: Outgoing,
    inc: Incoming,
    /// A packet of the transport that has found no room in a datagram.
    held: Option<Segment>,
    closing: Closing,
    send_buffer: u64,
    unsent_buffer: Size,
}

impl Connection {
    /// A connection whose handshake is over; both ends send by `law`.
    pub fn new(now: Time, law: AnyLaw, config: &Config, ends: Ends) -> Connection {
        let (packet, headers) = Channel::first_packet(&law, ends.peer);
        let headers = headers + Size::new(DATA_FIELDS);
        let transport = config.transport(packet);
        let mss = packet - headers;
        let (line_rate, draw) = (config.line_rate, Draw::new(ends.local.0));
        let flow = FlowContext { mss, packet, line_rate, back_pressured: false, draw };
        let app = App::called();
        // The other end's window comes with its answer to the open.
        let closed = ReceiveWindow::Fixed(Size::ZERO);
        let first = TransportConfig { receive_window: closed, ..transport.clone() };
        let sender = Sender::new(now, law.source(&flow), &first, headers, &app);
        let receiver = Receiver::new(law.sink(&flow), &transport, mss, &app);
        Connection {
            channel: Channel::new(now, law, config, ends),
            out: Outgoing::new(sender),
            inc: Incoming::new(receiver, config.longest_frame.get() + FRAME_NUMBER),
            held: None,
            closing: Closing::default(),
            send_buffer: config.send_buffer.get(),
            unsent_buffer: config.unsent_buffer,
        }
    }

    /// This end's number.
    pub fn local(&self) -> ConnectionId {
        self.channel.local()
    }
    /// Address of the other end.
    pub fn peer(&self) -> SocketAddr {
        self.channel.peer()
    }
    /// Whether an authentic packet has come.
    pub fn has_heard(&self) -> bool {
        self.channel.counts().received > 0
    }
    /// The connection's number at the other end.
    pub fn remote(&self) -> ConnectionId {
        self.channel.params().connection
    }
    /// Longest frame that the other end takes, in bytes.
    pub fn longest_frame(&self) -> Size {
        Size::new(self.channel.params().longest_frame)
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
        self.channel.is_proof(token)
    }

    /// Counters and state.
    pub fn metrics(&self) -> Metrics {
        let (sender, packets) = (&self.out.sender, self.channel.counts());
        Metrics {
            packets_sent: packets.sent,
            packets_received: packets.received,
            packets_refused: packets.refused,
            packets_without_room: self.inc.receiver.refused(),
            frames_sent: self.out.frames_sent(),
            frames_acknowledged: self.out.frames_acknowledged(),
            frames_received: self.inc.frames_received(),
            frames_broken: self.inc.frames_broken(),
            retransmitted: sender.stats().retransmitted,
            packets_retransmitted: sender.stats().retransmitted_packets,
            timeouts: sender.stats().timeouts,
            srtt: sender.rtt().srtt(),
            in_flight: sender.in_flight(),
            window: sender.source().window(),
            buffered: Size::new(self.out.buffered()),
            datagram: self.channel.datagram(),
        }
    }

    /// Whether this end has sent its last frame.
    pub fn is_finished(&self) -> bool {
        !self.closing.may_write()
    }
    /// Whether the send buffer has room, and few enough bytes of it wait for their first packet.
    pub fn is_writable(&self) -> bool {
        self.out.buffered() < self.send_buffer
            && self.out.sender.unsent() < self.unsent_buffer
            && self.closing.may_write()
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
    /// Frames that were written and of which the other end has not acknowledged all, in order.
    pub fn unacknowledged(&self) -> Vec<Frame> {
        self.out.unacknowledged()
    }
    /// How many of the unacknowledged frames, the last ones, were never sent: no packet has had a
    /// byte of them.
    pub fn unsent(&self) -> usize {
        self.out.unsent()
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
    pub fn finish(&mut self) {
        if self.closing.may_write() {
            self.out.sender.stop();
            self.closing.close_own(self.out.end());
        }
    }

    /// Sends no more frames, and says that frames which still come are not read.
    pub fn leave(&mut self) {
        if self.closed().is_none() {
            self.out.sender.stop();
            self.closing.leave(self.out.end());
        }
    }

    /// Ends the connection at once.
    pub fn reset(&mut self, code: u64, text: &str) {
        self.closing.reset(CloseReason::Local { code, text: text.to_string() });
    }

    /// Notes that the other end has proved not to know the connection. If both ends have all and
    /// only a word of that was missing, the other end has closed the connection and let go of it.
    pub fn forgotten(&mut self) {
        let has_all = self.is_finished() && self.out.buffered() == 0 && self.inc.is_whole();
        self.closing.end(if has_all { CloseReason::Done } else { CloseReason::Forgotten });
    }

    /// When to call [`Connection::on_timer`].
    pub fn deadline(&self) -> Time {
        if self.closing.is_over() {
            return Time::NEVER;
        }
        let sender =
            if self.closing.sends_data() { self.out.sender.deadline() } else { Time::NEVER };
        let channel = self.channel.deadline(self.closing.may_write());
        sender.min(self.inc.receiver.deadline()).min(channel).min(self.closing.deadline())
    }

    /// Does what is due; call it at [`Connection::deadline`].
    pub fn on_timer(&mut self, now: Time) {
        let timeouts = self.out.sender.stats().timeouts;
        let due = self.channel.on_timer(now, self.closing.may_write(), timeouts);
        if due.is_silent {
            self.closing.end(CloseReason::Idle);
        }
        if self.closing.sends_data()
            && let Some(segment) = self.out.on_timer(now, self.channel.room())
        {
            self.held.get_or_insert(segment);
        }
        self.inc.on_timer(now);
        self.closing.on_timer(now);
        if due.is_resized {
            self.resize();
        }
    }

    /// Has the transport fill the path's packets.
    fn resize(&mut self) {
        self.out.sender.set_payload(Size::new(self.channel.room() - DATA_FIELDS));
    }
}
