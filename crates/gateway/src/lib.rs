//! Unmodified programs at the two ends of an Anypoint switch.
//!
//! ```text
//! client -- TCP --> gateway -- ACP --> switch -- ACP --> member -- TCP --> server
//! ```
//!
//! A [gateway] makes each request of its clients a frame, and gives them the answers in order. A
//! [member] does the reverse in front of a server. What a request is, a
//! [`Framing`](ratewire_framing::Framing) knows.
//!
//! A request is done at least once, unless its client is told that it has failed, and at most once
//! by a member's process. It is sent to a second one only if it may be done twice.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod frame;
#[doc(hidden)]
pub mod fuzzing;
pub mod gateway;
mod latencies;
pub mod member;
mod started;
mod stream;

pub use frame::{CREDIT, Message, Replies, Reply, RequestFrame, read_replies};
pub use stream::OpenError;
