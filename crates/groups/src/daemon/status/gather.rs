//! Reads the state off the running daemon.

use std::collections::BTreeMap;

use ratewire_overlay::daemon::{self, PurseState};
use ratewire_overlay::{ClientId, Dollars, OverlayNodeId};
use ratewire_units::Time;

use crate::config::Config;
use crate::daemon::body::Body;
use crate::daemon::core::{Core, Latencies, Latency, Session, Shared};
use crate::spread::GroupName;
use ratewire_groups_interface::status::{
    ClientStatus, FlowControlStatus, GroupStatus, LatencyStatus, LimitStatus, LinkStatus, Status,
    ViewStatus,
};

/// Most groups of the daemon, and of each client. A daemon may have millions of memberships.
const MOST_GROUPS: usize = 1000;
const MOST_GROUPS_OF_CLIENT: usize = 20;

type Daemon = daemon::Daemon<GroupName, Body>;

/// The present state.
pub(super) fn gather(shared: &Shared) -> Status {
    let (config, now) = (shared.config(), shared.now());
    shared.look(|core| {
        let Core { daemon, sessions, latencies, .. } = core;
        let purses: BTreeMap<ClientId, PurseState> = daemon.purses(now).collect();
        let client = |session: &Session| client(session, purses.get(&session.id));
        Status {
            daemon: name(&config, shared.me),
            version: env!("CARGO_PKG_VERSION").to_string(),
            started_unix_s: shared.incarnation as f64 / 1e6,
            uptime_s: shared.record.uptime().as_secs_f64(),
            view: view(shared, daemon),
            links: links(shared, now, daemon),
            clients: sessions.values().map(|session| client(session)).collect(),
            groups: groups(shared, daemon, latencies),
            group_count: daemon.member().groups().count() as u64,
            limits: LimitStatus {
                clients: config.limits.clients.into(),
                groups_per_client: config.limits.groups_per_client.into(),
                queue_per_client_bytes: config.limits.queue_per_client.get(),
                window_bytes: config.limits.window.get(),
                window_used_bytes: daemon.in_window().get(),
            },
            flow_control: Some(FlowControlStatus::from(&config.params)),
            totals: shared.record.totals(),
            last_cut_off: shared.record.last_cut_off(),
        }
    })
}

fn name(config: &Config, node: OverlayNodeId) -> String {
    config.daemon(node).name.clone()
}

fn view(shared: &Shared, daemon: &Daemon) -> ViewStatus {
    let (config, (id, members)) = (shared.config(), daemon.member().view());
    let all = (0..config.daemons.len()).map(|place| OverlayNodeId(place as u8));
    let (present, absent): (Vec<_>, Vec<_>) = all.partition(|node| members.contains(*node));
    let absent = absent.into_iter().filter(|node| !config.daemon(*node).is_retired).collect();
    let names = |nodes: Vec<OverlayNodeId>| nodes.into_iter().map(|node| name(&config, node));
    ViewStatus {
        number: id.number,
        coordinator: name(&config, id.coordinator),
        coordinator_started_unix_us: id.started(),
        members: names(present).collect(),
        absent: names(absent).collect(),
        with_another_file: names(daemon.member().differing().iter().collect()).collect(),
        is_changing: daemon.member().is_changing(),
        entered: shared.record.totals().views,
    }
}

fn links(shared: &Shared, now: Time, daemon: &Daemon) -> Vec<LinkStatus> {
    let config = shared.config();
    let status = |link: daemon::LinkView<'_, GroupName, Body>| {
        let record = shared.record.link(link.peer);
        let record = record.as_deref();
        let [sent, received] = record.map(|record| record.traffic()).unwrap_or_default();
        LinkStatus {
            peer: name(&config, link.peer),
            is_up: link.is_up,
            price_dollars: finite(link.cost),
            waiting_messages: link.queue.waiting(),
            mean_queue_messages: link.queue.average().get(),
            queue_message_seconds: link.queue.area(now) as f64 / 1e12,
            longest_queue_messages: link.queue.counts().most,
            sent,
            received,
            reconnects: record.map_or(0, |record| record.connections().saturating_sub(1)),
            last_error: record.and_then(|record| record.last_error()),
        }
    };
    let links = daemon.links().filter(|link| link.is_up || !config.daemon(link.peer).is_retired);
    links.map(status).collect()
}

fn client(session: &Session, purse: Option<&PurseState>) -> ClientStatus {
    let (outbox, groups) = (session.outbox.borrow(), session.groups.borrow());
    let names = groups.iter().take(MOST_GROUPS_OF_CLIENT);
    ClientStatus {
        name: session.name.as_str().to_string(),
        from: session.from.clone(),
        groups: names.map(|group| group.as_str().to_string()).collect(),
        group_count: groups.len() as u64,
        queue_bytes: outbox.bytes() as u64,
        queue_messages: outbox.messages() as u64,
        is_full: outbox.is_full(),
        salary_dollars: purse.map(|purse| finite(purse.salary)),
        weight: Some(session.weight),
        money_dollars: purse.map_or(0.0, |purse| finite(purse.money)),
        salary_period_s: purse.map_or(0.0, |purse| purse.period.secs()),
        sent: purse.map_or(0, |purse| purse.sent),
        owed_deliveries: purse.map_or(0, |purse| purse.owed),
        delivered: outbox.delivered(),
        dropped: session.dropped.get(),
        is_blocked: purse.is_some_and(|purse| purse.is_blocked),
        blocked_s: purse.map_or(0.0, |purse| purse.blocked.secs()),
    }
}

fn groups(shared: &Shared, daemon: &Daemon, latencies: &Latencies) -> Vec<GroupStatus> {
    let config = shared.config();
    let group = |group: &GroupName| {
        let (mut local_members, mut members) = (0, 0);
        for (client, _) in daemon.member().members(group) {
            members += 1;
            local_members += u64::from(client.node == shared.me);
        }
        let (name, policies) = (group.as_str(), &config.policies);
        GroupStatus {
            name: name.to_string(),
            policy: policies.of(name.as_bytes()),
            weight: Some(policies.weight(name.as_bytes())),
            local_members,
            members,
            latency: latencies.of(group).map(latency),
        }
    };
    daemon.member().groups().take(MOST_GROUPS).map(group).collect()
}

fn latency(latency: Latency) -> LatencyStatus {
    LatencyStatus {
        messages: latency.messages,
        sum_s: latency.sum_us as f64 / 1e6,
        longest_s: latency.longest_us as f64 / 1e6,
    }
}

/// Dollars as JSON has numbers: it knows no infinity.
fn finite(amount: Dollars) -> f64 {
    amount.get().clamp(f64::MIN, f64::MAX)
}
