//! Applications: when data to send appears, and how fast received data is read.

use ratewire_units::{Bytes, Duration, Rate};

/// What the sending application writes. Data is written in frames; a frame is delivered to the
/// reading application whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Writer {
    /// More than can ever be sent.
    Unlimited,
    /// This much, then the flow is over.
    Sized(Bytes),
    /// Bursts with pauses between them.
    OnOff {
        /// Size of a burst, at least one byte.
        burst: Bytes,
        /// Pause after each.
        pause: Duration,
        /// When the pause begins.
        pause_after: PauseAfter,
        /// Number of bursts; `None` for no end.
        count: Option<u64>,
    },
    /// A frame at a constant interval, whatever has become of the last.
    Constant {
        /// Payload rate.
        rate: Rate,
    },
    /// What [`Sender::write`](crate::Sender::write) is told, as it comes.
    Fed,
}

/// When the pause of an on/off application begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseAfter {
    /// When the burst was handed to the transport, which buffers it.
    Written,
    /// When the last byte of the burst was sent for the first time.
    Sent,
    /// When the last byte of the burst was acknowledged.
    Acknowledged,
}

/// How the receiving application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// At once.
    Immediate,
    /// One frame at a time, each taking this long; what there is of it, where the receive buffer is
    /// full and the frame does not fit.
    Slow(Duration),
}

/// The application on both ends of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct App {
    /// The sending side.
    pub writer: Writer,
    /// The receiving side.
    pub reader: Reader,
    /// Size of a frame in payload bytes; `None` for one full packet's payload. Packets do not span
    /// frames.
    pub frame: Option<Bytes>,
}

impl App {
    /// Unlimited data, read at once.
    pub fn unlimited() -> App {
        App { writer: Writer::Unlimited, reader: Reader::Immediate, frame: None }
    }
    /// A stream without frames that is written from outside, read at once.
    pub fn fed() -> App {
        App { writer: Writer::Fed, reader: Reader::Immediate, frame: Some(Bytes::MAX) }
    }
    /// This much data, read at once.
    pub fn sized(size: Bytes) -> App {
        App { writer: Writer::Sized(size), reader: Reader::Immediate, frame: None }
    }
}
