//! The messages of a view: their order, and copies of them until all have them.
//!
//! The order is Lamport's: by (stamp, daemon). Messages of one daemon reach another in order,
//! because all go down one tree of links that keep order. So a stamp that was heard from a daemon
//! says that all its earlier messages have come. Daemons tell each other up to which stamp they
//! have all messages ([`Progress`]); what all have is stable.
//!
//! A daemon that sends nothing itself goes ahead when it tells its clock ([`LEAD`]): messages of
//! others below that clock need not wait for it again. Clocks that are told do not advance those of
//! others; messages do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::message::{
    Client, OrderStamp, Progress, Report, Service, ViewBody, ViewId, ViewMessage,
};
use super::valid::MOST;
use crate::ids::{NodeSet, OverlayNodeId};

/// Stamps by which a daemon that sends nothing goes ahead of others, and the rest of them at which
/// it goes ahead again: thousands of messages then take one round trip between them.
const LEAD: OrderStamp = 1024;
const RENEWAL: OrderStamp = LEAD / 2;

pub(super) type Key = (OrderStamp, OverlayNodeId);

/// How far a daemon is, as it last told.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    clock: OrderStamp,
    /// The stamp up to which the daemon has all messages.
    all: OrderStamp,
    /// What the daemon asked all others to reach.
    ours: Awaited,
}

/// Highest stamps of messages whose delivery waits for other daemons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Awaited {
    /// Highest stamp of a message that waits until the others have told stamps beyond its own.
    ordered: OrderStamp,
    /// Highest stamp of a message that waits until all daemons have it.
    safe: OrderStamp,
}

impl Awaited {
    fn learn(&mut self, ordered: OrderStamp, safe: OrderStamp) {
        self.ordered = self.ordered.max(ordered);
        self.safe = self.safe.max(safe);
    }
}

/// One daemon's part in the messages of a view.
#[derive(Clone, Debug)]
pub(super) struct Order<G, P> {
    me: OverlayNodeId,
    members: NodeSet,
    /// Highest stamp used or heard with a message, or told.
    clock: OrderStamp,
    /// Whether this daemon has used no stamp since it last told its clock.
    is_idle: bool,
    /// Progress of this daemon as it last told all others.
    told: Told,
    /// Stamps that some daemon waits for, as far as this daemon knows.
    awaited: Awaited,
    /// Stamps of this daemon's messages that do not go to all daemons. Daemons that do not get such
    /// a message learn its stamp from this daemon's progress.
    ours: Awaited,
    /// By daemon: highest stamp heard from it.
    heard: Vec<OrderStamp>,
    /// By daemon: its clock as it last told.
    clocks: Vec<OrderStamp>,
    /// By daemon: the stamp up to which it has all messages, as it said.
    received: Vec<OrderStamp>,
    /// Whether a daemon or link may fail, so that copies are needed.
    keeps_copies: bool,
    /// Messages, of this daemon or for it, that some other may lack.
    held: BTreeMap<Key, Arc<ViewMessage<G, P>>>,
    /// Messages that came after the view's end.
    recovered: BTreeSet<Key>,
    /// Messages for this daemon that wait for their turn.
    pending: BTreeMap<Key, Arc<ViewMessage<G, P>>>,
    /// By sender: number of its pending messages.
    waiting: BTreeMap<Client, usize>,
}

impl<G, P> Order<G, P> {
    pub(super) fn new(me: OverlayNodeId, members: NodeSet, nodes: usize) -> Order<G, P> {
        Order {
            me,
            members,
            clock: 0,
            is_idle: true,
            told: Told::default(),
            awaited: Awaited::default(),
            ours: Awaited::default(),
            heard: vec![0; nodes],
            clocks: vec![0; nodes],
            received: vec![0; nodes],
            keeps_copies: true,
            held: BTreeMap::new(),
            recovered: BTreeSet::new(),
            pending: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Has room for the progress of this many daemons.
    pub(super) fn grow(&mut self, nodes: usize) {
        for by_daemon in [&mut self.heard, &mut self.clocks, &mut self.received] {
            by_daemon.resize(nodes, 0);
        }
    }

    /// An order that keeps no copies of messages, for runs in which no daemon or link fails.
    pub(super) fn without_copies(self) -> Order<G, P> {
        Order { keeps_copies: false, ..self }
    }

    /// Stamp of a new message.
    pub(super) fn stamp(&mut self) -> OrderStamp {
        self.is_idle = false;
        self.clock += 1;
        self.clock
    }
    /// A stamp below all later messages of this daemon.
    pub(super) fn now(&self) -> OrderStamp {
        self.clock
    }

    fn others(&self) -> impl Iterator<Item = OverlayNodeId> + '_ {
        self.members.iter().filter(|node| *node != self.me)
    }

    /// Up to this stamp, all messages of others have come.
    fn agreed(&self) -> OrderStamp {
        self.others().map(|node| self.heard[node.index()]).min().unwrap_or(OrderStamp::MAX)
    }

    /// Up to this stamp, this daemon has all messages.
    fn all(&self) -> OrderStamp {
        self.agreed().min(self.clock)
    }

    /// Up to this stamp, all daemons have all messages.
    pub(super) fn stable(&self) -> OrderStamp {
        let theirs = self.others().map(|node| self.received[node.index()]).min();
        theirs.map_or(OrderStamp::MAX, |theirs| theirs.min(self.agreed()))
    }

    /// What to tell all others, if they do not know it: how far this daemon is.
    pub(super) fn tell(&mut self) -> Option<Progress> {
        if !self.keeps_copies {
            return self.tell_awaited();
        }
        let heard = self.others().map(|node| self.heard[node.index()]).max();
        self.clock = self.clock.max(heard.unwrap_or(0));
        let all = self.all();
        let is_news = (self.clock, all) != (self.told.clock, self.told.all);
        (is_news && self.members.len() > 1).then(|| self.progress(all))
    }

    /// What to tell all others because a message waits for it somewhere.
    pub(super) fn tell_awaited(&mut self) -> Option<Progress> {
        let (told, awaited) = (self.told, self.awaited.ordered.max(self.awaited.safe));
        let (lead, renewal) = if self.is_idle { (LEAD, RENEWAL) } else { (0, 0) };
        let is_late = awaited > 0 && awaited + renewal > told.clock;
        if is_late {
            self.clock = self.clock.max(awaited + lead);
        }
        let all = if self.awaited.safe > told.all { self.all() } else { told.all };
        let asks = self.ours.safe != told.ours.safe
            || (self.ours.ordered != told.ours.ordered
                && self.agreed() < self.ours.ordered + RENEWAL);
        let is_awaited = is_late || all > told.all || asks;
        (is_awaited && self.members.len() > 1).then(|| self.progress(all))
    }

    fn progress(&mut self, all: OrderStamp) -> Progress {
        let now = Told { clock: self.clock, all, ours: self.ours };
        let told = core::mem::replace(&mut self.told, now);
        self.is_idle = true;
        let waits = |stamp: OrderStamp, told| (stamp != told).then(|| now.clock - stamp);
        Progress {
            origin: self.me,
            clock: now.clock - told.clock,
            all: now.all - told.all,
            ordered: waits(now.ours.ordered, told.ours.ordered),
            safe: waits(now.ours.safe, told.ours.safe),
        }
    }

    /// Notes that this daemon waits until all have its messages so far.
    pub(super) fn ask(&mut self) {
        self.awaited.learn(self.clock, self.clock);
        self.ours.learn(self.clock, self.clock);
    }

    /// Notes the stamp of a message of another daemon.
    pub(super) fn hear(&mut self, from: OverlayNodeId, stamp: OrderStamp) {
        let heard = &mut self.heard[from.index()];
        *heard = stamp.max(*heard);
        self.clock = self.clock.max(stamp);
    }

    /// Notes how far another daemon is.
    pub(super) fn hear_progress(&mut self, told: &Progress) {
        let from = told.origin.index();
        let grow = |stamp: &mut OrderStamp, growth| *stamp = stamp.saturating_add(growth).min(MOST);
        grow(&mut self.clocks[from], told.clock);
        grow(&mut self.received[from], told.all);
        let clock = self.clocks[from];
        self.heard[from] = self.heard[from].max(clock);
        let stamp =
            |below: Option<OrderStamp>| below.map_or(0, |below| clock.saturating_sub(below));
        self.awaited.learn(stamp(told.ordered), stamp(told.safe));
        let stable = self.stable();
        while let Some(first) = self.held.first_entry()
            && first.key().0 <= stable
        {
            first.remove();
        }
    }

    /// Takes in a message of this daemon or for it. Returns whether it is to be delivered at once.
    pub(super) fn push(&mut self, message: &Arc<ViewMessage<G, P>>) -> bool {
        let key = (message.stamp, message.origin);
        let service = service(message);
        if service >= Service::Causal {
            let safe = if service == Service::Safe { key.0 } else { 0 };
            // A message tells its receivers the stamp of its daemon, and nobody else delivers it.
            let is_awaited = key.1 != self.me && !message.to.without(self.me).is_empty();
            self.awaited.learn(if is_awaited { key.0 } else { 0 }, safe);
            if key.1 == self.me && message.to != self.members {
                self.ours.learn(key.0, safe);
            }
        }
        let is_kept = self.keeps_copies && service > Service::Unreliable;
        if is_kept && !message.to.without(self.me).is_empty() {
            self.held.insert(key, Arc::clone(message));
        }
        if !message.to.contains(self.me) {
            return false;
        }
        let sender = sender(message);
        // A message does not overtake its sender's earlier ones.
        let waits = |sender| self.waiting.contains_key(&sender);
        if service < Service::Fifo || (service == Service::Fifo && !sender.is_some_and(waits)) {
            return true;
        }
        self.wait(key, message);
        false
    }

    fn wait(&mut self, key: Key, message: &Arc<ViewMessage<G, P>>) {
        self.pending.insert(key, Arc::clone(message));
        if let Some(sender) = sender(message) {
            *self.waiting.entry(sender).or_default() += 1;
        }
    }

    /// The next message in the order, once none can come before it.
    pub(super) fn pop(&mut self) -> Option<Arc<ViewMessage<G, P>>> {
        if self.pending.is_empty() {
            return None;
        }
        let (agreed, safe) = (self.agreed(), self.stable());
        self.pop_within(agreed, safe)
    }

    /// The next message in the order, if its stamp is at most `agreed`, and that of a safe message
    /// also at most `safe`.
    pub(super) fn pop_within(
        &mut self,
        agreed: OrderStamp,
        safe: OrderStamp,
    ) -> Option<Arc<ViewMessage<G, P>>> {
        let next = self.pending.first_entry()?;
        let stamp = next.key().0;
        let is_due = stamp <= agreed && (service(next.get()) < Service::Safe || stamp <= safe);
        let message = is_due.then(|| next.remove())?;
        if let Some(sender) = sender(&message)
            && let Some(waiting) = self.waiting.get_mut(&sender)
        {
            *waiting -= 1;
            if *waiting == 0 {
                self.waiting.remove(&sender);
            }
        }
        Some(message)
    }

    /// Messages that wait for their turn, in order.
    pub(super) fn pending(&self) -> impl Iterator<Item = &Arc<ViewMessage<G, P>>> {
        self.pending.values()
    }

    /// What this daemon has of the view's messages.
    pub(super) fn report(&self, view: ViewId) -> Report {
        Report {
            view,
            heard: self.heard.clone(),
            recovered: self.recovered.iter().copied().collect(),
            agreed: self.agreed(),
            safe: self.stable(),
        }
    }

    /// Messages that others of these lack and that this daemon is the one to send, with those that
    /// lack them.
    pub(super) fn lacking(
        &self,
        reports: &BTreeMap<OverlayNodeId, Report>,
    ) -> Vec<(NodeSet, Arc<ViewMessage<G, P>>)> {
        let has = |node: OverlayNodeId, report: &Report, key: &Key, to: &NodeSet| {
            // A daemon that knows fewer daemons has heard nothing of the others.
            let heard = report.heard.get(key.1.index()).copied().unwrap_or(0);
            let came = key.0 <= heard || report.recovered.contains(key);
            node == key.1 || (to.contains(node) && came)
        };
        let lacking = |(key, message): (&Key, &Arc<ViewMessage<G, P>>)| {
            let to = &message.to;
            let (have, rest): (Vec<_>, Vec<_>) =
                reports.iter().partition(|(node, report)| has(**node, report, key, to));
            let lack: NodeSet = rest.iter().map(|(node, _)| **node).collect::<NodeSet>().and(to);
            let first = have.first().map(|(node, _)| **node);
            (first == Some(self.me) && !lack.is_empty()).then(|| (lack, Arc::clone(message)))
        };
        self.held.iter().filter_map(lacking).collect()
    }

    /// Takes in a message that this daemon lacked; false if it is here already.
    pub(super) fn recover(&mut self, message: &Arc<ViewMessage<G, P>>) -> bool {
        let key = (message.stamp, message.origin);
        let is_here = key.0 <= self.heard[key.1.index()];
        let is_new = !is_here && self.recovered.insert(key);
        if is_new {
            self.held.insert(key, Arc::clone(message));
            self.wait(key, message);
        }
        is_new
    }
}

fn service<G, P>(message: &ViewMessage<G, P>) -> Service {
    match message.body {
        ViewBody::Data { service, .. } => service,
        _ => Service::Agreed,
    }
}

fn sender<G, P>(message: &ViewMessage<G, P>) -> Option<Client> {
    match message.body {
        ViewBody::Data { sender, .. } => Some(Client { node: message.origin, id: sender }),
        _ => None,
    }
}
