//! Warnings about queues that are given a size and never used.

use std::collections::BTreeMap;

use ratewire_net::spec::{Change, DriverSpec, LinkId, NetworkSpec, Service};
use ratewire_sim::setup::Ensembles;
use ratewire_units::{Rate, Time};

use crate::context::Context;
use crate::diagnostic::{Span, and_more};
use crate::document::At;
use crate::network::Net;

/// Warns of a `queue` where no packet can wait: in a switch all of whose inputs are paused, packets
/// wait in the buffers of the inputs.
pub(crate) fn warn_of_queues(context: &Context<'_>, net: &Net, ensembles: &Ensembles) {
    let is_unused = |node: usize| {
        let sends = net.nodes[node].is_host
            || ensembles.junctions.iter().any(|junction| junction.node.index() == node);
        let mut inputs = net.links.iter().filter(|link| link.to == node).peekable();
        !sends && inputs.peek().is_some() && inputs.all(|link| net.pause(link).is_some())
    };
    let unused: Vec<bool> = (0..net.nodes.len()).map(is_unused).collect();
    let mut given = Given::default();
    for link in &net.links {
        if let Some(queue) = link.properties.queue {
            given.note("queue", queue.span, &link.name, !unused[link.from]);
        }
    }
    for vain in given.vain() {
        context.warning(vain.span, format!("`queue` of {} means nothing here", vain.links())).help(
            "all that comes there waits in buffers that pause the links it came by: see `pause`",
        );
    }
}

/// Warns of shapers that never let a packet wait, as their links send no faster. `changes` are all
/// changes of rates.
pub(crate) fn warn_of_shapers(
    context: &Context<'_>,
    net: &Net,
    network: &NetworkSpec,
    changes: &[(Time, LinkId, Change)],
) {
    let mut given = Given::default();
    for (id, (link, spec)) in net.links.iter().zip(&network.links).enumerate() {
        let Some(At { value: Some(shaper), span }) = link.properties.variation.shaper else {
            continue;
        };
        let of_link = |(_, of, change): &(Time, LinkId, Change)| match change {
            Change::Rate(rate) if of.index() == id => Some(*rate),
            _ => None,
        };
        let waits = match spec.service {
            // Between opportunities that are close together, a trace sends faster than its mean.
            Service::Opportunities(_) => true,
            Service::Rate(first) => {
                let most = changes.iter().filter_map(of_link).fold(first, Rate::max);
                shaper.rate < most || most == Rate::ZERO
            }
        };
        given.note("shaper", span, &link.name, waits);
    }
    for vain in given.vain() {
        context
            .warning(vain.span, format!("`shaper` of {} means nothing here", vain.links()))
            .help("the link sends no faster than that: give a lower `rate`, or leave it out");
    }
}

/// Warns of disciplines that sort packets where a switch does it: where a buffer pauses an input or
/// an output, or a host's sockets wait.
pub(crate) fn warn_of_sorting(context: &Context<'_>, net: &Net, network: &NetworkSpec) {
    let mut is_switch = vec![false; net.nodes.len()];
    for link in &network.links {
        is_switch[link.from.index()] |=
            link.pause.is_some() || link.driver != DriverSpec::default();
        is_switch[link.to.index()] |= link.pause.is_some();
    }
    let mut vain = network
        .links
        .iter()
        .zip(&net.links)
        .filter(|(spec, link)| spec.discipline.sorts() && is_switch[link.from]);
    let Some((spec, link)) = vain.next() else { return };
    let (name, links) = (spec.discipline.info().name, and_more(&link.name, vain.count()));
    context
        .warning(link.span, format!("{name} does nothing at {links}"))
        .help("where links are paused or sockets wait, packets are sorted as `pause` says");
}

/// Keys by their place; a key given for several links is in use if one of them uses it.
#[derive(Default)]
pub(super) struct Given<'n> {
    keys: BTreeMap<(usize, usize), (OfLinks<'n>, bool)>,
}

/// A key and the links that have it.
pub(super) struct OfLinks<'n> {
    pub key: &'static str,
    pub span: Span,
    names: Vec<&'n str>,
}

impl<'n> Given<'n> {
    /// Notes that a link has a key, and whether the link uses it.
    pub fn note(&mut self, key: &'static str, span: Span, link: &'n str, is_used: bool) {
        let none = || (OfLinks { key, span, names: Vec::new() }, false);
        let (of, any) = self.keys.entry((span.source, span.start)).or_insert_with(none);
        of.names.push(link);
        *any |= is_used;
    }

    /// Keys that no link uses.
    pub fn vain(self) -> impl Iterator<Item = OfLinks<'n>> {
        self.keys.into_values().filter(|(_, is_used)| !is_used).map(|(of, _)| of)
    }
}

impl OfLinks<'_> {
    pub fn is_one(&self) -> bool {
        self.names.len() == 1
    }

    /// The links in words.
    pub fn links(&self) -> String {
        and_more(self.names[0], self.names.len() - 1)
    }
}
