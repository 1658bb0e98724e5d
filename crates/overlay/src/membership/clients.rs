//! What clients of a daemon ask for, and what they get.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::Member;
use super::event::{Cause, Delivery, Event, Outgoing, Recipients};
use super::message::{Client, GroupViewId, Label, Target, Update, ViewBody, ViewMessage};
use crate::ids::{ClientId, NodeSet, OverlayNodeId};

/// What a client asks for while views change.
#[derive(Clone, Debug)]
pub(super) enum Request<G, P> {
    Join(ClientId, G),
    Leave(ClientId, G),
    Disconnect(ClientId),
    Multicast(ClientId, Outgoing<G, P>),
}

impl<G: Clone + Ord, P: Clone> Member<G, P> {
    /// A client connects; returns its number.
    pub fn connect(&mut self, label: Label) -> ClientId {
        let id = ClientId(self.next_client);
        self.next_client += 1;
        self.labels.insert(id, label);
        id
    }
    /// A client's connection has ended.
    pub fn disconnect(&mut self, client: ClientId) {
        if self.labels.remove(&client).is_some() {
            self.gone.insert(client);
            self.request(Request::Disconnect(client));
        }
    }
    /// A client joins a group.
    pub fn join(&mut self, client: ClientId, group: G) {
        self.request(Request::Join(client, group));
    }
    /// A client leaves a group.
    pub fn leave(&mut self, client: ClientId, group: G) {
        self.request(Request::Leave(client, group));
    }
    /// A client sends a message.
    pub fn multicast(&mut self, client: ClientId, message: Outgoing<G, P>) {
        self.request(Request::Multicast(client, message));
    }

    /// A client sends a message to these daemons of the view, as [`Member::destinations`] gives
    /// them. No change to another view may be under way.
    pub(crate) fn send_to_these(&mut self, client: ClientId, message: Outgoing<G, P>, to: NodeSet) {
        debug_assert!(self.round.is_none(), "clients' requests wait while views change");
        self.send_data(client, message, to);
        self.deliver_due();
    }

    fn request(&mut self, request: Request<G, P>) {
        if self.round.is_some() {
            self.requests.push_back(request);
        } else {
            self.act(request);
        }
    }

    pub(super) fn act(&mut self, request: Request<G, P>) {
        match request {
            Request::Join(client, group) => {
                let Some(label) = self.labels.get(&client).cloned() else { return };
                *self.joining.entry(client).or_default() += 1;
                self.table.prepare(group.clone(), client, label, self.others());
                self.ask_for(group);
            }
            Request::Leave(client, group) => {
                let update = Update::Leave(group.clone(), client);
                if !self.table.regret(client, Some(&group), &update) {
                    self.update(update);
                }
            }
            Request::Disconnect(client) => {
                let update = Update::Disconnect(client);
                self.table.regret(client, None, &update);
                self.update(update);
            }
            Request::Multicast(client, message) => {
                let to = self.destinations(&message.targets);
                self.send_data(client, message, to);
            }
        }
        self.deliver_due();
    }

    /// Asks all others for a group's messages.
    pub(super) fn ask_for(&mut self, group: G) {
        self.table.include(&group, self.me);
        let stamp = self.order.now();
        self.send_to(self.others(), stamp, ViewBody::Interest(group));
        self.join_ready();
    }

    pub(super) fn join_ready(&mut self) {
        while let Some(joining) = self.table.ready() {
            self.update(Update::Join(joining.group, joining.client, joining.label));
            if let Some(then) = joining.then {
                self.update(then);
            }
        }
    }

    fn update(&mut self, update: Update<G>) {
        if let Update::Leave(group, client) = &update {
            *self.leaving.entry((group.clone(), *client)).or_default() += 1;
        }
        let stamp = self.order.stamp();
        self.send_to(self.paths.members, stamp, ViewBody::Update(update));
    }

    fn send_data(&mut self, sender: ClientId, message: Outgoing<G, P>, to: NodeSet) {
        let Outgoing { service, self_discard, targets, payload } = message;
        if to.is_empty() {
            return;
        }
        to.iter().for_each(|node| self.tally.sent[node.index()] += 1);
        let stamp = self.order.stamp();
        self.send_to(to, stamp, ViewBody::Data { sender, service, self_discard, targets, payload });
    }

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
    pub(super) fn ours(&self, group: &G) -> Recipients {
        self.table.here(group)
    }

    pub(super) fn tell(&mut self, mut to: Recipients, event: Event<G, P>) {
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
        if self.round.as_mut().is_some_and(|round| round.note_change(group)) {
            return;
        }
        let id = GroupViewId { view: self.view, change };
        self.table.show(group, Some(id));
        let members = self.table.members(group).map(|(client, label)| (client, label.clone()));
        let (group, members) = (group.clone(), members.collect());
        self.tell(self.ours(&group), Event::View { group, id, members, cause });
    }
}
