//! Arrivals listed in a file.

use std::collections::BTreeSet;

use ratewire_inputs::arrivals::{self, FlowArrival};
use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{Arrivals, ListedArrival};
use ratewire_units::{Duration, Time};

use super::Senders;
use crate::context::Context;
use crate::document::At;

/// Times at which flows of a class may arrive: from `start` up to `stop`, or to the end of the run.
#[derive(Clone, Copy)]
pub(super) struct Within {
    pub start: Duration,
    pub stop: Option<Duration>,
}

impl Within {
    fn holds(self, flow: &FlowArrival) -> bool {
        let at = flow.start.since(Time::ZERO);
        at >= self.start && self.stop.is_none_or(|stop| at < stop)
    }
}

/// Reads the file and keeps the flows that arrive within these times.
pub(super) fn read(
    context: &Context<'_>,
    senders: &mut Senders<'_>,
    file: At<&str>,
    within: Within,
) -> Option<Arrivals> {
    let flows = context.read(file.value, file.span, arrivals::parse)?;
    let nodes_of = |flow| Some((flow, listed(context, senders, file, flow)?));
    let (arriving, list): (Vec<&FlowArrival>, Vec<ListedArrival>) =
        flows.iter().filter_map(nodes_of).filter(|(flow, _)| within.holds(flow)).unzip();
    refuse_lost(context, senders, file, &arriving);
    warn_if_none_arrives(context, file, &flows, within, senders.duration);
    Some(Arrivals::Listed(list))
}

fn listed(
    context: &Context<'_>,
    senders: &Senders<'_>,
    file: At<&str>,
    flow: &FlowArrival,
) -> Option<ListedArrival> {
    let node = |name: &str| {
        let found = senders.net.find_node(name);
        if found.is_none() {
            let message = format!("{}:{}: no node is called {name:?}", file.value, flow.line);
            let known = senders.net.nodes.iter().map(|node| node.name.as_str());
            senders.net.unknown(context, At { value: name, span: file.span }, message, known);
        }
        found.map(|id| NodeId(id as u32))
    };
    let (from, to) = (node(&flow.from), node(&flow.to));
    Some(ListedArrival { start: flow.start, from: from?, to: to?, size: flow.size })
}

/// Notes an error for the first flow without a route between its nodes.
fn refuse_lost(
    context: &Context<'_>,
    senders: &mut Senders<'_>,
    file: At<&str>,
    flows: &[&FlowArrival],
) {
    let mut seen = BTreeSet::new();
    for flow in flows {
        let ends = (senders.net.find_node(&flow.from), senders.net.find_node(&flow.to));
        let (Some(from), Some(to)) = ends else { continue };
        if !seen.insert((from, to)) {
            continue;
        }
        if let Some((message, help)) = senders.no_route((from, to)) {
            let message = format!("{}:{}: {message}", file.value, flow.line);
            context.error(file.span, message).help(help);
            return;
        }
    }
}

fn warn_if_none_arrives(
    context: &Context<'_>,
    file: At<&str>,
    flows: &[FlowArrival],
    within: Within,
    duration: Duration,
) {
    let at = |flow: &FlowArrival| flow.start.since(Time::ZERO);
    let Within { start, stop } = within;
    let any = |within: Within| flows.iter().any(|flow| within.holds(flow));
    let end = stop.unwrap_or(duration).min(duration);
    let ([first, ..], [.., last]) = (flows, flows) else { return };
    // An empty interval has its own error.
    if start >= end || any(Within { start, stop: Some(end) }) {
        return;
    }
    let message = format!("no flow of {:?} arrives from {start} up to {end}", file.value);
    let warning = context.warning(file.span, message).help(format!(
        "its first is at {}, its last at {}",
        at(first),
        at(last)
    ));
    if any(within) {
        let _ = warning.of_end();
    }
}
