//! Cuts byte streams of well-known protocols into requests and answers.
//!
//! A gateway stands in front of unmodified clients, a member in front of an unmodified server. The
//! gateway sends each request to one of many servers, and puts the answers back in the order of the
//! requests:
//!
//! ```text
//! client --> Requests --+--> member: request and probe --> server
//!    ^                  |                                    |
//!    |                  +- local answers -+                  |
//!    +----- Reorder <---------------------+--- Answers <-----+
//! ```
//!
//! - [`Requests`] cuts the stream of a client. Each [`Request`] says which server it may go to, or
//!   how the gateway answers it.
//! - [`Answers`] cuts the stream of a server, one answer for each request.
//! - [`Reorder`] gives a client its answers in order.
//!
//! A [`Framing`] is a protocol; [`list`] names all. `docs/reference/framings.md` says what each
//! accepts, refuses and answers itself.
//!
//! The crate is sans-IO: bytes go in, requests and answers come out, long ones in pieces. Any split
//! of the same bytes gives the same result. Requests and answers share the memory of the buffer
//! that they are cut from.

mod answers;
mod framings;
pub mod fuzzing;
mod gather;
mod hash;
mod reorder;
mod request;
mod requests;
mod scan;
mod violation;

pub use answers::{Answer, Answers};
pub use framings::{Framing, list};
pub use gather::Gather;
pub use hash::hash;
pub use reorder::{Reorder, ReorderError};
pub use request::{Expect, Part, Request, Route};
pub use requests::{Requests, Rest};
pub use violation::{Reason, Violation};
