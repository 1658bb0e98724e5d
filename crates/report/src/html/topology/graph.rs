//! The graph that is drawn: nodes, and one edge for the two directions of a link. Many hosts of one
//! router become one node.

use std::collections::BTreeMap;

use ratewire_table::clip;

use crate::{NodeKind, RunInfo};

/// Most hosts drawn one by one; beyond, the hosts of each router are drawn as one.
const HOSTS: usize = 40;
/// Most hosts of one router drawn one by one.
const HOSTS_OF_ONE: usize = 14;

/// Letters of a name that are kept.
const NAME: usize = 40;

pub(super) struct Node {
    pub(super) name: String,
    pub(super) host: bool,
    pub(super) kind: NodeKind,
    /// The node's role in an ensemble.
    pub(super) part: String,
    pub(super) at: Option<(f64, f64)>,
    /// Number of hosts that the node stands for.
    pub(super) stands_for: usize,
    /// Flows that start at the node, less flows that end there.
    pub(super) sends: i64,
}

/// Two nodes and the links between them.
pub(super) struct Edge {
    pub(super) a: usize,
    pub(super) b: usize,
    /// Indices of the links from `a` to `b`, and back.
    pub(super) forth: Vec<u32>,
    pub(super) back: Vec<u32>,
    /// Index of the edge among parallel edges.
    pub(super) lane: usize,
}

pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

impl Graph {
    pub(super) fn of(info: &RunInfo) -> Graph {
        let nodes = info.topology.nodes.iter().map(|n| Node {
            name: clip(&n.name, NAME),
            host: matches!(n.kind, NodeKind::Host | NodeKind::Member),
            kind: n.kind,
            part: clip(&n.part, 80),
            at: n.at.filter(|(x, y)| x.is_finite() && y.is_finite()),
            stands_for: 1,
            sends: 0,
        });
        let mut nodes: Vec<Node> = nodes.collect();
        for flow in &info.flows {
            if let Some(node) = nodes.get_mut(flow.from as usize) {
                node.sends += 1;
            }
            if let Some(node) = nodes.get_mut(flow.to as usize) {
                node.sends -= 1;
            }
        }
        let edges = edges(info, nodes.len());
        let mut graph = Graph { nodes, edges };
        graph.gather();
        graph
    }

    /// For each node, its neighbours, in order and without repeats.
    pub(super) fn neighbours(&self) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            lists[edge.a].push(edge.b);
            lists[edge.b].push(edge.a);
        }
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        lists
    }

    /// For each host, the router that is its own: its only neighbour, named after it, as in
    /// networks read from files.
    pub(super) fn own_routers(&self) -> Vec<Option<usize>> {
        let neighbours = self.neighbours();
        let own = |(host, node): (usize, &Node)| {
            let &[router] = neighbours[host].as_slice() else { return None };
            let called = clip(&format!("{}.router", node.name), NAME);
            (node.host && self.nodes[router].name == called).then_some(router)
        };
        self.nodes.iter().enumerate().map(own).collect()
    }

    /// Merges the hosts of one router if there are too many to draw.
    fn gather(&mut self) {
        let neighbours = self.neighbours();
        let leaf = |i: usize| {
            self.nodes[i].host && neighbours[i].len() == 1 && !self.nodes[neighbours[i][0]].host
        };
        let mut hosts_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for i in (0..self.nodes.len()).filter(|&i| leaf(i)) {
            hosts_of.entry(neighbours[i][0]).or_default().push(i);
        }
        let total: usize = hosts_of.values().map(Vec::len).sum();
        let mut into: Vec<usize> = (0..self.nodes.len()).collect();
        for hosts in hosts_of.values() {
            let many = hosts.len() > HOSTS_OF_ONE || total > HOSTS;
            if !many || hosts.len() < 2 {
                continue;
            }
            for &host in hosts {
                into[host] = hosts[0];
            }
            let first = self.nodes[hosts[0]].name.clone();
            let last = self.nodes[hosts[hosts.len() - 1]].name.clone();
            self.nodes[hosts[0]].sends = hosts.iter().map(|&h| self.nodes[h].sends).sum();
            self.nodes[hosts[0]].stands_for = hosts.len();
            self.nodes[hosts[0]].name = format!("{first} … {last}");
            // The merged node stands in the middle of its hosts. At the first one's place the
            // drawing would stay as high as their column, and empty.
            self.nodes[hosts[0]].at = mean(hosts.iter().filter_map(|&h| self.nodes[h].at));
        }
        if into.iter().enumerate().all(|(i, &to)| i == to) {
            return;
        }
        let mut index = vec![usize::MAX; self.nodes.len()];
        let old = std::mem::take(&mut self.nodes);
        for (i, node) in old.into_iter().enumerate().filter(|(i, _)| into[*i] == *i) {
            index[i] = self.nodes.len();
            self.nodes.push(node);
        }
        let mut edges: Vec<Edge> = Vec::new();
        for edge in std::mem::take(&mut self.edges) {
            let (a, b) = (index[into[edge.a]], index[into[edge.b]]);
            let gathered = self.nodes[a].stands_for > 1 || self.nodes[b].stands_for > 1;
            let known = edges
                .iter_mut()
                .find(|e| gathered && (e.a.min(e.b), e.a.max(e.b)) == (a.min(b), a.max(b)));
            match known {
                Some(e) if e.a == a => {
                    e.forth.extend(edge.forth);
                    e.back.extend(edge.back);
                }
                Some(e) => {
                    e.forth.extend(edge.back);
                    e.back.extend(edge.forth);
                }
                None => edges.push(Edge { a, b, ..edge }),
            }
        }
        self.edges = edges;
    }
}

/// The mean of positions; `None` without any.
fn mean(places: impl Iterator<Item = (f64, f64)> + Clone) -> Option<(f64, f64)> {
    let count = places.clone().count();
    let (x, y) = places.fold((0.0, 0.0), |sum, at| (sum.0 + at.0, sum.1 + at.1));
    (count > 0).then(|| (x / count as f64, y / count as f64))
}

/// Pairs the two directions of each link; parallel links get lanes.
fn edges(info: &RunInfo, nodes: usize) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut between: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (link, index) in info.topology.links.iter().zip(0_u32..) {
        let (a, b) = (link.from as usize, link.to as usize);
        if a >= nodes || b >= nodes || a == b {
            continue;
        }
        let known = between.entry((a.min(b), a.max(b))).or_default();
        let free = known.iter().copied().find(|&e: &usize| {
            let edge: &Edge = &edges[e];
            if edge.a == a { edge.forth.is_empty() } else { edge.back.is_empty() }
        });
        match free {
            Some(e) if edges[e].a == a => edges[e].forth.push(index),
            Some(e) => edges[e].back.push(index),
            None => {
                let lane = known.len();
                known.push(edges.len());
                edges.push(Edge { a, b, forth: vec![index], back: Vec::new(), lane });
            }
        }
    }
    edges
}
