//! Queues that are given a size and never used.

use std::collections::BTreeMap;

use ratewire_sim::setup::Ensembles;

use crate::context::Context;
use crate::diagnostic::Span;
use crate::network::Net;

/// Warns of a `queue` where nothing can wait in one: in a switch all of whose inputs are paused, packets wait in the
/// buffers of those.
pub(crate) fn warn_of_queues(context: &Context<'_>, net: &Net, ensembles: &Ensembles) {
    let pauses = |link: &crate::network::Link| {
        link.properties.wishes.pause.is_some_and(|pause| pause.value.is_some())
    };
    let is_unused = |node: usize| {
        let sends = net.nodes[node].is_host
            || ensembles.junctions.iter().any(|junction| junction.node.index() == node);
        let mut inputs = net.links.iter().filter(|link| link.to == node).peekable();
        !sends && inputs.peek().is_some() && inputs.all(pauses)
    };
    let unused: Vec<bool> = (0..net.nodes.len()).map(is_unused).collect();
    // A key may be of many links: it is of use if one uses it.
    let mut told: BTreeMap<(usize, usize), (Span, Vec<&str>, bool)> = BTreeMap::new();
    for link in &net.links {
        let Some(queue) = link.properties.queue else { continue };
        let key = (queue.span.source, queue.span.start);
        let (_, names, used) = told.entry(key).or_insert((queue.span, Vec::new(), false));
        names.push(&link.name);
        *used |= !unused[link.from];
    }
    for (span, names, _) in told.into_values().filter(|(_, _, used)| !used) {
        let more = names.len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        context.warning(span, format!("`queue` of {:?}{more} means nothing here", names[0])).help(
            "all that comes there waits in buffers that pause the links it came by: see `pause`",
        );
    }
}
