//! Daemons, the links between them, and what all saw.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rand_core::Rng;
use ratewire_units::Duration;

use crate::ids::{ClientId, NodeSet, OverlayNodeId};
use crate::membership::{
    Client, Delivery, Ended, Event, Label, LinkMessage, Member, Outgoing, Recipients, Service,
    Target, ViewId,
};
use crate::tree::EdgeSpec;

pub(super) type Group = u8;
/// Number of groups.
pub(super) const GROUPS: Group = 3;
/// Numbers of starts are above, or below if the clock was set back.
const EPOCH: u64 = 1 << 32;
/// Number of a message in the record.
pub(super) type Number = usize;

/// What a daemon did, or its client saw.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// A client sent this message.
    Sent(ClientId, Number),
    /// A daemon's clients got an event.
    Got(Delivery<Group, Number>),
    /// A client's connection ended.
    Gone(ClientId),
}

/// A message that was sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) sender: Client,
    /// Which start of the sender's daemon.
    pub(super) life: u64,
    pub(super) service: Service,
    pub(super) groups: Vec<Group>,
    pub(super) self_discard: bool,
}

/// The record of one start of a daemon.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) node: usize,
    pub(super) life: u64,
    /// Incarnations of the daemon.
    pub(super) incarnations: BTreeSet<u64>,
    /// Each with its time, in steps.
    pub(super) entries: Vec<(u64, Entry)>,
    /// Whether it still runs.
    pub(super) is_running: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Crash(usize),
    Restart(usize),
    /// A restart whose number is smaller than any before: the clock was set back.
    RestartEarlier(usize),
    Cut(usize, usize),
    Heal(usize, usize),
    /// A daemon that knows only the first of the others learns of all.
    Learn(usize),
}

/// What travels one way over a link.
#[derive(Clone, Debug)]
enum Item {
    Up(u64),
    Down,
    Message(LinkMessage<Group, Number>),
}

/// A link, each way: what is on the way, and whether its end knows of the connection.
#[derive(Clone, Debug, Default)]
struct Way {
    items: VecDeque<Item>,
    is_up: bool,
}

/// Daemons and links.
pub(super) struct Net {
    edges: Arc<[EdgeSpec]>,
    pub(super) daemons: Vec<Option<Member<Group, Number>>>,
    /// By daemon: number of first daemons that it knows, also after a restart.
    pub(super) known: Vec<usize>,
    ways: BTreeMap<(usize, usize), Way>,
    /// Links that are whole.
    whole: BTreeMap<(usize, usize), bool>,
    connections: u64,
    lives: u64,
    steps: u64,
    /// By daemon: index of its record.
    current: Vec<usize>,
    pub(super) record: Vec<Life>,
    pub(super) sent: Vec<Sent>,
}

impl Net {
    pub(super) fn line(nodes: usize) -> Net {
        Net::new(nodes, &(1..nodes).map(|node| (node - 1, node)).collect::<Vec<_>>())
    }

    pub(super) fn new(nodes: usize, links: &[(usize, usize)]) -> Net {
        Net::growing(links, &vec![nodes; nodes])
    }

    /// Daemons that each know only so many first ones.
    pub(super) fn growing(links: &[(usize, usize)], known: &[usize]) -> Net {
        let edge = |(from, to): (usize, usize)| EdgeSpec {
            from: OverlayNodeId(from as u8),
            to: OverlayNodeId(to as u8),
            delay: Duration::from_millis(1),
        };
        let (nodes, mut in_order) = (known.len(), links.to_vec());
        in_order.sort_by_key(|(a, b)| *a.max(b));
        let mut net = Net {
            edges: in_order.iter().flat_map(|(a, b)| [edge((*a, *b)), edge((*b, *a))]).collect(),
            daemons: (0..nodes).map(|_| None).collect(),
            known: known.to_vec(),
            ways: BTreeMap::new(),
            whole: links.iter().map(|link| (*link, true)).collect(),
            connections: 0,
            lives: 0,
            steps: 0,
            current: vec![0; nodes],
            record: Vec::new(),
            sent: Vec::new(),
        };
        (0..nodes).for_each(|node| net.start(node, false));
        net
    }

    fn start(&mut self, node: usize, is_earlier: bool) {
        self.lives += 1;
        let edges = self.known_edges(node);
        let id = OverlayNodeId(node as u8);
        let incarnation = if is_earlier { EPOCH - self.lives } else { EPOCH + self.lives };
        let daemon = Member::new(id, incarnation, self.known[node], edges);
        let (view, members) = daemon.view();
        let ended = Arc::new(Ended { view, tally: daemon.tally().clone() });
        let entered =
            Delivery { to: Recipients::default(), event: Event::Entered(view, *members, ended) };
        self.daemons[node] = Some(daemon);
        self.current[node] = self.record.len();
        let entries = vec![(self.steps, Entry::Got(entered))];
        let incarnations = [incarnation].into();
        self.record.push(Life { node, life: self.lives, incarnations, entries, is_running: true });
        self.connect();
    }

    /// Whether two daemons know each other.
    pub(super) fn know(&self, a: usize, b: usize) -> bool {
        self.known[a] > b && self.known[b] > a
    }

    /// Links between daemons that a daemon knows.
    pub(super) fn known_edges(&self, node: usize) -> Arc<[EdgeSpec]> {
        let known = |edge: &&EdgeSpec| edge.from.index().max(edge.to.index()) < self.known[node];
        self.edges.iter().filter(known).copied().collect()
    }

    /// Connects what is whole and not connected, once both ends know of the last connection's end.
    fn connect(&mut self) {
        for (a, b) in self.whole.iter().filter(|(_, whole)| **whole).map(|(link, _)| *link) {
            let both = [(a, b), (b, a)];
            let is_over = |way: &(usize, usize)| {
                let way = self.ways.get(way);
                way.is_none_or(|way| way.items.is_empty() && !way.is_up)
            };
            let run = self.daemons[a].is_some() && self.daemons[b].is_some();
            if run && self.know(a, b) && both.iter().all(is_over) {
                self.connections += 1;
                for way in both {
                    let items = [Item::Up(self.connections)].into();
                    self.ways.insert(way, Way { items, is_up: true });
                }
            }
        }
    }

    /// Ends a connection: of what is on the way, some arrives.
    fn end(&mut self, a: usize, b: usize, arrive: impl Fn(usize) -> usize) {
        for way in [(a, b), (b, a)] {
            let Some(way) = self.ways.get_mut(&way).filter(|way| way.is_up) else { continue };
            let arrives = arrive(way.items.len());
            way.items.truncate(arrives);
            way.items.push_back(Item::Down);
            way.is_up = false;
        }
    }

    pub(super) fn fault(&mut self, fault: &Fault) {
        self.fault_with(fault, |_| 0);
    }

    /// A fault. Of the messages on the way, `arrive` says how many still arrive.
    pub(super) fn fault_with(&mut self, fault: &Fault, arrive: impl Fn(usize) -> usize) {
        match *fault {
            Fault::Cut(a, b) => {
                self.whole.insert((a.min(b), a.max(b)), false);
                self.end(a, b, arrive);
            }
            Fault::Heal(a, b) => {
                self.whole.insert((a.min(b), a.max(b)), true);
                self.connect();
            }
            Fault::Crash(node) => {
                if self.daemons[node].take().is_some() {
                    self.record[self.current[node]].is_running = false;
                }
                for other in 0..self.daemons.len() {
                    self.end(node, other, &arrive);
                    if let Some(way) = self.ways.get_mut(&(other, node)) {
                        way.items.clear();
                    }
                }
            }
            Fault::Restart(node) | Fault::RestartEarlier(node) => {
                if self.daemons[node].is_none() {
                    self.start(node, matches!(fault, Fault::RestartEarlier(_)));
                }
            }
            Fault::Learn(node) => {
                self.known[node] = self.daemons.len();
                let (known, edges) = (vec![0; self.known[node]], self.known_edges(node));
                self.with(node, |daemon| daemon.know(edges, known, 0));
                self.connect();
            }
        }
    }

    /// Ways with something to arrive.
    pub(super) fn busy(&self) -> Vec<(usize, usize)> {
        let busy = self.ways.iter().filter(|(_, way)| !way.items.is_empty());
        busy.map(|(way, _)| *way).collect()
    }

    /// Lets the next item of a way arrive.
    pub(super) fn arrive(&mut self, way: (usize, usize)) {
        let Some(item) = self.ways.get_mut(&way).and_then(|way| way.items.pop_front()) else {
            return;
        };
        let from = OverlayNodeId(way.0 as u8);
        let Some(daemon) = self.daemons[way.1].as_mut() else { return };
        match item {
            Item::Up(connection) => daemon.link_up(from, connection),
            Item::Down => daemon.link_down(from),
            Item::Message(message) => daemon.receive(from, message),
        }
        self.collect(way.1);
        self.connect();
    }

    /// Sends and records what a daemon has to send and to deliver.
    fn collect(&mut self, node: usize) {
        let Some(daemon) = self.daemons[node].as_mut() else { return };
        let life = &mut self.record[self.current[node]];
        life.incarnations.insert(daemon.incarnation);
        let record = &mut life.entries;
        self.steps += 1;
        while let Some(delivery) = daemon.poll_delivery() {
            record.push((self.steps, Entry::Got(delivery)));
        }
        while let Some((to, message)) = daemon.poll_link() {
            if let Some(way) = self.ways.get_mut(&(node, usize::from(to.0)))
                && way.is_up
            {
                way.items.push_back(Item::Message(message));
            }
        }
    }

    pub(super) fn with(&mut self, node: usize, act: impl FnOnce(&mut Member<Group, Number>)) {
        if let Some(daemon) = self.daemons[node].as_mut() {
            act(daemon);
            self.collect(node);
        }
    }

    pub(super) fn connect_client(&mut self, node: usize) -> Option<ClientId> {
        let name: Label = Arc::from(format!("c{}", self.sent.len()).as_str());
        self.daemons[node].as_mut().map(|daemon| daemon.connect(name))
    }

    pub(super) fn disconnect_client(&mut self, node: usize, client: ClientId) {
        self.record[self.current[node]].entries.push((self.steps, Entry::Gone(client)));
        self.with(node, |daemon| daemon.disconnect(client));
    }

    pub(super) fn send(
        &mut self,
        node: usize,
        client: ClientId,
        service: Service,
        groups: &[Group],
        self_discard: bool,
    ) {
        if self.daemons[node].is_none() {
            return;
        }
        let number = self.sent.len();
        let life = &mut self.record[self.current[node]];
        life.entries.push((self.steps, Entry::Sent(client, number)));
        let sender = Client { node: OverlayNodeId(node as u8), id: client };
        self.sent.push(Sent {
            sender,
            life: life.life,
            service,
            groups: groups.into(),
            self_discard,
        });
        let targets = groups.iter().map(|group| Target::Group(*group)).collect();
        let message = Outgoing { service, self_discard, targets, payload: number };
        self.with(node, |daemon| daemon.multicast(client, message));
    }

    /// Lets all arrive until nothing happens, but no time pass.
    pub(super) fn settle_at_once(&mut self) {
        for _ in 0..200 {
            while let Some(way) = self.busy().first().copied() {
                self.arrive(way);
            }
            (0..self.daemons.len()).for_each(|node| self.with(node, Member::hurry));
            if self.busy().is_empty() {
                return;
            }
        }
        panic!("the daemons never come to rest");
    }

    /// Lets all arrive, and time pass, until nothing happens.
    pub(super) fn settle(&mut self) {
        for _ in 0..200 {
            while let Some(way) = self.busy().first().copied() {
                self.arrive(way);
            }
            for node in 0..self.daemons.len() {
                self.with(node, Member::tick);
            }
            if self.busy().is_empty() {
                return;
            }
        }
        panic!("the daemons never come to rest");
    }

    /// As [`Net::settle`], in a random order.
    pub(super) fn settle_by(&mut self, random: &mut impl Rng) -> Result<(), String> {
        for _ in 0..100_000 {
            let busy = self.busy();
            if busy.is_empty() {
                for tell in [Member::hurry, Member::tick] {
                    (0..self.daemons.len()).for_each(|node| self.with(node, tell));
                    if !self.busy().is_empty() {
                        break;
                    }
                }
                if self.busy().is_empty() {
                    return Ok(());
                }
                continue;
            }
            let way = busy[random.next_u64() as usize % busy.len()];
            self.arrive(way);
        }
        Err("the daemons never come to rest".into())
    }

    /// Number of the daemon's start; 0 if it does not run.
    pub(super) fn life(&self, node: usize) -> u64 {
        let life = &self.record[self.current[node]];
        if life.is_running { life.life } else { 0 }
    }

    pub(super) fn member(&self, node: usize) -> &Member<Group, Number> {
        self.daemons[node].as_ref().expect("it runs")
    }

    pub(super) fn view(&self, node: usize) -> (ViewId, NodeSet) {
        let (id, members) = self.member(node).view();
        (id, *members)
    }

    /// Whole links.
    pub(super) fn links(&self) -> impl Iterator<Item = ((usize, usize), bool)> + '_ {
        self.whole.iter().map(|(link, whole)| (*link, *whole))
    }
}
