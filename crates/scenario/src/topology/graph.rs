//! Topologies from files.

use std::collections::BTreeMap;

use ratewire_inputs::detect;
use ratewire_inputs::topology::{Edge, Topology, propagation_delay};

use super::Builder;
use crate::diagnostic::Span;
use crate::document::At;
use crate::network::properties::Cable;

/// An edge and the routers at its ends.
type Kept<'e> = (&'e Edge, usize, usize);

/// Builds a topology from a file: a router and a host at each node.
pub(super) fn graph(b: &mut Builder<'_, '_>) {
    let section = b.section;
    let file = section.text("file");
    let file_rates = section.switch_or("file_rates");
    let external = section.switch_or("external");
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
    warn_of_parts(b, file, &topology);
    let mut nodes = Vec::new();
    for node in &topology.nodes {
        if !external && !node.internal {
            nodes.push(None);
            continue;
        }
        let position = node.longitude.zip(node.latitude);
        let context = section.context;
        let name = format!("{}.router", node.name);
        let router = b.net.node(context, name, false, position, file.span);
        let host = b.net.node(context, node.name.clone(), true, position, file.span);
        let name = format!("{}.access", node.name);
        b.net.cable(context, Some(&name), (host, router), &access.value, true, access.span);
        nodes.push(Some((router, host)));
    }
    let routers = |edge| kept(edge, &nodes);
    let kept: Vec<Kept<'_>> = topology.edges.iter().filter_map(routers).collect();
    warn_of_vain(b, &link.value, file.value, &kept, file_rates);
    let mut parallel: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (edge, a, z) in kept {
        let mut own = At { value: link.value.clone(), span: link.span };
        for properties in [&mut own.value.forward, &mut own.value.backward] {
            if let (Some(rate), true) = (edge.rate, file_rates) {
                properties.rate = Some(At { value: rate, span: link.span });
                properties.trace = None;
            }
            if let Some(km) = edge.length_km {
                let delay = At { value: propagation_delay(km), span: link.span };
                (properties.delay, properties.delay_trace) = (Some(delay), None);
            }
        }
        let count = parallel.entry((edge.a.min(edge.b), edge.a.max(edge.b))).or_insert(0);
        *count += 1;
        let number = if *count > 1 { format!("#{count}") } else { String::new() };
        let (from, to) = (&topology.nodes[edge.a].name, &topology.nodes[edge.b].name);
        let (there, back) = (format!("{from}->{to}{number}"), format!("{to}->{from}{number}"));
        b.net.arrows(section.context, (&there, &back), (a, z), &own);
    }
    for demand in &topology.demands {
        if let (Some((_, from)), Some((_, to))) = (nodes[demand.from], nodes[demand.to]) {
            b.net.demands.push((from, to, demand.rate.bps() as f64));
        }
    }
}

/// An edge whose ends are both kept; `nodes` has the router and the host of each kept node.
fn kept<'e>(edge: &'e Edge, nodes: &[Option<(usize, usize)>]) -> Option<Kept<'e>> {
    Some((edge, nodes[edge.a]?.0, nodes[edge.b]?.0))
}

/// Warns of properties in `link` that the file sets for all links.
fn warn_of_vain(
    b: &Builder<'_, '_>,
    link: &Cable,
    file: &str,
    edges: &[Kept<'_>],
    file_rates: bool,
) {
    let ways = [&link.forward, &link.backward];
    let warn = |key, span: Option<Span>, what: &str, help: &str| {
        if let (Some(span), false) = (span, edges.is_empty()) {
            let message = format!("`{key}` means nothing here: {file:?} says {what} all links are");
            b.section.context.warning(span, message).help(help);
        }
    };
    if file_rates && edges.iter().all(|(edge, ..)| edge.rate.is_some()) {
        let rate = ways.iter().find_map(|way| way.rate.map(|at| at.span));
        let trace = ways.iter().find_map(|way| way.trace.as_ref().map(|at| at.span));
        let help = "file_rates = false takes that of `link`";
        warn("rate", rate, "how fast", help);
        warn("trace", trace, "how fast", help);
    }
    if edges.iter().all(|(edge, ..)| edge.length_km.is_some()) {
        let delay = ways.iter().find_map(|way| way.delay.map(|at| at.span));
        warn("delay", delay, "how long", "leave it out, or change links by name: [[link]]");
    }
}

fn warn_of_parts(b: &Builder<'_, '_>, file: At<&str>, topology: &Topology) {
    let parts = topology.components();
    if parts.len() > 1 {
        let name = |part: &Vec<usize>| topology.nodes[part[0]].name.clone();
        b.section
            .context
            .warning(file.span, format!("this topology is in {} parts", parts.len()))
            .help(format!("no path leads from {:?} to {:?}", name(&parts[0]), name(&parts[1])));
    }
}
