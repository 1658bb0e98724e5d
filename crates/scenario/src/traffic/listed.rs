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
    warn_if_ambiguous(context, senders.net, file, &list, &hosts);
    let mut lacking = Vec::new();
    let nodes_of = |flow| Some((flow, listed(context, senders, file, flow, &hosts, &mut lacking)?));
    let (arriving, list_of): (Vec<&FlowArrival>, Vec<ListedArrival>) =
        list.flows.iter().filter_map(nodes_of).filter(|(flow, _)| within.holds(flow)).unzip();
    if let Hosts::Numbered(hosts) = &hosts {
        refuse_lacking(context, file, lacking, hosts.len());
    }
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

/// Warns if the numbers are taken as names, and would be other hosts as places.
fn warn_if_ambiguous(
    context: &Context<'_>,
    net: &Net,
    file: At<&str>,
    list: &FlowList,
    taken: &Hosts,
) {
    if !list.are_numbered || matches!(taken, Hosts::Numbered(_)) {
        return;
    }
    let hosts = hosts(&net.nodes);
    let place = |end: &str| hosts.get(end.parse::<usize>().ok()?).copied();
    let ends = || list.flows.iter().flat_map(|flow| [flow.from.as_str(), flow.to.as_str()]);
    let differing = ends().find(|end| place(end) != net.find_node(end));
    let Some(end) = differing.filter(|_| ends().all(|end| place(end).is_some())) else { return };
    let other = place(end).map_or("", |id| net.nodes[id].name.as_str());
    context
        .warning(
            file.span,
            format!("the hosts of {:?} are taken as names of nodes: {end} is {end:?}", file.value),
        )
        .help(format!(
            "as a place from 0, {end} would be {other:?}; if places are meant, number the hosts \
             of the file by the names of the nodes"
        ));
}

/// A number in a file that is no host of the topology.
struct Lacking {
    line: usize,
    end: String,
}

/// Notes one error for all numbers that are no host of the topology.
fn refuse_lacking(context: &Context<'_>, file: At<&str>, mut lacking: Vec<Lacking>, hosts: usize) {
    lacking.sort_by_key(|one| one.line);
    let mut seen = BTreeSet::new();
    lacking.retain(|one| seen.insert(one.end.clone()));
    let Some(Lacking { line, end }) = lacking.first() else { return };
    let more = match lacking.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more of the file are missing"),
    };
    context
        .error(file.span, format!("{}:{line}: the topology has no host {end}{more}", file.value))
        .help(format!(
            "its {hosts} hosts have the numbers from 0, in the order of the topology; change the \
             topology, or number the hosts of the file anew"
        ));
}

fn listed(
    context: &Context<'_>,
    senders: &Senders<'_>,
    file: At<&str>,
    flow: &FlowArrival,
    hosts: &Hosts,
    lacking: &mut Vec<Lacking>,
) -> Option<ListedArrival> {
    let mut node = |end: &str| {
        let found = match hosts {
            Hosts::Named => senders.net.find_node(end),
            Hosts::Numbered(hosts) => end.parse().ok().and_then(|i: usize| hosts.get(i).copied()),
        };
        if found.is_none() && matches!(hosts, Hosts::Named) {
            let message = format!("{}:{}: no node is called {end:?}", file.value, flow.line);
            let known = senders.net.nodes.iter().map(|node| node.name.as_str());
            senders.net.unknown(context, At { value: end, span: file.span }, message, known);
        } else if found.is_none() && !senders.net.is_guess {
            lacking.push(Lacking { line: flow.line, end: end.to_string() });
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
