//! Topologies from files.

use ratewire_inputs::detect;
use ratewire_inputs::topology::{Edge, Topology, propagation_delay};
use ratewire_units::Duration;

use super::Builder;
use super::arcs::{Arcs, lines};
use super::labels::Labels;
use crate::context::Context;
use crate::diagnostic::Span;
use crate::document::At;
use crate::network::Link;
use crate::network::properties::{Cable, Properties};

/// Builds a topology from a file: a router and a host at each node.
pub(super) fn graph(b: &mut Builder<'_, '_>) {
    let section = b.section;
    let file = section.text("file");
    let file_rates = section.switch_or("file_rates");
    let external = section.switch_or("external");
    let arcs = match section.word_or("arcs") {
        "cables" => Arcs::Cables,
        "pairs" => Arcs::Pairs,
        _ => Arcs::OneWay,
    };
    let only_largest = section.word_or("parts") == "largest";
    // The file may give rates and delays, so the table may be left out.
    let link = b.properties_or_none("link");
    b.net.without_table = (!section.has("link")).then_some(section.span);
    let access = b.properties("access");
    let read = file.and_then(|file| {
        Some((file, section.context.read(file.value, file.span, detect::topology)?))
    });
    let Some((file, topology)) = read else {
        b.net.is_guess = true;
        return;
    };
    let mut kept: Vec<bool> = topology.nodes.iter().map(|node| external || node.internal).collect();
    let context = section.context;
    context.warn_of(&topology.notes, file.value, file.span);
    keep_parts(b, file, &topology, &mut kept, only_largest);

    let labels = Labels::of(&topology, &kept);
    let mut nodes = Vec::new();
    for (index, node) in topology.nodes.iter().enumerate() {
        if !kept[index] {
            nodes.push(None);
            continue;
        }
        let position = node.longitude.zip(node.latitude);
        let router = b.net.node(context, labels.router(index), false, position, file.span);
        let host = b.net.node(context, node.name.clone(), true, position, file.span);
        let name = format!("{}.access", node.name);
        b.net.cable(context, Some(&name), (host, router), &access.value, true, access.span);
        nodes.push(Some((router, host)));
    }
    let edges: Vec<&Edge> =
        topology.edges.iter().filter(|edge| kept[edge.a] && kept[edge.b]).collect();
    let lines = lines(&edges, arcs);
    warn_of_vain(b, &link.value, file.value, &edges, file_rates);
    warn_of_spots(context, file, &link.value, &edges);
    if lines.iter().any(|line| line.is_one_way) && b.net.unreachable_help.is_none() {
        b.net.unreachable_help = Some("read arcs as cables: arcs = \"cables\"");
    }
    for (line, (there, back)) in lines.iter().zip(labels.links(&topology, &lines)) {
        let (Some((a, _)), Some((z, _))) = (nodes[line.edge.a], nodes[line.edge.b]) else {
            continue;
        };
        let mut own = At { value: link.value.clone(), span: link.span };
        set(&mut own.value.forward, line.edge, file_rates, link.span);
        set(&mut own.value.backward, line.back.unwrap_or(line.edge), file_rates, link.span);
        if line.is_one_way {
            let properties = own.value.forward;
            let (from, to, span) = (a, z, link.span);
            let one = Link { name: there, from, to, properties, access: false, peer: None, span };
            b.net.link(context, one);
        } else {
            b.net.arrows(context, (&there, &back), (a, z), &own);
        }
    }
    for demand in &topology.demands {
        if let (Some((_, from)), Some((_, to))) = (nodes[demand.from], nodes[demand.to]) {
            b.net.demands.push((from, to, demand.rate.bps() as f64));
        }
    }
    let (left, all) = (b.net.demands.len(), topology.demands.len());
    if left < all {
        let out = all - left;
        let message = format!("{out} of {all} demands are left out with their nodes");
        context.warning(file.span, message).help("`parts` and `external` leave out nodes");
    }
}

/// Sets what the file says of one direction of a link.
fn set(properties: &mut Properties, edge: &Edge, file_rates: bool, span: Span) {
    if let (Some(rate), true) = (edge.rate, file_rates) {
        properties.rate = Some(At { value: rate, span });
        properties.trace = None;
    }
    if let Some(value) = delay(edge) {
        (properties.delay, properties.delay_trace) = (Some(At { value, span }), None);
    } else if edge.length_km.is_some() {
        properties.delay.get_or_insert(At { value: Duration::ZERO, span });
    }
}

/// The delay that the file gives a link. A length of 0 gives none: its ends are drawn at one spot.
fn delay(edge: &Edge) -> Option<Duration> {
    edge.delay.or(edge.length_km.filter(|km| *km > 0.0).map(propagation_delay))
}

/// Keeps nodes of the largest part only, if asked to; warns of parts.
fn keep_parts(
    b: &mut Builder<'_, '_>,
    file: At<&str>,
    topology: &Topology,
    kept: &mut [bool],
    only_largest: bool,
) {
    if topology.edges.is_empty() && topology.nodes.len() > 1 {
        b.net.unreachable_help = Some("see that the file is complete: it has no links");
        b.section
            .context
            .warning(file.span, format!("{}: the file has no links", file.value))
            .help(
                "check that it is complete, and no list of nodes only; or join nodes by [[link]]",
            );
        return;
    }
    let parts = topology.components_of(kept);
    let Some(most) = parts.iter().map(Vec::len).max().filter(|_| parts.len() > 1) else { return };
    let name = |node: usize| topology.nodes[node].name.as_str();
    let all: usize = parts.iter().map(Vec::len).sum();
    let message = format!("this topology is in {} parts", parts.len());
    if !only_largest {
        b.net.unreachable_help = Some("keep one part of the graph: parts = \"largest\"");
        let (one, other) = (name(parts[0][0]), name(parts[1][0]));
        b.section.context.warning(file.span, message).help(format!(
            "no path leads from {one:?} to {other:?}; parts = \"largest\" keeps {most} of {all} \
             nodes"
        ));
        return;
    }
    // The first of several that are as large.
    let largest = parts.iter().position(|part| part.len() == most);
    let others = || parts.iter().enumerate().filter(|(i, _)| Some(*i) != largest);
    others().flat_map(|(_, part)| part).for_each(|node| kept[*node] = false);
    let out: Vec<String> =
        others().flat_map(|(_, part)| part).map(|node| format!("{:?}", name(*node))).collect();
    let more = if out.len() > 8 { format!(" and {} more", out.len() - 8) } else { String::new() };
    b.section
        .context
        .warning(
            file.span,
            format!("{message}, and only the largest is kept: {most} of {all} nodes"),
        )
        .help(format!("parts = \"all\" keeps {}{more}", out[..out.len().min(8)].join(", ")));
}

/// Warns of neighbours at one spot.
fn warn_of_spots(context: &Context<'_>, file: At<&str>, link: &Cable, edges: &[&Edge]) {
    let count = edges.iter().filter(|e| delay(e).is_none() && e.length_km.is_some()).count();
    if count == 0 {
        return;
    }
    let links = if count == 1 { "1 link".to_string() } else { format!("{count} links") };
    let is_given = [&link.forward, &link.backward].iter().any(|way| way.delay.is_some());
    let (delay, help) = if is_given {
        ("the delay of `link`", "[[link]] sets that of one link by its name")
    } else {
        ("no delay", "give `link` a `delay` for them")
    };
    let message = format!("{links} between nodes at one spot: {delay} is taken");
    context.warning(file.span, message).help(help);
}

/// Warns of properties in `link` that the file sets for all links.
fn warn_of_vain(b: &Builder<'_, '_>, link: &Cable, file: &str, edges: &[&Edge], file_rates: bool) {
    let ways = [&link.forward, &link.backward];
    let warn = |key, span: Option<Span>, what: &str, help: &str| {
        if let (Some(span), false) = (span, edges.is_empty()) {
            let message = format!("`{key}` means nothing here: {file:?} says {what} all links are");
            b.section.context.warning(span, message).help(help);
        }
    };
    if file_rates && edges.iter().all(|edge| edge.rate.is_some()) {
        let rate = ways.iter().find_map(|way| way.rate.map(|at| at.span));
        let trace = ways.iter().find_map(|way| way.trace.as_ref().map(|at| at.span));
        let help = "file_rates = false takes that of `link`";
        warn("rate", rate, "how fast", help);
        warn("trace", trace, "how fast", help);
    }
    if edges.iter().all(|edge| delay(edge).is_some()) {
        let delay = ways.iter().find_map(|way| way.delay.map(|at| at.span));
        let traced = ways.iter().any(|way| way.delay_trace.is_some());
        let key = if traced { "delay_trace" } else { "delay" };
        warn(key, delay, "how long", "leave it out, or change links by name: [[link]]");
    }
}
