//! The best that any sharing of a run's links could do, time by time.
//!
//! Each physical link carries what its rate allows; where other listed flows cross it too, each of
//! the overlay's connections has as much of it as each of them (section 5: an overlay link is to be
//! one flow among others). Arriving traffic, acknowledgements and losses are not counted, so that
//! the optimum is what the overlay could do at best.

use std::collections::BTreeSet;

use ratewire_net::routing::Routing;
use ratewire_net::spec::{Change, LinkId};
use ratewire_overlay::optimum::{Commodity, best};
use ratewire_overlay::{Benefit, ClientId, NodeId, NodeSet, Trees};
use ratewire_transport::Writer;
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::spec::OverlaySpec;
use crate::setup::Setup;

/// The optimum while nothing changes.
#[derive(Clone, Debug)]
pub struct Period {
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
    /// What senders could send in all, weighted by what it is worth: message bytes.
    pub worth: Throughput,
    /// What the senders of each group could send then.
    pub groups: Vec<Throughput>,
}

/// The optimum of a run with an overlay, period by period; `None` without an overlay, or where it
/// has no ways.
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

/// By group: the links that its senders' messages cross to whoever is ever a member.
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

/// What a message to so many nodes counts for.
pub fn weight(benefit: Benefit, receivers: usize) -> f64 {
    match benefit {
        Benefit::PerReceiver => receivers as f64,
        // What a concave benefit adds up to is no sum of rates: its allocations are held against
        // the most that could be sent, and fall short of it by what fairness costs.
        Benefit::PerMessage | Benefit::Concave(_) => 1.0,
    }
}

struct Plan<'a> {
    setup: &'a Setup,
    spec: &'a OverlaySpec,
    trees: Trees,
    /// The links of the network that each flow crosses.
    ways: Vec<Vec<LinkId>>,
}

impl<'a> Plan<'a> {
    fn new(setup: &'a Setup, spec: &'a OverlaySpec) -> Option<Plan<'a>> {
        let mut routing = Routing::new(&setup.network, &setup.paths).ok()?;
        let flows = setup.flows.iter().enumerate();
        let ways: Option<Vec<Vec<LinkId>>> =
            flows.map(|(id, flow)| routing.path(flow.from, flow.to, id as u64)).collect();
        let ways = ways?;
        let delay = |flow: usize| {
            let links = ways[flow].iter().map(|link| setup.network.links[link.index()].delay);
            links.fold(Duration::ZERO, |sum, delay| sum + delay)
        };
        let trees = Trees::new(spec.nodes.len(), &spec.tree_links(delay)).ok()?;
        Some(Plan { setup, spec, trees, ways })
    }

    /// When something changes, the run's start and end among it.
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
            for node in (0..self.spec.nodes.len()).map(|node| NodeId(node as u8)) {
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

    fn demand(&self, node: NodeId, to: &NodeSet, most: Rate) -> Commodity {
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
        let mut members: Vec<(ClientId, NodeId)> = self.spec.groups[group].members.clone();
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

    /// What a byte of a connection's stream takes of a link.
    fn wire(&self, flow: &crate::setup::FlowSpec, overhead: Bytes) -> f64 {
        let config = &flow.transport;
        let headers = config.headers + self.setup.laws[flow.law].header_len();
        let payload = config.packet.saturating_sub(headers).get().max(1);
        (config.packet + overhead).as_f64() / payload as f64
    }

    /// The rate of each link of the network at a time.
    fn rates(&self, at: Time) -> Vec<Rate> {
        let links = self.setup.network.links.iter();
        let mut rates: Vec<Rate> = links.map(|link| link.service.mean_rate()).collect();
        let mut up = vec![true; rates.len()];
        let mut changes: Vec<_> =
            self.setup.changes.iter().filter(|(when, ..)| *when <= at).collect();
        changes.sort_by_key(|(when, ..)| *when);
        for (_, link, change) in changes {
            match change {
                Change::Rate(rate) => rates[link.index()] = *rate,
                Change::Up(is_up) => up[link.index()] = *is_up,
                Change::Delay(_) => {}
            }
        }
        let down = rates.iter_mut().zip(up).filter(|(_, up)| !up);
        down.for_each(|(rate, _)| *rate = Rate::ZERO);
        rates
    }
}
