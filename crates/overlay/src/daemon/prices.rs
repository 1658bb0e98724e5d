//! Prices of links and of clients' queues, as told.

use std::collections::BTreeMap;

use ratewire_units::{Duration, Time};

use crate::gauge::{Drain, Gauge, Mean};
use crate::ids::{ClientId, EdgeId, OverlayNodeId};
use crate::level::Level;
use crate::membership::{self, Client, Label};
use crate::params::Params;
use crate::price::{Dollars, Occupancy};
use crate::tree::EdgeSpec;

/// Queues of the overlay, as one daemon knows them.
#[derive(Debug)]
pub(super) struct PriceTable {
    me: OverlayNodeId,
    /// By daemon: its links, in order.
    own: Vec<Vec<EdgeId>>,
    /// By link: its queue, as last told.
    links: Vec<Level>,
    /// By link: cost of a message to clients of this daemon.
    costs: Vec<Dollars>,
    /// Queues of other daemons' clients, as last told; empty ones are left out.
    theirs: BTreeMap<Client, (Label, Level)>,
    /// Queues to this daemon's clients; empty ones that all know of are left out.
    ours: BTreeMap<ClientId, Queue>,
}

/// A queue to a client of this daemon.
#[derive(Debug, Default)]
struct Queue {
    gauge: Gauge,
    mean: Mean,
    drain: Drain,
    /// The mean beside how fast the queue drains.
    relative: Occupancy,
    is_full: bool,
    /// Whether the client reads only while it does not wait to send: the queue has no price.
    is_excused: bool,
    told: Level,
}

impl Queue {
    fn level(&self) -> Level {
        match (self.is_full, self.is_excused) {
            (true, _) => Level::FULL,
            (false, true) => Level::default(),
            (false, false) => Level::of(self.relative),
        }
    }
}

impl PriceTable {
    pub(super) fn new(me: OverlayNodeId) -> PriceTable {
        let (own, links, costs, theirs, ours) = Default::default();
        PriceTable { me, own, links, costs, theirs, ours }
    }

    /// Has room for the links of this many daemons, which begin with those known so far.
    pub(super) fn grow(&mut self, nodes: usize, edges: &[EdgeSpec]) {
        self.own.resize(nodes, Vec::new());
        for (number, edge) in edges.iter().enumerate().skip(self.links.len()) {
            self.own[edge.from.index()].push(EdgeId(number as u16));
        }
        self.links.resize(edges.len(), Level::default());
        self.costs.resize(edges.len(), Dollars::ZERO);
    }

    pub(super) fn set_back(&mut self, by: Duration) {
        for queue in self.ours.values_mut() {
            queue.gauge.set_back(by);
            queue.mean.set_back(by);
            queue.drain.set_back(by);
        }
    }

    /// Forgets what was told: daemons of a new view tell it anew.
    pub(super) fn enter(&mut self) {
        self.links.fill(Level::default());
        self.costs.fill(Dollars::ZERO);
        self.theirs.clear();
        self.ours.values_mut().for_each(|queue| queue.told = Level::default());
    }

    pub(super) fn learn(&mut self, told: &membership::Prices, params: &Params) {
        for (place, level) in &told.links {
            if let Some(link) = self.own[told.origin.index()].get(usize::from(*place)) {
                self.links[link.index()] = *level;
                self.costs[link.index()] = params.link_cost(level.occupancy());
            }
        }
        for (id, label, level) in &told.clients {
            let client = Client { node: told.origin, id: *id };
            if *level == Level::default() {
                self.theirs.remove(&client);
            } else {
                self.theirs.insert(client, (label.clone(), *level));
            }
        }
    }

    /// Notes the queue to a client of this daemon. Returns whether it was full before, and whether
    /// it has become shorter.
    pub(super) fn set_own(
        &mut self,
        now: Time,
        client: ClientId,
        waiting: u64,
        is_full: bool,
    ) -> (bool, bool) {
        if waiting == 0 && !is_full && !self.ours.contains_key(&client) {
            return (false, false);
        }
        let queue = self.ours.entry(client).or_default();
        let before = queue.gauge.waiting();
        let is_shorter = waiting < before;
        queue.drain.note(before.saturating_sub(waiting));
        queue.gauge.set(now, waiting);
        (core::mem::replace(&mut queue.is_full, is_full), is_shorter)
    }

    /// Whether anything waits for a client of this daemon.
    pub(super) fn is_waiting(&self, client: ClientId) -> bool {
        !self.ours.is_empty()
            && self.ours.get(&client).is_some_and(|queue| queue.gauge.waiting() > 0)
    }

    /// Whether others wait for a client of this daemon: its queue is full, or its price is more
    /// than a sender gets at a time.
    pub(super) fn holds_others(&self, client: ClientId, params: &Params) -> bool {
        let queue = self.ours.get(&client);
        queue.is_some_and(|queue| cost(queue.level(), params) > params.salary)
    }

    /// Excuses a client of this daemon, or not. Returns whether that is new.
    pub(super) fn excuse(&mut self, client: ClientId, is_excused: bool) -> bool {
        let queue = self.ours.get_mut(&client);
        queue.is_some_and(|queue| {
            core::mem::replace(&mut queue.is_excused, is_excused) != is_excused
        })
    }

    /// Forgets a client of this daemon. Returns whether others must be told.
    pub(super) fn remove_own(&mut self, client: ClientId) -> bool {
        self.ours.remove(&client).is_some_and(|queue| queue.told != Level::default())
    }

    /// The queue to a client of this daemon, to be told at once.
    pub(super) fn tell_now(&mut self, client: ClientId) -> Level {
        let queue = self.ours.entry(client).or_default();
        queue.told = queue.level();
        queue.told
    }

    /// Lets this daemon's clients pay for its links as they are, not as others were told.
    pub(super) fn price_links(
        &mut self,
        averages: impl Iterator<Item = (EdgeId, Occupancy)>,
        params: &Params,
    ) {
        for (link, average) in averages {
            self.costs[link.index()] = params.link_cost(average);
        }
    }

    /// Changed queues of this daemon's links.
    pub(super) fn news_of_links(
        &mut self,
        averages: impl Iterator<Item = (EdgeId, Occupancy)>,
        params: &Params,
    ) -> Vec<(u8, Level)> {
        let mut news = Vec::new();
        for (place, (link, average)) in averages.enumerate() {
            let (level, told) = (Level::of(average), &mut self.links[link.index()]);
            if level.is_news(*told) || (params.spares_bursts() && level.has_gone(*told)) {
                *told = level;
                self.costs[link.index()] = params.link_cost(level.occupancy());
                news.push((place as u8, level));
            }
        }
        news
    }

    /// Ends an interval of the queues to this daemon's clients. `apart` is the shortest time
    /// between two looks, if there are any beside cost updates.
    pub(super) fn close_interval(&mut self, now: Time, params: &Params, apart: Option<Duration>) {
        for queue in self.ours.values_mut() {
            let mean = queue.mean.close_interval(now, &mut queue.gauge);
            if let Some(apart) = apart {
                queue.drain.close_interval(now, apart);
            }
            queue.relative = queue.drain.relative(mean, params.soft_limit);
        }
    }

    /// Whether anything waits for clients of this daemon.
    pub(super) fn is_any_waiting(&self) -> bool {
        self.ours.values().any(|queue| queue.gauge.waiting() > 0)
    }

    /// Whether others were told that a queue of this daemon has a price.
    pub(super) fn has_told(&self) -> bool {
        let links = self.own[self.me.index()].iter().map(|link| self.links[link.index()]);
        let mut told = links.chain(self.ours.values().map(|queue| queue.told));
        told.any(|level| level != Level::default())
    }

    /// Whether another daemon has told that a queue of it has a price.
    pub(super) fn have_others_told(&self) -> bool {
        let others = self.own.iter().enumerate().filter(|(node, _)| *node != self.me.index());
        let mut links = others.flat_map(|(_, links)| links);
        !self.theirs.is_empty() || links.any(|link| self.links[link.index()] != Level::default())
    }

    /// Levels of this daemon's queues: now, and as last told.
    pub(super) fn levels(
        &self,
        averages: impl Iterator<Item = (EdgeId, Occupancy)>,
    ) -> impl Iterator<Item = (Level, Level)> {
        let links = averages.map(|(link, average)| (Level::of(average), self.links[link.index()]));
        links.chain(self.ours.values().map(|queue| (queue.level(), queue.told)))
    }

    /// Changed queues to this daemon's clients.
    pub(super) fn news_of_clients(&mut self) -> Vec<(ClientId, Level)> {
        let mut news = Vec::new();
        self.ours.retain(|client, queue| {
            let level = queue.level();
            let is_empty = level == Level::default();
            if level.is_news(queue.told) || level.has_gone(queue.told) {
                queue.told = level;
                news.push((*client, level));
            }
            !is_empty || queue.gauge.waiting() > 0
        });
        news
    }

    /// Cost of a message over a link.
    pub(super) fn link(&self, link: EdgeId) -> Dollars {
        self.costs[link.index()]
    }

    /// Whether any client's queue may cost something.
    pub(super) fn has_clients(&self) -> bool {
        !(self.theirs.is_empty() && self.ours.is_empty())
    }

    /// Sum of the costs of clients' queues that a message is for. The sender's own has no price
    /// until it is full. Names are those of other daemons' clients.
    pub(super) fn clients(
        &self,
        params: &Params,
        sender: ClientId,
        is_addressed: impl Fn(Client, Option<&Label>) -> bool,
    ) -> Dollars {
        let theirs =
            self.theirs.iter().filter(|(client, (label, _))| is_addressed(**client, Some(label)));
        let ours = self.ours.iter().filter(|(id, queue)| {
            let client = Client { node: self.me, id: **id };
            (**id != sender || queue.is_full) && is_addressed(client, None)
        });
        let levels = theirs.map(|(_, (_, level))| *level);
        let levels = levels.chain(ours.map(|(_, queue)| queue.level()));
        levels.map(|level| cost(level, params)).sum()
    }
}

fn cost(level: Level, params: &Params) -> Dollars {
    match level {
        Level::FULL => Dollars::new(f64::INFINITY),
        level => params.link_cost(level.occupancy()),
    }
}
