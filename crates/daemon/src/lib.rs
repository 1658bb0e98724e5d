//! Parts that Ratewire's daemons share: the group daemon and the Anypoint switch.
//!
//! | part | is |
//! |---|---|
//! | [`config`] | reads a TOML file, and reports all of its mistakes at once |
//! | [`status`] | serves a daemon's state by HTTP, and fetches it |
//! | [`control`] | takes commands by a Unix socket, and sends them |
//! | [`metrics`] | writes the state as metrics for Prometheus |
//! | [`table`] | writes the state as text for people |
//! | [`socket`] | names and opens TCP ports and Unix sockets |
//! | [`log`] | bounds what peers can make a daemon log |
//!
//! A daemon has its own keys, its own state and its own events. A [`Program`] tells these parts
//! what messages call the daemon.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod config;
pub mod control;
pub mod log;
pub mod metrics;
mod program;
pub mod socket;
pub mod status;
pub mod table;

pub use program::Program;
