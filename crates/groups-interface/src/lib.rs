//! What other programs know of the group daemon.
//!
//! | part | is |
//! |---|---|
//! | [`config`] | `groups.toml`, which all daemons share |
//! | [`status`] | a daemon's state, and how to fetch it |
//! | [`spread`] | the protocol of Spread's clients, for both ends |
//!
//! Nothing here opens a socket for clients or daemons: whoever starts daemons, watches them or
//! checks their files needs no more than this. The daemon itself is `ratewire_groups`.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod config;
pub mod spread;
pub mod status;
