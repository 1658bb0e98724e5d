//! Computes the optimum over all ways to share a run's links, period by period.
//!
//! Each physical link carries what its rate allows. If other listed flows cross it, each of the
//! overlay's connections gets the same share as each of these flows (section 5: an overlay link is
//! to be one flow among others). Arriving traffic, acknowledgements and losses are not counted, so
//! the optimum is an upper bound.

use std::collections::BTreeSet;

use ratewire_net::spec::{Change, LinkId};
use ratewire_overlay::optimum::{Commodity, best};
use ratewire_overlay::{Benefit, ClientId, NodeSet, OverlayNodeId, Trees};
use ratewire_transport::Writer;
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use crate::setup::Setup;
use crate::setup::overlay::OverlaySpec;

/// The optimum of a period without changes.
#[derive(Clone, Debug)]
pub struct Period {
    /// Start of the period.
    pub from: Time,
    /// End of the period.
    pub to: Time,
    /// Largest possible total of the senders, weighted by worth: message bytes.
    pub worth: Throughput,
    /// Rate of each group's senders at this optimum. Other allocations may be worth as much.
    pub groups: Vec<Throughput>,
}

/// The optimum of a run with an overlay, period by period; `None` without an overlay, or without
/// routes.
pub fn optimum(setup: &Setup) -> Option<Vec<Period>> {
    let spec = setup.overlay.as_deref()?;
    let plan = Plan::new(setup, spec)?;
    let mut periods = Vec::new();
    let edges = plan.edges();
    for pair in edges.windows(2) {
        periods.push(plan.period(pair[0], pair[1])?);
    }
    Some(periods)
}

/// Links that messages of each group's senders cross, to all nodes that are ever members.
pub fn trees(setup: &Setup) -> Option<Vec<Vec<u32>>> {
    let spec = setup.overlay.as_deref()?;
    let plan = Plan::new(setup, spec)?;
    let of = |group: usize| {
        let joined = spec.changes.iter().filter(|c| c.joins && c.group.index() == group);
        let members = spec.groups[group].members.iter().map(|(_, node)| *node);
        let to: NodeSet = members.chain(joined.map(|change| change.node)).collect();
        let senders = spec.senders.iter().filter(|sender| sender.spec.group.index() == group);
        let origins: NodeSet = senders.map(|sender| sender.at).collect();
        let links = origins.iter().flat_map(|origin| plan.trees.crossed(origin, &to));
        let links: BTreeSet<u32> = links.map(|link| u32::from(link.0)).collect();
        links.into_iter().collect()
    };
    Some((0..spec.groups.len()).map(of).collect())
}

/// Worth of a message to this many nodes. Weights of groups are left out: messages are compared
/// with messages.
pub fn weight(benefit: Benefit, receivers: usize) -> f64 {
    match benefit {
        Benefit::PerReceiver => receivers as f64,
        // The sum of a concave or layered benefit is no sum of rates. Its allocations are compared
        // with the largest possible total, and fall short of it by the cost of fairness.
        Benefit::PerMessage | Benefit::Concave(_) | Benefit::Layered(_) => 1.0,
    }
}

struct Plan<'a> {
    setup: &'a Setup,
    spec: &'a OverlaySpec,
    trees: Trees,
    /// Links of the network that each flow crosses.
    ways: Vec<Vec<LinkId>>,
}

impl<'a> Plan<'a> {
    fn new(setup: &'a Setup, spec: &'a OverlaySpec) -> Option<Plan<'a>> {
        let mut pathfinder = setup.pathfinder().ok()?;
        let flows = setup.flows.iter().enumerate();
        let ways: Option<Vec<Vec<LinkId>>> =
            flows.map(|(id, flow)| pathfinder.path(flow.from, flow.to, id as u64)).collect();
        let ways = ways?;
        let delay = |flow: usize| {
            let links = ways[flow].iter().map(|link| setup.network.links[link.index()].delay);
            links.fold(Duration::ZERO, |sum, delay| sum + delay)
        };
        let trees = Trees::new(spec.nodes.len(), &spec.tree_links(delay)).ok()?;
        Some(Plan { setup, spec, trees, ways })
    }

    /// Times of changes, including start and end of the run.
    fn edges(&self) -> Vec<Time> {
        let end = Time::ZERO + self.setup.duration;
        let mut edges = vec![Time::ZERO, end];
        for sender in &self.spec.senders {
            edges.extend([sender.start, sender.stop.unwrap_or(end)]);
        }
        for flow in self.others() {
            edges.extend([flow.start, flow.stop.unwrap_or(end)]);
        }
        edges.extend(self.spec.changes.iter().map(|change| change.at));
        edges.extend(self.setup.changes.iter().map(|(at, ..)| *at));
        edges.retain(|at| *at <= end);
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    fn others(&self) -> impl Iterator<Item = &crate::setup::FlowSpec> {
        self.setup.flows.iter().filter(|flow| flow.app.writer != Writer::Fed)
    }

    fn period(&self, from: Time, to: Time) -> Option<Period> {
        let active =
            |start: Time, stop: Option<Time>| start <= from && stop.is_none_or(|s| s > from);
        let capacities = self.capacities(from);
        let mut demands = Vec::new();
        let mut of_group = Vec::new();
        for group in 0..self.spec.groups.len() {
            let to = self.receivers(group, from);
            for node in (0..self.spec.nodes.len()).map(|node| OverlayNodeId(node as u8)) {
                let senders = self.spec.senders.iter().filter(|sender| {
                    let mine = sender.at == node && sender.spec.group.index() == group;
                    mine && active(sender.start, sender.stop)
                });
                let most: Rate = senders.fold(Rate::ZERO, |sum, sender| {
                    let line = sender.spec.line;
                    let own = sender.spec.offered.map_or(line, |offered| offered.min(line));
                    Rate::from_bps(sum.bps().saturating_add(own.bps()))
                });
                if most > Rate::ZERO && !to.is_empty() {
                    demands.push(self.demand(node, &to, most));
                    of_group.push(group);
                }
            }
        }
        let rates = best(&capacities, &demands)?;
        let mut groups = vec![Throughput::ZERO; self.spec.groups.len()];
        let mut worth = Throughput::ZERO;
        for ((rate, demand), group) in rates.iter().zip(&demands).zip(of_group) {
            groups[group] += *rate;
            worth += *rate * demand.benefit;
        }
        Some(Period { from, to, worth, groups })
    }

    fn demand(&self, node: OverlayNodeId, to: &NodeSet, most: Rate) -> Commodity {
        let crossed = self.trees.crossed(node, to);
        let links = crossed.iter().flat_map(|link| &self.ways[self.spec.links[link.index()].flow]);
        Commodity {
            uses: links.map(|link| (link.index(), 1.0)).collect(),
            benefit: weight(self.spec.params.benefit, to.len()),
            most: most.throughput(),
        }
    }

    /// Nodes with members of a group at a time.
    fn receivers(&self, group: usize, at: Time) -> NodeSet {
        let mut members: Vec<(ClientId, OverlayNodeId)> = self.spec.groups[group].members.clone();
        let mut changes: Vec<_> = self.spec.changes.iter().collect();
        changes.sort_by_key(|change| change.at);
        for change in changes.iter().filter(|c| c.at <= at && c.group.index() == group) {
            if change.joins {
                members.push((change.client, change.node));
            } else {
                members.retain(|(client, _)| *client != change.client);
            }
        }
        members.into_iter().map(|(_, node)| node).collect()
    }

    /// Message bytes that the overlay may send over each link of the network.
    fn capacities(&self, at: Time) -> Vec<Throughput> {
        let mut connections = vec![0.0; self.setup.network.links.len()];
        let mut others = connections.clone();
        let mut wire = vec![1.0; connections.len()];
        for (flow, way) in self.setup.flows.iter().zip(&self.ways) {
            let fed = flow.app.writer == Writer::Fed;
            let active = flow.start <= at && flow.stop.is_none_or(|stop| stop > at);
            for link in way.iter().map(|link| link.index()) {
                if fed {
                    connections[link] += 1.0;
                    wire[link] = self.wire(flow, self.setup.network.links[link].overhead);
                } else if active {
                    others[link] += 1.0;
                }
            }
        }
        let rates = self.rates(at);
        let share = |link: usize| {
            let all: f64 = connections[link] + others[link];
            if all > 0.0 { connections[link] / all } else { 0.0 }
        };
        (0..rates.len()).map(|link| rates[link].throughput() * (share(link) / wire[link])).collect()
    }

    /// Bytes on a link for each byte of a connection's stream.
    fn wire(&self, flow: &crate::setup::FlowSpec, overhead: Bytes) -> f64 {
        let config = &flow.transport;
        let headers = config.headers + self.setup.laws[flow.law].header_len();
        let payload = config.packet.saturating_sub(headers).get().max(1);
        (config.packet + overhead).as_f64() / payload as f64
    }

    /// Rate of each link of the network at a time.
    fn rates(&self, at: Time) -> Vec<Rate> {
        let links = self.setup.network.links.iter();
        let mut rates: Vec<Rate> = links.map(|link| link.lasting_rate()).collect();
        let mut up = vec![true; rates.len()];
        let mut changes: Vec<_> =
            self.setup.changes.iter().filter(|(when, ..)| *when <= at).collect();
        changes.sort_by_key(|(when, ..)| *when);
        for (_, link, change) in changes {
            match change {
                Change::Rate(rate) => {
                    rates[link.index()] = self.setup.network.links[link.index()].lasting(*rate);
                }
                Change::Up(is_up) => up[link.index()] = *is_up,
                Change::Delay(_) | Change::Loss(_) | Change::Limit(_) => {}
            }
        }
        let down = rates.iter_mut().zip(up).filter(|(_, up)| !up);
        down.for_each(|(rate, _)| *rate = Rate::ZERO);
        rates
    }
}
