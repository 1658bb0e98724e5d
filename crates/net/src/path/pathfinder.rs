//! Computes the links of a packet's route: the path of least delay, or a given path.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use petgraph::Direction;
use petgraph::algo::dijkstra;
use petgraph::graph::{Graph, NodeIndex};
use petgraph::visit::{EdgeRef, Reversed};
use rand_core::Rng;
use ratewire_units::Duration;

use crate::random::stream;
use crate::spec::{LinkId, NetworkSpec, NodeId};

/// Routes of a network, computed on demand.
///
/// The cost of a link is its propagation delay plus one picosecond, so that among equally long
/// paths the one with fewer links is taken. Among remaining ties a hash of the flow's number and
/// the run's seed chooses at each node (equal-cost multipath, RFC 2992). Hosts with one cable are
/// left out of the search and attached afterwards, so that ten thousand of them cost nothing.
#[derive(Debug)]
pub struct Pathfinder {
    /// Nodes with more than one neighbour; edge weights are links and costs.
    core: Graph<NodeId, (LinkId, u64)>,
    attachments: Vec<Attachment>,
    /// Cost from each core node to a core destination.
    costs: BTreeMap<NodeIndex, Vec<Option<u64>>>,
    given: BTreeMap<(NodeId, NodeId), Vec<LinkId>>,
    /// The seed's part of the hash that chooses among equal paths.
    salt: u64,
}

/// Attachment of a node to the others.
#[derive(Clone, Copy, Debug)]
enum Attachment {
    Core(NodeIndex),
    /// Reached only through a core node, by one link in each direction.
    Leaf {
        neighbour: NodeId,
        out: LinkId,
        back: LinkId,
    },
    /// Without any link.
    Alone,
}

/// A route between two nodes.
enum Route {
    /// Without a choice.
    Links(Vec<LinkId>),
    /// Between two core nodes, after and before the links of leaves.
    Core { first: Option<LinkId>, start: NodeIndex, end: NodeIndex, last: Option<LinkId> },
}

/// Why a given path cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// First node of the missing link.
    pub from: NodeId,
    /// Second node of the missing link.
    pub to: NodeId,
}

impl Pathfinder {
    /// A pathfinder for a network, with given paths as nodes from source to destination, in a run
    /// with this seed.
    ///
    /// # Errors
    /// An error if two neighbours on a given path have no link between them.
    pub fn new(
        spec: &NetworkSpec,
        given: &[Vec<NodeId>],
        seed: u64,
    ) -> Result<Pathfinder, PathError> {
        let attachments = attachments(spec);
        let mut pathfinder = Pathfinder {
            core: Graph::new(),
            attachments,
            costs: BTreeMap::new(),
            given: BTreeMap::new(),
            salt: stream(seed, "equal-cost paths", 0).next_u64(),
        };
        for i in 0..spec.nodes.len() {
            if let Attachment::Core(at) = &mut pathfinder.attachments[i] {
                *at = pathfinder.core.add_node(NodeId(i as u32));
            }
        }
        for (i, link) in spec.links.iter().enumerate() {
            if let (Attachment::Core(a), Attachment::Core(b)) =
                (pathfinder.attachments[link.from.index()], pathfinder.attachments[link.to.index()])
            {
                pathfinder.core.add_edge(a, b, (LinkId(i as u32), cost(link.delay)));
            }
        }
        for path in given {
            pathfinder.add_given(spec, path)?;
        }
        Ok(pathfinder)
    }

    fn add_given(&mut self, spec: &NetworkSpec, path: &[NodeId]) -> Result<(), PathError> {
        let mut links = Vec::new();
        for pair in path.windows(2) {
            let link = spec
                .links
                .iter()
                .position(|l| l.from == pair[0] && l.to == pair[1])
                .ok_or(PathError { from: pair[0], to: pair[1] })?;
            links.push(LinkId(link as u32));
        }
        if let (Some(first), Some(last)) = (path.first(), path.last()) {
            self.given.insert((*first, *last), links);
        }
        Ok(())
    }

    /// Whether a node is reached only through another, by one cable.
    ///
    /// No route leads through such a node, unless a given path does.
    pub fn is_leaf(&self, node: NodeId) -> bool {
        matches!(self.attachments[node.index()], Attachment::Leaf { .. })
    }

    /// Whether packets between two nodes have several paths of equal cost.
    pub fn has_choice(&mut self, from: NodeId, to: NodeId) -> bool {
        let core = |this: &Pathfinder, node: NodeId| match this.attachments[node.index()] {
            Attachment::Core(at) => Some(at),
            Attachment::Leaf { neighbour, .. } => this.core_of(neighbour),
            Attachment::Alone => None,
        };
        let (Some(start), Some(end)) = (core(self, from), core(self, to)) else { return false };
        if from == to || self.given.contains_key(&(from, to)) {
            return false;
        }
        // A single path chooses nowhere; at the first node with two ways out there are two paths.
        let mut at = start;
        while at != end {
            match &self.ways(at, end)[..] {
                [(_, next)] => at = *next,
                ways => return !ways.is_empty(),
            }
        }
        false
    }

    /// The links from one node to another; `None` if there is no route. `flow` chooses among paths
    /// of equal cost.
    pub fn path(&mut self, from: NodeId, to: NodeId, flow: u64) -> Option<Vec<LinkId>> {
        match self.route(from, to)? {
            Route::Links(links) => Some(links),
            Route::Core { first, start, end, last } => {
                let mut links = Vec::from_iter(first);
                self.walk(start, end, flow, &mut links)?;
                links.extend(last);
                Some(links)
            }
        }
    }

    /// Adds demands to the links that they cross, of a source, a destination and an amount each. At
    /// each choice among equal paths they are split evenly, as many flows are.
    pub fn spread(&mut self, demands: &[(NodeId, NodeId, f64)], links: &mut [f64]) {
        // By core destination: what goes there from each core node.
        let mut going: BTreeMap<NodeIndex, BTreeMap<NodeIndex, f64>> = BTreeMap::new();
        for (from, to, amount) in demands {
            match self.route(*from, *to) {
                None => {}
                Some(Route::Links(way)) => {
                    way.iter().for_each(|link| links[link.index()] += amount);
                }
                Some(Route::Core { first, start, end, last }) => {
                    first.iter().chain(&last).for_each(|link| links[link.index()] += amount);
                    *going.entry(end).or_default().entry(start).or_default() += amount;
                }
            }
        }
        for (end, from) in going {
            // Each node hands on what those before it have handed to it: the farthest comes first.
            let mut waiting = BTreeMap::new();
            for (at, amount) in from {
                waiting.insert((Reverse(self.cost_to(end)[at.index()]), at), amount);
            }
            while let Some(((_, at), amount)) = waiting.pop_first() {
                if at == end {
                    continue;
                }
                let ways = self.ways(at, end);
                let each = amount / ways.len() as f64;
                for (link, next) in ways {
                    links[link.index()] += each;
                    let cost = self.cost_to(end)[next.index()];
                    *waiting.entry((Reverse(cost), next)).or_default() += each;
                }
            }
        }
    }

    /// The part of a route that is the same for all flows; `None` if there is no route.
    fn route(&self, from: NodeId, to: NodeId) -> Option<Route> {
        if let Some(links) = self.given.get(&(from, to)) {
            return Some(Route::Links(links.clone()));
        }
        if from == to {
            return Some(Route::Links(Vec::new()));
        }
        let (start, first) = match self.attachments[from.index()] {
            Attachment::Core(at) => (at, None),
            Attachment::Leaf { neighbour, out, .. } if neighbour == to => {
                return Some(Route::Links(vec![out]));
            }
            Attachment::Leaf { neighbour, out, .. } => (self.core_of(neighbour)?, Some(out)),
            Attachment::Alone => return None,
        };
        let (end, last) = match self.attachments[to.index()] {
            Attachment::Core(at) => (at, None),
            Attachment::Leaf { neighbour, back, .. } => (self.core_of(neighbour)?, Some(back)),
            Attachment::Alone => return None,
        };
        Some(Route::Core { first, start, end, last })
    }

    fn core_of(&self, node: NodeId) -> Option<NodeIndex> {
        match self.attachments[node.index()] {
            Attachment::Core(at) => Some(at),
            _ => None,
        }
    }

    fn walk(
        &mut self,
        start: NodeIndex,
        end: NodeIndex,
        flow: u64,
        links: &mut Vec<LinkId>,
    ) -> Option<()> {
        let mut at = start;
        while at != end {
            let ways = self.ways(at, end);
            let choice = match ways.len() {
                1 => 0,
                many => mix(flow ^ self.salt, at.index() as u64) % (many as u64).max(1),
            };
            let (link, node) = *ways.get(choice as usize)?;
            links.push(link);
            at = node;
        }
        Some(())
    }

    /// The first links of all shortest ways from one core node to another, and where they end.
    fn ways(&mut self, at: NodeIndex, end: NodeIndex) -> Vec<(LinkId, NodeIndex)> {
        self.cost_to(end);
        let costs = &self.costs[&end];
        let Some(left) = costs[at.index()] else { return Vec::new() };
        let edges = self.core.edges_directed(at, Direction::Outgoing);
        let mut ways: Vec<(LinkId, NodeIndex)> = edges
            .filter_map(|e| {
                let (link, cost) = *e.weight();
                let rest = costs[e.target().index()]?;
                (cost + rest == left).then_some((link, e.target()))
            })
            .collect();
        ways.sort_by_key(|(link, _)| *link);
        ways
    }

    /// Cost from each core node to a core destination.
    fn cost_to(&mut self, end: NodeIndex) -> &[Option<u64>] {
        self.costs.entry(end).or_insert_with(|| {
            let found = dijkstra(Reversed(&self.core), end, None, |e| e.weight().1);
            self.core.node_indices().map(|n| found.get(&n).copied()).collect()
        })
    }
}

/// Cost of a delay, limited to two and a half hours, so that no sum of costs overflows.
fn cost(delay: Duration) -> u64 {
    delay.ps().min(1 << 53) + 1
}

/// Spreads numbers over equal paths (the finaliser of SplitMix64).
fn mix(flow: u64, node: u64) -> u64 {
    let mut z = flow.wrapping_add(node.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Sorts nodes into leaves and the rest; the index of core nodes is filled in later.
fn attachments(spec: &NetworkSpec) -> Vec<Attachment> {
    let mut out: Vec<Vec<LinkId>> = vec![Vec::new(); spec.nodes.len()];
    let mut into: Vec<Vec<LinkId>> = vec![Vec::new(); spec.nodes.len()];
    for (i, link) in spec.links.iter().enumerate() {
        out[link.from.index()].push(LinkId(i as u32));
        into[link.to.index()].push(LinkId(i as u32));
    }
    let one_cable = |n: usize| match (&out[n][..], &into[n][..]) {
        ([o], [b]) if spec.links[o.index()].to == spec.links[b.index()].from => Some((*o, *b)),
        _ => None,
    };
    (0..spec.nodes.len())
        .map(|n| match one_cable(n) {
            Some((out_link, back)) => {
                let neighbour = spec.links[out_link.index()].to;
                // Two hosts on one cable would each be a leaf of the other.
                if one_cable(neighbour.index()).is_some() {
                    Attachment::Core(NodeIndex::end())
                } else {
                    Attachment::Leaf { neighbour, out: out_link, back }
                }
            }
            None if out[n].is_empty() && into[n].is_empty() => Attachment::Alone,
            None => Attachment::Core(NodeIndex::end()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{LinkSpec, NodeSpec, Service};
    use ratewire_units::Rate;

    fn network(nodes: u32, cables: &[(u32, u32, u64)]) -> NetworkSpec {
        let mut spec = NetworkSpec::default();
        for n in 0..nodes {
            spec.nodes.push(NodeSpec { name: format!("n{n}"), is_host: true, position: None });
        }
        for &(a, b, ms) in cables {
            for (from, to) in [(a, b), (b, a)] {
                spec.links.push(LinkSpec {
                    name: format!("n{from}->n{to}"),
                    from: NodeId(from),
                    to: NodeId(to),
                    service: Service::Rate(Rate::from_mbps(10)),
                    delay: Duration::from_millis(ms),
                    ..LinkSpec::default()
                });
            }
        }
        spec
    }

    fn names(spec: &NetworkSpec, path: Option<Vec<LinkId>>) -> String {
        let links =
            path.map(|p| p.iter().map(|l| spec.links[l.index()].name.clone()).collect::<Vec<_>>());
        links.map_or("none".into(), |l| l.join(" "))
    }

    #[test]
    fn takes_the_path_of_least_delay_then_of_fewest_links() {
        // A square 1-2-4-3-1 with leaves 0 on 1 and 5 on 4.
        let spec = network(6, &[(0, 1, 1), (1, 2, 5), (2, 4, 5), (1, 3, 2), (3, 4, 2), (4, 5, 1)]);
        let mut r = Pathfinder::new(&spec, &[], 1).unwrap();
        assert_eq!(names(&spec, r.path(NodeId(0), NodeId(5), 0)), "n0->n1 n1->n3 n3->n4 n4->n5");
        assert_eq!(names(&spec, r.path(NodeId(0), NodeId(0), 0)), "");
        assert_eq!(names(&spec, r.path(NodeId(1), NodeId(5), 0)), "n1->n3 n3->n4 n4->n5");
    }

    #[test]
    fn equal_paths_are_spread_by_flow_and_given_ones_win() {
        let spec = network(6, &[(0, 1, 1), (1, 2, 2), (2, 4, 2), (1, 3, 2), (3, 4, 2), (4, 5, 1)]);
        let mut r = Pathfinder::new(&spec, &[], 1).unwrap();
        let via_2 = (0..100)
            .filter(|f| names(&spec, r.path(NodeId(0), NodeId(5), *f)).contains("n2"))
            .count();
        assert!((30..70).contains(&via_2), "{via_2} of 100");
        let given = [0, 1, 3, 4, 5].map(NodeId).to_vec();
        let mut r = Pathfinder::new(&spec, &[given], 1).unwrap();
        assert!((0..20).all(|f| names(&spec, r.path(NodeId(0), NodeId(5), f)).contains("n3")));
        let broken = [0, 4].map(NodeId).to_vec();
        assert_eq!(
            Pathfinder::new(&spec, &[broken], 1).unwrap_err(),
            PathError { from: NodeId(0), to: NodeId(4) }
        );
    }

    #[test]
    fn demands_are_split_at_each_choice() {
        let spec = network(
            7,
            &[(0, 1, 1), (1, 2, 2), (2, 4, 2), (1, 3, 2), (3, 4, 2), (4, 5, 1), (6, 2, 1)],
        );
        let mut r = Pathfinder::new(&spec, &[], 1).unwrap();
        let mut links = vec![0.0; spec.links.len()];
        let demands = [(0, 5, 4.0), (6, 5, 1.0), (1, 0, 3.0), (5, 5, 9.0)];
        r.spread(&demands.map(|(from, to, amount)| (NodeId(from), NodeId(to), amount)), &mut links);
        let crossed = spec.links.iter().zip(&links).filter(|(_, amount)| **amount > 0.0);
        let crossed: Vec<(&str, f64)> = crossed.map(|(l, amount)| (&*l.name, *amount)).collect();
        let expected = [
            ("n0->n1", 4.0),
            ("n1->n0", 3.0),
            ("n1->n2", 2.0),
            ("n2->n4", 3.0),
            ("n1->n3", 2.0),
            ("n3->n4", 2.0),
            ("n4->n5", 5.0),
            ("n6->n2", 1.0),
        ];
        assert_eq!(crossed, expected);
    }

    #[test]
    fn the_seed_chooses_among_equal_paths() {
        let spec = network(6, &[(0, 1, 1), (1, 2, 2), (2, 4, 2), (1, 3, 2), (3, 4, 2), (4, 5, 1)]);
        let via_2 = |seed: u64| -> Vec<bool> {
            let mut r = Pathfinder::new(&spec, &[], seed).unwrap();
            let mut goes = |f| names(&spec, r.path(NodeId(0), NodeId(5), f)).contains("n2");
            (0..100).map(&mut goes).collect()
        };
        assert_eq!(via_2(1), via_2(1));
        let differ = via_2(1).iter().zip(via_2(2)).filter(|(one, other)| **one != *other).count();
        assert!((30..70).contains(&differ), "{differ} of 100");
    }

    #[test]
    fn a_choice_needs_two_equal_paths() {
        let spec = network(6, &[(0, 1, 1), (1, 2, 2), (2, 4, 2), (1, 3, 2), (3, 4, 2), (4, 5, 1)]);
        let mut r = Pathfinder::new(&spec, &[], 1).unwrap();
        assert!(r.has_choice(NodeId(0), NodeId(5)) && r.has_choice(NodeId(2), NodeId(3)));
        assert!(!r.has_choice(NodeId(0), NodeId(2)) && !r.has_choice(NodeId(0), NodeId(0)));
        let given = [0, 1, 3, 4, 5].map(NodeId).to_vec();
        let mut r = Pathfinder::new(&spec, &[given], 1).unwrap();
        assert!(!r.has_choice(NodeId(0), NodeId(5)) && r.has_choice(NodeId(5), NodeId(0)));
    }

    #[test]
    fn says_when_there_is_no_route() {
        let spec = network(5, &[(0, 1, 1), (2, 3, 1)]);
        let mut r = Pathfinder::new(&spec, &[], 1).unwrap();
        assert_eq!(
            names(&spec, r.path(NodeId(0), NodeId(1), 0)),
            "n0->n1",
            "two hosts on one cable"
        );
        assert_eq!(names(&spec, r.path(NodeId(0), NodeId(3), 0)), "none");
        assert_eq!(names(&spec, r.path(NodeId(0), NodeId(4), 0)), "none");
    }
}
