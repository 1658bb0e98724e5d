//! What other programs know of the Anypoint switch.
//!
//! | part | is |
//! |---|---|
//! | [`config`] | `switch.toml` |
//! | [`status`] | a switch's state, and how to fetch it |
//! | [`table`] | the members, as it tells them to gateways |
//! | [`endpoint`] | the figures of a connection's end, and the file that tells them |
//!
//! Nothing here opens a connection: whoever starts switches, watches them or checks their files
//! needs no more than this. The switch itself is `ratewire_switch`.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod config;
pub mod endpoint;
pub mod status;
pub mod table;
