//! Groups and their members, as one daemon knows them.
//!
//! A client that joins must get all messages after the view that first has it. Daemons that do not
//! know of the client would send it nothing, so its daemon asks first
//! ([`Interest`](super::message::ViewBody::Interest)). The others include it and answer. Once all
//! have answered, the join gets its stamp, which is above all of theirs.

use std::collections::BTreeMap;

use super::event::Recipients;
use super::message::{Client, GroupViewId, Label, Target, Update};
use crate::ids::{ClientId, NodeSet, OverlayNodeId};

/// Groups with members, or with daemons that ask for messages.
#[derive(Clone, Debug)]
pub(super) struct Table<G> {
    /// The daemon; `None` for a table that is given to several.
    me: Option<OverlayNodeId>,
    groups: BTreeMap<G, Group>,
    here: Here<G>,
    /// Changes in this view of daemons.
    changes: u64,
    joining: Vec<Joining<G>>,
    /// Number of changes of the daemons that groups' messages are for.
    aims: u64,
}

#[derive(Clone, Debug, Default)]
struct Group {
    members: BTreeMap<Client, Label>,
    /// Daemons whose clients are about to join: they already get messages. One entry a client.
    interested: Vec<OverlayNodeId>,
    /// Name of the view that members were last shown.
    shown: Option<GroupViewId>,
    /// Daemons of the members, and interested ones.
    to: NodeSet,
}

impl Group {
    /// Members at a daemon, in order.
    fn at(&self, node: OverlayNodeId) -> impl Iterator<Item = ClientId> {
        let at = |id| Client { node, id: ClientId(id) };
        self.members.range(at(0)..=at(u32::MAX)).map(|(client, _)| client.id)
    }
}

/// Groups with members that are clients of this daemon. Each message looks its group up, so the
/// names stand close together.
#[derive(Clone, Debug)]
struct Here<G> {
    /// Names of the groups, in order.
    names: Vec<G>,
    /// Members of each group, in the order of `names`.
    clients: Vec<Recipients>,
}

impl<G: Clone + Ord> Here<G> {
    const EMPTY: Here<G> = Here { names: Vec::new(), clients: Vec::new() };

    fn of(&self, group: &G) -> Option<&Recipients> {
        self.names.binary_search(group).ok().map(|place| &self.clients[place])
    }

    /// Notes the members of a group.
    fn set(&mut self, group: &G, clients: Recipients) {
        match self.names.binary_search(group) {
            Ok(place) if clients.is_empty() => {
                self.names.remove(place);
                self.clients.remove(place);
            }
            Ok(place) => self.clients[place] = clients,
            Err(_) if clients.is_empty() => {}
            Err(place) => {
                self.names.insert(place, group.clone());
                self.clients.insert(place, clients);
            }
        }
    }
}

/// A client of this daemon that is about to join.
#[derive(Clone, Debug)]
pub(super) struct Joining<G> {
    pub(super) group: G,
    pub(super) client: ClientId,
    pub(super) label: Label,
    /// Daemons that do not send the group's messages here yet.
    missing: NodeSet,
    /// What the client is to do as soon as it has joined.
    pub(super) then: Option<Update<G>>,
}

impl<G: Clone + Ord> Table<G> {
    pub(super) fn new(me: Option<OverlayNodeId>) -> Table<G> {
        let (groups, here) = (BTreeMap::new(), Here::EMPTY);
        Table { me, groups, here, changes: 0, joining: Vec::new(), aims: 0 }
    }

    /// The table as daemon `me` has it.
    pub(super) fn at(&self, me: OverlayNodeId) -> Table<G> {
        let mut table = Table { me: Some(me), ..self.clone() };
        table.note_here();
        table
    }

    /// Notes the members of all groups that are clients of this daemon.
    fn note_here(&mut self) {
        let Some(me) = self.me else { return };
        let clients =
            |(name, group): (&G, &Group)| (name.clone(), group.at(me).collect::<Recipients>());
        let here = self.groups.iter().map(clients).filter(|(_, clients)| !clients.is_empty());
        (self.here.names, self.here.clients) = here.unzip();
    }

    /// Number of changes of the daemons that groups' messages are for.
    pub(super) fn aims(&self) -> u64 {
        self.aims
    }

    /// The members of a group, in order.
    pub(super) fn members(&self, group: &G) -> impl Iterator<Item = (Client, &Label)> {
        let members = self.groups.get(group).map(|group| group.members.iter());
        members.into_iter().flatten().map(|(client, label)| (*client, label))
    }

    /// The members of a group that are clients of this daemon, in order.
    pub(super) fn here(&self, group: &G) -> Recipients {
        self.here.of(group).cloned().unwrap_or_default()
    }

    /// Name of the view that a group's members were last shown.
    pub(super) fn shown(&self, group: &G) -> Option<GroupViewId> {
        self.groups.get(group)?.shown
    }

    /// Notes the view that a group's members are shown.
    pub(super) fn show(&mut self, group: &G, id: Option<GroupViewId>) {
        if let Some(group) = self.groups.get_mut(group) {
            group.shown = id;
        }
    }

    /// Whether a client is a member of a group.
    pub(super) fn is_member(&self, group: &G, client: Client) -> bool {
        self.groups.get(group).is_some_and(|group| group.members.contains_key(&client))
    }

    /// All groups with members.
    pub(super) fn groups(&self) -> impl Iterator<Item = &G> {
        self.groups.iter().filter(|(_, group)| !group.members.is_empty()).map(|(name, _)| name)
    }

    /// The groups of a client.
    pub(super) fn groups_of(&self, client: Client) -> Vec<G> {
        let is_in = |(_, group): &(&G, &Group)| group.members.contains_key(&client);
        self.groups.iter().filter(is_in).map(|(name, _)| name.clone()).collect()
    }

    /// Destinations of this daemon's messages to these.
    pub(super) fn to(&self, targets: &[Target<G>]) -> NodeSet {
        let mut to = NodeSet::EMPTY;
        for target in targets {
            match target {
                Target::Private(node, _) => to.insert(*node),
                Target::Group(group) => {
                    if let Some(group) = self.groups.get(group) {
                        to = to.or(&group.to);
                    }
                }
            }
        }
        to
    }

    /// Adds a member. Returns the number of the change; `None` if it is a member already.
    pub(super) fn add(&mut self, group: &G, client: Client, label: &Label) -> Option<u64> {
        self.aims += 1;
        let entry = self.groups.entry(group.clone()).or_default();
        if let Some(place) = entry.interested.iter().position(|node| *node == client.node) {
            entry.interested.remove(place);
        }
        entry.to.insert(client.node);
        if entry.members.insert(client, label.clone()).is_some() {
            return None;
        }
        if self.me == Some(client.node) {
            self.here.set(group, entry.at(client.node).collect());
        }
        self.changes += 1;
        Some(self.changes)
    }

    /// Removes a member. Returns the number of the change and the member's name; `None` if it is no
    /// member.
    pub(super) fn remove(&mut self, group: &G, client: Client) -> Option<(u64, Label)> {
        self.aims += 1;
        let entry = self.groups.get_mut(group)?;
        let label = entry.members.remove(&client)?;
        if self.me == Some(client.node) {
            self.here.set(group, entry.at(client.node).collect());
        }
        if entry.at(client.node).next().is_none() && !entry.interested.contains(&client.node) {
            entry.to.remove(client.node);
        }
        self.changes += 1;
        if entry.to.is_empty() {
            self.groups.remove(group);
        }
        Some((self.changes, label))
    }

    /// Sends a group's messages to a daemon whose client is about to join.
    pub(super) fn include(&mut self, group: &G, node: OverlayNodeId) {
        self.aims += 1;
        let entry = self.groups.entry(group.clone()).or_default();
        entry.interested.push(node);
        entry.to.insert(node);
    }

    /// Prepares the join of a client of this daemon, for when all of `others` have included it.
    pub(super) fn prepare(&mut self, group: G, client: ClientId, label: Label, others: NodeSet) {
        self.joining.push(Joining { group, client, label, missing: others, then: None });
    }

    /// Lets a client that is about to join these groups leave again. Returns whether it was to join
    /// any.
    pub(super) fn regret(&mut self, client: ClientId, group: Option<&G>, then: &Update<G>) -> bool {
        let concerns = |joining: &&mut Joining<G>| {
            joining.client == client && group.is_none_or(|group| *group == joining.group)
        };
        let mut found = false;
        for joining in self.joining.iter_mut().filter(concerns) {
            joining.then.get_or_insert_with(|| then.clone());
            found = true;
        }
        found
    }

    /// Notes that `node` sends a group's messages here from now on. A daemon answers in order, so
    /// the answer is for the first client that it has not answered for.
    pub(super) fn included(&mut self, group: &G, node: OverlayNodeId) {
        let waits =
            |joining: &&mut Joining<G>| joining.group == *group && joining.missing.contains(node);
        if let Some(joining) = self.joining.iter_mut().find(waits) {
            joining.missing.remove(node);
        }
    }

    /// The next client that all daemons have included.
    pub(super) fn ready(&mut self) -> Option<Joining<G>> {
        let place = self.joining.iter().position(|joining| joining.missing.is_empty())?;
        Some(self.joining.remove(place))
    }

    /// Clients that wait for other daemons to join, once for each group.
    pub(super) fn joining_clients(&self) -> impl Iterator<Item = ClientId> {
        self.joining.iter().map(|joining| joining.client)
    }

    /// Number of clients that are about to join.
    #[cfg(test)]
    pub(super) fn joining(&self) -> usize {
        self.joining.len()
    }

    /// The groups of one daemon's clients.
    pub(super) fn of(&self, node: OverlayNodeId) -> Vec<(G, Vec<(ClientId, Label)>)> {
        let of = |(name, group): (&G, &Group)| {
            let ours = group.members.iter().filter(|(client, _)| client.node == node);
            let ours: Vec<_> = ours.map(|(client, label)| (client.id, label.clone())).collect();
            (!ours.is_empty()).then(|| (name.clone(), ours))
        };
        self.groups.iter().filter_map(of).collect()
    }

    /// Starts a new view of daemons with these members. Clients that are about to join must ask
    /// again; returns their groups.
    pub(super) fn restart(
        &mut self,
        lists: impl Iterator<Item = (OverlayNodeId, Vec<(G, Vec<(ClientId, Label)>)>)>,
        others: NodeSet,
    ) -> Vec<G> {
        self.aims += 1;
        self.groups.clear();
        self.changes = 0;
        for (node, groups) in lists {
            for (group, clients) in groups {
                let entry = self.groups.entry(group).or_default();
                entry.to.insert(node);
                entry
                    .members
                    .extend(clients.into_iter().map(|(id, label)| (Client { node, id }, label)));
            }
        }
        self.note_here();
        for joining in &mut self.joining {
            joining.missing = others;
        }
        self.joining.iter().map(|joining| joining.group.clone()).collect()
    }
}
