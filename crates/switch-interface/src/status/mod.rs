//! A switch's state, for people and programs.
//!
//! The address `status` of the configuration answers by HTTP: [`Status`] as JSON at `/status.json`,
//! and metrics for Prometheus at `/metrics`. [`fetch_status`] reads the former.

mod model;
mod table;

use std::net::SocketAddr;

use ratewire_status::{Program, fetch};

pub use model::{MemberStatus, ModuleStatus, PeerStatus, RegistrationStatus, Status, Totals};
pub use ratewire_status::StatusError;

/// What messages call the switch.
pub const PROGRAM: Program =
    Program { command: "ratewire-switch", noun: "switch", file: "switch.toml" };

/// Reads the status of the switch whose `status` address this is. Waits up to 10 s.
///
/// # Errors
/// If no switch answers at the address.
pub fn fetch_status(address: SocketAddr) -> Result<Status, StatusError> {
    fetch(&PROGRAM, address)
}
