//! Shortest-path multicast trees, one rooted at each node (section 3.1).
//!
//! Trees depend on the nodes and not on the members of a group: a message goes down those branches
//! of its origin's tree that lead to a destination.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ratewire_units::Duration;

use crate::ids::{EdgeId, NodeSet, OverlayNodeId};

/// A one-way link of the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeSpec {
    /// Node at the begin.
    pub from: OverlayNodeId,
    /// Node at the end.
    pub to: OverlayNodeId,
    /// Length of the link for shortest paths.
    pub delay: Duration,
}

/// The trees of all nodes.
#[derive(Clone, Debug)]
pub struct Trees {
    nodes: usize,
    links: Vec<EdgeSpec>,
    /// By link: its index among those of its node.
    places: Vec<u8>,
    /// Links down which messages go, with the nodes that they reach: all those of each origin and
    /// node in turn.
    branches: Vec<(EdgeId, NodeSet)>,
    /// By origin and node: end of its branches.
    ends: Vec<u32>,
}

/// No path leads from the first node to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable(pub OverlayNodeId, pub OverlayNodeId);

impl Trees {
    /// The trees of an overlay with this many nodes and these links. Among equally short paths the
    /// one with the fewest links is taken, and among those the one whose last link has the lowest
    /// number.
    ///
    /// # Errors
    /// If some node cannot be reached from another.
    pub fn new(nodes: usize, links: &[EdgeSpec]) -> Result<Trees, Unreachable> {
        Trees::among(nodes, links, &NodeSet::first(nodes), |_| true)
    }

    /// The trees among some of an overlay's nodes, over the links between them that are up.
    ///
    /// # Errors
    /// If one of these nodes cannot be reached from another.
    pub fn among(
        nodes: usize,
        links: &[EdgeSpec],
        members: &NodeSet,
        is_up: impl Fn(&EdgeSpec) -> bool,
    ) -> Result<Trees, Unreachable> {
        let usable = |link: &EdgeSpec| {
            members.contains(link.from) && members.contains(link.to) && is_up(link)
        };
        let usable: Vec<bool> = links.iter().map(usable).collect();
        let mut branches = Vec::new();
        let mut ends = Vec::with_capacity(nodes * nodes);
        for origin in 0..nodes {
            let origin = OverlayNodeId(origin as u8);
            let parents = shortest(nodes, links, &usable, origin);
            let mut here = vec![Vec::new(); nodes];
            let ends_of = members.iter().filter(|node| *node != origin && members.contains(origin));
            for end in ends_of.map(OverlayNodeId::index) {
                if parents[end].is_none() {
                    return Err(Unreachable(origin, OverlayNodeId(end as u8)));
                }
                let mut at = end;
                while let Some(link) = parents[at] {
                    let parent = links[link.index()].from.index();
                    let list: &mut Vec<(EdgeId, NodeSet)> = &mut here[parent];
                    let place = match list.iter().position(|(known, _)| *known == link) {
                        Some(place) => place,
                        None => {
                            list.push((link, NodeSet::EMPTY));
                            list.len() - 1
                        }
                    };
                    list[place].1.insert(OverlayNodeId(end as u8));
                    at = parent;
                }
            }
            for mut list in here {
                list.sort_by_key(|(link, _)| *link);
                branches.append(&mut list);
                ends.push(branches.len() as u32);
            }
        }
        let mut own = vec![0; nodes];
        let place = |link: &EdgeSpec| {
            let own = &mut own[link.from.index()];
            *own += 1;
            *own - 1
        };
        let places = links.iter().map(place).collect();
        Ok(Trees { nodes, links: links.to_vec(), places, branches, ends })
    }

    /// Index of a link among those of its node, in order.
    pub fn place(&self, link: EdgeId) -> usize {
        usize::from(self.places[link.index()])
    }

    /// Links down which `node` forwards what `origin` sends to `to`.
    #[inline]
    pub fn down<'a>(
        &'a self,
        origin: OverlayNodeId,
        node: OverlayNodeId,
        to: &'a NodeSet,
    ) -> impl Iterator<Item = EdgeId> + 'a {
        let branches = self.branches(origin, node).iter();
        branches.filter(|(_, reached)| reached.meets(to)).map(|(link, _)| *link)
    }

    #[inline]
    fn branches(&self, origin: OverlayNodeId, node: OverlayNodeId) -> &[(EdgeId, NodeSet)] {
        let place = origin.index() * self.nodes + node.index();
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.branches[start as usize..self.ends[place] as usize]
    }

    /// Nodes that messages of `origin` reach over `link`.
    pub fn beyond(&self, origin: OverlayNodeId, link: EdgeId) -> NodeSet {
        let from = self.links[link.index()].from;
        let mut branches = self.branches(origin, from).iter();
        branches.find(|(id, _)| *id == link).map_or(NodeSet::EMPTY, |(_, reached)| *reached)
    }

    /// All links that a message from `origin` to `to` crosses, in order of their numbers.
    pub fn crossed(&self, origin: OverlayNodeId, to: &NodeSet) -> Vec<EdgeId> {
        let nodes = (0..self.nodes).map(|node| OverlayNodeId(node as u8));
        let mut links: Vec<EdgeId> = nodes.flat_map(|node| self.down(origin, node, to)).collect();
        links.sort_unstable();
        links
    }
}

/// The link by which each node is reached from `origin` over usable links.
fn shortest(
    nodes: usize,
    links: &[EdgeSpec],
    usable: &[bool],
    origin: OverlayNodeId,
) -> Vec<Option<EdgeId>> {
    let mut best = vec![(Duration::MAX, usize::MAX); nodes];
    let mut parents: Vec<Option<EdgeId>> = vec![None; nodes];
    let mut open = BinaryHeap::new();
    best[origin.index()] = (Duration::ZERO, 0);
    open.push(Reverse((Duration::ZERO, 0, origin)));
    while let Some(Reverse((delay, hops, node))) = open.pop() {
        if (delay, hops) > best[node.index()] {
            continue;
        }
        let own =
            links.iter().enumerate().filter(|(number, link)| link.from == node && usable[*number]);
        for (number, link) in own {
            let found = (delay + link.delay, hops + 1);
            let known = best[link.to.index()];
            let id = EdgeId(number as u16);
            let first = parents[link.to.index()].is_none_or(|old| id < old);
            if found < known || (found == known && first) {
                best[link.to.index()] = found;
                parents[link.to.index()] = Some(id);
                open.push(Reverse((found.0, found.1, link.to)));
            }
        }
    }
    parents
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
