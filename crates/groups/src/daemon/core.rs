//! The daemon's state, and what clients and links may do to it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_overlay::daemon::{Daemon, Offer, Offered, Settings};
use ratewire_overlay::membership::{self, Delivery, Event, Label, Outgoing, Service, Target};
use ratewire_overlay::{ClientId, OverlayNodeId};
use ratewire_units::{Duration, Time};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::body::Body;
use super::notice;
use super::outbox::Outbox;
use super::record::Record;
use crate::config::{Config, Policy};
use crate::spread::{GroupName, Message, PrivateName, Received, Refusal, Request};

/// Shortest time between two looks at the queues.
const LEAST_INTERVAL: Duration = Duration::from_millis(2);
/// Time by which the core's clock is set back: fifty days.
const DAYS: Duration = Duration::from_secs(50 * 24 * 3600);

/// A message on a link between daemons.
pub(super) type LinkMessage = membership::LinkMessage<GroupName, Body>;

/// What all tasks of a daemon share.
pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) me: OverlayNodeId,
    pub(super) incarnation: u64,
    pub(super) record: Record,
    /// When the core's time was zero.
    start: Cell<Instant>,
    core: RefCell<Core>,
    /// Woken when the next deadline may have changed.
    clock: Notify,
    armed: Cell<Time>,
    /// Woken when others may wait for what this daemon has to tell.
    pace: Notify,
    /// By neighbour: the last connection.
    links: BTreeMap<OverlayNodeId, RefCell<Rc<Link>>>,
}

/// A connection with another daemon.
#[derive(Default)]
pub(super) struct Link {
    /// Woken when there is something to write.
    pub(super) writer: Notify,
    /// Woken when the peer has connected anew.
    pub(super) replaced: Notify,
}

/// State that changes.
struct Core {
    daemon: Daemon<GroupName, Body>,
    sessions: BTreeMap<ClientId, Rc<Session>>,
    names: BTreeMap<Label, ClientId>,
    /// Clients whose queue has changed.
    changed: Vec<ClientId>,
    unnamed: u64,
}

/// A client that is connected.
pub(super) struct Session {
    pub(super) id: ClientId,
    pub(super) name: PrivateName,
    /// Where the client connects from, in words.
    pub(super) from: String,
    wants_membership: bool,
    pub(super) outbox: RefCell<Outbox>,
    /// Woken when there is something to write.
    pub(super) writer: Notify,
    /// Woken when the message that waited has been sent.
    pub(super) reader: Notify,
    /// Woken when the daemon ends the connection.
    pub(super) cut: Notify,
    /// Groups that the client has joined or is about to join.
    pub(super) groups: RefCell<Vec<GroupName>>,
    is_changed: Cell<bool>,
    /// Unreliable messages that were dropped.
    pub(super) dropped: Cell<u64>,
}

impl Shared {
    pub(super) fn new(config: Config, me: OverlayNodeId) -> Shared {
        let incarnation = microseconds();
        let settings = Arc::new(Settings {
            params: config.params.clone(),
            nodes: config.daemons.len(),
            edges: config.edges(),
            least_interval: LEAST_INTERVAL.min(config.params.interval),
            window: config.limits.window,
        });
        let random = Xoshiro256PlusPlus::seed_from_u64(incarnation ^ u64::from(me.0));
        let daemon = Daemon::new(me, incarnation, settings, random);
        let record = Record::new(&config, daemon.links().map(|link| link.peer));
        let links = daemon.links().map(|link| (link.peer, RefCell::default())).collect();
        let core = Core {
            daemon,
            sessions: BTreeMap::new(),
            names: BTreeMap::new(),
            changed: Vec::new(),
            unnamed: 0,
        };
        Shared {
            config,
            me,
            incarnation,
            record,
            start: Cell::new(Instant::now()),
            core: RefCell::new(core),
            clock: Notify::new(),
            armed: Cell::new(Time::NEVER),
            pace: Notify::new(),
            links,
        }
    }

    pub(super) fn now(&self) -> Time {
        Time::ZERO + Duration::from_nanos(self.start.get().elapsed().as_nanos() as u64)
    }

    /// Sets the core's clock back once in a while: it has room for 213 days.
    fn set_back(&self) {
        if self.now() > Time::ZERO + DAYS * 2 {
            self.start.set(self.start.get() + super::length(DAYS));
            self.core.borrow_mut().daemon.set_back(DAYS);
        }
    }

    fn instant(&self, time: Time) -> Instant {
        self.start.get() + std::time::Duration::from_nanos(time.ps().div_ceil(1000))
    }

    /// Limit of a client's queue in bytes.
    pub(super) fn queue_limit(&self) -> usize {
        self.config.limits.queue_per_client.get() as usize
    }

    /// Whether a client with this name may connect.
    pub(super) fn admit(&self, name: Option<&str>) -> Result<(), Refusal> {
        let core = self.core.borrow();
        if core.sessions.len() >= self.config.limits.clients as usize {
            return Err(Refusal::Quota);
        }
        match name {
            Some(name) if core.names.contains_key(name) => Err(Refusal::NotUnique),
            _ => Ok(()),
        }
    }

    /// Registers a client, if it is admitted.
    pub(super) fn connect(
        &self,
        name: Option<&str>,
        from: &str,
        wants_membership: bool,
    ) -> Result<Rc<Session>, Refusal> {
        self.admit(name)?;
        let mut core = self.core.borrow_mut();
        let label: Label = match name {
            Some(name) => name.into(),
            None => core.free_name(),
        };
        let private = notice::private_name(&self.config, self.me, &label);
        let private = private.ok_or(Refusal::IllegalName)?;
        let id = core.daemon.connect(self.now(), Arc::clone(&label));
        core.names.insert(label, id);
        let session = Rc::new(Session {
            id,
            name: private,
            from: from.to_string(),
            wants_membership,
            outbox: RefCell::default(),
            writer: Notify::new(),
            reader: Notify::new(),
            cut: Notify::new(),
            groups: RefCell::default(),
            is_changed: Cell::new(false),
            dropped: Cell::new(0),
        });
        core.sessions.insert(id, Rc::clone(&session));
        self.record.count(|totals| totals.accepted += 1);
        Ok(session)
    }

    /// Notes that a client's connection has ended.
    pub(super) fn disconnect(&self, session: &Session) {
        self.core.borrow_mut().forget(self.now(), session);
        self.pass_on();
    }

    /// Does what a client asks. Returns whether the client may go on; else
    /// [`Session::reader`] says when.
    pub(super) fn act(&self, session: &Session, request: Request) -> bool {
        let mut core = self.core.borrow_mut();
        let now = self.now();
        match request {
            Request::Multicast(message) => {
                self.record.count(|totals| {
                    totals.messages_in += 1;
                    totals.bytes_in += message.data.len() as u64;
                });
                return core.multicast(self, now, session, &message);
            }
            Request::Join(group) => {
                let mut groups = session.groups.borrow_mut();
                if groups.contains(&group) {
                    return true;
                }
                if groups.len() as u32 >= self.config.limits.groups_per_client {
                    let rejected = Received::Rejected { sender: session.name, request };
                    core.put(self.queue_limit(), session, notice::item(&rejected));
                    return true;
                }
                groups.push(group);
                core.daemon.join(now, session.id, group);
            }
            Request::Leave(group) => {
                session.groups.borrow_mut().retain(|joined| *joined != group);
                core.daemon.leave(now, session.id, group);
            }
            Request::Disconnect => {}
        }
        true
    }

    /// Passes on what the core has for clients and links. To be called after messages were taken
    /// in.
    pub(super) fn pass_on(&self) {
        self.flush(&mut self.core.borrow_mut());
        self.pace.notify_one();
    }

    fn flush(&self, core: &mut Core) {
        let now = self.now();
        loop {
            while let Some(delivery) = core.daemon.poll_delivery() {
                core.deliver(self, delivery);
            }
            let changed = core::mem::take(&mut core.changed);
            if changed.is_empty() {
                break;
            }
            for id in changed {
                core.state_queue(now, id);
            }
        }
        while let Some(id) = core.daemon.poll_sent() {
            if let Some(session) = core.sessions.get(&id) {
                session.reader.notify_one();
            }
        }
        while let Some(peer) = core.daemon.poll_link() {
            if let Some(link) = self.links.get(&peer) {
                link.borrow().writer.notify_one();
            }
        }
        if core.daemon.deadline() < self.armed.get() {
            self.clock.notify_one();
        }
    }

    /// Notes that messages to a client are written.
    pub(super) fn written(&self, session: &Session) {
        let mut core = self.core.borrow_mut();
        core.state_queue(self.now(), session.id);
        self.flush(&mut core);
    }

    /// Shows the core and its clients, by their numbers.
    pub(super) fn look<T>(
        &self,
        look: impl FnOnce(&Daemon<GroupName, Body>, &BTreeMap<ClientId, Rc<Session>>) -> T,
    ) -> T {
        let core = self.core.borrow();
        look(&core.daemon, &core.sessions)
    }

    /// Daemons that this one has links with.
    pub(super) fn peers(&self) -> impl Iterator<Item = OverlayNodeId> {
        self.links.keys().copied()
    }

    /// Notes a new connection with a peer, which takes the place of an earlier one.
    pub(super) fn link_up(&self, peer: OverlayNodeId, connection: u64) -> Option<Rc<Link>> {
        let new = Rc::new(Link::default());
        self.links.get(&peer)?.replace(Rc::clone(&new)).replaced.notify_one();
        self.record.link_up(peer);
        self.core.borrow_mut().daemon.link_up(self.now(), peer, connection);
        self.pass_on();
        Some(new)
    }

    /// Notes the end of a connection, if it is the last one with its peer.
    pub(super) fn link_down(&self, peer: OverlayNodeId, link: &Rc<Link>, reason: String) {
        if self.is_current(peer, link) {
            self.record.link_down(peer, reason);
            self.core.borrow_mut().daemon.link_down(self.now(), peer);
            self.pass_on();
        }
    }

    fn is_current(&self, peer: OverlayNodeId, link: &Rc<Link>) -> bool {
        self.links.get(&peer).is_some_and(|current| Rc::ptr_eq(&current.borrow(), link))
    }

    /// Takes in a message from another daemon. Returns whether the message can be one.
    pub(super) fn receive(
        &self,
        peer: OverlayNodeId,
        link: &Rc<Link>,
        message: LinkMessage,
    ) -> bool {
        let is_valid = message.is_valid(self.config.daemons.len());
        if is_valid && self.is_current(peer, link) {
            self.core.borrow_mut().daemon.receive(self.now(), peer, message);
        }
        is_valid
    }

    /// The next message for another daemon.
    pub(super) fn take(&self, peer: OverlayNodeId, link: &Rc<Link>) -> Option<LinkMessage> {
        let is_current = self.is_current(peer, link);
        is_current.then(|| self.core.borrow_mut().daemon.take(self.now(), peer))?
    }

    /// Lets all clients go.
    pub(super) fn leave(&self) {
        let sessions: Vec<Rc<Session>> = self.core.borrow().sessions.values().cloned().collect();
        for session in sessions {
            session.close([]);
            self.disconnect(&session);
        }
    }
}

impl Session {
    /// Drops what waits for the client, and ends its connection after these last messages.
    fn close(&self, last: impl IntoIterator<Item = super::outbox::Item>) {
        self.outbox.borrow_mut().close(last);
        self.writer.notify_one();
        self.cut.notify_one();
    }
}

impl Core {
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
                let node = shared.config.node(name.daemon())?;
                Some(Target::Private(node, name.client().into()))
            }
        };
        let is_free = |group: &GroupName| match shared.config.policies.of(group.as_str().as_bytes())
        {
            Policy::Block => false,
            Policy::Drop => message.service == Service::Unreliable,
            Policy::Lag(_) => true,
        };
        let offer = Offer {
            ignores_receivers: message.groups.iter().all(is_free),
            needs_receiver: false,
            line: None,
            message: Outgoing {
                service: message.service,
                self_discard: message.self_discard,
                targets: message.groups.iter().filter_map(target).collect(),
                payload: Body::of(session.name.client(), message),
            },
        };
        self.daemon.offer(now, session.id, offer) == Offered::Sent
    }

    /// Gives an event to the clients that it is for.
    fn deliver(&mut self, shared: &Shared, delivery: Delivery<GroupName, Body>) {
        let config = &shared.config;
        let limit = shared.queue_limit();
        match delivery.event {
            Event::Message { sender, service, self_discard, targets, payload } => {
                let sender = notice::private_name(config, sender.node, &payload.sender);
                let Some(sender) = sender else { return };
                let item =
                    notice::message(config, &sender, service, self_discard, &targets, &payload);
                let rule = rule(config, service, &targets);
                for id in &delivery.to {
                    let Some(session) = self.sessions.get(id).cloned() else { continue };
                    match rule {
                        Rule::Drop if session.outbox.borrow().is_full() => {
                            session.dropped.set(session.dropped.get() + 1);
                            shared.record.count(|totals| totals.dropped += 1);
                        }
                        Rule::Lag(most) if session.outbox.borrow().messages() >= most => {
                            self.cut_off(shared, &session);
                        }
                        _ => self.put(limit, &session, item.clone()),
                    }
                }
            }
            Event::View { group, id, members, cause } => {
                let told = notice::membership(config, group, &id, &members, &cause);
                self.notify(limit, &delivery.to, told);
            }
            Event::Transition { group, id } => {
                let told = Received::Transition { group, id: notice::membership_id(&id) };
                self.notify(limit, &delivery.to, Some(told));
            }
            Event::Left { group } => {
                self.notify(limit, &delivery.to, Some(Received::Left(group)));
            }
            Event::Entered(id, members, _) => shared.record.entered(config, &id, &members),
        }
    }

    fn notify(&mut self, limit: usize, to: &[ClientId], told: Option<Received>) {
        let Some(item) = told.as_ref().map(notice::item) else { return };
        for id in to {
            if let Some(session) = self.sessions.get(id).cloned()
                && session.wants_membership
            {
                self.put(limit, &session, item.clone());
            }
        }
    }

    fn put(&mut self, limit: usize, session: &Session, item: super::outbox::Item) {
        session.outbox.borrow_mut().push(item, limit);
        session.writer.notify_one();
        if !session.is_changed.replace(true) {
            self.changed.push(session.id);
        }
    }

    /// Tells a client that is too far behind that it has left its groups, and ends its connection.
    /// Others see it go at once: its last messages may take long to be read.
    fn cut_off(&mut self, shared: &Shared, session: &Session) {
        let waiting = session.outbox.borrow().messages();
        shared.record.cut_off(session.name.as_str(), waiting);
        let mut groups = core::mem::take(&mut *session.groups.borrow_mut());
        if !session.wants_membership {
            groups.clear();
        }
        session.close(groups.into_iter().map(|group| notice::item(&Received::Left(group))));
        self.forget(shared.now(), session);
    }

    /// Removes a client.
    fn forget(&mut self, now: Time, session: &Session) {
        if self.sessions.remove(&session.id).is_some() {
            self.names.remove(session.name.client());
            self.daemon.disconnect(now, session.id);
        }
    }

    fn state_queue(&mut self, now: Time, id: ClientId) {
        let Some(session) = self.sessions.get(&id) else { return };
        session.is_changed.set(false);
        let (counted, is_full) = {
            let outbox = session.outbox.borrow();
            (outbox.counted(), outbox.is_full())
        };
        self.daemon.set_queue(now, id, counted, is_full);
    }
}

/// What becomes of a message for a client that is behind.
#[derive(Clone, Copy)]
enum Rule {
    Keep,
    Drop,
    Lag(usize),
}

fn rule(config: &Config, service: Service, targets: &[Target<GroupName>]) -> Rule {
    let policy = |target: &Target<GroupName>| match target {
        Target::Group(group) => config.policies.of(group.as_str().as_bytes()),
        Target::Private(..) => Policy::Block,
    };
    let mut rule = Rule::Keep;
    for target in targets {
        match policy(target) {
            Policy::Drop if service == Service::Unreliable => rule = Rule::Drop,
            Policy::Lag(most) => rule = Rule::Lag(most as usize),
            Policy::Block | Policy::Drop => return Rule::Keep,
        }
    }
    rule
}

/// Lets time pass for the core.
pub(super) async fn keep_time(shared: Rc<Shared>) {
    loop {
        let deadline = shared.core.borrow().daemon.deadline();
        shared.armed.set(deadline);
        tokio::select! {
            () = tokio::time::sleep_until(shared.instant(deadline)) => {
                shared.set_back();
                let mut core = shared.core.borrow_mut();
                core.daemon.advance(shared.now());
                shared.flush(&mut core);
            }
            () = shared.clock.notified() => {}
        }
    }
}

/// Tells others how far this daemon is, once for all that has come in the meantime.
pub(super) async fn keep_pace(shared: Rc<Shared>) {
    loop {
        shared.pace.notified().await;
        tokio::task::yield_now().await;
        let mut core = shared.core.borrow_mut();
        core.daemon.hurry(shared.now());
        shared.flush(&mut core);
    }
}

/// Microseconds since 1970. A restarted daemon has a larger number.
#[expect(clippy::disallowed_methods, reason = "the number names a start of the daemon")]
pub(super) fn microseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as u64)
}
