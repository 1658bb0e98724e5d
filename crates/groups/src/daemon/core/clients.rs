//! Clients of the daemon, and what they get.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use ratewire_overlay::ClientId;
use ratewire_overlay::daemon::{Daemon, Offer, Offered};
use ratewire_overlay::membership::{Delivery, Event, Label, Outgoing, Target};
use ratewire_units::{Bytes, Time};

use super::latency::Latencies;
use super::policy::{self, Rule};
use super::session::Session;
use super::{Shared, microseconds};
use crate::config::{MOST_MEMBERSHIPS, Terms};
use crate::daemon::body::Body;
use crate::daemon::item::Item;
use crate::daemon::notice;
use crate::spread::{GroupName, Message, Received, Refusal, Request};

/// Joins of a client that are made at full speed while other daemons have not heard of them yet.
const MOST_JOINS: u32 = 64;

/// Why clients are cut off.
const TOO_FAR_BEHIND: &str = "it is more messages behind than `lag` of the group allows";
const TOO_LONG_BEHIND: &str = "a message has waited longer than `lag-time` of the group allows";
const NOTICES_UNREAD: &str = "its unread notices of members are more than `queue-per-client`";
pub(super) const STALLED: &str = "it reads nothing, and others wait";

/// State that changes.
pub(in crate::daemon) struct Core {
    pub(in crate::daemon) daemon: Daemon<GroupName, Body>,
    pub(in crate::daemon) sessions: BTreeMap<ClientId, Rc<Session>>,
    names: BTreeMap<Label, ClientId>,
    /// Clients whose queue has changed.
    pub(super) changed: Vec<ClientId>,
    /// Clients whose queue holds half the notices that it may.
    crowded: BTreeSet<ClientId>,
    /// Those whose queue held more than all, when everything had been delivered last: a single
    /// change may bring many notices, which nobody can read meanwhile.
    overfull: BTreeSet<ClientId>,
    pub(in crate::daemon) latencies: Latencies,
    /// Groups of all clients, each counted once for each client.
    memberships: usize,
    unnamed: u64,
}

impl Core {
    pub(super) fn new(daemon: Daemon<GroupName, Body>) -> Core {
        Core {
            daemon,
            sessions: BTreeMap::new(),
            names: BTreeMap::new(),
            changed: Vec::new(),
            crowded: BTreeSet::new(),
            overfull: BTreeSet::new(),
            latencies: Latencies::default(),
            memberships: 0,
            unnamed: 0,
        }
    }

    /// Whether a client with this name may connect.
    pub(super) fn admit(&self, shared: &Shared, name: Option<&str>) -> Result<(), Refusal> {
        if self.sessions.len() >= shared.config().limits.clients as usize {
            return Err(Refusal::Quota);
        }
        match name {
            Some(name) if self.names.contains_key(name) => Err(Refusal::NotUnique),
            _ => Ok(()),
        }
    }

    pub(super) fn connect(
        &mut self,
        shared: &Shared,
        name: Option<&str>,
        from: &str,
        wants_membership: bool,
    ) -> Result<Rc<Session>, Refusal> {
        self.admit(shared, name)?;
        let label: Label = match name {
            Some(name) => name.into(),
            None => self.free_name(),
        };
        let private = notice::private_name(&shared.config(), shared.me, &label);
        let private = private.ok_or(Refusal::IllegalName)?;
        let Terms { salary, weight } = shared.config().clients.of(&label);
        let id = self.daemon.connect_paid(shared.now(), Arc::clone(&label), salary);
        self.names.insert(label, id);
        let session = Rc::new(Session::new(id, private, from, wants_membership, weight));
        self.sessions.insert(id, Rc::clone(&session));
        Ok(session)
    }

    /// A name for a client that has given none.
    fn free_name(&mut self) -> Label {
        loop {
            self.unnamed += 1;
            let name: Label = format!("r{}", self.unnamed % 1_000_000_000).into();
            if !self.names.contains_key(&name) {
                return name;
            }
        }
    }

    /// Does what a client asks. Returns whether the client may go on.
    pub(super) fn act(&mut self, shared: &Shared, session: &Session, request: Request) -> bool {
        let now = shared.now();
        match request {
            // It was cut off, or the daemon stops: its groups are counted no more.
            Request::Join(_) | Request::Leave(_) if !self.sessions.contains_key(&session.id) => {}
            // Its answers go into the client's own queue.
            Request::Join(_) | Request::Leave(_) if session.outbox.borrow().is_full() => {
                session.change.replace(Some(request));
                return false;
            }
            Request::Multicast(message) => {
                shared.record.count(|totals| {
                    totals.messages_in += 1;
                    totals.bytes_in += message.data.len() as u64;
                });
                return self.multicast(shared, now, session, &message);
            }
            Request::Join(group) => {
                let mut groups = session.groups.borrow_mut();
                if groups.contains(&group) {
                    return true;
                }
                let most = shared.config().limits.groups_per_client as usize;
                if groups.len() >= most || self.memberships >= MOST_MEMBERSHIPS {
                    shared.record.join_rejected(session.name.as_str(), groups.len());
                    let rejected = Received::Rejected { sender: session.name, request };
                    self.put(shared, session, notice::item(&rejected));
                    return true;
                }
                groups.insert(group);
                self.memberships += 1;
                self.daemon.join(now, session.id, group);
            }
            Request::Leave(group) => {
                // Other daemons need not hear of a group that the client is not in.
                if session.groups.borrow_mut().remove(&group) {
                    self.memberships -= 1;
                    self.daemon.leave(now, session.id, group);
                }
            }
            Request::Disconnect => {}
        }
        true
    }

    /// Whether a client's changes of its groups are made slowly: somebody is behind with reading of
    /// changes, or other daemons with the client's own.
    pub(super) fn is_crowded(&self, client: ClientId) -> bool {
        let member = self.daemon.member();
        let joins = member.joins_under_way(client);
        !self.crowded.is_empty() || joins >= MOST_JOINS || member.is_changing()
    }

    fn multicast(
        &mut self,
        shared: &Shared,
        now: Time,
        session: &Session,
        message: &Message,
    ) -> bool {
        let target = |group: &GroupName| match group.as_private() {
            None => Some(Target::Group(*group)),
            Some(name) => {
                let node = shared.config().node(name.daemon())?;
                Some(Target::Private(node, name.client().into()))
            }
        };
        let offer = Offer {
            // While policies differ, all are waited for.
            ignores_receivers: policy::ignores_receivers(&shared.config(), message)
                && self.daemon.member().agrees(),
            needs_receiver: false,
            line: None,
            data: Bytes::new(message.data.len() as u64),
            weight: session.weight * policy::weight(&shared.config(), message),
            message: Outgoing {
                service: message.service,
                self_discard: message.self_discard,
                targets: message.groups.iter().filter_map(target).collect(),
                payload: Body::of(session.name.client(), message, shared.clock()),
            },
        };
        self.daemon.offer(now, session.id, offer) == Offered::Sent
    }

    /// Gives an event to the clients that it is for.
    pub(super) fn deliver(&mut self, shared: &Shared, delivery: Delivery<GroupName, Body>) {
        let config = &*shared.config();
        match delivery.event {
            Event::Message { sender, service, self_discard, targets, payload } => {
                let sender = notice::private_name(config, sender.node, &payload.sender);
                let Some(sender) = sender else { return };
                if let Some(sent) = payload.sent_unix_us() {
                    let latency = microseconds().saturating_sub(sent);
                    targets.iter().for_each(|target| self.latencies.note(target, latency));
                }
                let item =
                    notice::message(config, &sender, service, self_discard, &targets, &payload);
                let rule = policy::rule(config, service, &targets);
                for id in delivery.to.iter() {
                    let Some(session) = self.sessions.get(id).cloned() else { continue };
                    match rule {
                        Rule::Drop if session.outbox.borrow().is_full() => {
                            session.dropped.set(session.dropped.get() + 1);
                            shared.record.count(|totals| totals.dropped += 1);
                        }
                        Rule::Lag(most) if session.outbox.borrow().messages() >= most => {
                            self.cut_off(shared, &session, TOO_FAR_BEHIND);
                        }
                        Rule::LagTime(most) if session.age(item.at) > most => {
                            self.cut_off(shared, &session, TOO_LONG_BEHIND);
                        }
                        _ => {
                            if let Rule::Keep = rule {
                                session.holds_senders.set(true);
                            }
                            self.put(shared, &session, item.clone());
                        }
                    }
                }
            }
            Event::View { group, id, members, cause } => {
                let told = notice::membership(config, group, &id, &members, &cause);
                self.notify(shared, &delivery.to, told);
            }
            Event::Transition { group, id } => {
                let told = Received::Transition { group, id: notice::membership_id(&id) };
                self.notify(shared, &delivery.to, Some(told));
            }
            Event::Left { group } => {
                self.notify(shared, &delivery.to, Some(Received::Left(group)));
            }
            Event::Entered(id, members, _) => {
                shared.record.entered(config, &id, &members);
                let differing = self.daemon.member().differing();
                if !differing.is_empty() {
                    shared.record.other_files(config, &differing);
                }
            }
        }
    }

    fn notify(&mut self, shared: &Shared, to: &[ClientId], told: Option<Received>) {
        let Some(item) = told.as_ref().map(notice::item) else { return };
        for id in to {
            if let Some(session) = self.sessions.get(id).cloned()
                && session.wants_membership
            {
                self.put(shared, &session, item.clone());
                // No sender waits for a notice to be read, and none may be lost.
                if self.overfull.contains(id) {
                    self.cut_off(shared, &session, NOTICES_UNREAD);
                }
            }
        }
    }

    fn put(&mut self, shared: &Shared, session: &Session, item: Item) {
        session.outbox.borrow_mut().push(item, shared.queue_limit());
        session.writer.notify_one();
        if !session.is_changed.replace(true) {
            self.changed.push(session.id);
        }
    }

    /// Tells a client that it has left its groups, and ends its connection.
    /// Others see it go at once: its last messages may take long to be read.
    pub(super) fn cut_off(&mut self, shared: &Shared, session: &Session, reason: &'static str) {
        let waiting = session.outbox.borrow().messages();
        shared.record.cut_off(session.name.as_str(), waiting, reason);
        let mut groups = core::mem::take(&mut *session.groups.borrow_mut());
        self.memberships -= groups.len();
        if !session.wants_membership {
            groups.clear();
        }
        session.close(groups.into_iter().map(|group| notice::item(&Received::Left(group))));
        self.forget(shared.now(), session);
    }

    /// Removes a client.
    pub(super) fn forget(&mut self, now: Time, session: &Session) {
        if self.sessions.remove(&session.id).is_some() {
            // A name that is free may be taken again while the client's last messages wait.
            if self.names.get(session.name.client()) == Some(&session.id) {
                self.names.remove(session.name.client());
            }
            self.memberships -= session.groups.borrow().len();
            self.crowded.remove(&session.id);
            self.daemon.disconnect(now, session.id);
        }
    }

    /// Removes a client, and opens a session for what it has sent: without a name that others could
    /// write to, and without groups.
    pub(super) fn outlive(&mut self, shared: &Shared, session: &Session) -> Rc<Session> {
        let (now, name) = (shared.now(), session.name);
        let held = self.daemon.withdraw(session.id);
        self.forget(now, session);
        let Terms { salary, weight } = shared.config().clients.of(name.client());
        let id = self.daemon.connect_paid(now, "".into(), salary);
        let from = format!("{}: ended, last messages wait", session.from);
        let rest = Rc::new(Session::new(id, name, &from, false, weight));
        self.sessions.insert(id, Rc::clone(&rest));
        let offered = held.map(|offer| self.daemon.offer(now, id, offer));
        if offered != Some(Offered::Held) {
            rest.reader.notify_one();
        }
        rest
    }

    pub(super) fn state_queue(&mut self, shared: &Shared, id: ClientId) {
        let Some(session) = self.sessions.get(&id) else { return };
        session.is_changed.set(false);
        let (counted, is_full, notices) = {
            let outbox = session.outbox.borrow();
            if outbox.counted() == 0 && !outbox.is_unsent() {
                session.holds_senders.set(false);
            }
            (outbox.counted(), outbox.is_full(), outbox.notices())
        };
        if notices > shared.queue_limit() / 2 {
            self.crowded.insert(id);
        } else {
            self.crowded.remove(&id);
        }
        self.daemon.set_queue(shared.now(), id, counted, is_full);
    }

    /// Notes who holds more notices than it may, now that everything has been delivered.
    pub(super) fn note_overfull(&mut self, shared: &Shared) {
        let (sessions, limit) = (&self.sessions, shared.queue_limit());
        let notices = |id| sessions.get(id).map_or(0, |session| session.outbox.borrow().notices());
        self.overfull = self.crowded.iter().filter(|id| notices(*id) > limit).copied().collect();
    }

    /// Makes the change that a client waits for, if the client has read enough.
    pub(super) fn resume(&mut self, shared: &Shared, session: &Session) {
        if session.outbox.borrow().is_full() {
            return;
        }
        let change = session.change.take();
        if change.is_some_and(|change| self.act(shared, session, change)) {
            session.reader.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use ratewire_overlay::OverlayNodeId;

    use super::*;
    use crate::config::Config;

    #[test]
    fn what_a_client_asks_after_its_end_changes_no_groups() {
        let shared = Shared::new(Config::single(), OverlayNodeId(0));
        let session = shared.connect(Some("gone"), "here", true).unwrap();
        let group: GroupName = "chat".parse().unwrap();
        let memberships = || shared.look(|core| core.memberships);
        assert!(shared.act(&session, Request::Join(group)));
        assert_eq!(memberships(), 1);
        shared.disconnect(&session);
        for request in [Request::Leave(group), Request::Join(group)] {
            assert!(shared.act(&session, request));
            assert_eq!(memberships(), 0);
        }
    }
}
