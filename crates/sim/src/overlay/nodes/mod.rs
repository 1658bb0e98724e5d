//! An overlay without failures, of nodes whose membership is fixed.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use ratewire_net::prefetch_bytes;
use ratewire_net::random::stream;
use ratewire_overlay::{
    Delivery, EdgeId, GroupSpec, Message, Overlay, OverlayNode, OverlayNodeId, SenderCounts, Trees,
    Unreachable,
};
use ratewire_units::{Duration, Time};

use super::samples::{Before, group_outcomes};
use super::spec::{OverlayGroup, OverlayLink, OverlaySender, OverlaySpec};
use super::tally::OverlayTally;
use crate::flow::Flow;
use crate::outcome::{OverlayLinkOutcome, OverlayOutcome, SenderOutcome};
use crate::record::{OverlayLinkSample, OverlaySample, SenderSample};

/// Nodes, and the messages between them.
#[derive(Debug)]
pub(crate) struct Nodes {
    spec: Arc<OverlaySpec>,
    nodes: Vec<OverlayNode>,
    /// Time of each node's event.
    timers: Vec<Time>,
    connections: Vec<Connection>,
    /// Indices of each node's senders, in order of their starts.
    started: Vec<Vec<usize>>,
    tally: OverlayTally,
    before: Before,
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
    messages: VecDeque<(u64, Rc<Message>)>,
}

const _: () = assert!(size_of::<Connection>() == 64);

impl Nodes {
    pub(crate) fn new(
        spec: &Arc<OverlaySpec>,
        delay: impl Fn(usize) -> Duration,
        seed: u64,
    ) -> Result<Nodes, Unreachable> {
        let trees = Trees::new(spec.nodes.len(), &spec.tree_links(delay))?;
        let group = |group: &OverlayGroup| GroupSpec {
            service: group.service,
            members: group.members.clone(),
        };
        let groups = spec.groups.iter().map(group).collect();
        let overlay = Arc::new(Overlay { params: spec.params.clone(), trees, groups });
        let node = |i: usize| {
            let random = stream(seed, "overlay purchases", i as u64);
            OverlayNode::new(OverlayNodeId(i as u8), Arc::clone(&overlay), random)
        };
        let connection = |link: &OverlayLink| Connection {
            from: link.from,
            to: link.to,
            written: 0,
            messages: VecDeque::new(),
        };
        let nodes = spec.nodes.len();
        Ok(Nodes {
            nodes: (0..nodes).map(node).collect(),
            timers: vec![Time::NEVER; nodes],
            connections: spec.links.iter().map(connection).collect(),
            started: vec![Vec::new(); nodes],
            tally: OverlayTally::new(nodes, spec.groups.len()),
            before: Before::new(spec),
            spec: Arc::clone(spec),
        })
    }

    pub(crate) fn start_sender(&mut self, now: Time, sender: usize) -> usize {
        let spec = &self.spec.senders[sender];
        self.nodes[spec.at.index()].start_sender(now, &spec.spec);
        self.started[spec.at.index()].push(sender);
        spec.at.index()
    }

    pub(crate) fn stop_sender(&mut self, sender: usize) {
        let spec = &self.spec.senders[sender];
        self.nodes[spec.at.index()].stop_sender(spec.spec.client);
    }

    pub(crate) fn change(&mut self, now: Time, change: usize) -> usize {
        let change = self.spec.changes[change];
        let node = &mut self.nodes[change.node.index()];
        if change.joins {
            node.join(now, change.group, change.client);
        } else {
            node.leave(now, change.group, change.client);
        }
        change.node.index()
    }

    /// Lets a node do what is due, if this is its time.
    pub(crate) fn advance(&mut self, now: Time, node: usize) -> bool {
        if self.timers[node] != now {
            return false;
        }
        self.timers[node] = Time::NEVER;
        self.nodes[node].advance(now);
        true
    }

    /// Sets a node's timer to when it next has something to do. Returns the time if it is earlier
    /// than before.
    pub(crate) fn next_timer(&mut self, _now: Time, node: usize) -> Option<Time> {
        let due = self.nodes[node].deadline();
        (due < self.timers[node]).then(|| {
            self.timers[node] = due;
            due
        })
    }

    /// A link of a node that had nothing to send and now has.
    pub(crate) fn poll_link(&mut self, node: usize) -> Option<EdgeId> {
        self.nodes[node].poll_link()
    }

    /// Writes waiting messages to a flow until it has a packet to send.
    #[cold]
    pub(crate) fn feed(&mut self, now: Time, link: EdgeId, flow: &mut Flow) {
        let connection = &mut self.connections[link.index()];
        let node = &mut self.nodes[connection.from.index()];
        while flow.sender.unsent() < flow.sender.mss()
            && let Some((size, message)) = node.take(now, link)
        {
            connection.written += size.get();
            flow.sender.write(size);
            connection.messages.push_back((connection.written, message));
        }
        flow.end = connection.messages.front().map_or(u64::MAX, |(end, _)| *end);
    }

    /// Hands messages that arrived over a flow to the node at its far end; returns the node.
    pub(crate) fn arrived(&mut self, now: Time, link: EdgeId, flow: &mut Flow) -> usize {
        let Connection { to, ref mut messages, .. } = self.connections[link.index()];
        let node = &mut self.nodes[to.index()];
        let whole = |messages: &VecDeque<(u64, Rc<Message>)>| {
            messages.front().is_some_and(|(end, _)| *end <= flow.receiver.delivered().get())
        };
        while whole(messages)
            && let Some((_, message)) = messages.pop_front()
        {
            node.receive(now, &message);
            note(&mut self.tally, now, node);
        }
        // Prefetches the next message, and the place of the one behind it, before their packets
        // arrive.
        flow.end = u64::MAX;
        if let Some((end, message)) = messages.front() {
            flow.end = *end;
            prefetch_bytes(message.as_ref(), 0..size_of::<Message>());
        }
        if let Some(behind) = messages.get(1) {
            prefetch_bytes(behind, 0..size_of_val(behind));
        }
        to.index()
    }

    /// Counts the messages that a node has for its clients.
    pub(crate) fn deliver(&mut self, now: Time, node: usize) {
        note(&mut self.tally, now, &mut self.nodes[node]);
    }

    /// Deliveries owed to messages, and deliveries made or on their way.
    pub(crate) fn books(&self) -> (u64, u64) {
        let owed = self.nodes.iter().map(|node| node.counts().owed).sum();
        let came: u64 = self.nodes.iter().map(|node| node.counts().came).sum();
        let queued: u64 = self.nodes.iter().map(OverlayNode::owed_in_queues).sum();
        let on_links = self.connections.iter().enumerate().flat_map(|(link, connection)| {
            let from = &self.nodes[connection.from.index()];
            let link = EdgeId(link as u16);
            connection.messages.iter().map(move |(_, message)| from.owed_over(link, message))
        });
        (owed, came + queued + on_links.sum::<u64>())
    }

    /// Messages that each sender has paid for, and deliveries owed to each group's messages.
    fn sent(&self) -> (Vec<SenderOutcome>, Vec<u64>) {
        let idle = |sender: &OverlaySender| SenderOutcome {
            group: sender.spec.group,
            counts: SenderCounts::default(),
        };
        let mut sent: Vec<SenderOutcome> = self.spec.senders.iter().map(idle).collect();
        let mut owed = vec![0; self.spec.groups.len()];
        for (node, started) in self.nodes.iter().zip(&self.started) {
            for ((_, counts, _), place) in node.senders().zip(started) {
                sent[*place].counts = counts;
                owed[sent[*place].group.index()] += counts.owed;
            }
        }
        (sent, owed)
    }

    /// Changes since the last sample.
    pub(crate) fn sample(
        &mut self,
        at: Time,
        interval: Duration,
        tell: &mut dyn FnMut(&OverlaySample<'_>),
    ) {
        let (senders, owed) = self.sent();
        let mut sampled = vec![SenderSample::default(); senders.len()];
        for (node, started) in self.nodes.iter().zip(&self.started) {
            for ((_, _, budget), place) in node.senders().zip(started) {
                let sample = &mut sampled[*place];
                (sample.money, sample.period) = (Some(budget.money()), Some(budget.period()));
            }
        }
        let links: Vec<_> = (0..self.connections.len())
            .map(|place| self.sample_link(at, interval, place))
            .collect();
        let groups = self.before.groups(&senders, &mut sampled, &self.tally);
        let owed = self.before.owed(owed.iter().sum());
        let (groups, links, senders) = (&groups[..], &links[..], &sampled[..]);
        tell(&OverlaySample { at, interval, groups, links, senders, owed });
    }

    fn sample_link(&mut self, at: Time, interval: Duration, place: usize) -> OverlayLinkSample {
        let link = EdgeId(place as u16);
        let node = &mut self.nodes[self.connections[place].from.index()];
        let price = node.cost(link);
        let queue = node.queue_mut(link);
        let (area, counts) = (queue.area(at), queue.counts());
        let queue_max = queue.take_peak();
        let link = self.before.link(interval, place, area, &counts);
        OverlayLinkSample { queue_max, price, ..link }
    }

    pub(crate) fn outcome(&mut self, ended: Time) -> OverlayOutcome {
        let (senders, owed) = self.sent();
        let groups = group_outcomes(&senders, &owed, &self.tally);
        let run = ended.ps().max(1) as f64;
        let mut links = Vec::with_capacity(self.connections.len());
        for (place, link) in self.spec.links.iter().enumerate() {
            let queue = self.nodes[link.from.index()].queue_mut(EdgeId(place as u16));
            links.push(OverlayLinkOutcome {
                flow: link.flow,
                queue_mean: queue.area(ended) as f64 / run,
                queue_max: queue.counts().most,
                counts: queue.counts(),
            });
        }
        OverlayOutcome { groups, senders, links, views: vec![0; self.nodes.len()] }
    }
}

/// Counts the messages that a node has for its clients.
fn note(tally: &mut OverlayTally, now: Time, node: &mut OverlayNode) {
    while let Some(delivery) = node.poll_delivery() {
        match delivery {
            Delivery::Data { group, bought, .. } => {
                tally.message(now, group, node.id().index(), bought);
            }
            Delivery::View { group, number, .. } => tally.view(group, number),
        }
    }
}
