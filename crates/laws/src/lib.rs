//! Congestion-control laws, sans-IO.
//!
//! A law has up to three parts. Each is a plain state machine that gets the time and an event. It
//! has no clock, socket, thread or random source:
//!
//! - its [`Source`] is at the sender. It fills the congestion header, takes feedback, and sets
//!   window and pace;
//! - its [`Port`] is at a router's output queue. It sees each arrival, each departure and its own
//!   timers, and may rewrite the header;
//! - its [`Sink`] is at the receiver. It returns the headers that arrived, or their sum.
//!
//! A law of this crate is a folder, its `mod` line here and its line in [`registry`].
//!
//! # A law of another crate
//! A law of another crate is a type with the same traits, [`Law`] and [`Named`], whose header is a
//! [`PackedHeader`] of at most 32 bytes. [`LawSet::register`] adds it under its name. Scenarios,
//! runs, explanations and captures that use that set then accept the name. `tests/external/toy.rs`
//! is a whole law of that kind. Its parts are called through pointers. Emulated and live runs have
//! no sender for it.

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;
// Tests add a law that is written as one of another crate.
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
    MAX_UNPACED_WINDOW, PackedFormat, PackedHeader, excess,
};
pub use law::{
    Acked, Books, Buffer, Congestion, Draw, FlowContext, HeaderError, HeaderFormat, Invariants,
    Law, LawInfo, LinkContext, MAX_HEADER, Named, NoHeader, NoPort, NoSink, Port, PortQueue,
    Promises, Properties, Sending, Signal, Sink, Source, junction, trust,
};
pub use options::{OptionError, OptionSpec, Options};
pub use reason::{Amount, Bound, Figure, Reason, Unit};
pub use registry::{
    AnyLaw, AnyPort, AnySink, AnySource, Header, LawFile, LawSet, RegisterError, find, list,
};
