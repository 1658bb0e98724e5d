//! Congestion-control laws, sans-IO.
//!
//! A law has up to three parts, each a plain state machine that is handed the time and what
//! happened, and holds no clock, socket, thread or random source:
//!
//! - its [`Source`] sits at the sender: fills the congestion header, takes feedback, and answers
//!   how much may be outstanding and at what pace;
//! - its [`Port`] sits at a router's output queue: sees each arrival, each departure and its own
//!   timers, and may rewrite the header;
//! - its [`Sink`] sits at the receiver: echoes or accumulates what arrived.
//!
//! A new law is a folder here and one line in [`registry`].

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;
// The law that tests add is written as one of another crate.
#[cfg(test)]
extern crate self as ratewire_laws;

pub mod abc;
pub mod bbr;
pub mod emkc;
mod external;
mod feedback;
pub mod fixed;
pub mod fuzzing;
pub mod hpcc;
pub mod jetmax;
pub mod kernel;
mod law;
pub mod maxnet;
pub mod noq;
pub mod options;
mod paced;
pub mod piqi_rcp;
pub mod rcp;
mod reason;
pub mod registry;
pub mod tcp;
#[cfg(test)]
mod testing;
pub mod xcp;

pub use external::{
    ExternalHeader, ExternalLaw, ExternalPort, ExternalSink, ExternalSource, MAX_EXTERNAL_HEADER,
    PackedFormat, PackedHeader,
};
pub use law::{
    Acked, Books, Buffer, Congestion, FlowContext, HeaderError, HeaderFormat, Invariants, Law,
    LawInfo, LinkContext, MAX_HEADER, Named, NoHeader, NoPort, NoSink, Port, PortQueue, Promises,
    Properties, Sending, Signal, Sink, Source, junction, trust,
};
pub use options::{OptionError, OptionSpec, Options};
pub use reason::{Amount, Bound, Figure, Reason, Unit};
pub use registry::{
    AnyLaw, AnyPort, AnySink, AnySource, Header, LawSet, RegisterError, find, list,
};
