//! The network model: links, queues, routing and ports, sans-IO.
//!
//! A [`Network`] is told the time and what happens and says when it wants to be called; the
//! simulator drives it with virtual time. [`spec`] describes what it is made of.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod burst;
mod change;
mod delay_line;
mod discipline;
mod fabric;
mod foresight;
mod lag;
mod link;
mod medium;
mod network;
mod packet;
mod passage;
mod policer;
pub mod random;
mod rare;
pub mod routing;
mod service;
pub mod spec;
mod trail;

pub use fabric::{CapturedFrame, Deadlock};
pub use foresight::{Ahead, prefetch_bytes};
pub use link::Observation;
pub use network::{Address, Captured, Network, RouteId, Scheduler};
pub use packet::{Beyond, Body, Content, Ecn, Label};
pub use trail::{Held, Hop, Trail};
