//! `[[ensemble]]`: connections with many ends.

mod ends;
mod routing;
mod tree;
mod unread;

use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_sim::setup::{Ensembles, FlowSpec};
use ratewire_transport::{App, TransportConfig, Writer};
use ratewire_units::{Duration, Time};

use crate::section::Section;
use crate::traffic::{Senders, apps};
use crate::transport;
use ends::{End, Known};
use tree::{FirstWindows, Tree};

/// Interval at which a switch checks for idleness, and so the least expiry.
const SHORTEST_EXPIRY: Duration = Duration::from_millis(1);

/// Directions in which data flow.
#[derive(Clone, Copy)]
struct Ways {
    /// From the peer.
    inbound: bool,
    /// From the members.
    outbound: bool,
}

/// What all edges of a connection have in common.
struct ConnectionSettings {
    name: String,
    app: App,
    transport: TransportConfig,
    law: usize,
    start: Time,
    stop: Option<Time>,
    ways: Ways,
    flow_control: Option<FlowControl>,
    transforms: Transforms,
    idle_expiry: Duration,
}

/// Reads all `[[ensemble]]` tables; their edges are appended to the flows.
pub(crate) fn read(
    root: &Section<'_>,
    senders: &mut Senders<'_>,
    flows: &mut Vec<FlowSpec>,
) -> Ensembles {
    let mut ensembles = Ensembles { first_edge: flows.len() as u32, ..Ensembles::default() };
    for section in root.sections("ensemble", &["ensemble"]) {
        one(&section, senders, flows, &mut ensembles);
        section.finish();
    }
    ensembles
}

fn one(
    section: &Section<'_>,
    senders: &mut Senders<'_>,
    flows: &mut Vec<FlowSpec>,
    ensembles: &mut Ensembles,
) {
    let context = section.context;
    let name = section.name("an ensemble");
    let transport = section
        .section("transport")
        .map_or_else(|| senders.transport.clone(), |own| transport::read(&own, senders.transport));
    let payload = transport::payload(&transport);
    let app = apps::app(section, &transport, senders.duration);
    let largest = app.frame.map_or(payload, |frame| frame.min(payload));
    let known = Known { net: senders.net, payload, largest, duration: senders.duration };
    let peer = section.item("peer").and_then(|item| End::of_peer(section, item, known));
    let switch = section.text("switch").and_then(|at| senders.net.expect_node(context, at));
    let members = End::list(section, known);
    let routing = routing::read(section, &ends::names(&members));
    let keys = routing::keys(section, &routing);
    let direction = section.word_or("direction");
    let flow_control = section.word("flow_control").map(|at| match at.value {
        "soft" => FlowControl::Soft,
        _ => FlowControl::Strict,
    });
    let transforms = match section.word_or("transforms") {
        "paper" => Transforms::Paper,
        _ => Transforms::Refusals { shuffle: section.number_or("shuffle") },
    };
    let idle_expiry = idle_expiry(section);
    let start = section.time_or("start");
    let stop = section.time("stop");
    let law = senders.laws.read_use(section, senders.defaults);
    if let Some(stop) = stop
        && stop.value <= start
    {
        context
            .error(
                stop.span,
                format!("an ensemble that starts at {start} cannot stop at {}", stop.value),
            )
            .help("`stop` must be later than `start`");
    }
    if app.writer != Writer::Unlimited {
        members.iter().chain(&peer).for_each(|end| end.refuse_idle(context));
    }
    let ways = Ways { inbound: direction != "outbound", outbound: direction != "inbound" };
    unread::check(section, ways, peer.as_ref(), &members, senders.duration);
    let (Some(name), Some(peer), Some(switch)) = (name, peer, switch) else { return };
    if members.is_empty() {
        return;
    }
    let connection = ConnectionSettings {
        name: name.value.to_string(),
        app,
        transport,
        law: senders.uses.index(law),
        start: Time::ZERO + start,
        stop: stop.map(|stop| Time::ZERO + stop.value),
        ways,
        flow_control,
        transforms,
        idle_expiry,
    };
    let span = name.span;
    let first = FirstWindows::default();
    Tree { connection: &connection, senders, flows, ensembles, context, span, first }
        .grow(switch, &peer, &members, routing, keys);
}

fn idle_expiry(section: &Section<'_>) -> Duration {
    let expiry = section.time_or("idle_expiry");
    if expiry < SHORTEST_EXPIRY
        && let Some(entry) = section.get("idle_expiry")
    {
        section
            .context
            .error(entry.item.span, format!("`idle_expiry` cannot be {expiry}"))
            .help(format!("at least {SHORTEST_EXPIRY}: switches look as often"));
    }
    expiry.max(SHORTEST_EXPIRY)
}
