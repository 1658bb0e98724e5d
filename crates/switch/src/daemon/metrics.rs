//! The state as metrics for Prometheus.

use std::fmt;

use ratewire_daemon::metrics::{Metrics, Unit};
use ratewire_switch_interface::status::{RegistrationStatus, Status, Totals};

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
    let help = "First packets of peers and of members that register, not made with the key";
    out.counter("wrong_keys", help, None, status.wrong_keys)?;
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
