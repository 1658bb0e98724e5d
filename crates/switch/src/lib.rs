//! The Anypoint switch as a program: one connection of a client, spread over many servers.
//!
//! A peer has one [ACP](ratewire_acp) connection with the switch, and the switch one with each
//! member of the ensemble. It ends none of them: packets are opened, changed by
//! [`ratewire_anypoint`], sealed and sent on.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod daemon;
pub mod endpoint;
#[doc(hidden)]
pub mod fuzzing;
pub mod hub;
pub mod key;
mod leg;
mod queue;
pub mod registration;
mod routing;
mod running;
pub mod session;

pub use ratewire_switch_interface::config;
pub use running::{OpenError, Running};
