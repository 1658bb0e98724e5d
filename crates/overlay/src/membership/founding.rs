//! A first view of all daemons, for overlays whose links are known to be up from the start.

use std::sync::Arc;

use super::message::{Label, LinkState, Proposal, ViewId};
use super::order::Order;
use super::table::Table;
use super::{Link, Member, Naming, Paths, Tally};
use crate::ids::{ClientId, NodeSet, OverlayNodeId};
use crate::tree::{EdgeSpec, Trees, Unreachable};

/// Incarnation of founding daemons. A restarted daemon needs a larger one.
const INCARNATION: u64 = 1;
/// Number of the connection over each link. A later connection needs a larger one.
const CONNECTION: u64 = 1;

/// A view that all daemons of an overlay begin in, with all links up and clients in their groups.
///
/// Daemons that start [alone](Member::new) come to the same view, after an exchange of messages.
#[derive(Clone, Debug)]
pub struct Founding<G> {
    edges: Arc<[EdgeSpec]>,
    nodes: usize,
    trees: Arc<Trees>,
    /// By daemon: names of its clients.
    labels: Vec<Vec<Label>>,
    table: Table<G>,
    /// Whether no daemon or link is to fail.
    is_lasting: bool,
}

impl<G: Clone + Ord> Founding<G> {
    /// The view of an overlay with these links. `clients` has the names and groups of each
    /// daemon's clients, whose numbers are their places in the list.
    ///
    /// # Errors
    /// If a daemon cannot be reached from another.
    pub fn new(
        edges: Arc<[EdgeSpec]>,
        clients: Vec<Vec<(Label, Vec<G>)>>,
    ) -> Result<Founding<G>, Unreachable> {
        let nodes = clients.len();
        let trees = Arc::new(Trees::new(nodes, &edges)?);
        let mut table = Table::new(None);
        let lists = clients.iter().enumerate();
        let lists = lists.map(|(node, clients)| (OverlayNodeId(node as u8), groups(clients)));
        table.restart(lists, NodeSet::EMPTY);
        let of =
            |clients: Vec<(Label, Vec<G>)>| clients.into_iter().map(|(label, _)| label).collect();
        let labels = clients.into_iter().map(of).collect();
        Ok(Founding { edges, nodes, trees, labels, table, is_lasting: false })
    }

    /// The view if no daemon or link is to fail: daemons keep no copies of messages. If one does
    /// fail all the same, messages may be lost.
    pub fn lasting(self) -> Founding<G> {
        Founding { is_lasting: true, ..self }
    }

    fn nodes(&self) -> impl Iterator<Item = OverlayNodeId> + use<G> {
        (0..self.nodes).map(|node| OverlayNodeId(node as u8))
    }

    fn connections(&self, node: OverlayNodeId) -> Vec<(OverlayNodeId, u64)> {
        let own = self.edges.iter().filter(|edge| edge.from == node);
        own.map(|edge| (edge.to, CONNECTION)).collect()
    }

    fn link_state(&self, origin: OverlayNodeId) -> LinkState {
        LinkState {
            origin,
            incarnation: INCARNATION,
            version: 1,
            highest: 1,
            links: self.connections(origin),
            known: vec![0; self.nodes],
            terms: 0,
        }
    }
}

/// A daemon's clients by group.
fn groups<G: Clone>(clients: &[(Label, Vec<G>)]) -> Vec<(G, Vec<(ClientId, Label)>)> {
    let mut all = Vec::new();
    for (id, (label, groups)) in clients.iter().enumerate() {
        let entry = |group: &G| (group.clone(), vec![(ClientId(id as u32), Arc::clone(label))]);
        all.extend(groups.iter().map(entry));
    }
    all
}

impl<G: Clone + Ord, P: Clone> Member<G, P> {
    /// Daemon `me` in the first view of all daemons.
    pub fn founded(me: OverlayNodeId, founding: &Founding<G>) -> Member<G, P> {
        let Founding { edges, nodes, trees, labels, table, is_lasting } = founding;
        let id = ViewId { number: 1, coordinator: OverlayNodeId(0), incarnation: INCARNATION };
        let topology: Vec<_> = founding.nodes().map(|node| (node, INCARNATION, 1)).collect();
        let members = NodeSet::first(*nodes);
        let mut member = Member::new(me, INCARNATION, *nodes, Arc::clone(edges));
        for link in &mut member.links {
            let naming = Naming { is_told: true, heard: Some(id) };
            *link = Link {
                is_used: true,
                messages: naming.clone(),
                prices: naming,
                ..Link::new(link.peer, Some(CONNECTION))
            };
        }
        member.version = 1;
        founding.nodes().for_each(|node| {
            member.reach.learn(&Arc::new(founding.link_state(node)));
        });
        (member.highest, member.view) = (id.number, id);
        member.paths = Arc::new(Paths {
            topology: topology.clone(),
            members,
            trees: Arc::clone(trees),
            connections: founding.connections(me),
        });
        member.latest = Some(Arc::new(Proposal { id, topology }));
        let order = Order::new(me, members, *nodes);
        member.order = if *is_lasting { order.without_copies() } else { order };
        member.tally = Tally::new(*nodes);
        member.table = table.at(me);
        let own = &labels[me.index()];
        member.labels = (0..).map(ClientId).zip(own.iter().cloned()).collect();
        member.next_client = own.len() as u32;
        member
    }
}
