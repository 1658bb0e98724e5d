//! What the members of all groups were handed.

use ratewire_overlay::{Delivery, Node};
use ratewire_units::{Duration, Time};

/// By group, dense: each message comes to one of many.
#[derive(Debug)]
pub(super) struct OverlayTally {
    nodes: usize,
    /// Messages, by group and node.
    delivered: Vec<u64>,
    groups: Vec<GroupTally>,
}

/// Of one group, at all nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupTally {
    /// Sum and largest of the times from purchase to delivery at a node.
    pub(super) latency: u128,
    pub(super) latency_max: Duration,
    /// View changes.
    pub(super) views: u64,
}

impl OverlayTally {
    pub(super) fn new(nodes: usize, groups: usize) -> OverlayTally {
        let delivered = vec![0; nodes * groups];
        OverlayTally { nodes, delivered, groups: vec![GroupTally::default(); groups] }
    }

    /// Notes what a node has for its clients.
    pub(super) fn note(&mut self, now: Time, node: &mut Node) {
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

    /// By group: messages that each node was handed, and all else.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u64], &GroupTally)> {
        let by_node = |group: usize| &self.delivered[group * self.nodes..][..self.nodes];
        self.groups.iter().enumerate().map(move |(group, told)| (by_node(group), told))
    }
}
