//! Which daemons can be reached, from the link states of all.

use std::sync::Arc;

use super::message::{LinkState, Topology};
use crate::ids::{NodeSet, OverlayNodeId};

/// The latest link state of each daemon.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    states: Vec<Option<Arc<LinkState>>>,
}

impl Reach {
    pub(super) fn new(nodes: usize) -> Reach {
        Reach { states: vec![None; nodes] }
    }

    /// Whether a link state is newer than the known one of its daemon.
    pub(super) fn is_news(&self, state: &LinkState) -> bool {
        let age = |state: &LinkState| (state.incarnation, state.version);
        let known = &self.states[state.origin.index()];
        known.as_ref().is_none_or(|known| age(known) < age(state))
    }

    /// Takes in a link state; false if it is old.
    pub(super) fn learn(&mut self, state: &Arc<LinkState>) -> bool {
        let is_news = self.is_news(state);
        if is_news {
            self.states[state.origin.index()] = Some(Arc::clone(state));
        }
        is_news
    }

    /// All known link states.
    pub(super) fn states(&self) -> impl Iterator<Item = &Arc<LinkState>> {
        self.states.iter().flatten()
    }

    fn links(&self, node: OverlayNodeId) -> &[(OverlayNodeId, u64)] {
        self.states[node.index()].as_ref().map_or(&[], |state| &state.links)
    }

    /// Whether both ends of a link know of the same connection.
    pub(super) fn connects(&self, a: OverlayNodeId, b: OverlayNodeId) -> bool {
        let connection =
            self.links(a).iter().find(|(peer, _)| *peer == b).map(|(_, number)| *number);
        connection.is_some_and(|number| self.links(b).contains(&(a, number)))
    }

    /// The daemons that can be reached from this one, which is among them.
    pub(super) fn component(&self, me: OverlayNodeId) -> NodeSet {
        let mut reached: NodeSet = [me].into_iter().collect();
        let mut open = vec![me];
        while let Some(node) = open.pop() {
            for (peer, _) in self.links(node) {
                if !reached.contains(*peer) && self.connects(node, *peer) {
                    reached.insert(*peer);
                    open.push(*peer);
                }
            }
        }
        reached
    }

    /// The link states of these daemons.
    pub(super) fn topology(&self, members: &NodeSet) -> Topology {
        let states = members.iter().filter_map(|node| self.states[node.index()].as_deref());
        states.map(|state| (state.origin, state.incarnation, state.version)).collect()
    }

    /// The largest number of a view that these daemons told.
    pub(super) fn highest(&self, members: &NodeSet) -> u64 {
        let states = members.iter().filter_map(|node| self.states[node.index()].as_deref());
        states.map(|state| state.highest).max().unwrap_or(0)
    }
}
