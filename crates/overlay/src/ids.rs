//! Names of nodes, links, groups and clients.

use serde::{Deserialize, Serialize};

/// Maximum number of nodes of an overlay: every message carries the set of its destinations.
pub const MOST_NODES: usize = 128;

/// A node: a host that runs a daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OverlayNodeId(pub u8);

/// A one-way link of the overlay, from one node's daemon to another's.
///
/// An edge runs over many links of the network below, which have a `LinkId` of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeId(pub u16);

/// A group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupId(pub u32);

/// A client of some node, numbered over the whole overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u32);

impl OverlayNodeId {
    /// Index in a list of all nodes.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}
impl EdgeId {
    /// Index in a list of all links.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}
impl GroupId {
    /// Index in a list of all groups.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
impl ClientId {
    /// Index in a list of all clients.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeSet([u64; MOST_NODES / 64]);

impl NodeSet {
    /// The empty set.
    pub const EMPTY: NodeSet = NodeSet([0; MOST_NODES / 64]);

    /// The first `count` nodes.
    pub fn first(count: usize) -> NodeSet {
        (0..count).map(|i| OverlayNodeId(i as u8)).collect()
    }
    /// Adds a node.
    pub fn insert(&mut self, node: OverlayNodeId) {
        self.0[node.index() / 64] |= 1 << (node.index() % 64);
    }
    /// Removes a node.
    pub fn remove(&mut self, node: OverlayNodeId) {
        self.0[node.index() / 64] &= !(1 << (node.index() % 64));
    }
    /// Whether the set contains a node.
    pub fn contains(&self, node: OverlayNodeId) -> bool {
        self.0[node.index() / 64] >> (node.index() % 64) & 1 == 1
    }
    /// Whether the two sets have a node in common.
    #[inline]
    pub fn meets(&self, other: &NodeSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
    /// Nodes of the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = OverlayNodeId> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            let rest = |bits: &u64| Some(bits & (bits - 1)).filter(|rest| *rest != 0);
            let all = core::iter::successors(Some(*bits).filter(|bits| *bits != 0), rest);
            all.map(move |bits| OverlayNodeId((word * 64) as u8 + bits.trailing_zeros() as u8))
        })
    }
    /// Nodes in both sets.
    pub fn and(&self, other: &NodeSet) -> NodeSet {
        NodeSet(core::array::from_fn(|i| self.0[i] & other.0[i]))
    }
    /// Nodes in one of the sets.
    pub fn or(&self, other: &NodeSet) -> NodeSet {
        NodeSet(core::array::from_fn(|i| self.0[i] | other.0[i]))
    }
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        *self == NodeSet::EMPTY
    }
    /// The set without `node`.
    pub fn without(mut self, node: OverlayNodeId) -> NodeSet {
        self.remove(node);
        self
    }
}

impl FromIterator<OverlayNodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = OverlayNodeId>>(nodes: I) -> NodeSet {
        let mut set = NodeSet::EMPTY;
        nodes.into_iter().for_each(|node| set.insert(node));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        let mut set: NodeSet = [0, 63, 64, 127].map(OverlayNodeId).into_iter().collect();
        assert_eq!(set.len(), 4);
        assert!(set.contains(OverlayNodeId(64)) && !set.contains(OverlayNodeId(65)));
        assert!(
            set.meets(&NodeSet::first(1)) && !set.meets(&[OverlayNodeId(1)].into_iter().collect())
        );
        set.remove(OverlayNodeId(64));
        assert!(!set.contains(OverlayNodeId(64)));
        assert_eq!(NodeSet::first(MOST_NODES).len(), MOST_NODES);
        assert!(NodeSet::first(1).without(OverlayNodeId(0)).is_empty());
    }
}
