//! Applications: when data to send appears, and how fast received data is read.

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::varying::{Seeds, Spread, Varying};

/// Data that the sending application writes. It writes in frames; the reading application gets a
/// frame whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Writer {
    /// Unlimited data.
    Unlimited,
    /// This much data; then the flow is over.
    Sized(Bytes),
    /// Bursts with pauses between them.
    OnOff {
        /// Size of a burst, at least one byte.
        burst: Varying<Bytes>,
        /// Pause after each.
        pause: Varying<Duration>,
        /// When the pause begins.
        pause_after: PauseAfter,
        /// Number of bursts; `None` for no end.
        count: Option<u64>,
    },
    /// A frame at a constant interval, whatever the state of the last.
    Constant {
        /// Payload rate.
        rate: Rate,
    },
    /// One writer after the other on one connection.
    Phases(Vec<Phase>),
    /// Data that [`Sender::write`](crate::Sender::write) adds.
    Fed,
}

/// A part of the time of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// What the application writes in it, from its start. No phases of its own.
    pub writer: Writer,
    /// How long it lasts; [`Duration::MAX`] for no end. Data that it has written is still sent in
    /// the next phase; unlimited data that is not sent counts as not written.
    pub lasts: Duration,
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
    /// One frame at a time, each in this time. If the receive buffer is full and the frame does not
    /// fit, the part that is there.
    Slow(Duration),
    /// One frame at a time, with two speeds in turn: a square wave that begins with the first speed
    /// at time 0.
    Alternating {
        /// Time for each frame.
        per_frame: [Duration; 2],
        /// How long each speed holds, above 0.
        every: Duration,
    },
    /// When [`Receiver::read`](crate::Receiver::read) says so.
    Asked,
}

impl Writer {
    /// Whether the application has no end unless it is stopped.
    pub fn is_endless(&self) -> bool {
        match self {
            Writer::Unlimited | Writer::Constant { .. } | Writer::Fed => true,
            Writer::OnOff { count, .. } => count.is_none(),
            Writer::Phases(phases) => phases
                .last()
                .is_some_and(|last| last.lasts == Duration::MAX && last.writer.is_endless()),
            Writer::Sized(_) => false,
        }
    }

    /// Whether what is written depends on random numbers.
    pub fn has_chance(&self) -> bool {
        match self {
            Writer::OnOff { burst, pause, .. } => {
                burst.spread != Spread::None || pause.spread != Spread::None
            }
            Writer::Phases(phases) => phases.iter().any(|phase| phase.writer.has_chance()),
            Writer::Unlimited | Writer::Sized(_) | Writer::Constant { .. } | Writer::Fed => false,
        }
    }
}

impl Reader {
    /// Reading time of a frame that begins at `start`, and until when it applies.
    pub(crate) fn pace(self, start: Time) -> (Duration, Time) {
        match self {
            Reader::Immediate | Reader::Asked => (Duration::ZERO, Time::NEVER),
            Reader::Slow(per_frame) => (per_frame, Time::NEVER),
            Reader::Alternating { per_frame, every } => {
                let turn = start.ps() / every.ps().max(1);
                let until = Time::ZERO + every.max(Duration::from_ps(1)) * (turn + 1);
                (per_frame[(turn % 2) as usize], until)
            }
        }
    }
}

/// The applications at both ends of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct App {
    /// The sending side.
    pub writer: Writer,
    /// The receiving side.
    pub reader: Reader,
    /// Payload of a frame; `None` for one full packet's. Packets do not span frames.
    pub frame: Option<Bytes>,
    /// Seeds of what the writer draws.
    pub seeds: Seeds,
}

impl App {
    /// Unlimited data, read at once.
    pub fn unlimited() -> App {
        App {
            writer: Writer::Unlimited,
            reader: Reader::Immediate,
            frame: None,
            seeds: Seeds::default(),
        }
    }
    /// A stream without frames that is written by calls, and read at once.
    pub fn fed() -> App {
        App { writer: Writer::Fed, frame: Some(Bytes::MAX), ..App::unlimited() }
    }
    /// A stream that is written and read by calls.
    pub fn called() -> App {
        App { reader: Reader::Asked, ..App::fed() }
    }
    /// This much data, read at once.
    pub fn sized(size: Bytes) -> App {
        App { writer: Writer::Sized(size), ..App::unlimited() }
    }
}
