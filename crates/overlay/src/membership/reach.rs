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
        let known = self.states.get(state.origin.index());
        known.is_some_and(|known| known.as_ref().is_none_or(|known| age(known) < age(state)))
    }

    /// Knows this many daemons from now on.
    pub(super) fn grow(&mut self, nodes: usize) {
        self.states.resize(nodes, None);
    }

    /// The link state of a daemon.
    pub(super) fn state(&self, node: OverlayNodeId) -> Option<&LinkState> {
        self.states.get(node.index())?.as_deref()
    }

    /// Takes in a link state; false if it is old, or that of an unknown daemon.
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
        self.state(node).map_or(&[], |state| &state.links)
    }

    /// Whether both ends of a link know of the same connection.
    pub(super) fn connects(&self, a: OverlayNodeId, b: OverlayNodeId) -> bool {
        let connection =
            self.links(a).iter().find(|(peer, _)| *peer == b).map(|(_, number)| *number);
        connection.is_some_and(|number| self.links(b).contains(&(a, number)))
    }

    /// The daemons that can be in a view with this one, which is among them: those that can be
    /// reached over daemons which all know the same of each other. While an overlay grows, some
    /// daemons know fewer of the others.
    pub(super) fn component(&self, me: OverlayNodeId) -> NodeSet {
        let known = |node: OverlayNodeId, first: usize| self.state(node)?.known.get(first - 1);
        let most = self.state(me).map_or(0, |state| state.known.len());
        let firsts = (me.index() + 1..=most).rev().map(|first| (first, self.connected(me, first)));
        let all_know = |(first, reached): &(usize, NodeSet)| {
            reached.iter().all(|node| known(node, *first) == known(me, *first))
        };
        let mut firsts = firsts.filter(all_know).map(|(_, reached)| reached);
        firsts.next().unwrap_or_else(|| [me].into_iter().collect())
    }

    /// Daemons that can be reached and do not know the same as this one.
    pub(super) fn differing(&self, me: OverlayNodeId) -> NodeSet {
        let known = |node: OverlayNodeId| self.state(node).map(|state| &state.known);
        let reached = self.connected(me, self.states.len());
        reached.iter().filter(|node| known(*node) != known(me)).collect()
    }

    /// The daemons that can be reached over so many first daemons.
    fn connected(&self, me: OverlayNodeId, first: usize) -> NodeSet {
        let mut reached: NodeSet = [me].into_iter().collect();
        let mut open = vec![me];
        while let Some(node) = open.pop() {
            for (peer, _) in self.links(node) {
                if peer.index() < first && !reached.contains(*peer) && self.connects(node, *peer) {
                    reached.insert(*peer);
                    open.push(*peer);
                }
            }
        }
        reached
    }

    /// The link states of these daemons.
    pub(super) fn topology(&self, members: &NodeSet) -> Topology {
        let states = members.iter().filter_map(|node| self.state(node));
        states.map(|state| (state.origin, state.incarnation, state.version)).collect()
    }

    /// The largest number of a view that these daemons told.
    pub(super) fn highest(&self, members: &NodeSet) -> u64 {
        let states = members.iter().filter_map(|node| self.state(node));
        states.map(|state| state.highest).max().unwrap_or(0)
    }
}
