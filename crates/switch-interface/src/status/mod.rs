//! The states of a switch, of gateways and of members, for people and programs.
//!
//! The address `status` of the configuration answers by HTTP: [`Status`] as JSON at `/status.json`,
//! and metrics for Prometheus at `/metrics`. [`fetch_status`] reads the former. The addresses
//! `--status` of a gateway and of a member do the same with [`GatewayStatus`] and
//! [`MemberProgramStatus`].

mod any;
mod gateway;
mod latency;
mod member;
mod model;
mod table;

use std::net::SocketAddr;

use ratewire_status::{Program, fetch};

pub use any::{AnyStatus, fetch_any};
pub use gateway::{
    ClientCounts, FailureCounts, GatewayMember, GatewayStatus, RequestCounts, SwitchLink,
};
pub use latency::{Latency, LatencyBucket};
pub use member::{MemberProgramStatus, ServedCounts, ServerFailureCounts};
pub use model::{MemberStatus, ModuleStatus, PeerStatus, RegistrationStatus, Status, Totals};
pub use ratewire_status::StatusError;

/// What messages call the switch.
pub const PROGRAM: Program =
    Program { command: "ratewire-switch", noun: "switch", file: "switch.toml" };

/// What messages call a gateway.
pub const GATEWAY: Program =
    Program { command: "ratewire-switch gateway", noun: "gateway", ..PROGRAM };
/// What messages call a member.
pub const MEMBER: Program =
    Program { command: "ratewire-switch member", noun: "member", ..PROGRAM };

/// Reads the status of the switch whose `status` address this is. Waits up to 10 s.
///
/// # Errors
/// If no switch answers at the address.
pub fn fetch_status(address: SocketAddr) -> Result<Status, StatusError> {
    fetch(&PROGRAM, address)
}
