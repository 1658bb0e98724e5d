use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Pairs of a member and the members that it waits for.
fn waiting(edges: &[(u32, &[u32])]) -> BTreeMap<u32, BTreeSet<u32>> {
    edges.iter().map(|(from, to)| (*from, to.iter().copied().collect())).collect()
}

/// The knot in which a member is stuck if one member that it waits for is.
fn find(edges: &BTreeMap<u32, BTreeSet<u32>>) -> (BTreeSet<u32>, Vec<u32>) {
    let of = |k: u32| edges.get(&k).cloned().unwrap_or_default();
    let free = |set: &BTreeSet<u32>| {
        set.iter().copied().filter(|k| of(*k).is_disjoint(set)).collect::<Vec<_>>()
    };
    let knot = knot(edges.keys().copied().collect(), free);
    let ring = ring(&knot, of);
    (knot, ring)
}

#[test]
fn a_ring_is_found_with_what_hangs_on_it() {
    // 7 waits for the ring 3 -> 5 -> 4 -> 3; 1 waits for 2, which can send.
    let edges = waiting(&[(7, &[3]), (3, &[5]), (5, &[4]), (4, &[3]), (1, &[2]), (2, &[])]);
    let (knot, ring) = find(&edges);
    assert_eq!(knot, BTreeSet::from([3, 4, 5, 7]));
    assert_eq!(ring, [3, 5, 4]);
}

#[test]
fn a_tree_is_no_knot() {
    let edges = waiting(&[(1, &[2, 3]), (2, &[4]), (3, &[4]), (4, &[])]);
    assert_eq!(find(&edges), (BTreeSet::new(), Vec::new()));
}

proptest! {
    /// There is a knot exactly if the graph has a cycle, and the ring is one.
    #[test]
    fn a_knot_is_a_cycle(edges in prop::collection::btree_map(0u32..8, prop::collection::btree_set(0u32..8, 0..3), 0..8)) {
        let (knot, ring) = find(&edges);
        // A second way to the same answer: the powers of the relation.
        let mut reach = [[false; 8]; 8];
        for (from, to) in &edges {
            for t in to {
                // A member without edges is no suspect.
                reach[*from as usize][*t as usize] = edges.contains_key(t);
            }
        }
        for via in 0..8 {
            for a in 0..8 {
                for b in 0..8 {
                    reach[a][b] |= reach[a][via] && reach[via][b];
                }
            }
        }
        let cyclic = (0..8).any(|k| reach[k][k]);
        prop_assert_eq!(!knot.is_empty(), cyclic);
        prop_assert_eq!(ring.is_empty(), !cyclic);
        for (i, k) in ring.iter().enumerate() {
            prop_assert!(edges[k].contains(&ring[(i + 1) % ring.len()]));
        }
    }
}
