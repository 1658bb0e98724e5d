//! The receiver's part of a law.

use alloc::boxed::Box;
use core::convert::Infallible;
use core::marker::PhantomData;

use ratewire_units::{Bytes, Time};

use super::NoHeader;

/// A receive buffer, for sinks that hold senders back by it.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Payload that fits into the buffer.
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
    /// The congestion header that the sink reads and writes.
    type Header;

    /// Whether the sink holds the sender back by the state of the receive buffer.
    ///
    /// If so, the receiver reports the buffer to the sink, always advertises the whole buffer, and
    /// drops packets that find no room.
    fn watches_buffer(&self) -> bool {
        false
    }
    /// A data packet with this payload has reached the receive buffer. Called before
    /// [`Sink::on_data`].
    fn on_buffer(&mut self, _now: Time, _payload: Bytes, _buffer: &Buffer) {}

    /// A data packet, or the packet that opens the flow, arrived with this header.
    fn on_data(&mut self, now: Time, header: &Self::Header);
    /// An acknowledgement leaves. Returns its header, `None` for none.
    fn on_ack(&mut self, now: Time) -> Option<Self::Header>;
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    type Header = S::Header;

    fn watches_buffer(&self) -> bool {
        S::watches_buffer(self)
    }
    fn on_buffer(&mut self, now: Time, payload: Bytes, buffer: &Buffer) {
        S::on_buffer(self, now, payload, buffer);
    }
    fn on_data(&mut self, now: Time, header: &S::Header) {
        S::on_data(self, now, header);
    }
    fn on_ack(&mut self, now: Time) -> Option<S::Header> {
        S::on_ack(self, now)
    }
}

/// Sink of laws whose receivers only acknowledge; `H` is the header that they do not read.
#[derive(Clone, Debug)]
pub struct NoSink<H = NoHeader> {
    never: Infallible,
    header: PhantomData<H>,
}

impl<H> Sink for NoSink<H> {
    type Header = H;
    fn on_data(&mut self, _: Time, _: &H) {
        match self.never {}
    }
    fn on_ack(&mut self, _: Time) -> Option<H> {
        match self.never {}
    }
}
