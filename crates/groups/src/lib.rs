//! The group daemon, and clients of it.
//!
//! Clients join groups and send messages to them. Daemons carry the messages over the links of an
//! overlay ([`ratewire_overlay`]), and hold senders back by price: a link or a receiver with a long
//! queue makes messages dear, and a client that cannot pay is not read from. Programs written for
//! the Spread toolkit use the daemon unchanged.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod certificates;
pub mod client;
pub mod daemon;
pub mod wire;

pub use ratewire_groups_interface::{config, spread};
