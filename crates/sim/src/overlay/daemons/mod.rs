//! An active overlay: group daemons, and the messages between them.

mod books;
mod clients;
mod content;
mod faults;
mod samples;
mod tally;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use ratewire_net::prefetch_bytes;
use ratewire_net::random::stream;
use ratewire_overlay::daemon::{Daemon, Settings};
use ratewire_overlay::membership::{
    Delivery, Event, Founding, Label, LinkMessage, Service, ViewMessage,
};
use ratewire_overlay::{
    ClientId, EdgeId, EdgeSpec, GroupId, OverlayNodeId, SenderCounts, Unreachable,
};
use ratewire_transport::Sender;
use ratewire_units::{Bytes, Duration, Time};

use super::event::{Consequences, OverlayEvent};
use super::samples::Before;
use crate::setup::overlay::{OverlayLink, OverlaySpec};
use books::Books;
use clients::Clients;
use content::{Content, OnLink, Size, size};
use tally::DaemonTally;

/// Nodes, and the messages between them.
#[derive(Debug)]
pub(crate) struct Daemons {
    spec: Arc<OverlaySpec>,
    settings: Arc<Settings>,
    seed: u64,
    nodes: Vec<Node>,
    connections: Vec<Connection>,
    /// By two nodes: the link from the first to the second.
    links: Vec<Option<EdgeId>>,
    /// By sender: counters of its earlier lives.
    sent_before: Vec<SenderCounts>,
    tally: DaemonTally,
    books: Books,
    before: Before,
}

/// A node: the daemon and its clients.
#[derive(Debug)]
struct Node {
    /// The daemon, unless it has crashed.
    daemon: Option<Daemon<GroupId, Content>>,
    clients: Clients,
    /// Time of the node's event.
    timer: Time,
    /// Number of starts of the daemon.
    incarnation: u64,
    /// Members among its clients: number in the setup, group, and number at the daemon.
    members: Vec<(ClientId, GroupId, Option<ClientId>)>,
    /// Senders that have started and not stopped.
    senders: Vec<usize>,
}

/// Messages on their way over one link, in a cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Connection {
    /// Nodes at the ends of the link.
    from: OverlayNodeId,
    to: OverlayNodeId,
    /// Stream offset up to which messages were written.
    written: u64,
    /// Messages, and where in the stream each ends.
    messages: VecDeque<(u64, OnLink)>,
    /// What became of the link.
    state: LinkState,
    /// Bytes of prices, and of other messages between nodes, that the link took.
    updates: u64,
    other: u64,
    /// Counters of queues that were lost with their daemons.
    past: Past,
}

/// Counters of a link's queues before the present one.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    area: u128,
    arrived: u64,
    taken: u64,
    data: Bytes,
    most: u64,
}

/// State of a link.
#[derive(Clone, Copy, Debug, Default)]
struct LinkState {
    /// Number of the connection.
    number: u64,
    /// Whether the link is cut.
    is_cut: bool,
}

impl Daemons {
    pub(crate) fn new(
        spec: &Arc<OverlaySpec>,
        delay: impl Fn(usize) -> Duration,
        seed: u64,
    ) -> Result<Daemons, Unreachable> {
        let edges: Arc<[EdgeSpec]> = spec.tree_links(delay).into();
        let count = spec.nodes.len();
        let mut clients: Vec<Vec<(Label, Vec<GroupId>)>> = vec![Vec::new(); count];
        let mut members = vec![Vec::new(); count];
        for (number, group) in (0..).map(GroupId).zip(&spec.groups) {
            for (client, node) in &group.members {
                let here = &mut clients[node.index()];
                let id = ClientId(here.len() as u32);
                here.push((label(*client), vec![number]));
                members[node.index()].push((*client, number, Some(id)));
            }
        }
        let founding = Founding::new(Arc::clone(&edges), clients)?;
        let founding = if spec.faults.is_empty() { founding.lasting() } else { founding };
        let params = spec.params.clone();
        // Prices are told once an interval, as in the paper, and no window is set.
        let least_interval = params.interval;
        let window = Bytes::MAX;
        let settings = Arc::new(Settings { params, nodes: count, edges, least_interval, window });
        let node = |(i, members): (usize, Vec<_>)| {
            let me = OverlayNodeId(i as u8);
            let random = stream(seed, "overlay purchases", i as u64);
            Node {
                daemon: Some(Daemon::founded(me, &founding, Arc::clone(&settings), random)),
                clients: Clients::default(),
                timer: Time::NEVER,
                incarnation: 1,
                members,
                senders: Vec::new(),
            }
        };
        let connection = |link: &OverlayLink| Connection {
            from: link.from,
            to: link.to,
            written: 0,
            messages: VecDeque::new(),
            state: LinkState { number: 1, is_cut: false },
            updates: 0,
            other: 0,
            past: Past::default(),
        };
        let mut links = vec![None; count * count];
        for (place, link) in spec.links.iter().enumerate() {
            links[link.from.index() * count + link.to.index()] = Some(EdgeId(place as u16));
        }
        let nodes = members.into_iter().enumerate().map(node).collect();
        Ok(Daemons {
            nodes,
            connections: spec.links.iter().map(connection).collect(),
            links,
            sent_before: vec![SenderCounts::default(); spec.senders.len()],
            tally: DaemonTally::new(count, spec.groups.len(), spec.senders.len()),
            books: Books::default(),
            before: Before::new(spec),
            settings,
            seed,
            spec: Arc::clone(spec),
        })
    }

    /// The overlay link that a flow implements.
    pub(crate) fn link_of(&self, flow: usize) -> Option<EdgeId> {
        let place = self.spec.links.iter().position(|link| link.flow == flow);
        place.map(|place| EdgeId(place as u16))
    }

    fn link(&self, from: OverlayNodeId, to: OverlayNodeId) -> Option<EdgeId> {
        self.links[from.index() * self.nodes.len() + to.index()]
    }

    /// The events that are known at the start.
    pub(crate) fn events(&self) -> impl Iterator<Item = (Time, OverlayEvent)> + use<> {
        let spec = Arc::clone(&self.spec);
        let mut events = Vec::new();
        for (i, sender) in (0..).zip(&spec.senders) {
            events.push((sender.start, OverlayEvent::Start(i)));
            events.push((sender.stop.unwrap_or(Time::NEVER), OverlayEvent::Stop(i)));
        }
        let changes = (0..).zip(&spec.changes);
        events.extend(changes.map(|(i, change)| (change.at, OverlayEvent::Change(i))));
        let faults = (0..).zip(&spec.faults);
        events.extend(faults.map(|(i, fault)| (fault.at, OverlayEvent::Fault(i))));
        events.into_iter()
    }

    /// Handles an event.
    pub(crate) fn on_event(&mut self, now: Time, event: OverlayEvent) -> Consequences {
        let node = match event {
            OverlayEvent::Node(node) if !self.advance(now, node as usize) => None,
            OverlayEvent::Node(node) => Some(node as usize),
            OverlayEvent::Start(sender) => Some(self.start_sender(now, sender as usize)),
            OverlayEvent::Stop(sender) => {
                self.stop_sender(sender as usize);
                None
            }
            OverlayEvent::Change(change) => Some(self.change(now, change as usize)),
            OverlayEvent::Fault(fault) => return self.fault(now, fault as usize),
            OverlayEvent::Notice(link, number) => {
                self.notice(now, link, u64::from(number));
                return Consequences { nodes: self.nodes(), ..Consequences::default() };
            }
        };
        let nodes = node.map_or(0..0, |node| node..node + 1);
        Consequences { nodes, ..Consequences::default() }
    }

    /// All nodes.
    pub(crate) fn nodes(&self) -> Range<usize> {
        0..self.nodes.len()
    }

    fn start_sender(&mut self, now: Time, sender: usize) -> usize {
        let at = self.spec.senders[sender].at.index();
        self.nodes[at].senders.push(sender);
        self.connect_sender(now, sender);
        at
    }

    fn connect_sender(&mut self, now: Time, sender: usize) {
        let spec = &self.spec.senders[sender];
        let node = &mut self.nodes[spec.at.index()];
        let Some(daemon) = &mut node.daemon else { return };
        let group = &self.spec.groups[spec.spec.group.index()];
        let before = self.sent_before[sender].sent;
        let data = self.spec.payload;
        node.clients.start(now, daemon, (sender, &spec.spec), (group, data), before);
    }

    fn stop_sender(&mut self, sender: usize) {
        let node = &mut self.nodes[self.spec.senders[sender].at.index()];
        node.senders.retain(|other| *other != sender);
        if let Some(daemon) = &mut node.daemon {
            node.clients.stop(sender, daemon);
        }
    }

    fn change(&mut self, now: Time, change: usize) -> usize {
        let change = self.spec.changes[change];
        let node = &mut self.nodes[change.node.index()];
        let is_this = |(client, group, _): &(ClientId, GroupId, Option<ClientId>)| {
            (*client, *group) == (change.client, change.group)
        };
        if change.joins {
            let id = node.daemon.as_mut().map(|daemon| {
                let id = daemon.connect(now, label(change.client));
                daemon.join(now, id, change.group);
                id
            });
            node.members.push((change.client, change.group, id));
        } else if let Some(place) = node.members.iter().position(is_this) {
            let (_, group, id) = node.members.remove(place);
            if let (Some(daemon), Some(id)) = (&mut node.daemon, id) {
                daemon.leave(now, id, group);
            }
        }
        change.node.index()
    }

    /// Lets a node do what is due, if this is its time.
    fn advance(&mut self, now: Time, node: usize) -> bool {
        let node = &mut self.nodes[node];
        if node.timer != now {
            return false;
        }
        node.timer = Time::NEVER;
        if let Some(daemon) = &mut node.daemon
            && daemon.deadline() <= now
        {
            daemon.advance(now);
        }
        true
    }

    /// Sets a node's timer to when it next has something to do. Returns the time if it is earlier
    /// than before.
    pub(crate) fn next_timer(&mut self, now: Time, node: usize) -> Option<Time> {
        let node = &mut self.nodes[node];
        // A daemon that has started again has its first deadline at once.
        let due = node.daemon.as_ref()?.deadline().max(now);
        (due < node.timer).then(|| {
            node.timer = due;
            due
        })
    }

    /// The flow of a link of a node that had nothing to send and now has.
    pub(crate) fn poll_flow(&mut self, node: usize) -> Option<usize> {
        let peer = self.nodes[node].daemon.as_mut()?.poll_link()?;
        let link = self.link(OverlayNodeId(node as u8), peer)?;
        Some(self.spec.links[link.index()].flow)
    }

    /// Writes waiting messages to a link's sender until it has a packet to send. Returns the end of
    /// the next message in the stream that has not arrived, or `u64::MAX`.
    #[cold]
    pub(crate) fn feed(&mut self, now: Time, link: EdgeId, sender: &mut Sender) -> u64 {
        let connection = &mut self.connections[link.index()];
        let daemon = &mut self.nodes[connection.from.index()].daemon;
        while sender.unsent() < sender.mss()
            && let Some(daemon) = daemon
            && let Some((data, message)) = daemon.take_sized(now, connection.to)
        {
            let size = match size(data, &message) {
                Size::Data(size) => size,
                Size::Prices(size) => {
                    connection.updates += size.get();
                    size
                }
                Size::Other(size) => {
                    connection.other += size.get();
                    size
                }
            };
            connection.written += size.get();
            sender.write(size);
            connection.messages.push_back((connection.written, message));
        }
        connection.messages.front().map_or(u64::MAX, |(end, _)| *end)
    }

    /// Hands the messages of which a link has delivered the last byte to the node at its far end.
    /// Returns the node, and the end of the next message in the stream, or `u64::MAX`.
    pub(crate) fn arrived(&mut self, now: Time, link: EdgeId, delivered: Bytes) -> (usize, u64) {
        let Connection { from, to, ref mut messages, .. } = self.connections[link.index()];
        let node = &mut self.nodes[to.index()];
        while messages.front().is_some_and(|(end, _)| *end <= delivered.get())
            && let Some((_, message)) = messages.pop_front()
            && let Some(daemon) = &mut node.daemon
        {
            daemon.receive(now, from, message);
        }
        // Prefetches the next message, and the place of the one behind it, before their packets
        // arrive.
        let mut next = u64::MAX;
        if let Some((end, message)) = messages.front() {
            next = *end;
            if let LinkMessage::View(message) = message {
                prefetch_bytes(message.as_ref(), 0..size_of::<ViewMessage<GroupId, Content>>());
            }
        }
        if let Some(behind) = messages.get(1) {
            prefetch_bytes(behind, 0..size_of_val(behind));
        }
        (to.index(), next)
    }

    /// Lets a node's clients send what is ready, and counts the messages that it has for them.
    pub(crate) fn deliver(&mut self, now: Time, node: usize) {
        let place = node;
        let node = &mut self.nodes[node];
        let Some(daemon) = &mut node.daemon else { return };
        node.clients.advance(now, daemon);
        let me = OverlayNodeId(place as u8);
        while let Some(Delivery { event, .. }) = daemon.poll_delivery() {
            match event {
                Event::Message { service, payload, .. } => {
                    if service >= Service::Fifo && !self.spec.faults.is_empty() {
                        self.tally.check_order(place, &payload);
                    }
                    self.tally.message(now, place, &payload);
                }
                Event::View { group, .. } => self.tally.view(group, place),
                Event::Entered(next, _, ended) => {
                    self.tally.entered(place);
                    self.books.end(ended.view, me, Some(next), ended.tally.clone());
                }
                Event::Transition { .. } | Event::Left { .. } => {}
            }
        }
    }
}

/// Name of a client in views.
fn label(client: ClientId) -> Label {
    format!("c{}", client.0).into()
}
