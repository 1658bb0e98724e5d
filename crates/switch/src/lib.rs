//! The Anypoint switch as a program: one connection of a client, spread over many servers.
//!
//! A peer has one [ACP](ratewire_acp) connection with the switch, and the switch one with each
//! member of the ensemble. It ends none of them: packets are opened, changed by
//! [`ratewire_anypoint`], sealed and sent on.
//!
//! | part | is |
//! |---|---|
//! | [`daemon`] | the program: configuration, log, status, commands around a [`Running`] switch |
//! | `running` | the sockets, one for each side, around a hub |
//! | `clock` | its time, which stands still while the process is stopped |
//! | [`hub`] | all sessions and members, sans-IO: finds the session of a packet |
//! | [`session`] | one peer's connection with all members, sans-IO: passes on parts of packets |
//! | `leg` | one neighbour in a session: its channel, and the `queue` of packets to it |
//! | `routing` | weights and numbers of members, for routing modules while members come and go |
//! | [`registration`] | members that register while the switch runs |
//! | [`key`] | files of keys |
//! | [`endpoint`] | an end of a connection for measurements |

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod clock;
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
