//! The network model: links, queues, routing and ports, sans-IO.
//!
//! A [`Network`] is told the time and what happens and says when it wants to be called; the
//! simulator drives it with virtual time. [`spec`] describes what it is made of.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod change;
mod fabric;
mod link;
mod medium;
mod network;
mod packet;
mod path;
mod policer;
pub mod queue;
pub mod random;
mod service;
pub mod spec;
mod speed;

pub use fabric::{CapturedFrame, Deadlock};
pub use link::Observation;
pub use network::{Address, Captured, Network, RouteId, Scheduler};
pub use packet::{Beyond, Body, Content, Ecn, Label};
pub use path::routing;
pub use path::trail::{Held, Hop, Trail};
pub use speed::foresight::{Ahead, prefetch_bytes};
