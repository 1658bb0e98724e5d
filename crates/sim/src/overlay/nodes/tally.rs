//! Counts deliveries to members of all groups.

use ratewire_overlay::{Delivery, OverlayNode};
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
    /// View changes.
    pub(super) views: u64,
}

impl OverlayTally {
    pub(super) fn new(nodes: usize, groups: usize) -> OverlayTally {
        let delivered = vec![0; nodes * groups];
        OverlayTally { nodes, delivered, groups: vec![GroupTally::default(); groups] }
    }

    /// Counts the messages that a node has for its clients.
    pub(super) fn note(&mut self, now: Time, node: &mut OverlayNode) {
        while let Some(delivery) = node.poll_delivery() {
            match delivery {
                Delivery::Data { group, bought, .. } => {
                    self.delivered[group.index() * self.nodes + node.id().index()] += 1;
                    let told = &mut self.groups[group.index()];
                    let latency = now.since(bought);
                    told.latency += u128::from(latency.ps());
                    told.latency_max = told.latency_max.max(latency);
                }
                Delivery::View { group, number, .. } => {
                    let told = &mut self.groups[group.index()];
                    told.views = told.views.max(number);
                }
            }
        }
    }

    /// Messages delivered to each node, and the other counters, by group.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u64], &GroupTally)> {
        let by_node = |group: usize| &self.delivered[group * self.nodes..][..self.nodes];
        self.groups.iter().enumerate().map(move |(group, told)| (by_node(group), told))
    }
}
