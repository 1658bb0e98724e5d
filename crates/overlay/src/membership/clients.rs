//! What clients of a daemon ask for.

use super::Member;
use super::event::Outgoing;
use super::message::{Label, Update, ViewBody};
use crate::ids::{ClientId, NodeSet};

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
}
