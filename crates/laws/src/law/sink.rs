//! The receiver's part of a law.

use ratewire_units::{Bytes, Time};

use super::NoHeader;

/// A receive buffer, for sinks that hold senders back by it.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Payload that fits into it.
    pub size: Bytes,
    /// Payload that has arrived and was not read.
    pub unread: Bytes,
    /// Payload that was read since the flow began.
    pub read: Bytes,
    /// Packets that found no room since the flow began.
    pub refused: u64,
}

/// The receiver's part of a law.
pub trait Sink {
    /// The congestion header it reads and writes.
    type Header;

    /// Whether it holds the sender back by what is in the receive buffer, so that the receiver need not:
    /// it is told of the buffer, and the receiver always advertises all of it and drops what finds no
    /// room.
    fn watches_buffer(&self) -> bool {
        false
    }
    /// A data packet with this payload has come to the receive buffer; before [`Sink::on_data`].
    fn on_buffer(&mut self, _now: Time, _payload: Bytes, _buffer: &Buffer) {}

    /// A data packet, or the packet that opens the flow, arrived with this header.
    fn on_data(&mut self, now: Time, header: &Self::Header);
    /// An acknowledgement leaves; returns its header.
    fn on_ack(&mut self, now: Time) -> Option<Self::Header>;
}

/// For laws whose receivers only acknowledge.
#[derive(Clone, Debug)]
pub enum NoSink {}

impl Sink for NoSink {
    type Header = NoHeader;
    fn on_data(&mut self, _: Time, _: &NoHeader) {
        match *self {}
    }
    fn on_ack(&mut self, _: Time) -> Option<NoHeader> {
        match *self {}
    }
}
