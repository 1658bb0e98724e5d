//! Overlays that grow: a daemon learns of others while it runs.
//!
//! Daemons have the numbers of their places in one list, which grows at its end, so those that know
//! the longer list and those that know its beginning understand each other. Until all that can be
//! reached know the new daemons, these stay out of their view ([`Reach::component`]).
//!
//! [`Reach::component`]: super::reach::Reach::component

use std::sync::Arc;

use super::{Link, Member};
use crate::ids::OverlayNodeId;
use crate::tree::EdgeSpec;

impl<G: Clone + Ord, P: Clone> Member<G, P> {
    /// Knows this many daemons with these links from now on, which begin with those known so far.
    /// The view is the same until the others know them, too.
    pub fn grow(&mut self, nodes: usize, edges: Arc<[EdgeSpec]>) {
        debug_assert!(edges.starts_with(&self.edges), "an overlay grows at its end");
        let new = edges[self.edges.len()..].iter().filter(|edge| edge.from == self.me);
        for edge in new {
            self.links.push(Link::new(edge.to, None));
            self.peers.push(edge.to);
        }
        (self.nodes, self.edges) = (nodes, edges);
        self.reach.grow(nodes);
        self.order.grow(nodes);
        self.tally.grow(nodes);
        self.links_changed();
    }

    /// Tells all daemons the fingerprint of terms that a program may change while its daemon runs.
    pub fn set_terms(&mut self, terms: u64) {
        if core::mem::replace(&mut self.terms, terms) != terms {
            self.links_changed();
        }
    }

    /// Whether all daemons of the view have told the same terms as this one.
    pub fn agrees(&self) -> bool {
        let terms = |node: OverlayNodeId| self.reach.state(node).map(|state| state.terms);
        self.paths.members.iter().all(|node| terms(node) == Some(self.terms))
    }
}
