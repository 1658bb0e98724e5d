//! `[overlay]`, `[[group]]` and `[[fault]]`: connections between nodes of an overlay, its multicast
//! groups, and failures.

mod faults;
mod groups;

use std::collections::BTreeMap;
use std::sync::Arc;

use ratewire_net::spec::NodeId as Host;
use ratewire_overlay::{
    Benefit, BudgetRule, Dollars, EdgeSpec, MOST_NODES, Occupancy, OverlayNodeId, Params, Price,
    Trees,
};
use ratewire_sim::overlay::spec::{OverlayLink, OverlaySpec};
use ratewire_sim::setup::FlowSpec;
use ratewire_transport::App;
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::diagnostic::Span;
use crate::document::{At, Item, Value};
use crate::network::matches;
use crate::section::Section;
use crate::traffic::Senders;
use crate::transport;

/// The overlay while it is read.
pub(super) struct OverlayReader<'a, 'n> {
    pub senders: &'a mut Senders<'n>,
    pub spec: OverlaySpec,
    pub message: Bytes,
    pub access: Rate,
    /// Number of the next client.
    pub clients: u32,
    /// Whether nodes may be missing because the list of nodes has errors.
    pub is_guess: bool,
}

/// Reads the overlay, if there is one, and adds its connections to `flows`.
pub(crate) fn read(
    root: &Section<'_>,
    senders: &mut Senders<'_>,
    flows: &mut Vec<FlowSpec>,
) -> Option<Arc<OverlaySpec>> {
    let groups = root.sections("group", &["group"]);
    let faults = root.sections("fault", &["fault"]);
    let Some(section) = root.section("overlay") else {
        let needing = groups.first().map(|group| (group, "a group"));
        let needing = needing.or_else(|| faults.first().map(|fault| (fault, "a fault")));
        if let Some((first, what)) = needing {
            root.context
                .error(first.span, format!("{what} needs an overlay, and there is none"))
                .help("add an [overlay] table; an empty one joins all hosts along their cables");
        }
        return None;
    };
    let params = params(&section, senders.duration);
    let law = senders.laws.read_use(&section, senders.defaults);
    let law = senders.uses.index(law);
    let config = section
        .section("transport")
        .map_or_else(|| senders.transport.clone(), |own| transport::read(&own, senders.transport));
    let (message, payload) = message(&section, transport::payload(&config));
    let access = access(&section);
    let nodes = nodes(&section, senders);
    let links = links(&section, senders, &nodes);
    section.finish();
    if groups.is_empty() {
        root.context
            .error(section.span, "an overlay without groups carries nothing")
            .help("say who sends to whom with [[group]]");
    }
    // Groups are read even then, to report their errors too.
    let is_whole = nodes.is_some() && links.is_some();
    let is_guess = senders.net.is_guess || !is_whole;
    let (nodes, links) = (nodes.unwrap_or_default(), links.unwrap_or_default());
    let at = |place: usize| Host(nodes[place] as u32);
    let mut spec = OverlaySpec {
        params,
        nodes: (0..nodes.len()).map(at).collect(),
        links: Vec::new(),
        groups: Vec::new(),
        senders: Vec::new(),
        changes: Vec::new(),
        faults: Vec::new(),
        payload,
    };
    for (from, to) in links {
        let name = |place: usize| senders.net.nodes[nodes[place]].name.as_str();
        let name = format!("{}=>{}", name(from), name(to));
        senders.take_name(root.context, &name, section.span);
        senders.check_route(root.context, (nodes[from], nodes[to]), section.span);
        let (one, two) = (OverlayNodeId(from as u8), OverlayNodeId(to as u8));
        spec.links.push(OverlayLink { from: one, to: two, flow: flows.len() });
        flows.push(FlowSpec {
            name,
            from: at(from),
            to: at(to),
            law,
            start: Time::ZERO,
            stop: None,
            app: App::fed(),
            transport: config.clone(),
            lie: None,
        });
    }
    if !is_guess {
        check_reach(&section, senders, &spec);
    }
    let mut draft = OverlayReader { senders, spec, message, access, clients: 0, is_guess };
    for group in &groups {
        draft.group(group);
        group.finish();
    }
    draft.faults(&faults);
    is_whole.then(|| Arc::new(draft.spec))
}

fn params(section: &Section<'_>, duration: Duration) -> Params {
    let context = section.context;
    let dollars = |key| Dollars::new(section.number_or(key));
    let base = section.number_or("price_base");
    let price = Price::named(section.word_or("price"), base).unwrap_or_default();
    if let (Some(entry), None) = (section.get("price_base"), price.base()) {
        context
            .error(entry.key_span, "`price_base` means nothing here")
            .help("only the exponential price has a base");
    }
    let memory = above_zero(section, "memory");
    let before = context.errors();
    let benefit = Benefit::named(section.word_or("benefit"), memory).unwrap_or_default();
    let is_known = context.errors() == before;
    if let (Some(entry), None, true) = (section.get("memory"), benefit.memory(), is_known) {
        context
            .error(entry.key_span, "`memory` means nothing here")
            .help("only the concave and the layered benefit forget");
    }
    let params = Params {
        salary: dollars("salary"),
        cap: dollars("cap"),
        fee: dollars("fee"),
        budget: BudgetRule::named(section.word_or("budget")).unwrap_or_default(),
        soft_limit: Occupancy::new(section.number_or("soft_limit")),
        interval: above_zero(section, "interval"),
        threshold: dollars("threshold"),
        first_period: above_zero(section, "first_period"),
        price,
        benefit,
        randomise: section.switch_or("randomise"),
        second_thought: second_thought(section),
    };
    if let (Some(entry), false) = (section.get("second_thought"), params.randomise) {
        context
            .error(entry.key_span, "`second_thought` means nothing here")
            .help("nothing delays a message with `randomise = false`");
    }
    if params.fee > params.cap {
        let (fee, cap) = (params.fee.get(), params.cap.get());
        context
            .error(section.span, format!("a fee of ${fee} is more than a client may ever hold"))
            .help(format!("`cap` is ${cap}: nobody could send anything"));
    }
    let updates = duration.secs() / params.interval.secs().max(1e-12);
    if let (Some(entry), true) = (section.get("interval"), updates > MOST_UPDATES) {
        context
            .error(
                entry.item.span,
                format!("each node would announce its prices {updates:.1e} times"),
            )
            .help(format!(
                "allowed: up to {MOST_UPDATES:.0e} times in {duration}; a longer interval"
            ));
    }
    if let (Some(entry), true) = (section.get("interval"), params.interval >= duration) {
        context
            .warning(entry.item.span, "prices are announced once and never again")
            .help(format!("the run ends at {duration}: make `interval` shorter"));
    }
    if params.threshold > params.cap {
        let span = section.get("threshold").or_else(|| section.get("cap"));
        let span = span.map_or(section.span, |entry| entry.item.span);
        let (threshold, cap) = (params.threshold.get(), params.cap.get());
        context
            .warning(
                span,
                format!("a threshold of ${threshold} is more than a client may ever hold"),
            )
            .help(format!("`cap` is ${cap}: salaries only ever come faster"));
    }
    params
}

/// Most price updates of a node in a run; more would make the run endless.
const MOST_UPDATES: f64 = 1e8;

/// The time `key`; an error if it is zero.
fn above_zero(section: &Section<'_>, key: &'static str) -> Duration {
    let time = section.time_or(key);
    if time.is_zero()
        && let Some(entry) = section.get(key)
    {
        refuse_zero(section, key, entry.item.span);
        return Duration::from_secs(1);
    }
    time
}

fn second_thought(section: &Section<'_>) -> Option<Duration> {
    let key = "second_thought";
    let time = section.time(key)?;
    if time.value.is_zero() {
        refuse_zero(section, key, time.span);
        return None;
    }
    Some(time.value)
}

fn refuse_zero(section: &Section<'_>, key: &str, span: Span) {
    section.context.error(span, format!("`{key}` cannot be 0")).help("allowed: above 0");
}

/// Size of a message, and the part of it that is the client's data.
fn message(section: &Section<'_>, payload: Bytes) -> (Bytes, Bytes) {
    let context = section.context;
    let size = section.size_or("message").bytes(payload);
    let header = section.bytes_or("header");
    let most = Bytes::new(u64::from(u32::MAX));
    if size == Bytes::ZERO || size > most {
        context
            .error(section.span, format!("a message cannot have {size}"))
            .help(format!("`message`: above 0, up to {most}"));
        return (payload, payload);
    }
    let own = size.saturating_sub(header);
    if let (Bytes::ZERO, Some(entry)) = (own, section.get("header")) {
        context
            .error(entry.item.span, format!("a header of {header} leaves a message nothing"))
            .help(format!("a message has {size} in all"));
    }
    (size, own)
}

fn access(section: &Section<'_>) -> Rate {
    let rate = section.rate_or("access");
    if let (Rate::ZERO, Some(entry)) = (rate, section.get("access")) {
        section
            .context
            .error(entry.item.span, "over a line of rate 0 a client sends nothing")
            .help("allowed: above 0");
    }
    rate
}

/// Hosts of the overlay's nodes.
fn nodes(section: &Section<'_>, senders: &Senders<'_>) -> Option<Vec<usize>> {
    let context = section.context;
    let net = senders.net;
    let mut chosen = Vec::new();
    match section.texts("nodes") {
        None => chosen.extend((0..net.nodes.len()).filter(|id| net.nodes[*id].is_host)),
        Some(names) => {
            for name in names {
                let found: Vec<usize> = (0..net.nodes.len())
                    .filter(|id| matches(name.value, &net.nodes[*id].name).is_some())
                    .collect();
                if found.is_empty() {
                    net.expect_node(context, name)?;
                }
                found.into_iter().for_each(|id| {
                    if !chosen.contains(&id) {
                        chosen.push(id);
                    }
                });
            }
        }
    }
    if chosen.len() < 2 && net.is_guess {
        return None;
    }
    if chosen.len() < 2 || chosen.len() > MOST_NODES {
        context
            .error(section.span, format!("an overlay cannot have {} nodes", chosen.len()))
            .help(format!("allowed: from 2 to {MOST_NODES}; name them with `nodes`"));
        return None;
    }
    Some(chosen)
}

/// Pairs of the overlay's nodes that are joined, in both directions; `None` after an error.
fn links(
    section: &Section<'_>,
    senders: &Senders<'_>,
    nodes: &Option<Vec<usize>>,
) -> Option<Vec<(usize, usize)>> {
    section.or_default("links", |entry| {
        Some(nodes.as_ref().and_then(|nodes| joined(section, senders, nodes, &entry.item)))
    })
}

fn joined(
    section: &Section<'_>,
    senders: &Senders<'_>,
    nodes: &[usize],
    item: &Item,
) -> Option<Vec<(usize, usize)>> {
    let context = section.context;
    let place = |id: usize| nodes.iter().position(|node| *node == id);
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut join = |a: usize, b: usize| {
        for pair in [(a, b), (b, a)] {
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    };
    match &item.value {
        Value::Text(text) if text == "cables" => cables(senders, &mut join, place),
        Value::List(items) => {
            for item in items {
                let Some([a, b]) = two_texts(item) else {
                    section.refuse("links", item);
                    return None;
                };
                let (from, to) =
                    (senders.net.expect_node(context, a)?, senders.net.expect_node(context, b)?);
                let (Some(from), Some(to)) = (place(from), place(to)) else {
                    context
                        .error(item.span, "a link of the overlay joins two of its nodes")
                        .help("one of these is none; see `nodes`");
                    return None;
                };
                if from == to {
                    context.error(item.span, "a link cannot join a node to itself");
                    return None;
                }
                join(from, to);
            }
        }
        _ => {
            section.refuse("links", item);
            return None;
        }
    }
    Some(pairs)
}

fn cables(
    senders: &Senders<'_>,
    join: &mut impl FnMut(usize, usize),
    place: impl Fn(usize) -> Option<usize>,
) {
    let net = senders.net;
    // A host with one router takes that router's place in the graph.
    let anchor = |id: usize| {
        let mut neighbours = net.links.iter().filter(|link| link.from == id).map(|link| link.to);
        let first = neighbours.next().filter(|to| place(*to).is_none());
        first.filter(|first| neighbours.all(|to| to == *first)).unwrap_or(id)
    };
    let nodes = (0..net.nodes.len()).filter(|id| place(*id).is_some());
    let mut at: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    nodes.for_each(|id| at.entry(anchor(id)).or_default().extend(place(id)));
    for link in &net.links {
        let (Some(ones), Some(others)) = (at.get(&link.from), at.get(&link.to)) else { continue };
        for (a, b) in ones.iter().flat_map(|a| others.iter().map(move |b| (*a, *b))) {
            join(a, b);
        }
    }
    for here in at.values() {
        for (i, a) in here.iter().enumerate() {
            here[..i].iter().for_each(|b| join(*a, *b));
        }
    }
}

/// Reads a list of two texts.
pub(super) fn two_texts(item: &Item) -> Option<[At<&str>; 2]> {
    let Value::List(items) = &item.value else { return None };
    match items.as_slice() {
        [
            Item { value: Value::Text(a), span: first },
            Item { value: Value::Text(b), span: second },
        ] => Some([At { value: a, span: *first }, At { value: b, span: *second }]),
        _ => None,
    }
}

/// Notes an error unless every node can reach every other.
fn check_reach(section: &Section<'_>, senders: &Senders<'_>, spec: &OverlaySpec) {
    let link =
        |link: &OverlayLink| EdgeSpec { from: link.from, to: link.to, delay: Duration::ZERO };
    let links: Vec<EdgeSpec> = spec.links.iter().map(link).collect();
    if let Err(e) = Trees::new(spec.nodes.len(), &links) {
        let name = |node: OverlayNodeId| &senders.net.nodes[spec.nodes[node.index()].index()].name;
        section
            .context
            .error(
                section.span,
                format!("no links of the overlay lead from {:?} to {:?}", name(e.0), name(e.1)),
            )
            .help("nodes are joined along cables, or as `links` lists them");
    }
}
