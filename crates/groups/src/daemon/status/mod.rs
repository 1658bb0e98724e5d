//! The daemon's state, for people and programs.
//!
//! The address `status` of the configuration answers by HTTP: [`Status`] as JSON at `/status.json`,
//! and metrics for Prometheus at `/metrics`. [`fetch_status`] reads the former.
//!
//! | part | is |
//! |---|---|
//! | `model` | the state, as JSON has it |
//! | `gather` | reads it off the running daemon |
//! | `metrics` | the state as metrics |
//! | `table` | the state as text for people |
//! | `listen` | the address of the HTTP server |

mod gather;
mod listen;
mod metrics;
mod model;
mod table;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use ratewire_daemon::Program;
pub use ratewire_daemon::status::StatusError;
use ratewire_daemon::status::fetch;

pub(super) use self::listen::Listener;
pub use self::model::{
    ClientStatus, GroupStatus, LatencyStatus, LimitStatus, LinkStatus, Status, ViewStatus,
};

/// What messages call the daemon.
const PROGRAM: Program =
    Program { command: "ratewire groups", noun: "daemon", file: "groups.toml" };

/// Reads the status of the daemon whose `status` address this is. Waits up to 10 s.
///
/// # Errors
/// If no daemon answers at the address.
///
/// # Panics
/// In asynchronous code: the call blocks, and has a runtime of its own.
pub fn fetch_status(address: SocketAddr) -> Result<Status, StatusError> {
    fetch(&PROGRAM, address)
}
