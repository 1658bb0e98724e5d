//! Which links packets between two nodes cross: the given path, else the one with the shortest
//! propagation delay; of those the one with the fewest links; of those the one whose links come
//! first. What the engine does with the same rule is then known before the run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ratewire_units::Duration;

use super::Net;

/// Routes of a network, found when asked for.
pub(crate) struct Routes<'a> {
    net: &'a Net,
    /// Links by the node they start at.
    out: Vec<Vec<usize>>,
    /// By root: for each node, the link by which the best path from the root reaches it.
    trees: BTreeMap<usize, Vec<Option<usize>>>,
}

impl<'a> Routes<'a> {
    pub fn new(net: &'a Net) -> Routes<'a> {
        let mut out = vec![Vec::new(); net.nodes.len()];
        for (id, link) in net.links.iter().enumerate() {
            out[link.from].push(id);
        }
        Routes { net, out, trees: BTreeMap::new() }
    }

    /// The links from `from` to `to`; none if they are the same node, `None` if there is no way.
    pub fn links(&mut self, from: usize, to: usize) -> Option<Vec<usize>> {
        if from == to {
            return Some(Vec::new());
        }
        if let Some(path) = self.net.paths.get(&(from, to)) {
            return path.windows(2).map(|hop| self.between(hop[0], hop[1])).collect();
        }
        // A host with one link has the paths of its router: one tree serves all hosts of a router.
        let mut first = None;
        let mut root = from;
        if let [only] = self.out[from].as_slice() {
            first = Some(*only);
            root = self.net.links[*only].to;
        }
        let mut links = Vec::new();
        let mut at = to;
        let net = self.net;
        let tree = self.tree(root);
        while at != root {
            let link = tree[at]?;
            links.push(link);
            at = net.links[link].from;
        }
        links.extend(first);
        links.reverse();
        Some(links)
    }

    /// The best of the links from one node to the next.
    fn between(&self, from: usize, to: usize) -> Option<usize> {
        let links = self.out[from].iter().copied().filter(|id| self.net.links[*id].to == to);
        links.min_by_key(|id| delay(self.net, *id))
    }

    fn tree(&mut self, root: usize) -> &[Option<usize>] {
        let (net, out) = (self.net, &self.out);
        self.trees.entry(root).or_insert_with(|| {
            let mut by: Vec<Option<usize>> = vec![None; net.nodes.len()];
            let mut best = vec![(u64::MAX, u32::MAX, usize::MAX); net.nodes.len()];
            best[root] = (0, 0, 0);
            let mut queue = BinaryHeap::from([Reverse((0, 0, 0, root))]);
            while let Some(Reverse((d, hops, through, node))) = queue.pop() {
                if best[node] != (d, hops, through) {
                    continue;
                }
                for &id in &out[node] {
                    let to = net.links[id].to;
                    let far = d.saturating_add(delay(net, id).ps());
                    let key = (far, hops + 1, id);
                    if key < best[to] && to != root {
                        best[to] = key;
                        by[to] = Some(id);
                        queue.push(Reverse((far, hops + 1, id, to)));
                    }
                }
            }
            by
        })
    }
}

fn delay(net: &Net, link: usize) -> Duration {
    net.links[link].properties.delay.map_or(Duration::ZERO, |delay| delay.value)
}
