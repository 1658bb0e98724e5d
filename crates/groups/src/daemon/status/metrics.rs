//! The state as metrics for Prometheus.

use std::fmt;

use ratewire_daemon::metrics::{Format, Metrics, Unit, text};

use ratewire_groups_interface::status::{ClientStatus, GroupStatus, LinkStatus, Status, Traffic};

/// Most groups with series of their own. Prometheus keeps each series for long.
const MOST_GROUPS: usize = 100;

/// The metrics of a state.
///
/// # Errors
/// If the encoder refuses a value.
pub(super) fn metrics(status: Status, format: Format) -> Result<String, fmt::Error> {
    text("ratewire_groups", format, status, |out, status| {
        daemon(out, status)?;
        links(out, &status.links)?;
        clients(out, status)?;
        groups(out, status)?;
        totals(out, status)
    })
}

fn daemon(out: &mut Metrics<'_>, status: &Status) -> fmt::Result {
    let view = &status.view;
    let labels = [("daemon", status.daemon.as_str()), ("version", &status.version)];
    out.build("The daemon's name and version", &labels)?;
    let start = status.started_unix_s;
    out.gauge("start_time", "Start of the daemon since 1970", Some(Unit::Seconds), start)?;
    out.gauge("uptime", "Time since the start", Some(Unit::Seconds), status.uptime_s)?;
    let members = view.members.len();
    out.gauge("view_members", "Daemons in the view", None, members)?;
    out.gauge("view_absent", "Daemons that are not in the view", None, view.absent.len())?;
    let is_changing = u64::from(view.is_changing);
    out.gauge("view_changing", "Whether the view is changing: 1 or 0", None, is_changing)?;
    out.counter("views", "Views that the daemon has entered", None, status.totals.views)?;
    let limits = &status.limits;
    let used = limits.window_used_bytes;
    out.gauge("window_used", "Messages that not all daemons have", Some(Unit::Bytes), used)?;
    out.gauge("window_limit", "Maximum of window_used", Some(Unit::Bytes), limits.window_bytes)
}

fn links(out: &mut Metrics<'_>, links: &[LinkStatus]) -> fmt::Result {
    let mut each = |name, help, unit, value: &dyn Fn(&LinkStatus) -> f64| {
        let series = links.iter().map(|link| ([("peer", link.peer.as_str())], value(link)));
        out.gauges(name, help, unit, series)
    };
    let dollars = || Some(Unit::Other("dollars".to_string()));
    let messages = || Some(Unit::Other("messages".to_string()));
    each("link_up", "Whether there is a connection: 1 or 0", None, &|link| {
        f64::from(u8::from(link.is_up))
    })?;
    each("link_price", "Price of a message", dollars(), &|link| link.price_dollars)?;
    each("link_waiting", "Clients' messages that wait, by packets", messages(), &|link| {
        link.waiting_messages as f64
    })?;
    each("link_mean_queue", "Mean of link_waiting in an interval", messages(), &|link| {
        link.mean_queue_messages
    })?;
    let reconnects = links.iter().map(|link| ([("peer", link.peer.as_str())], link.reconnects));
    out.counters("link_reconnects", "Connections after the first", None, reconnects)?;
    traffic(out, "link_sent", "Traffic to a daemon", links, |link| link.sent)?;
    traffic(out, "link_received", "Traffic from a daemon", links, |link| link.received)
}

fn traffic(
    out: &mut Metrics<'_>,
    name: &str,
    help: &str,
    links: &[LinkStatus],
    of: impl Fn(&LinkStatus) -> Traffic,
) -> fmt::Result {
    let series = links.iter().flat_map(|link| {
        let Traffic { data_bytes, update_bytes, other_bytes, .. } = of(link);
        let kinds = [("data", data_bytes), ("update", update_bytes), ("other", other_bytes)];
        kinds.map(|(kind, bytes)| ([("peer", link.peer.as_str()), ("kind", kind)], bytes))
    });
    out.counters(name, help, Some(Unit::Bytes), series)
}

/// Clients come and go, so only their sums and maxima are metrics.
fn clients(out: &mut Metrics<'_>, status: &Status) -> fmt::Result {
    let clients = &status.clients;
    let sum =
        |value: fn(&ClientStatus) -> u64| clients.iter().map(value).fold(0, u64::saturating_add);
    let largest = |value: fn(&ClientStatus) -> f64| clients.iter().map(value).fold(0.0, f64::max);
    let (bytes, seconds) = (|| Some(Unit::Bytes), || Some(Unit::Seconds));
    out.gauge("clients", "Clients that are connected", None, clients.len())?;
    out.gauge("clients_limit", "Maximum of clients", None, status.limits.clients)?;
    let blocked = sum(|client| client.is_blocked.into());
    out.gauge("clients_blocked", "Clients with a message that waits", None, blocked)?;
    let full = sum(|client| client.is_full.into());
    out.gauge("clients_full", "Clients with a full queue, which stop all senders", None, full)?;
    let queues = sum(|client| client.queue_bytes);
    out.gauge("clients_queue", "Queues to all clients", bytes(), queues)?;
    let longest = clients.iter().map(|client| client.queue_bytes).max().unwrap_or(0);
    out.gauge("clients_longest_queue", "Longest queue to a client", bytes(), longest)?;
    let limit = status.limits.queue_per_client_bytes;
    out.gauge("clients_queue_limit", "Maximum of a client's queue", bytes(), limit)?;
    let period = largest(|client| client.salary_period_s);
    let help = "Longest time between a client's salaries";
    out.gauge("clients_longest_salary_period", help, seconds(), period)?;
    let blocked = largest(|client| client.blocked_s);
    let help = "Longest time for which a connected client waited in all";
    out.gauge("clients_longest_blocked", help, seconds(), blocked)
}

fn groups(out: &mut Metrics<'_>, status: &Status) -> fmt::Result {
    out.gauge("groups", "Groups at all daemons of the view", None, status.group_count)?;
    let series = |value: fn(&GroupStatus) -> u64| {
        let first = status.groups.iter().take(MOST_GROUPS);
        first.map(move |group| ([("group", group.name.as_str())], value(group)))
    };
    let help = "Members at all daemons, of the first 100 groups by name";
    out.gauges("group_members", help, None, series(|group| group.members))?;
    let help = "Members at this daemon, of the first 100 groups by name";
    out.gauges("group_local_members", help, None, series(|group| group.local_members))
}

fn totals(out: &mut Metrics<'_>, status: &Status) -> fmt::Result {
    let totals = &status.totals;
    let (bytes, seconds) = (|| Some(Unit::Bytes), || Some(Unit::Seconds));
    out.counter("clients_accepted", "Clients that were accepted", None, totals.accepted)?;
    out.counter("clients_refused", "Clients that were refused", None, totals.refused)?;
    out.counter("clients_cut_off", "Clients that were cut off", None, totals.cut_off)?;
    let help = "Connections that broke their protocol";
    out.counter("protocol_violations", help, None, totals.violations)?;
    out.counter("messages_in", "Messages from clients", None, totals.messages_in)?;
    out.counter("data_in", "Data of messages from clients", bytes(), totals.bytes_in)?;
    let help = "Messages and notices written to clients";
    out.counter("messages_out", help, None, totals.messages_out)?;
    out.counter("written", "Bytes written to clients", bytes(), totals.bytes_out)?;
    let help = "Unreliable messages that found a client's queue full";
    out.counter("messages_dropped", help, None, totals.dropped)?;
    let help = "Time for which clients waited to send";
    out.counter("clients_blocked_time", help, seconds(), totals.blocked_s)?;
    out.counter("log_left_out", "Events left out of the log", None, totals.log_left_out)
}
