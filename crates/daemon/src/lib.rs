//! Parts that Ratewire's daemons share: the group daemon and the Anypoint switch.
//!
//! | part | is |
//! |---|---|
//! | [`status`] | serves a daemon's state by HTTP |
//! | [`control`] | takes commands by a Unix socket, and sends them |
//! | [`metrics`] | writes the state as metrics for Prometheus |
//! | [`socket`] | opens Unix sockets |
//! | [`log`] | bounds what peers can make a daemon log |
//! | [`resolve`] | finds addresses of hosts that are named |
//! | [`secret`] | warns of secrets that other users may read |
//! | [`process`] | starts the log, notifies systemd that the daemon serves, and waits for signals |
//!
//! A daemon has its own state and its own events. A [`Program`](ratewire_status::Program) has
//! the name by which their messages call the daemon.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod control;
pub mod log;
pub mod metrics;
pub mod process;
pub mod resolve;
pub mod secret;
pub mod socket;
pub mod status;
