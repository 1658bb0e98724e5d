//! Links that packets between two nodes cross, by the engine's own rule.
//!
//! The engine takes the given path, or else the paths of least delay, and among these the ones with
//! the fewest links. Where several remain, the engine draws one for each flow; here each link has
//! the share of flows that cross it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ratewire_units::Duration;

use super::Net;

/// Links with the share of flows that cross each of them.
pub(crate) type Shares = Vec<(usize, f64)>;

/// Routes of a network, computed on demand.
pub(crate) struct Routes<'a> {
    net: &'a Net,
    /// Links by the node that they start at.
    out: Vec<Vec<usize>>,
    /// Links by the node that they lead to.
    into: Vec<Vec<usize>>,
    /// Cost from each node, by destination; [`u64::MAX`] where there is no route.
    costs: BTreeMap<usize, Vec<u64>>,
}

impl<'a> Routes<'a> {
    pub fn new(net: &'a Net) -> Routes<'a> {
        let mut out = vec![Vec::new(); net.nodes.len()];
        let mut into = out.clone();
        for (id, link) in net.links.iter().enumerate() {
            out[link.from].push(id);
            into[link.to].push(id);
        }
        Routes { net, out, into, costs: BTreeMap::new() }
    }

    /// Links of all best paths between two nodes; `None` if there is no route.
    pub fn shares(&mut self, from: usize, to: usize) -> Option<Shares> {
        if from == to {
            return Some(Vec::new());
        }
        let net = self.net;
        if let Some(path) = net.paths.get(&(from, to)) {
            let hop = |pair: &[usize]| {
                let mut links = self.out[pair[0]].iter().copied();
                links.find(|id| net.links[*id].to == pair[1])
            };
            return path.windows(2).map(|pair| Some((hop(pair)?, 1.0))).collect();
        }
        // One search from its only neighbour serves all hosts of a router.
        let (end, last) = match self.into[to].as_slice() {
            [only] => (net.links[*only].from, Some(*only)),
            _ => (to, None),
        };
        let mut shares = self.walk(from, end)?;
        shares.extend(last.map(|id| (id, 1.0)));
        Some(shares)
    }

    fn walk(&mut self, from: usize, end: usize) -> Option<Shares> {
        let (net, into) = (self.net, &self.into);
        let costs = self.costs.entry(end).or_insert_with(|| search(net, into, end));
        let mut shares = Shares::new();
        // Nodes still to visit, the farthest first, so that a node's share is complete when it is
        // visited.
        let mut open = BTreeMap::from([((costs[from], from), 1.0)]);
        while let Some(((left, node), share)) = open.pop_last() {
            if node == end {
                return Some(shares);
            }
            if left == u64::MAX {
                return None;
            }
            let best =
                |id: &&usize| cost(net, **id).saturating_add(costs[net.links[**id].to]) == left;
            let next: Vec<usize> = self.out[node].iter().filter(best).copied().collect();
            for &id in &next {
                let part = share / next.len() as f64;
                let to = net.links[id].to;
                shares.push((id, part));
                *open.entry((costs[to], to)).or_insert(0.0) += part;
            }
        }
        None
    }
}

/// Propagation delay of a route; all its paths have the same but for rounding.
pub(crate) fn delay(net: &Net, shares: &[(usize, f64)]) -> Duration {
    let sum: f64 = shares.iter().map(|(id, share)| net.delay(*id).ps() as f64 * share).sum();
    Duration::from_ps((sum + 0.5) as u64)
}

/// Cost from each node to `end`.
fn search(net: &Net, into: &[Vec<usize>], end: usize) -> Vec<u64> {
    let mut costs = vec![u64::MAX; net.nodes.len()];
    costs[end] = 0;
    let mut queue = BinaryHeap::from([Reverse((0, end))]);
    while let Some(Reverse((far, node))) = queue.pop() {
        if far > costs[node] {
            continue;
        }
        for &id in &into[node] {
            let from = net.links[id].from;
            let through = far.saturating_add(cost(net, id));
            if through < costs[from] {
                costs[from] = through;
                queue.push(Reverse((through, from)));
            }
        }
    }
    costs
}

/// Delay in picoseconds plus 1, so that of two equally long paths the one with fewer links is
/// cheaper.
fn cost(net: &Net, link: usize) -> u64 {
    net.delay(link).ps().saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    use ratewire_laws::LawSet;
    use ratewire_net::queue::DisciplineSet;
    use ratewire_units::Bytes;

    use crate::context::Context;
    use crate::diagnostic::{Source, Span};
    use crate::document::At;
    use crate::network::properties::Properties;
    use crate::network::{Link, Usual};

    /// A network of one-way links, given as from, to and delay in milliseconds.
    fn net(nodes: usize, links: &[(usize, usize, u64)]) -> Net {
        let sources = [Source { name: String::new(), text: String::new() }];
        let (laws, no_files) = (LawSet::in_tree(), |_: &str| Err(ErrorKind::NotFound.into()));
        let disciplines = DisciplineSet::in_tree();
        let context = Context::new(&sources, &laws, &disciplines, &no_files, BTreeMap::new());
        let mut net = Net::new(Usual::read(&context, Bytes::new(1500)));
        let node = |i: usize| ratewire_net::spec::NodeSpec {
            name: i.to_string(),
            is_host: true,
            position: None,
        };
        net.nodes = (0..nodes).map(node).collect();
        for &(from, to, ms) in links {
            let delay = At { value: Duration::from_millis(ms), span: Span::default() };
            let properties = Properties { delay: Some(delay), ..Properties::default() };
            let (name, span) = (String::new(), Span::default());
            net.links.push(Link { name, from, to, properties, access: false, peer: None, span });
        }
        net
    }

    #[test]
    fn flows_are_shared_among_equal_paths() {
        // 0 -> 1, then by 2 or by 3 to 4, then 5; 1 -> 6 -> 4 is longer.
        let links = [
            (0, 1, 1),
            (1, 2, 2),
            (2, 4, 2),
            (1, 3, 2),
            (3, 4, 2),
            (4, 5, 1),
            (1, 6, 3),
            (6, 4, 3),
        ];
        let mut net = net(7, &links);
        let mut routes = Routes::new(&net);
        let mut shares = routes.shares(0, 5).unwrap();
        shares.sort_by_key(|(id, _)| *id);
        assert_eq!(shares, [(0, 1.0), (1, 0.5), (2, 0.5), (3, 0.5), (4, 0.5), (5, 1.0)]);
        assert_eq!(delay(&net, &shares), Duration::from_millis(6));
        assert_eq!(routes.shares(5, 0), None);
        assert_eq!(routes.shares(3, 3), Some(Vec::new()));
        net.paths.insert((0, 5), vec![0, 1, 6, 4, 5]);
        let given = Routes::new(&net).shares(0, 5).unwrap();
        assert_eq!(delay(&net, &given), Duration::from_millis(8));
    }

    #[test]
    fn the_fewest_links_of_the_shortest() {
        let net = net(4, &[(0, 1, 0), (1, 3, 0), (0, 2, 0), (2, 1, 0)]);
        let shares = Routes::new(&net).shares(0, 3).unwrap();
        assert_eq!(shares, [(0, 1.0), (1, 1.0)]);
    }
}
