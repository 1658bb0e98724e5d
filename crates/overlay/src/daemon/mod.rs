//! A daemon: membership, queues, prices and clients' money together. Programs run it, and so do
//! simulated overlays.
//!
//! Sans-IO: the caller passes the time and arrivals. After a batch of calls, call
//! [`Daemon::hurry`], drain [`Daemon::poll_delivery`], [`Daemon::poll_sent`] and
//! [`Daemon::poll_link`], take messages for links as their connections have room
//! ([`Daemon::take`]), and read [`Daemon::deadline`] for the next call of [`Daemon::advance`].
//!
//! Decisions beyond the paper, which measures equal messages of few clients:
//! - The queue to a client is the last link of the tree: it has a price, and all daemons know it.
//! - Programs that send and read in turn must not wait for each other: the queue to a client that
//!   does not read while it waits to send has no price, and a client's own costs it nothing.
//! - A message of a client that is about to join waits until the client has joined: it would
//!   overtake the join, and the client would not get it.
//! - A message counts as its packets, in queues and prices ([`Payload::counted`]).
//! - A daemon with much traffic tells leaps of its queues before the interval is over: in an
//!   interval, fast links carry a thousand times the soft limit. The soft limit of a queue that
//!   drains faster is what leaves in the time of five looks.
//! - A client's queue beyond its limit stops all senders at once, at any budget. A daemon's window
//!   bounds its messages that not all daemons have yet, at any budget, too. Daemons tell of such a
//!   queue before they confirm the messages that filled it, so a queue never holds more than its
//!   limit and one window of each daemon.

mod buying;
mod links;
mod prices;
mod purse;
mod purses;
#[cfg(test)]
mod tests;
mod window;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

pub use buying::Offered;
use links::{Links, kind};
use prices::PriceTable;
use purse::Purse;
pub use purse::{Line, Offer, PurseState};
use purses::Purses;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Duration, Time};
use window::Window;

use crate::burst::Burst;
use crate::ids::{ClientId, EdgeId, NodeSet, OverlayNodeId};
use crate::level::Level;
use crate::membership::{Delivery, Founding, Label, LinkMessage, Member, ViewId};
use crate::params::Params;
use crate::price::Dollars;
use crate::queue::LinkQueue;
use crate::tree::EdgeSpec;

/// Bytes of a long cost update on a link: one that names a client.
const UPDATE: Bytes = Bytes::new(24);
/// Longest time for which daemons keep copies because others do not know that all have them.
const PROGRESS: Duration = Duration::from_secs(1);
/// Bytes of traffic for each byte of early updates: these stay below a thousandth.
const TRAFFIC_OF_UPDATE: u64 = 1000;
/// Early updates that traffic may bear later: a price that rose for a burst falls as soon as the
/// burst has gone, though it stops the traffic.
const MOST_EARLY: u64 = 10;

/// Data of a client's message, and how it counts in queues and prices.
pub trait Payload: Clone {
    /// Number of messages that the data counts as, at least 1.
    fn counted(&self) -> u32;
    /// Length of the data.
    fn size(&self) -> Bytes;
    /// Notes that the message has been paid for.
    fn note_sent(&mut self, _now: Time) {}
}

/// Facts that all daemons of an overlay know from the start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Flow control.
    pub params: Params,
    /// Number of daemons.
    pub nodes: usize,
    /// Links between daemons.
    pub edges: Arc<[EdgeSpec]>,
    /// Shortest time between two looks at the queues. If it is shorter than
    /// [`Params::interval`], a daemon whose queues have changed much tells its prices before the
    /// interval is over, as far as the traffic bears it.
    pub least_interval: Duration,
    /// Maximum of a daemon's messages that not all daemons have yet. A larger message goes alone.
    pub window: Bytes,
}

impl Settings {
    /// Shortest time between two looks at the queues, if there are any beside cost updates.
    fn looks(&self) -> Option<Duration> {
        (self.least_interval < self.params.interval).then_some(self.least_interval)
    }
}

/// A daemon in operation. `G` names groups, `P` is the data of clients' messages.
#[derive(Debug)]
pub struct Daemon<G, P> {
    settings: Arc<Settings>,
    member: Member<G, P>,
    links: Links<G, P>,
    prices: PriceTable,
    purses: Purses<G, P>,
    wakes: BinaryHeap<Reverse<(Time, ClientId)>>,
    /// Number of clients with a message that waits.
    held: usize,
    /// Whether a client's message waits for the window, or for a new view.
    is_waited_for: bool,
    /// Number of clients' joins that wait for other daemons.
    joining: usize,
    sent: VecDeque<ClientId>,
    /// The view as last seen.
    view: ViewId,
    window: Window,
    /// By destinations: the links that messages cross in this view.
    ways: BTreeMap<NodeSet, Arc<[EdgeId]>>,
    next_update: Time,
    next_look: Time,
    /// Middle of the time between the last two looks: at least half of a queue that came before is
    /// in its mean.
    shown: Time,
    last_look: Time,
    /// What all clients have sent for no fee.
    burst: Burst,
    /// The client that sent last.
    served: ClientId,
    /// Whether a client waits for what the next look shows.
    is_look_awaited: bool,
    /// When to tell others which messages this daemon has, though none waits for that.
    next_progress: Time,
    /// Clients' data on links, either way, that has not borne an early update yet.
    traffic: Bytes,
    random: Xoshiro256PlusPlus,
}

/// State of a link to a neighbour.
#[derive(Clone, Copy, Debug)]
pub struct LinkView<'a, G, P> {
    /// The neighbour.
    pub peer: OverlayNodeId,
    /// Whether there is a connection.
    pub is_up: bool,
    /// Cost of a message over the link, as this daemon's clients pay it.
    pub cost: Dollars,
    /// Queue in front of the link.
    pub queue: &'a LinkQueue<LinkMessage<G, P>>,
}

impl<G: Clone + Ord, P: Payload> Daemon<G, P> {
    /// Daemon `me`, alone. `incarnation` is as for [`Member::new`].
    pub fn new(
        me: OverlayNodeId,
        incarnation: u64,
        settings: Arc<Settings>,
        random: Xoshiro256PlusPlus,
    ) -> Daemon<G, P> {
        let member = Member::new(me, incarnation, settings.nodes, Arc::clone(&settings.edges));
        Daemon::with(member, settings, random)
    }

    /// Daemon `me` in the first view of all daemons.
    pub fn founded(
        me: OverlayNodeId,
        founding: &Founding<G>,
        settings: Arc<Settings>,
        random: Xoshiro256PlusPlus,
    ) -> Daemon<G, P> {
        let mut daemon = Daemon::with(Member::founded(me, founding), settings, random);
        daemon.links.iter_mut().for_each(|link| link.is_up = true);
        for client in daemon.member.clients() {
            daemon.purses.insert(client, Purse::new(Time::ZERO, None, &daemon.settings.params));
        }
        daemon
    }

    fn with(
        member: Member<G, P>,
        settings: Arc<Settings>,
        random: Xoshiro256PlusPlus,
    ) -> Daemon<G, P> {
        let me = member.id();
        let (mut links, mut prices) = (Links::new(me), PriceTable::new(me));
        links.grow(&settings.edges);
        prices.grow(settings.nodes, &settings.edges);
        Daemon {
            links,
            prices,
            purses: Purses::new(),
            wakes: BinaryHeap::new(),
            held: 0,
            is_waited_for: false,
            joining: 0,
            sent: VecDeque::new(),
            view: member.view().0,
            window: Window::new(settings.window),
            ways: BTreeMap::new(),
            next_update: settings.params.first_update(me.index(), settings.nodes),
            next_look: Time::ZERO,
            shown: Time::ZERO,
            last_look: Time::ZERO,
            burst: Burst::default(),
            served: ClientId(0),
            is_look_awaited: false,
            next_progress: Time::ZERO,
            traffic: Bytes::ZERO,
            random,
            settings,
            member,
        }
    }

    /// Knows these daemons, links and terms from now on, as [`Member::know`].
    pub fn know(&mut self, now: Time, edges: Arc<[EdgeSpec]>, known: Vec<u64>, terms: u64) {
        let nodes = known.len();
        self.links.grow(&edges);
        self.prices.grow(nodes, &edges);
        self.settings =
            Arc::new(Settings { nodes, edges: Arc::clone(&edges), ..(*self.settings).clone() });
        self.member.know(edges, known, terms);
        self.settle(now);
    }

    /// The membership.
    pub fn member(&self) -> &Member<G, P> {
        &self.member
    }
    /// This daemon's links.
    pub fn links(&self) -> impl Iterator<Item = LinkView<'_, G, P>> {
        self.links.iter().map(|link| LinkView {
            peer: link.peer,
            is_up: link.is_up,
            cost: self.prices.link(link.edge),
            queue: &link.queue,
        })
    }
    /// Queue in front of the link to a neighbour, to take its peak.
    pub fn queue_mut(&mut self, peer: OverlayNodeId) -> Option<&mut LinkQueue<LinkMessage<G, P>>> {
        let link = self.links.iter_mut().find(|link| link.peer == peer)?;
        Some(&mut link.queue)
    }
    /// This daemon's messages that not all daemons have yet.
    pub fn in_window(&self) -> Bytes {
        self.window.bytes()
    }

    /// Notes a new connection with a neighbour. Both ends give the same new number.
    pub fn link_up(&mut self, now: Time, peer: OverlayNodeId, connection: u64) {
        self.links.clear(now, peer, true);
        self.member.link_up(peer, connection);
        self.settle(now);
    }

    /// Notes the end of the connection with a neighbour.
    pub fn link_down(&mut self, now: Time, peer: OverlayNodeId) {
        self.links.clear(now, peer, false);
        self.member.link_down(peer);
        self.settle(now);
    }

    /// Takes in a message from a neighbour.
    pub fn receive(&mut self, now: Time, peer: OverlayNodeId, message: LinkMessage<G, P>) {
        self.traffic += kind(&message).1;
        self.member.receive(peer, message);
        self.settle(now);
    }

    /// A client connects; returns its number.
    pub fn connect(&mut self, now: Time, label: Label) -> ClientId {
        self.connect_paid(now, label, None)
    }

    /// A client connects and will get this salary, or that of all clients; returns its number.
    pub fn connect_paid(&mut self, now: Time, label: Label, salary: Option<Dollars>) -> ClientId {
        let client = self.member.connect(label);
        self.purses.insert(client, Purse::new(now, salary, &self.settings.params));
        client
    }

    /// A client's connection has ended. A message of it that waits is not sent.
    pub fn disconnect(&mut self, now: Time, client: ClientId) {
        if self.purses.remove(client).is_some_and(|purse| purse.is_held()) {
            self.held -= 1;
        }
        if self.prices.remove_own(client) {
            self.tell(Vec::new(), vec![(client, Level::default())]);
        }
        self.member.disconnect(client);
        self.settle(now);
        self.reconsider(now);
    }

    /// A client joins a group.
    pub fn join(&mut self, now: Time, client: ClientId, group: G) {
        self.member.join(client, group);
        self.settle(now);
    }

    /// A client leaves a group.
    pub fn leave(&mut self, now: Time, client: ClientId, group: G) {
        self.member.leave(client, group);
        self.settle(now);
    }

    /// States the queue to a client: messages as they count, and whether it is beyond its limit.
    pub fn set_queue(&mut self, now: Time, client: ClientId, waiting: u64, is_full: bool) {
        let (was_full, is_shorter) = self.prices.set_own(now, client, waiting, is_full);
        if is_shorter {
            self.has_read(now, client);
        }
        if was_full == is_full {
            return;
        }
        self.tell_queue(now, client);
        if was_full {
            self.reconsider(now);
        }
    }

    /// Whether others wait for a client of this daemon to read: its queue is full, or its price is
    /// more than a client gets at a time.
    pub fn holds_others(&self, client: ClientId) -> bool {
        self.prices.holds_others(client, &self.settings.params)
    }

    fn tell(&mut self, links: Vec<(u8, Level)>, clients: Vec<(ClientId, Level)>) {
        let named = |(client, level)| Some((client, self.member.label(client)?.clone(), level));
        let clients = clients.into_iter().filter_map(named).collect();
        self.member.tell_prices(links, clients);
    }

    /// Tells the queue to a client at once.
    fn tell_queue(&mut self, now: Time, client: ClientId) {
        let told = self.prices.tell_now(client);
        self.tell(Vec::new(), vec![(client, told)]);
        self.collect(now);
    }

    /// Does what is due by `now`: salaries, purchases, cost updates.
    pub fn advance(&mut self, now: Time) {
        while let Some(Reverse((at, client))) = self.wakes.peek().copied()
            && at <= now
        {
            self.wakes.pop();
            if let Some(Reverse((_, next))) = self.wakes.peek() {
                self.purses.foresee(*next);
            }
            self.wake(now, at, client);
        }
        if self.next_due() <= now {
            self.update(now);
        }
        self.settle(now);
    }

    /// Sets the clock back: the next `now` is this much less than it would be. Time ends after 213
    /// days, and daemons may run for longer.
    pub fn set_back(&mut self, by: Duration) {
        self.links.iter_mut().for_each(|link| link.queue.set_back(by));
        self.prices.set_back(by);
        self.purses.values_mut().for_each(|purse| purse.set_back(by));
        let wakes = core::mem::take(&mut self.wakes);
        self.wakes = wakes.into_iter().map(|Reverse((at, id))| Reverse((at - by, id))).collect();
        self.next_update = self.next_update - by;
        self.next_look = self.next_look - by;
        self.next_progress = self.next_progress - by;
        self.burst.set_back(by);
        (self.shown, self.last_look) = (self.shown - by, self.last_look - by);
    }

    /// When to call [`Daemon::advance`].
    pub fn deadline(&self) -> Time {
        let wake = self.wakes.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
        wake.min(self.next_due())
    }

    /// When to look at the queues: once an interval, and sooner while messages wait.
    fn next_due(&self) -> Time {
        let waits = || {
            let (links, prices) = (&self.links, &self.prices);
            // Others pay for what they were told until they hear that it has gone.
            let is_told = || self.settings.params.spares_bursts() && prices.has_told();
            self.is_look_awaited || links.is_any_waiting() || prices.is_any_waiting() || is_told()
        };
        match self.settings.looks().is_some() && waits() {
            true => self.next_look,
            false => self.next_update.max(self.next_look),
        }
    }

    /// Tells others how far this daemon is, if a message waits for that.
    pub fn hurry(&mut self, now: Time) {
        self.member.hurry();
        self.settle(now);
    }

    /// Looks at the queues, sends changed prices if that is due, and lets clients read the prices.
    fn update(&mut self, now: Time) {
        let is_due = self.next_update <= now;
        while self.next_update <= now {
            self.next_update += self.settings.params.interval;
        }
        let (params, apart) = (&self.settings.params, self.settings.looks());
        if let Some(apart) = apart {
            self.next_look = now + apart;
        }
        self.shown = self.last_look + now.since(self.last_look) / 2;
        self.last_look = now;
        self.is_look_awaited = false;
        self.links.close_interval(now, apart);
        self.prices.close_interval(now, params, apart);
        let averages = || self.links.averages(params.soft_limit);
        if params.spares_bursts() {
            self.prices.price_links(averages(), params);
        }
        let is_early = !is_due && self.is_urgent();
        if (is_due || is_early) && !self.member.is_changing() {
            let params = &self.settings.params;
            let links = self.prices.news_of_links(self.links.averages(params.soft_limit), params);
            let clients = self.prices.news_of_clients();
            let one = self.early_update().get();
            let left = self.traffic.get() - if is_early { one } else { 0 };
            // A burst may end before the traffic bears the news: its price may rise and fall.
            let least = if is_due && params.spares_bursts() { 2 * one } else { 0 };
            self.traffic = Bytes::new(left.clamp(least, MOST_EARLY * one));
            self.tell(links, clients);
        }
        if is_due && self.next_progress <= now {
            self.next_progress = now + PROGRESS;
            self.member.tick();
        } else if is_due {
            self.member.hurry();
        }
        self.reconsider(now);
    }

    /// Whether this daemon should tell its prices before the interval is over, and the traffic
    /// bears it.
    fn is_urgent(&self) -> bool {
        let (one, params) = (self.early_update(), &self.settings.params);
        let levels = || self.prices.levels(self.links.averages(params.soft_limit));
        if !params.spares_bursts() {
            return self.traffic >= one && levels().any(|(level, told)| level.has_leapt(told));
        }
        // Who was told of a price pays it until its end is told. So that the end need not wait for
        // the interval, other early updates leave what it needs.
        let is_end = levels().all(|(level, _)| level == Level::default());
        let needed = if is_end { one } else { one * 2 };
        let is_news = |level: Level, told| level.has_leapt(told) || level.has_gone(told);
        self.traffic >= needed && levels().any(|(level, told)| is_news(level, told))
    }

    /// Traffic that bears an early update.
    fn early_update(&self) -> Bytes {
        let others = self.member.view().1.len() as u64 - 1;
        Bytes::new(others * UPDATE.get() * TRAFFIC_OF_UPDATE)
    }

    /// Takes what the membership has for links, for clients, and for this daemon.
    fn settle(&mut self, now: Time) {
        self.collect(now);
        let mut is_news = false;
        while let Some(prices) = self.member.poll_prices() {
            self.prices.learn(&prices, &self.settings.params);
            // Without looks, clients read prices when this daemon tells its own.
            is_news = self.settings.looks().is_some();
        }
        let view = self.member.view().0;
        if view != self.view {
            self.view = view;
            self.enter();
            is_news = true;
        }
        if !self.window.is_empty() {
            is_news |= self.window.forget(self.member.stable()) && self.is_waited_for;
        }
        let joining = self.member.joining();
        is_news |= core::mem::replace(&mut self.joining, joining) > joining;
        if is_news {
            self.reconsider(now);
        }
    }

    fn enter(&mut self) {
        self.prices.enter();
        self.purses.values_mut().for_each(|purse| purse.enter());
        self.burst = Burst::default();
        self.ways.clear();
        self.window.clear();
    }

    fn collect(&mut self, now: Time) {
        while let Some((place, message)) = self.member.poll_place() {
            let kind = kind(&message);
            self.traffic += kind.1;
            self.links.push(now, place, kind, message);
        }
    }

    /// Takes the next message for the connection with a neighbour. Call it when the connection has
    /// room for one.
    pub fn take(&mut self, now: Time, peer: OverlayNodeId) -> Option<LinkMessage<G, P>> {
        self.take_sized(now, peer).map(|(_, message)| message)
    }

    /// As [`Daemon::take`], with the size of a client's message; control messages have none.
    pub fn take_sized(
        &mut self,
        now: Time,
        peer: OverlayNodeId,
    ) -> Option<(Bytes, LinkMessage<G, P>)> {
        let place = self.member.place(peer)?;
        self.links.take(now, place)
    }

    /// A neighbour whose empty queue has got a message.
    pub fn poll_link(&mut self) -> Option<OverlayNodeId> {
        self.links.poll_ready()
    }
    /// An event for clients.
    pub fn poll_delivery(&mut self) -> Option<Delivery<G, P>> {
        self.member.poll_delivery()
    }
    /// A client whose [held](Offered::Held) message has been sent: it may offer its next.
    pub fn poll_sent(&mut self) -> Option<ClientId> {
        self.sent.pop_front()
    }
}
