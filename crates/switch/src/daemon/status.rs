//! The state of a running switch, by HTTP.

use std::fmt;
use std::io;
use std::rc::Rc;

use ratewire_config::Host;
use ratewire_daemon::log::reason;
use ratewire_daemon::metrics::{Format, text};
use ratewire_daemon::status::Served;
use ratewire_status::table::uptime;
use ratewire_switch_interface::status::{
    MemberStatus, PeerStatus, RegistrationStatus, Status, Totals,
};

use super::metrics::metrics;
use super::routing::Modules;
use tracing::warn;

use crate::hub::{Duty, Health, Member};
use crate::registration::Registry;
use crate::running::Running;

/// A running switch that shows its state.
pub(super) struct Shown {
    running: Rc<Running>,
    modules: Rc<Modules>,
    registry: Option<Rc<Registry>>,
    started: f64,
    /// The members of the configuration.
    hosts: Vec<Host>,
}

impl Shown {
    pub(super) fn new(
        running: Rc<Running>,
        modules: Rc<Modules>,
        registry: Option<Rc<Registry>>,
        started: f64,
        hosts: Vec<Host>,
    ) -> Shown {
        Shown { running, modules, registry, started, hosts }
    }
}

/// The address of a member, or the name that it still has to be found by. Members of the
/// configuration are before all others.
fn address(member: &Member, host: Option<&Host>) -> String {
    match host {
        Some(host) if member.address.port() == 0 => host.to_string(),
        _ => member.address.to_string(),
    }
}

impl Served for Shown {
    type Status = Status;

    fn status(&self) -> Status {
        let now = self.running.now();
        self.running.look(|hub| {
            let counts = hub.counts();
            let member = |(place, state): (usize, crate::hub::MemberState<'_>)| {
                let (health, reason) = match state.health {
                    Health::Unknown => ("unknown", None),
                    Health::Up => ("up", state.refusal.map(str::to_string)),
                    Health::Down { since, reason } => {
                        let ago = uptime(now.saturating_sub(*since).as_secs_f64());
                        ("down", Some(format!("{reason}, {ago} ago")))
                    }
                };
                let health = match state.duty {
                    Duty::Serving => health,
                    Duty::Draining => "draining",
                    Duty::Drained => "drained",
                };
                MemberStatus {
                    is_registered: state.is_spare,
                    name: state.member.name.clone(),
                    address: address(state.member, self.hosts.get(place)),
                    health: health.to_string(),
                    reason,
                    peers: state.sessions as u64,
                    outstanding_bytes: state.outstanding.get(),
                    failures: state.failures,
                }
            };
            Status {
                version: env!("CARGO_PKG_VERSION").to_string(),
                started_unix_s: self.started,
                uptime_s: now.as_secs_f64(),
                address: self.running.address().to_string(),
                peers: hub.sessions() as u64,
                peer: hub.dialled().map(|(address, is_connected)| PeerStatus {
                    address: address.to_string(),
                    is_connected,
                }),
                wrong_keys: hub.strangers()
                    + self.registry.as_ref().map_or(0, |registry| registry.strangers()),
                totals: Totals { frames_in: counts.frames_in, frames_out: counts.frames_out },
                members: hub.members().enumerate().map(member).collect(),
                registration: self.registry.as_ref().map(|registry| RegistrationStatus {
                    address: registry.address().to_string(),
                    members: registry.registered() as u64,
                    places: registry.places() as u64,
                    refused: registry.refused(),
                    last_refusal: registry.last_refusal(),
                }),
                module: self.modules.status(),
            }
        })
    }

    fn metrics(status: Status, format: Format) -> Result<String, fmt::Error> {
        text("ratewire_switch", format, status, metrics)
    }

    fn not_accepted(&self, error: &io::Error) {
        let reason = reason(error);
        warn!(target: "ratewire_switch", reason, "a connection for the status cannot be accepted");
    }
}
