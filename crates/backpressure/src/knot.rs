//! Buffers that wait for each other for ever.
//!
//! A buffer is stuck if the packets that it holds for transmitters that cannot send are enough to
//! keep its own upstream paused. In a knot each member is stuck as long as all the others are: no
//! packet can ever leave any of them. The largest knot remains when buffers that are not stuck are
//! taken away until none is left; each knot contains a ring. A tree of congestion is no knot: its
//! root sends.

use std::collections::BTreeSet;

/// The largest set of `suspects` in which each is stuck while all of them are; empty if there is
/// none. `free` returns the members of a set that are not stuck while the others are.
pub fn knot<K: Ord + Copy>(
    suspects: BTreeSet<K>,
    mut free: impl FnMut(&BTreeSet<K>) -> Vec<K>,
) -> BTreeSet<K> {
    let mut knot = suspects;
    loop {
        let free = free(&knot);
        if free.is_empty() {
            return knot;
        }
        for k in free {
            knot.remove(&k);
        }
    }
}

/// A ring in a knot: each member waits for the next, the last for the first, and the first is the
/// smallest. `waits_for` returns the members that a member waits for.
pub fn ring<K: Ord + Copy>(
    knot: &BTreeSet<K>,
    mut waits_for: impl FnMut(K) -> BTreeSet<K>,
) -> Vec<K> {
    let mut way: Vec<K> = Vec::new();
    let mut at = knot.first().copied();
    while let Some(k) = at {
        if let Some(start) = way.iter().position(|seen| *seen == k) {
            let mut ring = way.split_off(start);
            let least = ring.iter().enumerate().min_by_key(|(_, k)| **k).map_or(0, |(i, _)| i);
            ring.rotate_left(least);
            return ring;
        }
        way.push(k);
        at = waits_for(k).intersection(knot).next().copied();
    }
    Vec::new()
}

#[cfg(test)]
#[path = "knot_tests.rs"]
mod tests;
