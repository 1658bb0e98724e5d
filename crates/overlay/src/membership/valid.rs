//! Checks messages of other daemons: no valid message makes a daemon panic, and its numbers leave
//! room to count on from.
//!
//! Messages in a view, and among the members of a proposed one, come from daemons that this one
//! knows. What only passes through it, and names in link states, proposals, reports and private
//! targets, may be of daemons that an overlay can have and this one does not know yet: who looks
//! such a daemon up finds none.

use super::message::{
    ChangeBody, ChangeMessage, LinkMessage, LinkState, Proposal, Report, Target, ViewBody, ViewId,
    ViewMessage,
};
use crate::ids::{MOST_NODES, NodeSet, OverlayNodeId};

/// Largest valid stamp, and largest valid number of a view. Daemons count on from the numbers that
/// they hear of, and never exhaust the other half of the range.
pub(super) const MOST: u64 = u64::MAX / 2;

impl<G, P> LinkMessage<G, P> {
    /// Whether the message is one of an overlay with this many daemons. Messages of others may make
    /// a daemon panic.
    pub fn is_valid(&self, nodes: usize) -> bool {
        let overlay = Overlay::of(nodes);
        match self {
            LinkMessage::LinkState(state) => has_state(state),
            LinkMessage::Propose(proposal) => has_proposal(proposal),
            LinkMessage::Change(message) => overlay.has_change(message),
            LinkMessage::Enter(view) | LinkMessage::EnterPrices(view) => has_view(view),
            LinkMessage::View(message) => overlay.has_message(message),
            LinkMessage::Progress(progress) => overlay.has(progress.origin),
            LinkMessage::Prices(prices) => overlay.has(prices.origin),
        }
    }
}

impl<G, P> ViewMessage<G, P> {
    /// Whether the message is one of an overlay with this many daemons.
    pub(super) fn is_valid(&self, nodes: usize) -> bool {
        Overlay::of(nodes).has_message(self)
    }
}

struct Overlay {
    nodes: usize,
    all: NodeSet,
}

impl Overlay {
    fn of(nodes: usize) -> Overlay {
        Overlay { nodes, all: NodeSet::first(nodes.min(MOST_NODES)) }
    }

    fn has(&self, node: OverlayNodeId) -> bool {
        node.index() < self.nodes
    }
    fn has_all(&self, nodes: &NodeSet) -> bool {
        nodes.and(&self.all) == *nodes
    }

    fn has_change<G, P>(&self, message: &ChangeMessage<G, P>) -> bool {
        let has_body = match &message.body {
            ChangeBody::Report(report) => has_report(report),
            // Only daemons of one view send each other what some lack.
            ChangeBody::Missing(message) => Overlay::of(MOST_NODES).has_message(message),
            ChangeBody::Sent | ChangeBody::Ready(_) => true,
        };
        has_view(&message.id) && self.has(message.origin) && self.has_all(&message.to) && has_body
    }

    fn has_message<G, P>(&self, message: &ViewMessage<G, P>) -> bool {
        let has_body = match &message.body {
            ViewBody::Data { targets, .. } => targets.iter().all(|target| match target {
                Target::Group(_) => true,
                // The sender's daemon may know more daemons.
                Target::Private(node, _) => may_be(*node),
            }),
            ViewBody::Update(_) | ViewBody::Interest(_) | ViewBody::Included(_) => true,
        };
        self.has(message.origin) && self.has_all(&message.to) && message.stamp <= MOST && has_body
    }
}

/// Whether an overlay can have a daemon with this number.
fn may_be(node: OverlayNodeId) -> bool {
    node.index() < MOST_NODES
}

fn has_view(view: &ViewId) -> bool {
    may_be(view.coordinator) && view.number <= MOST
}

fn has_state(state: &LinkState) -> bool {
    let known = state.known.len();
    state.origin.index() < known
        && known <= MOST_NODES
        && state.highest <= MOST
        && state.links.len() <= MOST_NODES
        && state.links.iter().all(|(peer, _)| may_be(*peer))
}

fn has_proposal(proposal: &Proposal) -> bool {
    has_view(&proposal.id) && proposal.topology.iter().all(|(node, ..)| may_be(*node))
}

fn has_report(report: &Report) -> bool {
    has_view(&report.view)
        && report.heard.len() <= MOST_NODES
        && report.recovered.iter().all(|(_, node)| may_be(*node))
}
