//! The state of a member, by HTTP.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::rc::Rc;

use ratewire_acp::Endpoint;
use ratewire_daemon::log::reason;
use ratewire_daemon::metrics::{Format, Metrics, Unit, text};
use ratewire_daemon::status::Served;
use ratewire_switch_interface::status::MemberProgramStatus;
use tracing::warn;

use super::MemberConfig;
use super::counts::Counts;
use super::exchanges::Pool;
use super::gateways::Gateways;
use crate::latencies::histogram;
use crate::started::Started;

/// A member that shows its state.
pub(super) struct Shown {
    pub(super) config: Rc<MemberConfig>,
    pub(super) endpoint: Endpoint,
    pub(super) gateways: Rc<RefCell<Gateways>>,
    pub(super) pool: Rc<Pool>,
    pub(super) counts: Rc<Counts>,
    /// Connections that were refused.
    pub(super) refused: Rc<Cell<u64>>,
    pub(super) started: Started,
}

impl Served for Shown {
    type Status = MemberProgramStatus;

    fn status(&self) -> MemberProgramStatus {
        MemberProgramStatus {
            program: MemberProgramStatus::PROGRAM.to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            started_unix_s: self.started.unix_s(),
            uptime_s: self.started.uptime().as_secs_f64(),
            address: self.endpoint.address().to_string(),
            server: self.config.server.to_string(),
            framing: self.config.framing.name().to_string(),
            gateways: self.gateways.borrow().len() as u64,
            connections: self.counts.links(),
            refused: self.refused.get(),
            wrong_keys: self.endpoint.strangers(),
            requests: self.counts.requests(),
            server_in_use: self.counts.in_use(),
            server_kept: self.pool.kept_count() as u64,
            waiting_bytes: self.pool.waiting(),
            reply_bytes: self.counts.replies() as u64,
            latency: self.counts.latency(),
        }
    }

    fn metrics(status: MemberProgramStatus, format: Format) -> Result<String, fmt::Error> {
        text("ratewire_member", format, status, metrics)
    }

    fn not_accepted(&self, error: &io::Error) {
        let reason = reason(error);
        warn!(target: "ratewire_gateway", reason, "a connection for the status cannot be accepted");
    }
}

fn metrics(out: &mut Metrics<'_>, status: &MemberProgramStatus) -> fmt::Result {
    let labels = [("version", status.version.as_str()), ("framing", &status.framing)];
    out.build("The member's version and framing", &labels)?;
    let start = status.started_unix_s;
    out.gauge("start_time", "Start of the member since 1970", Some(Unit::Seconds), start)?;
    out.gauge("uptime", "Time since the start", Some(Unit::Seconds), status.uptime_s)?;
    out.gauge("gateways", "Gateways that are known", None, status.gateways)?;
    out.gauge("connections", "Connections of switches", None, status.connections)?;
    let help = "Connections refused, whose gateways have another framing";
    out.counter("connections_refused", help, None, status.refused)?;
    let help = "First packets of switches that were not made with the key";
    out.counter("wrong_keys", help, None, status.wrong_keys)?;
    let requests = &status.requests;
    out.counter("requests", "Requests that have come", None, requests.asked)?;
    let help = "Requests that have no answer yet";
    out.gauge("requests_under_way", help, None, requests.under_way)?;
    let help = "Requests that the server has answered";
    out.counter("requests_answered", help, None, requests.answered)?;
    let help = "Requests that nobody waits for any more";
    out.counter("requests_abandoned", help, None, requests.abandoned)?;
    let failed = requests.failed.by_cause().into_iter();
    let failed = failed.map(|(cause, count)| ([("cause", cause)], count));
    out.counters("requests_failed", "Requests that have failed", None, failed)?;
    let states = [("in_use", status.server_in_use), ("kept", status.server_kept)];
    let states = states.into_iter().map(|(state, count)| ([("state", state)], count));
    out.gauges("server_connections", "Connections with the server", None, states)?;
    let bytes = Some(Unit::Bytes);
    let help =
        "Bytes of requests that the server has not taken: it has no connection, or reads slowly";
    out.gauge("waiting", help, bytes.clone(), status.waiting_bytes)?;
    out.gauge("replies", "Bytes of answers that wait to leave", bytes, status.reply_bytes)?;
    let seconds = Some(Unit::Seconds);
    let help = "Smoothed time from a request's coming to the end of its answer";
    out.gauge("latency", help, seconds.clone(), status.latency.latency_s)?;
    let help = "Times from requests' coming to the ends of their answers";
    let times = std::iter::once(([], histogram(&status.latency)));
    out.histograms("answer_time", help, seconds, times)
}
