//! The state of a gateway, by HTTP.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::rc::Rc;

use ratewire_config::{Host, Listen};
use ratewire_daemon::log::reason;
use ratewire_daemon::metrics::{Format, Metrics, Unit, text};
use ratewire_daemon::status::Served;
use ratewire_framing::Framing;
use ratewire_switch_interface::status::{GatewayMember, GatewayStatus, SwitchLink};
use tracing::warn;

use super::counts::Counts;
use super::ensemble::Ensemble;
use super::memory::Memory;
use crate::latencies::histogram;
use crate::started::Started;

/// A gateway that shows its state.
pub(super) struct Shown {
    pub(super) address: Listen,
    pub(super) framing: Framing,
    pub(super) switch: Host,
    /// Why there is no connection with the switch.
    pub(super) lack: Rc<RefCell<Option<String>>>,
    pub(super) ensemble: Rc<Ensemble>,
    pub(super) memory: Rc<Memory>,
    pub(super) counts: Rc<Counts>,
    pub(super) started: Started,
}

impl Served for Shown {
    type Status = GatewayStatus;

    fn status(&self) -> GatewayStatus {
        let reason = self.lack.borrow().clone();
        GatewayStatus {
            program: GatewayStatus::PROGRAM.to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            started_unix_s: self.started.unix_s(),
            uptime_s: self.started.uptime().as_secs_f64(),
            address: self.address.to_string(),
            framing: self.framing.name().to_string(),
            switch: SwitchLink {
                address: self.switch.to_string(),
                is_connected: reason.is_none(),
                reason,
            },
            clients: self.counts.clients(),
            requests: self.counts.requests(),
            held_bytes: self.memory.used() as u64,
            held_limit_bytes: self.memory.most() as u64,
            members: self.ensemble.upstreams().iter().map(|upstream| upstream.status()).collect(),
        }
    }

    fn metrics(status: GatewayStatus, format: Format) -> Result<String, fmt::Error> {
        text("ratewire_gateway", format, status, metrics)
    }

    fn not_accepted(&self, error: &io::Error) {
        let reason = reason(error);
        warn!(target: "ratewire_gateway", reason, "a connection for the status cannot be accepted");
    }
}

fn metrics(out: &mut Metrics<'_>, status: &GatewayStatus) -> fmt::Result {
    let labels = [("version", status.version.as_str()), ("framing", &status.framing)];
    out.build("The gateway's version and framing", &labels)?;
    let start = status.started_unix_s;
    out.gauge("start_time", "Start of the gateway since 1970", Some(Unit::Seconds), start)?;
    out.gauge("uptime", "Time since the start", Some(Unit::Seconds), status.uptime_s)?;
    let help = "Whether there is a connection with the switch: 1 or 0";
    out.gauge("switch_connected", help, None, u64::from(status.switch.is_connected))?;
    let clients = &status.clients;
    out.gauge("clients", "Clients that are served now", None, clients.now)?;
    out.gauge("clients_waiting", "Clients that wait for a place", None, clients.waiting)?;
    out.counter("clients_served", "Clients that were served", None, clients.served)?;
    let help = "Clients for whom there was no place";
    out.counter("clients_refused", help, None, clients.refused)?;
    let ended = [
        ("memory", clients.ended_for_memory),
        ("not_reading", clients.ended_not_reading),
        ("slow", clients.ended_slow),
        ("violation", clients.violations),
    ];
    let ended = ended.into_iter().map(|(cause, count)| ([("cause", cause)], count));
    out.counters("clients_ended", "Clients that the gateway has ended", None, ended)?;
    let requests = &status.requests;
    let help = "Requests for members; one that goes to several counts once for each";
    out.counter("requests", help, None, requests.asked)?;
    let help = "Requests that the gateway has answered itself";
    out.counter("requests_local", help, None, requests.local)?;
    let help = "Requests that members have answered";
    out.counter("requests_answered", help, None, requests.answered)?;
    let help = "Requests whose clients have left before the answer";
    out.counter("requests_abandoned", help, None, requests.abandoned)?;
    let failed = requests.failed.by_cause().into_iter();
    let failed = failed.map(|(cause, count)| ([("cause", cause)], count));
    out.counters("requests_failed", "Requests that have failed", None, failed)?;
    let bytes = Some(Unit::Bytes);
    out.gauge("held", "Bytes that are held for clients", bytes.clone(), status.held_bytes)?;
    let help = "Most bytes that may be held for clients";
    out.gauge("held_limit", help, bytes, status.held_limit_bytes)?;
    members(out, &status.members)
}

fn members(out: &mut Metrics<'_>, members: &[GatewayMember]) -> fmt::Result {
    let each = || members.iter().map(|member| ([("member", member.name.as_str())], member));
    let up = each().map(|(labels, member)| (labels, u64::from(member.state == "up")));
    out.gauges("member_up", "Whether the switch tells a member as up: 1 or 0", None, up)?;
    let connected = each().map(|(labels, member)| (labels, u64::from(member.is_connected)));
    let help = "Whether there is a connection with a member: 1 or 0";
    out.gauges("member_connected", help, None, connected)?;
    let waiting = each().map(|(labels, member)| (labels, member.waiting));
    out.gauges("member_waiting", "Requests that wait for a member", None, waiting)?;
    let under_way = each().map(|(labels, member)| (labels, member.under_way));
    out.gauges("member_under_way", "Requests that a member has", None, under_way)?;
    let expected = each().map(|(labels, member)| (labels, member.expected_bytes));
    let help = "Bytes of requests that a member has, and of the answers that are expected";
    out.gauges("member_expected", help, Some(Unit::Bytes), expected)?;
    let latency = each().map(|(labels, member)| (labels, member.latency.latency_s));
    let help = "Smoothed time from a request's coming to the end of its answer";
    out.gauges("member_latency", help, Some(Unit::Seconds), latency)?;
    let times = each().map(|(labels, member)| (labels, histogram(&member.latency)));
    let help = "Times from requests' coming to the ends of their answers";
    out.histograms("member_answer_time", help, Some(Unit::Seconds), times)?;
    let again = each().map(|(labels, member)| (labels, member.sent_again));
    let help = "Requests that were sent again after a connection with a member was lost";
    out.counters("member_requests_sent_again", help, None, again)
}
