//! Daemons with real sockets, and clients that speak the protocol byte by byte.
//!
//! No test asks how long something takes. A deadline only ends a test that hangs.

#![allow(
    clippy::disallowed_methods,
    reason = "each daemon runs in a thread, and certificates need the date"
)]

mod client;
mod handshake;
mod hostile;
mod lagging;
mod overlay;
mod recorded;
mod restart;
mod service;
mod several;
mod slow;
mod trust;
