//! Overlays that grow: a daemon learns of others while it runs.
//!
//! Daemons have the numbers of their places in one list, which grows at its end, so those that know
//! the longer list and those that know its beginning understand each other. Until all that can be
//! reached know the new daemons, these stay out of their view ([`Reach::component`]).
//!
//! [`Reach::component`]: super::reach::Reach::component

use std::sync::Arc;

use super::{Link, Member};
use crate::ids::{NodeSet, OverlayNodeId};
use crate::tree::EdgeSpec;

impl<G: Clone + Ord, P: Clone> Member<G, P> {
    /// Knows these links from now on, which begin with those known so far. `known` has a number for
    /// the first daemon, the first two, and so on: daemons are in one view only if they have the
    /// same number for the first daemons up to the last of them. `terms` stands for what the
    /// program may do otherwise than others in a view ([`Member::agrees`]).
    ///
    /// Daemons change to a new view, which has other members only when all of these know them.
    pub fn know(&mut self, edges: Arc<[EdgeSpec]>, known: Vec<u64>, terms: u64) {
        debug_assert!(edges.starts_with(&self.edges), "an overlay grows at its end");
        if (&known, terms) == (&self.known, self.terms) {
            return;
        }
        let new = edges[self.edges.len()..].iter().filter(|edge| edge.from == self.me);
        for edge in new {
            self.links.push(Link::new(edge.to, None));
            self.peers.push(edge.to);
        }
        self.nodes = known.len();
        (self.edges, self.known, self.terms) = (edges, known, terms);
        self.reach.grow(self.nodes);
        self.order.grow(self.nodes);
        self.tally.grow(self.nodes);
        self.links_changed();
    }

    /// Daemons that can be reached and [know](Member::know) other daemons or links: some of them
    /// are not in the view for that reason.
    pub fn differing(&self) -> NodeSet {
        self.reach.differing(self.me)
    }

    /// Whether all daemons of the view have told the same terms as this one.
    pub fn agrees(&self) -> bool {
        let terms = |node: OverlayNodeId| self.reach.state(node).map(|state| state.terms);
        self.paths.members.iter().all(|node| terms(node) == Some(self.terms))
    }
}
