//! Counts deliveries to members of all groups.

use ratewire_overlay::GroupId;
use ratewire_units::{Duration, Time};

/// Counters by group in a dense array: each message updates one of many.
#[derive(Debug)]
pub(super) struct OverlayTally {
    nodes: usize,
    /// Messages by group and node.
    delivered: Vec<u64>,
    groups: Vec<GroupTally>,
}

/// Counters of a group over all nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupTally {
    /// Sum of the times from purchase to delivery at a node, in picoseconds.
    pub(super) latency: u128,
    /// Longest of these times.
    pub(super) latency_max: Duration,
    /// View changes: the highest number at a node.
    pub(super) views: u64,
}

impl OverlayTally {
    pub(super) fn new(nodes: usize, groups: usize) -> OverlayTally {
        let delivered = vec![0; nodes * groups];
        OverlayTally { nodes, delivered, groups: vec![GroupTally::default(); groups] }
    }

    /// Counts a message of a group, bought then, at a node.
    #[inline]
    pub(super) fn message(&mut self, now: Time, group: GroupId, node: usize, bought: Time) {
        self.delivered[group.index() * self.nodes + node] += 1;
        let told = &mut self.groups[group.index()];
        let latency = now.since(bought);
        told.latency += u128::from(latency.ps());
        told.latency_max = told.latency_max.max(latency);
    }

    /// Counts a view of a group with this number.
    pub(super) fn view(&mut self, group: GroupId, number: u64) {
        let views = &mut self.groups[group.index()].views;
        *views = number.max(*views);
    }

    /// Messages delivered to each node, and the other counters, by group.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u64], &GroupTally)> {
        let by_node = |group: usize| &self.delivered[group * self.nodes..][..self.nodes];
        self.groups.iter().enumerate().map(move |(group, told)| (by_node(group), told))
    }
}
