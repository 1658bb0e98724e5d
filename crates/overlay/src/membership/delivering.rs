//! What clients of a daemon get: messages, and views of their groups.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Member;
use super::event::{Cause, Delivery, Event, Recipients};
use super::message::{Client, GroupViewId, Label, Target, Update, ViewBody, ViewId, ViewMessage};
use super::table::Table;
use crate::ids::{ClientId, NodeSet, OverlayNodeId};

/// The end of a view, after the messages that all its daemons agree on. It is not the same at all
/// of them, so changes of groups in it are shown with the next view.
#[derive(Clone, Debug)]
pub(super) struct Ending<G> {
    /// Groups as last shown.
    shown: Table<G>,
    /// Groups whose members were told of a transition, or are to be told of a change.
    told: BTreeSet<G>,
}

impl<G: Clone + Ord, P: Clone> Member<G, P> {
    /// Delivers a message whose turn it is.
    pub(super) fn deliver(&mut self, message: &ViewMessage<G, P>) {
        match &message.body {
            ViewBody::Data { sender, service, self_discard, targets, payload } => {
                let sender = Client { node: message.origin, id: *sender };
                let mut to = self.addressed(targets);
                if *self_discard && sender.node == self.me {
                    to = to.iter().copied().filter(|client| *client != sender.id).collect();
                }
                let (service, self_discard) = (*service, *self_discard);
                let (targets, payload) = (Arc::clone(targets), payload.clone());
                self.tell(to, Event::Message { sender, service, self_discard, targets, payload });
            }
            ViewBody::Update(update) => self.apply(message.origin, update),
            _ => {}
        }
    }

    /// Clients of this daemon that a message is for, each once.
    fn addressed(&self, targets: &[Target<G>]) -> Recipients {
        if let [Target::Group(group)] = targets
            && self.leaving.is_empty()
        {
            return self.table.here(group);
        }
        let mut to = Vec::new();
        for target in targets {
            match target {
                Target::Group(group) => {
                    let stays = |id: &ClientId| {
                        self.leaving.is_empty() || !self.leaving.contains_key(&(group.clone(), *id))
                    };
                    to.extend(self.table.here(group).iter().copied().filter(stays));
                }
                Target::Private(node, label) if *node == self.me => {
                    let named = self.labels.iter().filter(|(_, name)| *name == label);
                    to.extend(named.map(|(client, _)| *client));
                }
                Target::Private(..) => {}
            }
        }
        if targets.len() > 1 {
            to.sort_unstable();
            to.dedup();
        }
        to.into_iter().collect()
    }

    /// Members of a group that are clients of this daemon.
    fn ours(&self, group: &G) -> Recipients {
        self.table.here(group)
    }

    fn tell(&mut self, mut to: Recipients, event: Event<G, P>) {
        if !self.gone.is_empty() {
            to = to.iter().copied().filter(|client| !self.gone.contains(client)).collect();
        }
        if !to.is_empty() {
            self.deliveries.push_back(Delivery { to, event });
        }
    }

    /// Applies a change of groups, and shows it to their members.
    fn apply(&mut self, node: OverlayNodeId, update: &Update<G>) {
        match update {
            Update::Join(group, id, label) => {
                let client = Client { node, id: *id };
                if node == self.me {
                    self.has_joined(*id);
                }
                if let Some(change) = self.table.add(group, client, label) {
                    self.show(group, change, Cause::Join(client, label.clone()));
                }
            }
            Update::Leave(group, id) => {
                let client = Client { node, id: *id };
                if node == self.me {
                    self.has_left(group, *id);
                }
                self.remove(group, client, Cause::Leave);
            }
            Update::Disconnect(id) => {
                let client = Client { node, id: *id };
                for group in self.table.groups_of(client) {
                    self.remove(&group, client, Cause::Disconnect);
                }
                if node == self.me {
                    self.gone.remove(id);
                }
            }
        }
    }

    fn has_joined(&mut self, client: ClientId) {
        if let Entry::Occupied(mut joins) = self.joining.entry(client) {
            *joins.get_mut() -= 1;
            if *joins.get() == 0 {
                joins.remove();
            }
        }
    }

    fn has_left(&mut self, group: &G, client: ClientId) {
        if let Entry::Occupied(mut leaves) = self.leaving.entry((group.clone(), client)) {
            *leaves.get_mut() -= 1;
            if *leaves.get() == 0 {
                leaves.remove();
            }
        }
    }

    fn remove(&mut self, group: &G, client: Client, cause: fn(Client, Label) -> Cause) {
        let Some((change, label)) = self.table.remove(group, client) else { return };
        if client.node == self.me {
            self.tell(client.id.into(), Event::Left { group: group.clone() });
        }
        self.show(group, change, cause(client, label));
    }

    fn show(&mut self, group: &G, change: u64, cause: Cause) {
        if let Some(ending) = &mut self.ending {
            ending.told.insert(group.clone());
            return;
        }
        let id = GroupViewId { view: self.view, change };
        self.table.show(group, Some(id));
        let members = self.table.members(group).map(|(client, label)| (client, label.clone()));
        let (group, members) = (group.clone(), members.collect());
        self.tell(self.ours(&group), Event::View { group, id, members, cause });
    }

    /// Begins the end of the view: tells members of groups which lose others of a transition.
    pub(super) fn announce_transition(&mut self, together: &NodeSet) {
        let is_lost = |(client, _): (Client, &Label)| !together.contains(client.node);
        let groups = self.table.groups().filter(|group| self.table.members(group).any(is_lost));
        let groups: BTreeSet<G> = groups.cloned().collect();
        for group in &groups {
            let Some(id) = self.table.shown(group) else { continue };
            self.tell(self.ours(group), Event::Transition { group: group.clone(), id });
        }
        self.ending = Some(Ending { shown: self.table.clone(), told: groups });
    }

    /// Shows groups in a new view of daemons, which each came from this earlier one.
    pub(super) fn show_groups(&mut self, came_from: impl Fn(OverlayNodeId) -> ViewId) {
        let Some(Ending { shown, told }) = self.ending.take() else { return };
        let old = came_from(self.me);
        // As Spread orders sets: by who formed the view, and then by when.
        let rank = |view: ViewId| (view.coordinator, view.incarnation, view.number);
        let groups: Vec<G> = self.table.groups().cloned().collect();
        for group in groups {
            let members: Vec<_> =
                self.table.members(&group).map(|(client, label)| (client, label.clone())).collect();
            let is_same = shown.members(&group).eq(self.table.members(&group));
            if is_same && !told.contains(&group) {
                self.table.show(&group, shown.shown(&group));
                continue;
            }
            let mut sets: BTreeMap<_, Vec<Client>> = BTreeMap::new();
            for (client, _) in &members {
                sets.entry(rank(came_from(client.node))).or_default().push(*client);
            }
            let id = GroupViewId { view: self.view, change: 0 };
            self.table.show(&group, Some(id));
            let own = sets.range(..rank(old)).count();
            let cause = Cause::Network { sets: sets.into_values().collect(), own };
            self.tell(self.ours(&group), Event::View { group, id, members, cause });
        }
    }
}
