//! Checks messages of other daemons. A valid message names only daemons of the overlay, and its
//! numbers leave room to count on from. No other part needs to check that.

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
        let overlay = Overlay { nodes, all: NodeSet::first(nodes.min(MOST_NODES)) };
        match self {
            LinkMessage::LinkState(state) => overlay.has_state(state),
            LinkMessage::Propose(proposal) => overlay.has_proposal(proposal),
            LinkMessage::Change(message) => overlay.has_change(message),
            LinkMessage::Enter(view) | LinkMessage::EnterPrices(view) => overlay.has_view(view),
            LinkMessage::View(message) => overlay.has_message(message),
            LinkMessage::Progress(progress) => overlay.has(progress.origin),
            LinkMessage::Prices(prices) => overlay.has(prices.origin),
        }
    }
}

struct Overlay {
    nodes: usize,
    all: NodeSet,
}

impl Overlay {
    fn has(&self, node: OverlayNodeId) -> bool {
        node.index() < self.nodes
    }
    fn has_all(&self, nodes: &NodeSet) -> bool {
        nodes.and(&self.all) == *nodes
    }
    fn has_view(&self, view: &ViewId) -> bool {
        self.has(view.coordinator) && view.number <= MOST
    }

    fn has_state(&self, state: &LinkState) -> bool {
        self.has(state.origin)
            && state.highest <= MOST
            && state.links.iter().all(|(peer, _)| self.has(*peer))
    }

    fn has_proposal(&self, proposal: &Proposal) -> bool {
        let nodes = proposal.topology.iter().map(|(node, ..)| *node);
        self.has_view(&proposal.id) && nodes.into_iter().all(|node| self.has(node))
    }

    fn has_change<G, P>(&self, message: &ChangeMessage<G, P>) -> bool {
        let has_body = match &message.body {
            ChangeBody::Report(report) => self.has_report(report),
            ChangeBody::Missing(message) => self.has_message(message),
            ChangeBody::Sent | ChangeBody::Ready(_) => true,
        };
        self.has_view(&message.id)
            && self.has(message.origin)
            && self.has_all(&message.to)
            && has_body
    }

    fn has_report(&self, report: &Report) -> bool {
        self.has_view(&report.view)
            && report.heard.len() == self.nodes
            && report.recovered.iter().all(|(_, node)| self.has(*node))
    }

    fn has_message<G, P>(&self, message: &ViewMessage<G, P>) -> bool {
        let has_body = match &message.body {
            ViewBody::Data { targets, .. } => targets.iter().all(|target| match target {
                Target::Group(_) => true,
                Target::Private(node, _) => self.has(*node),
            }),
            ViewBody::Update(_) | ViewBody::Interest(_) | ViewBody::Included(_) => true,
        };
        self.has(message.origin) && self.has_all(&message.to) && message.stamp <= MOST && has_body
    }
}
