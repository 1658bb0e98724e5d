//! Counts deliveries to members of all groups.

use ratewire_overlay::GroupId;
use ratewire_units::{Duration, Time};

use super::content::Content;

/// Counters by group in a dense array: each message updates one of many.
#[derive(Debug)]
pub(super) struct OverlayTally {
    nodes: usize,
    /// Messages by group and node.
    delivered: Vec<u64>,
    /// Views by group and node.
    views: Vec<u64>,
    groups: Vec<GroupTally>,
    /// Views of daemons that each node has entered.
    entered: Vec<u64>,
    /// By node and sender: number of the last message.
    last: Vec<u64>,
    /// A sender whose message came to a node before an earlier one of it.
    overtaken: Option<u32>,
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
    pub(super) fn new(nodes: usize, groups: usize, senders: usize) -> OverlayTally {
        OverlayTally {
            nodes,
            delivered: vec![0; nodes * groups],
            views: vec![0; nodes * groups],
            groups: vec![GroupTally::default(); groups],
            entered: vec![0; nodes],
            last: vec![0; nodes * senders],
            overtaken: None,
        }
    }

    /// Notes the place of a message among its sender's, which must grow at each node.
    pub(super) fn check_order(&mut self, node: usize, told: &Content) {
        let senders = self.last.len() / self.nodes;
        let last = &mut self.last[node * senders + told.sender as usize];
        if told.sequence <= *last {
            self.overtaken.get_or_insert(told.sender);
        }
        *last = told.sequence;
    }

    /// A sender whose messages came to a node in another order, if there is one.
    pub(super) fn overtaken(&self) -> Option<u32> {
        self.overtaken
    }

    /// Counts a message of a group at a node.
    pub(super) fn message(&mut self, now: Time, (group, node): (GroupId, usize), told: &Content) {
        self.delivered[group.index() * self.nodes + node] += 1;
        let group = &mut self.groups[group.index()];
        let latency = now.since(told.bought);
        group.latency += u128::from(latency.ps());
        group.latency_max = group.latency_max.max(latency);
    }

    /// Counts a view of a group at a node.
    pub(super) fn view(&mut self, group: GroupId, node: usize) {
        let views = &mut self.views[group.index() * self.nodes + node];
        *views += 1;
        let group = &mut self.groups[group.index()];
        group.views = group.views.max(*views);
    }

    /// Counts a view of daemons that a node has entered.
    pub(super) fn entered(&mut self, node: usize) {
        self.entered[node] += 1;
    }

    /// Views of daemons that each node has entered since the start.
    pub(super) fn entered_by_node(&self) -> &[u64] {
        &self.entered
    }

    /// Messages delivered to each node, and the other counters, by group.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u64], &GroupTally)> {
        let by_node = |group: usize| &self.delivered[group * self.nodes..][..self.nodes];
        self.groups.iter().enumerate().map(move |(group, told)| (by_node(group), told))
    }
}
