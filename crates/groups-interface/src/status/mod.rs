//! A daemon's state, for people and programs.
//!
//! The address `status` of the configuration answers by HTTP: [`Status`] as JSON at `/status.json`,
//! and metrics for Prometheus at `/metrics`. [`fetch_status`] reads the former.
//!
//! | part | is |
//! |---|---|
//! | `model` | the state, as JSON has it |
//! | `counts` | counters since the daemon's start |
//! | `table` | the state as text for people |

mod counts;
mod model;
mod table;

use std::net::SocketAddr;

use ratewire_status::{Program, fetch};

pub use counts::{Totals, Traffic};
pub use model::{
    ClientStatus, FlowControlStatus, GroupStatus, LatencyStatus, LimitStatus, LinkStatus, Status,
    ViewStatus,
};
pub use ratewire_status::StatusError;

/// What messages call the daemon.
pub const PROGRAM: Program =
    Program { command: "ratewire-groups", noun: "daemon", file: "groups.toml" };

/// Reads the status of the daemon whose `status` address this is. Waits up to 10 s.
///
/// # Errors
/// If no daemon answers at the address.
pub fn fetch_status(address: SocketAddr) -> Result<Status, StatusError> {
    fetch(&PROGRAM, address)
}
