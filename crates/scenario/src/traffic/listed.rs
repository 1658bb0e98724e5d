//! Arrivals listed in a file.

use std::collections::BTreeSet;

use ratewire_inputs::arrivals::{self, FlowArrival, FlowList};
use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{Arrivals, ListedArrival};
use ratewire_units::{Duration, Time};

use super::Senders;
use crate::context::Context;
use crate::document::At;
use crate::network::Net;
use crate::topology::hosts;

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
    let list = context.read_noting(file.value, file.span, arrivals::parse)?;
    let hosts = Hosts::of(&list, senders.net);
    if let (Hosts::Numbered(hosts), Some(of_file)) = (&hosts, list.hosts)
        && hosts.len() as u64 != of_file
        && !senders.net.is_guess
    {
        context
            .warning(
                file.span,
                format!(
                    "{:?} is for {of_file} hosts, the topology has {}",
                    file.value,
                    hosts.len()
                ),
            )
            .help("host 0 of the file is the topology's first, and so on");
    }
    let nodes_of = |flow| Some((flow, listed(context, senders, file, flow, &hosts)?));
    let (arriving, list_of): (Vec<&FlowArrival>, Vec<ListedArrival>) =
        list.flows.iter().filter_map(nodes_of).filter(|(flow, _)| within.holds(flow)).unzip();
    refuse_lost(context, senders, file, arriving.iter().zip(&list_of));
    warn_of_late(context, file, &list.flows, within, senders.duration);
    Some(Arrivals::Listed(list_of))
}

/// What the ends of flows are called in a file.
enum Hosts {
    /// Names of nodes.
    Named,
    /// Places among these hosts of the topology, in its order.
    Numbered(Vec<usize>),
}

impl Hosts {
    /// Numbers are names where the topology has a node called so for each.
    fn of(list: &FlowList, net: &Net) -> Hosts {
        let is_name = |end: &str| net.find_node(end).is_some();
        let are_names = || list.flows.iter().all(|flow| is_name(&flow.from) && is_name(&flow.to));
        if list.are_numbered && !are_names() {
            Hosts::Numbered(hosts(&net.nodes))
        } else {
            Hosts::Named
        }
    }
}

fn listed(
    context: &Context<'_>,
    senders: &Senders<'_>,
    file: At<&str>,
    flow: &FlowArrival,
    hosts: &Hosts,
) -> Option<ListedArrival> {
    let place = || format!("{}:{}", file.value, flow.line);
    let node = |end: &str| {
        let found = match hosts {
            Hosts::Named => senders.net.find_node(end),
            Hosts::Numbered(hosts) => end.parse().ok().and_then(|i: usize| hosts.get(i).copied()),
        };
        if found.is_none() && matches!(hosts, Hosts::Named) {
            let message = format!("{}: no node is called {end:?}", place());
            let known = senders.net.nodes.iter().map(|node| node.name.as_str());
            senders.net.unknown(context, At { value: end, span: file.span }, message, known);
        } else if let Hosts::Numbered(hosts) = hosts
            && found.is_none()
            && !senders.net.is_guess
        {
            context.error(file.span, format!("{}: the topology has no host {end}", place())).help(
                format!(
                    "its {} hosts have the numbers from 0, in the order of the topology; change \
                     the topology, or number the hosts of the file anew",
                    hosts.len()
                ),
            );
        }
        found.map(|id| NodeId(id as u32))
    };
    let (from, to) = (node(&flow.from), node(&flow.to));
    Some(ListedArrival { start: flow.start, from: from?, to: to?, size: flow.size })
}

/// Notes an error for the first flow without a route between its nodes.
fn refuse_lost<'f>(
    context: &Context<'_>,
    senders: &mut Senders<'_>,
    file: At<&str>,
    flows: impl Iterator<Item = (&'f &'f FlowArrival, &'f ListedArrival)>,
) {
    let mut seen = BTreeSet::new();
    for (flow, arrival) in flows {
        let ends = (arrival.from.index(), arrival.to.index());
        if !seen.insert(ends) {
            continue;
        }
        if let Some((message, help)) = senders.no_route(ends) {
            let message = format!("{}:{}: {message}", file.value, flow.line);
            context.error(file.span, message).help(help);
            return;
        }
    }
}

/// Warns of flows that the end of the run, or the stop of their class, leaves out.
fn warn_of_late(
    context: &Context<'_>,
    file: At<&str>,
    flows: &[FlowArrival],
    within: Within,
    duration: Duration,
) {
    let at = |flow: &FlowArrival| flow.start.since(Time::ZERO);
    let Within { start, stop } = within;
    let end = stop.unwrap_or(duration).min(duration);
    let in_run = Within { start, stop: Some(end) };
    let ([first, ..], [.., last]) = (flows, flows) else { return };
    let late: Vec<&FlowArrival> = flows.iter().filter(|flow| at(flow) >= end).collect();
    let is_of_end = late.iter().any(|flow| within.holds(flow));
    // An empty interval has its own error.
    if start >= end {
        return;
    }
    let (message, help) = if !flows.iter().any(|flow| in_run.holds(flow)) {
        (
            format!("no flow of {:?} arrives from {start} up to {end}", file.value),
            format!("its first is at {}, its last at {}", at(first), at(last)),
        )
    } else if !late.is_empty() {
        let starts = if late.len() == 1 { "starts" } else { "start" };
        let whose = if is_of_end { "the run's end" } else { "the traffic's `stop`" };
        let (count, all) = (late.len(), flows.len());
        (
            format!("{count} of {all} flows of {:?} {starts} after {whose}", file.value),
            format!("that is {end}; the file's last flow starts at {}", at(last)),
        )
    } else {
        return;
    };
    let warning = context.warning(file.span, message).help(help);
    if is_of_end {
        let _ = warning.of_end();
    }
}
