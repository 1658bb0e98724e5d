//! The state, as JSON has it, as metrics and as text.

use std::fmt;

use ratewire_daemon::metrics::{Metrics, Unit};
use ratewire_daemon::table::{Column, facts, section, uptime};
use ratewire_units::Bytes;
use serde::{Deserialize, Serialize};

/// State of a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Version of the program.
    pub version: String,
    /// When the switch was started, in seconds since 1970.
    pub started_unix_s: f64,
    /// Time since then.
    pub uptime_s: f64,
    /// Address for peers.
    pub address: String,
    /// Peers with a connection.
    pub peers: u64,
    /// The peer that the switch connects to, if there is one.
    pub peer: Option<PeerStatus>,
    /// What has passed since the start.
    pub totals: Totals,
    /// The members.
    pub members: Vec<MemberStatus>,
    /// Members that register themselves, if they may.
    pub registration: Option<RegistrationStatus>,
    /// The routing module in WebAssembly, if there is one.
    pub module: Option<ModuleStatus>,
}

/// State of the peer that the switch connects to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerStatus {
    /// Its address.
    pub address: String,
    /// Whether it has answered.
    pub is_connected: bool,
}

/// What has passed since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// First packets of frames from peers to members, repeated ones included.
    pub frames_in: u64,
    /// First packets of frames from members to peers, repeated ones included.
    pub frames_out: u64,
}

/// State of a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberStatus {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// `up`, `down`, `unknown` before it was asked for anything, or `draining` and then `drained`
    /// if it gets no new frames.
    pub health: String,
    /// Whether it has registered itself.
    pub is_registered: bool,
    /// Why it is down.
    pub reason: Option<String>,
    /// Peers' connections that it takes part in.
    pub peers: u64,
    /// Payload on its way to it.
    pub outstanding_bytes: u64,
    /// Times that it went down.
    pub failures: u64,
}

/// State of members that register themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationStatus {
    /// Where they register.
    pub address: String,
    /// Members that are registered.
    pub members: u64,
    /// Places for them.
    pub places: u64,
    /// Registrations that were refused.
    pub refused: u64,
    /// The member that was refused last, and why.
    pub last_refusal: Option<String>,
}

/// State of a routing module in WebAssembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleStatus {
    /// Calls that ended in a trap.
    pub traps: u64,
    /// Calls that took more than their fuel.
    pub overruns: u64,
    /// Answers that name no member that is up.
    pub invalid: u64,
    /// Times that it was started anew.
    pub restarts: u64,
    /// Whether it is not asked any more.
    pub is_given_up: bool,
    /// Times that its file was read again.
    pub reloads: u64,
    /// Times that its file could not be used, and the module before went on.
    pub refused_reloads: u64,
}

pub(super) fn metrics(out: &mut Metrics<'_>, status: &Status) -> fmt::Result {
    out.build("The switch's version", &[("version", &status.version)])?;
    let start = status.started_unix_s;
    out.gauge("start_time", "Start of the switch since 1970", Some(Unit::Seconds), start)?;
    out.gauge("uptime", "Time since the start", Some(Unit::Seconds), status.uptime_s)?;
    out.gauge("peers", "Peers with a connection", None, status.peers)?;
    if let Some(peer) = &status.peer {
        let help = "Whether the peer that the switch connects to has answered: 1 or 0";
        out.gauge("peer_connected", help, None, u64::from(peer.is_connected))?;
    }
    let Totals { frames_in, frames_out } = status.totals;
    out.counter("frames_in", "Frames from peers to members", None, frames_in)?;
    out.counter("frames_out", "Frames from members to peers", None, frames_out)?;
    let members =
        || status.members.iter().map(|member| ([("member", member.name.as_str())], member));
    let up = members().map(|(labels, member)| (labels, u64::from(member.health == "up")));
    out.gauges("member_up", "Whether a member answers: 1 or 0", None, up)?;
    let peers = members().map(|(labels, member)| (labels, member.peers));
    out.gauges("member_peers", "Peers' connections that a member takes part in", None, peers)?;
    let outstanding = members().map(|(labels, member)| (labels, member.outstanding_bytes));
    let help = "Payload on its way to a member";
    out.gauges("member_outstanding", help, Some(Unit::Bytes), outstanding)?;
    let failures = members().map(|(labels, member)| (labels, member.failures));
    out.counters("member_failures", "Times that a member went down", None, failures)?;
    let draining = members().map(|(labels, member)| {
        let is_draining = ["draining", "drained"].contains(&member.health.as_str());
        (labels, u64::from(is_draining))
    });
    let help = "Whether a member gets no new frames: 1 or 0";
    out.gauges("member_draining", help, None, draining)?;
    if let Some(registration) = &status.registration {
        let RegistrationStatus { members, refused, .. } = registration;
        out.gauge("registered", "Members that are registered", None, *members)?;
        out.counter("registrations_refused", "Registrations refused", None, *refused)?;
    }
    let Some(module) = &status.module else { return Ok(()) };
    let faults =
        [("trap", module.traps), ("overrun", module.overruns), ("invalid", module.invalid)];
    let faults = faults.into_iter().map(|(kind, count)| ([("kind", kind)], count));
    out.counters("module_faults", "Faults of the routing module", None, faults)?;
    out.counter("module_restarts", "Starts of the module after faults", None, module.restarts)?;
    let reloads = [("done", module.reloads), ("refused", module.refused_reloads)];
    let reloads = reloads.into_iter().map(|(result, count)| ([("result", result)], count));
    out.counters("module_reloads", "Times that the module's file was read again", None, reloads)
}

const MEMBER: [Column; 7] = [
    Column::text("member"),
    Column::text("address"),
    Column::text("state"),
    Column::number("peers"),
    Column::number("outstanding"),
    Column::number("failures"),
    Column::text("down because"),
];

impl Status {
    /// The state as text in columns, in ASCII without control characters but for ends of lines.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut known = vec![
            ("switch", format!("{} (ratewire {})", self.address, self.version)),
            ("up", uptime(self.uptime_s)),
            ("peers", self.peers.to_string()),
            ("frames in", self.totals.frames_in.to_string()),
            ("frames out", self.totals.frames_out.to_string()),
        ];
        if let Some(PeerStatus { address, is_connected }) = &self.peer {
            let state = if *is_connected { "connected" } else { "not connected" };
            known.push(("peer", format!("{address}, {state}")));
        }
        if let Some(registration) = &self.registration {
            let RegistrationStatus { address, members, places, refused, .. } = registration;
            let last = registration.last_refusal.iter().map(|why| format!("; last {why}"));
            let last: String = last.collect();
            let counts = format!("{members} of {places} at {address}, {refused} refused{last}");
            known.push(("registered", counts));
        }
        if let Some(module) = &self.module {
            let ModuleStatus { traps, overruns, invalid, .. } = module;
            let state = if module.is_given_up { ", given up" } else { "" };
            let faults = format!("{traps} traps, {overruns} overruns, {invalid} invalid{state}");
            known.push(("module", faults));
        }
        facts(&mut out, known);
        let row = |member: &MemberStatus| {
            [
                member.name.clone(),
                member.address.clone(),
                member.health.clone(),
                member.peers.to_string(),
                Bytes::new(member.outstanding_bytes).to_string(),
                member.failures.to_string(),
                member.reason.clone().unwrap_or_default(),
            ]
        };
        section(&mut out, "member", &MEMBER, self.members.iter().map(row));
        out
    }
}
