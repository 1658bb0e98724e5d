//! The peer and the members: hosts, or switches with members of their own.

use ratewire_sim::setup::{Keys, RoutingSpec};
use ratewire_transport::Reader;
use ratewire_units::{Bytes, Duration, Time};

use super::routing;
use crate::context::Context;
use crate::diagnostic::Span;
use crate::document::{At, Item, Value};
use crate::network::Net;
use crate::network::matches;
use crate::section::Section;
use crate::traffic::apps;
use crate::transport;

/// What the readers of ends need to know.
#[derive(Clone, Copy)]
pub(super) struct Known<'n> {
    pub net: &'n Net,
    /// Payload of a full packet of the connection.
    pub payload: Bytes,
    /// Largest packet of the connection: a packet never carries more than one frame.
    pub largest: Bytes,
    pub duration: Duration,
}

/// An end of an edge.
pub(super) struct End {
    /// Name that the edge is derived from.
    pub name: String,
    pub node: usize,
    pub span: Span,
    pub kind: EndKind,
}

pub(super) enum EndKind {
    Host(Host),
    Switch { members: Vec<End>, routing: RoutingSpec, keys: Keys, given_keys: GivenKeys },
}

/// Keys given to an end, and their places.
pub(super) type GivenKeys = Vec<(&'static str, Span)>;

/// The keys among `keys` that the section has, with their places.
fn given_keys(section: &Section<'_>, keys: &[&'static str]) -> GivenKeys {
    keys.iter().filter_map(|key| Some((*key, section.get(key)?.key_span))).collect()
}

/// Properties that are special to a host.
#[derive(Clone, Default)]
pub(super) struct Host {
    pub receive_window: Option<Bytes>,
    pub reader: Option<Reader>,
    pub fails: Vec<(Time, Time)>,
    pub idle: Vec<(Time, Time)>,
    pub given_keys: GivenKeys,
}

impl End {
    /// Reads the peer: one end, which does not fail.
    pub fn of_peer(section: &Section<'_>, item: &Item, known: Known<'_>) -> Option<End> {
        let context = section.context;
        let mut ends = match &item.value {
            Value::Text(_) | Value::Table(_) => End::of_item(section, "peer", item, known),
            _ => {
                section.refuse("peer", item);
                return None;
            }
        };
        if ends.len() > 1 {
            context.error(item.span, "a connection has one peer").help("for example \"client\"");
        }
        let end = ends.pop()?;
        if let EndKind::Host(host) = &end.kind
            && !host.fails.is_empty()
        {
            context
                .error(item.span, "the peer does not fail")
                .help("`fails` is for members: without its peer there is no connection");
        }
        Some(end)
    }

    /// Reads the ends in `members`.
    pub fn list(section: &Section<'_>, known: Known<'_>) -> Vec<End> {
        let Some(list) = section.list("members") else { return Vec::new() };
        let ends = list.value.iter();
        let ends: Vec<End> =
            ends.flat_map(|item| End::of_item(section, "members", item, known)).collect();
        if list.value.is_empty() {
            section
                .context
                .error(list.span, "an ensemble has at least one member")
                .help("for example [\"a1\", \"a2\"]");
        }
        for (i, end) in ends.iter().enumerate() {
            if ends[..i].iter().any(|other| other.name == end.name) {
                section
                    .context
                    .error(end.span, format!("{:?} is a member twice", end.name))
                    .help("each node is a member once");
            }
        }
        ends
    }

    fn of_item(
        section: &Section<'_>,
        key: &'static str,
        item: &Item,
        known: Known<'_>,
    ) -> Vec<End> {
        let context = section.context;
        let table = match &item.value {
            Value::Text(name) => {
                return hosts(context, At { value: name, span: item.span }, known);
            }
            Value::Table(table) => table,
            _ => {
                section.refuse(key, item);
                return Vec::new();
            }
        };
        let title = format!("an end in `{key}` of {}", section.title);
        let own = Section::new(context, &["end"], title, item.span, table);
        let ends = match own.only(&["node", "switch"]) {
            Some("switch") => switch(&own, known).into_iter().collect(),
            Some(_) => special_hosts(&own, known),
            None => Vec::new(),
        };
        own.finish();
        ends
    }

    /// Notes an error for each host with `idle` times.
    pub fn refuse_idle(&self, context: &Context<'_>) {
        match &self.kind {
            EndKind::Host(host) if !host.idle.is_empty() => {
                context
                    .error(
                        host.span("idle", self.span),
                        "`idle` is for applications with unlimited data",
                    )
                    .help("`app` and `size` say themselves when there is nothing to send");
            }
            EndKind::Host(_) => {}
            EndKind::Switch { members, .. } => members.iter().for_each(|m| m.refuse_idle(context)),
        }
    }
}

impl Host {
    fn span(&self, key: &str, otherwise: Span) -> Span {
        self.given_keys.iter().find(|(given, _)| *given == key).map_or(otherwise, |(_, span)| *span)
    }
}

/// The names of ends, in their order.
pub(super) fn names(ends: &[End]) -> Vec<&str> {
    ends.iter().map(|end| end.name.as_str()).collect()
}

/// The nodes that a name or pattern matches.
fn hosts(context: &Context<'_>, name: At<&str>, known: Known<'_>) -> Vec<End> {
    let net = known.net;
    let end = |node: usize| End {
        name: net.nodes[node].name.clone(),
        node,
        span: name.span,
        kind: EndKind::Host(Host::default()),
    };
    if !name.value.contains('*') {
        return net.expect_node(context, name).map(end).into_iter().collect();
    }
    let nodes = (0..net.nodes.len()).filter(|id| net.nodes[*id].is_host);
    let found: Vec<End> =
        nodes.filter(|id| matches(name.value, &net.nodes[*id].name).is_some()).map(end).collect();
    if found.is_empty() {
        let message = format!("no host's name matches {:?}", name.value);
        let known = net.nodes.iter().filter(|n| n.is_host).map(|n| n.name.as_str());
        net.unknown(context, name, message, known);
    }
    found
}

fn special_hosts(section: &Section<'_>, known: Known<'_>) -> Vec<End> {
    let reader = section.given("reader", |entry| apps::reader(section, entry, known.duration));
    let host = Host {
        receive_window: receive_window(section, known),
        reader: reader.map(|at| at.value),
        fails: times(section, "fails"),
        idle: times(section, "idle"),
        given_keys: given_keys(section, &["receive_window", "reader", "idle"]),
    };
    let Some(name) = section.text("node") else { return Vec::new() };
    let mut ends = hosts(section.context, name, known);
    ends.iter_mut().for_each(|end| end.kind = EndKind::Host(host.clone()));
    ends
}

fn receive_window(section: &Section<'_>, known: Known<'_>) -> Option<Bytes> {
    let window = section.size("receive_window")?.map(|size| size.bytes(known.payload));
    let written = section.text("receive_window")?;
    transport::holds_a_packet(section.context, written, window.value, known.largest)
        .then_some(window.value)
}

fn switch(section: &Section<'_>, known: Known<'_>) -> Option<End> {
    let members = End::list(section, known);
    if !section.has("members") {
        section.missing("members");
    }
    let routing = routing::read(section, &names(&members));
    let keys = routing::keys(section, &routing);
    let given_keys = given_keys(section, &["routing", "keys"]);
    let name = section.text("switch")?;
    let node = known.net.expect_node(section.context, name)?;
    let kind = EndKind::Switch { members, routing, keys, given_keys };
    Some(End { name: name.value.to_string(), node, span: name.span, kind })
}

/// Reads a list of intervals such as `"5 s .. 8 s"`, in ascending order.
fn times(section: &Section<'_>, key: &'static str) -> Vec<(Time, Time)> {
    let context = section.context;
    let mut list: Vec<(Time, Time)> = Vec::new();
    for at in section.texts(key).unwrap_or_default() {
        let parts = at.value.split_once("..");
        let both = parts.map(|(a, b)| (a.trim().parse::<Duration>(), b.trim().parse::<Duration>()));
        let Some((Ok(from), Ok(to))) = both else {
            context
                .error(at.span, format!("`{key}` cannot be {:?}", at.value))
                .help("allowed: two times such as \"5 s .. 8 s\"");
            continue;
        };
        let (from, to) = (Time::ZERO + from, Time::ZERO + to);
        if from >= to || list.last().is_some_and(|last| last.1 >= from) {
            context
                .error(
                    at.span,
                    format!("`{key}`: {:?} does not come after what is before it", at.value),
                )
                .help("each begins before it ends, and after the one before has ended");
            continue;
        }
        list.push((from, to));
    }
    list
}
