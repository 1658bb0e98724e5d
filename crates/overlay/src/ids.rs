//! Names of nodes, links, groups and clients.

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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

/// Bytes of a set: a first one below 128 is the only node; `0x80 | n` precedes `n` bytes of bits,
/// and `0xa0 | n` precedes `n` numbers at which nodes begin to be in the set, or not to be. A set
/// is written in the shortest of these.
impl NodeSet {
    const BITS: u8 = 0x80;
    const RUNS: u8 = 0xa0;
    const LONGEST: usize = 1 + MOST_NODES / 8;

    fn to_bytes(self) -> ([u8; NodeSet::LONGEST], usize) {
        let mut bytes = [0; NodeSet::LONGEST];
        if self.len() == 1 {
            self.iter().for_each(|node| bytes[0] = node.0);
            return (bytes, 1);
        }
        let mut bits = 0;
        for (place, byte) in self.0.iter().flat_map(|word| word.to_le_bytes()).enumerate() {
            bytes[1 + place] = byte;
            if byte != 0 {
                bits = 1 + place;
            }
        }
        let mut runs = ([0; NodeSet::LONGEST], 0);
        let is_in =
            |number: usize| number < MOST_NODES && self.contains(OverlayNodeId(number as u8));
        let mut before = false;
        for number in 0..=MOST_NODES {
            if is_in(number) != before {
                before = !before;
                if runs.1 + 1 >= bits {
                    bytes[0] = NodeSet::BITS | bits as u8;
                    return (bytes, 1 + bits);
                }
                runs.1 += 1;
                runs.0[runs.1] = number as u8;
            }
        }
        runs.0[0] = NodeSet::RUNS | runs.1 as u8;
        (runs.0, 1 + runs.1)
    }
}

impl Serialize for NodeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (bytes, length) = self.to_bytes();
        let mut tuple = serializer.serialize_tuple(length)?;
        bytes[..length].iter().try_for_each(|byte| tuple.serialize_element(byte))?;
        tuple.end()
    }
}

impl<'de> Deserialize<'de> for NodeSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NodeSet, D::Error> {
        deserializer.deserialize_tuple(NodeSet::LONGEST, Bytes)
    }
}

/// Reads the bytes of a set.
struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = NodeSet;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the bytes of a set of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut bytes: A) -> Result<NodeSet, A::Error> {
        let mut next = || bytes.next_element::<u8>()?.ok_or_else(|| A::Error::custom("too short"));
        let first = next()?;
        let count = usize::from(first & !NodeSet::RUNS);
        let mut set = NodeSet::EMPTY;
        match first & NodeSet::RUNS {
            NodeSet::BITS if first & 0x40 == 0 && count < NodeSet::LONGEST => {
                for place in 0..count {
                    set.0[place / 8] |= u64::from(next()?) << (place % 8 * 8);
                }
            }
            NodeSet::RUNS if first & 0x40 == 0 && count < NodeSet::LONGEST => {
                let mut begun = None;
                let mut least = 0;
                for _ in 0..count {
                    let number = next()?;
                    if number < least || usize::from(number) > MOST_NODES {
                        return Err(A::Error::custom("numbers out of order"));
                    }
                    least = number + 1;
                    match begun.take() {
                        None => begun = Some(number),
                        Some(begin) => (begin..number).for_each(|i| set.insert(OverlayNodeId(i))),
                    }
                }
                if begun.is_some() {
                    return Err(A::Error::custom("nodes without an end"));
                }
            }
            _ if usize::from(first) < MOST_NODES => set.insert(OverlayNodeId(first)),
            _ => return Err(A::Error::custom("an unknown form")),
        }
        Ok(set)
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
    use proptest::prelude::*;

    use super::*;

    fn set(nodes: impl IntoIterator<Item = u8>) -> NodeSet {
        nodes.into_iter().map(OverlayNodeId).collect()
    }

    fn bytes(set: &NodeSet) -> Vec<u8> {
        postcard::to_allocvec(set).unwrap()
    }

    #[test]
    fn sets_have_these_bytes() {
        assert_eq!(bytes(&set([77])), [77]);
        assert_eq!(bytes(&NodeSet::EMPTY), [0xa0]);
        assert_eq!(bytes(&set([0, 2, 7])), [0x81, 0x85]);
        assert_eq!(bytes(&NodeSet::first(50).without(OverlayNodeId(9))), [0xa4, 0, 9, 10, 50]);
        assert_eq!(bytes(&NodeSet::first(MOST_NODES)), [0xa2, 0, 128]);
        assert_eq!(bytes(&set((0..128).step_by(3))).len(), 17);
        for bad in [&[0xa1, 5][..], &[0xa2, 5, 5], &[0xa2, 5, 129], &[0x91], &[0xc1, 0], &[0x81]] {
            assert!(postcard::from_bytes::<NodeSet>(bad).is_err(), "{bad:x?}");
        }
    }

    proptest! {
        #[test]
        fn sets_that_are_written_are_read(words: [u64; 2], fewer: [u64; 2], sparse: bool) {
            let word = |i: usize| if sparse { words[i] & fewer[i] & fewer[1 - i] } else { words[i] };
            let set = NodeSet([word(0), word(1)]);
            prop_assert_eq!(postcard::from_bytes::<NodeSet>(&bytes(&set)), Ok(set));
        }

        #[test]
        fn any_bytes_are_a_set_or_not(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            _ = postcard::from_bytes::<NodeSet>(&bytes);
        }
    }

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
