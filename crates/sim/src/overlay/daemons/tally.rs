//! Counts what daemons deliver, and watches its order.

use ratewire_overlay::GroupId;
use ratewire_units::Time;

use super::super::tally::OverlayTally;
use super::content::Content;

/// Deliveries, views and the order of messages.
#[derive(Debug)]
pub(super) struct DaemonTally {
    nodes: usize,
    /// Messages and views of groups.
    pub(super) groups: OverlayTally,
    /// Views by group and node.
    views: Vec<u64>,
    /// Views of daemons that each node has entered.
    entered: Vec<u64>,
    /// By node and sender: number of the last message.
    last: Vec<u32>,
    /// A sender whose message came to a node before an earlier one of it.
    overtaken: Option<u32>,
}

impl DaemonTally {
    pub(super) fn new(nodes: usize, groups: usize, senders: usize) -> DaemonTally {
        DaemonTally {
            nodes,
            groups: OverlayTally::new(nodes, groups),
            views: vec![0; nodes * groups],
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

    /// Counts a message at a node.
    pub(super) fn message(&mut self, now: Time, node: usize, told: &Content) {
        self.groups.message(now, told.group, node, told.bought);
    }

    /// Counts a view of a group at a node.
    pub(super) fn view(&mut self, group: GroupId, node: usize) {
        let views = &mut self.views[group.index() * self.nodes + node];
        *views += 1;
        self.groups.view(group, *views);
    }

    /// Counts a view of daemons that a node has entered.
    pub(super) fn entered(&mut self, node: usize) {
        self.entered[node] += 1;
    }

    /// Views of daemons that each node has entered since the start.
    pub(super) fn entered_by_node(&self) -> &[u64] {
        &self.entered
    }
}
