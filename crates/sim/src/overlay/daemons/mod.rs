//! An active overlay: group daemons, and the messages between them.

mod books;
mod clients;
mod content;
mod faults;
mod samples;
mod tally;

use std::collections::VecDeque;
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
use ratewire_units::{Bytes, Duration, Time};

use super::samples::Before;
use super::spec::{OverlayLink, OverlaySpec};
use crate::flow::Flow;
use books::Books;
use clients::Clients;
use content::{Content, OnLink, Size, size};
pub(crate) use faults::DEAD_TIME;
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

    /// The flow that implements an overlay link.
    pub(crate) fn flow_of(&self, link: EdgeId) -> usize {
        self.spec.links[link.index()].flow
    }

    fn link(&self, from: OverlayNodeId, to: OverlayNodeId) -> Option<EdgeId> {
        self.links[from.index() * self.nodes.len() + to.index()]
    }

    pub(crate) fn start_sender(&mut self, now: Time, sender: usize) -> usize {
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

    pub(crate) fn stop_sender(&mut self, sender: usize) {
        let node = &mut self.nodes[self.spec.senders[sender].at.index()];
        node.senders.retain(|other| *other != sender);
        if let Some(daemon) = &mut node.daemon {
            node.clients.stop(sender, daemon);
        }
    }

    pub(crate) fn change(&mut self, now: Time, change: usize) -> usize {
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
    pub(crate) fn advance(&mut self, now: Time, node: usize) -> bool {
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

    /// A link of a node that had nothing to send and now has.
    pub(crate) fn poll_link(&mut self, node: usize) -> Option<EdgeId> {
        let peer = self.nodes[node].daemon.as_mut()?.poll_link()?;
        self.link(OverlayNodeId(node as u8), peer)
    }

    /// Writes waiting messages to a flow until it has a packet to send.
    #[cold]
    pub(crate) fn feed(&mut self, now: Time, link: EdgeId, flow: &mut Flow) {
        let connection = &mut self.connections[link.index()];
        let Some(daemon) = &mut self.nodes[connection.from.index()].daemon else { return };
        while flow.sender.unsent() < flow.sender.mss()
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
            flow.sender.write(size);
            connection.messages.push_back((connection.written, message));
        }
        flow.end = connection.messages.front().map_or(u64::MAX, |(end, _)| *end);
    }

    /// Hands messages that arrived over a flow to the node at its far end; returns the node.
    pub(crate) fn arrived(&mut self, now: Time, link: EdgeId, flow: &mut Flow) -> usize {
        let Connection { from, to, ref mut messages, .. } = self.connections[link.index()];
        let node = &mut self.nodes[to.index()];
        let whole = |messages: &VecDeque<(u64, OnLink)>| {
            messages.front().is_some_and(|(end, _)| *end <= flow.receiver.delivered().get())
        };
        while whole(messages)
            && let Some((_, message)) = messages.pop_front()
            && let Some(daemon) = &mut node.daemon
        {
            daemon.receive(now, from, message);
        }
        // Prefetches the next message, and the place of the one behind it, before their packets
        // arrive.
        flow.end = u64::MAX;
        if let Some((end, message)) = messages.front() {
            flow.end = *end;
            if let LinkMessage::View(message) = message {
                prefetch_bytes(message.as_ref(), 0..size_of::<ViewMessage<GroupId, Content>>());
            }
        }
        if let Some(behind) = messages.get(1) {
            prefetch_bytes(behind, 0..size_of_val(behind));
        }
        to.index()
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

    /// The group of a sender whose messages came to a node in another order than promised.
    pub(crate) fn disordered(&self) -> Option<&str> {
        let sender = self.tally.overtaken()?;
        let group = self.spec.senders[sender as usize].spec.group;
        Some(&self.spec.groups[group.index()].name)
    }

    /// Whether a link is cut and its daemon does not know it.
    fn is_unnoticed(&self, connection: &Connection) -> bool {
        let is_up = |daemon: &Daemon<GroupId, Content>| {
            daemon.links().any(|link| link.peer == connection.to && link.is_up)
        };
        let daemon = self.nodes[connection.from.index()].daemon.as_ref();
        connection.state.is_cut && daemon.is_some_and(is_up)
    }

    /// Deliveries owed to messages, and deliveries made, on their way, or lost with failures.
    pub(crate) fn books(&self) -> (u64, u64) {
        let count = self.nodes.len();
        let mut on_its_way = vec![0u64; count * count];
        for (place, connection) in self.connections.iter().enumerate() {
            let Some(daemon) = &self.nodes[connection.from.index()].daemon else { continue };
            let Some(state) = daemon.links().find(|link| link.peer == connection.to) else {
                continue;
            };
            let on_link = connection.messages.iter().map(|(_, message)| message);
            let is_current = daemon.member().has_told(connection.to);
            let all: Vec<_> = on_link.chain(state.queue.waiting_messages()).collect();
            // Messages before the name of a view are of an earlier view.
            let named = all.iter().rposition(|message| matches!(message, LinkMessage::Enter(_)));
            for message in all.into_iter().skip(named.unwrap_or(0)) {
                if let LinkMessage::View(message) = message
                    && message.body.is_data()
                    && is_current
                {
                    let owed = daemon.member().owed(EdgeId(place as u16), message);
                    for to in owed.iter() {
                        on_its_way[message.origin.index() * count + to.index()] += 1;
                    }
                }
            }
        }
        let daemons = self.nodes.iter().filter_map(|node| node.daemon.as_ref());
        let present: Vec<_> = daemons
            .map(|daemon| daemon.member())
            .map(|member| (member.id(), member.view().0, member.tally()))
            .collect();
        let mut daemons = self.nodes.iter().filter_map(|node| node.daemon.as_ref());
        let is_changing = daemons.any(|daemon| daemon.member().is_changing())
            || self.connections.iter().any(|connection| self.is_unnoticed(connection));
        self.books.balance(&present, |from, to| {
            (!is_changing).then(|| on_its_way[from.index() * count + to.index()])
        })
    }
}

/// Name of a client in views.
fn label(client: ClientId) -> Label {
    format!("c{}", client.0).into()
}
