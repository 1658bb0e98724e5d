//! The network model: links, queues, routing and ports, sans-IO.
//!
//! A [`Network`] gets the time and the events from its caller, and says when it must be called; the
//! simulator drives it with virtual time. [`spec`] describes its parts.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod fabric;
mod link;
mod medium;
mod news;
mod packet;
mod path;
mod policer;
mod port;
mod prefetch;
pub mod queue;
pub mod random;
mod route_store;
mod scheduler;
mod service;
mod slab;
pub mod spec;
mod speed;

pub use fabric::Deadlock;
pub use link::Observation;
pub use news::{Captured, CapturedFrame, News};
pub use packet::{AckFlags, Beyond, Body, Content, Ecn, Label};
pub use path::network::Network;
pub use path::pathfinder;
pub use path::sending::Address;
pub use path::trail::{DropReason, Hop, PauseWait, Tracer, Trail};
pub use prefetch::prefetch_bytes;
pub use route_store::RouteId;
pub use scheduler::Scheduler;
pub use speed::lag::HostLag;
pub use speed::look_ahead::{FlowEnd, LookAhead};
