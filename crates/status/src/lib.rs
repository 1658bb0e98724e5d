//! The state of Ratewire's daemons, as other programs read it.
//!
//! | part | is |
//! |---|---|
//! | [`fetch`] | reads a daemon's state by HTTP |
//! | [`table`] | writes a state as text for people |
//!
//! A [`Program`] has the name by which messages call the daemon. The server is in
//! `ratewire_daemon`.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod error;
mod fetch;
mod program;
pub mod table;

pub use error::{Asked, StatusError};
pub use fetch::fetch;
pub use program::Program;
