//! A node of the overlay: queues, prices, clients' agents, groups (sections 3 and 4.2).
//!
//! Sans-IO: the caller passes the time and arrivals. After any call, drain
//! [`OverlayNode::poll_delivery`] for the clients and [`OverlayNode::poll_link`] for links that
//! have something to send; call [`OverlayNode::take`] for messages as their connections have room,
//! and read [`OverlayNode::deadline`] for the next call of [`OverlayNode::advance`].

mod buying;
mod views;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Time};

use crate::budget::Budget;
use crate::client::{Agent, SenderCounts};
use crate::groups::{Group, GroupSpec};
use crate::ids::{ClientId, EdgeId, GroupId, NodeSet, OverlayNodeId};
use crate::message::{Level, Message, MessageBody, OrderStamp, QueueLevel};
use crate::ordering::Agreed;
use crate::params::Params;
use crate::price::Dollars;
use crate::queue::{Kind, LinkQueue};
use crate::tree::Trees;
use crate::wire::MOST_TOLD;

/// Facts that all nodes of an overlay know from the start.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// Settings.
    pub params: Params,
    /// Links, and the trees over them.
    pub trees: Trees,
    /// Groups, by number.
    pub groups: Vec<GroupSpec>,
}

/// A node in operation. The fields that an arriving message needs stand first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct OverlayNode {
    overlay: Arc<Overlay>,
    /// Queues of the node's own links, in order of their numbers.
    queues: Vec<LinkQueue<Rc<Message>>>,
    counts: NodeCounts,
    next_update: Time,
    me: OverlayNodeId,
    /// Events to deliver in the order in which they came.
    arrived: VecDeque<Event>,
    ready_links: VecDeque<EdgeId>,
    /// By group: whether this node has members. It is read for each message, and few messages are
    /// for the same group; so it stands apart from the rest of a group.
    here: Vec<bool>,
    wakes: BinaryHeap<Reverse<(Time, u32)>>,
    order: Agreed<Event>,
    agents: Vec<Agent>,
    /// By agent: the links that its messages cross, with room for the maximum. Most wakes need an
    /// agent, these links and the prices, and each is found in one step.
    ways: Vec<EdgeId>,
    costs: Vec<Dollars>,
    random: Xoshiro256PlusPlus,
    /// Queue in front of each link of the overlay, as last told.
    levels: Vec<Level>,
    groups: Vec<Group>,
}

/// Counters of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Deliveries that messages bought here owe: one for each destination node.
    pub owed: u64,
    /// Clients' messages that reached this node as a destination.
    pub came: u64,
}

/// An event with a place in the agreed order.
#[derive(Clone, Copy, Debug)]
enum Event {
    Data { group: GroupId, client: ClientId, sequence: u64, bought: Time },
    Change { group: GroupId, client: ClientId, node: OverlayNodeId, joins: bool },
}

impl OverlayNode {
    /// Node `me`, with empty queues.
    pub fn new(
        me: OverlayNodeId,
        overlay: Arc<Overlay>,
        random: Xoshiro256PlusPlus,
    ) -> OverlayNode {
        let trees = &overlay.trees;
        let queues = trees.own(me).iter().map(|_| LinkQueue::default()).collect();
        let all = trees.links().len();
        let groups: Vec<Group> = overlay.groups.iter().map(|group| Group::new(me, group)).collect();
        OverlayNode {
            me,
            queues,
            levels: vec![Level::default(); all],
            costs: vec![Dollars::ZERO; all],
            here: groups.iter().map(Group::is_here).collect(),
            groups,
            agents: Vec::new(),
            ways: Vec::new(),
            wakes: BinaryHeap::new(),
            next_update: overlay.params.first_update(me.index(), trees.nodes()),
            order: Agreed::new(me, trees.nodes()),
            random,
            ready_links: VecDeque::new(),
            arrived: VecDeque::new(),
            counts: NodeCounts::default(),
            overlay,
        }
    }

    /// The node's number.
    pub fn id(&self) -> OverlayNodeId {
        self.me
    }
    /// Counters so far.
    pub fn counts(&self) -> NodeCounts {
        self.counts
    }
    /// Queue in front of `link`, one of the node's own.
    pub fn queue(&self, link: EdgeId) -> &LinkQueue<Rc<Message>> {
        debug_assert_eq!(self.overlay.trees.links()[link.index()].from, self.me);
        &self.queues[self.overlay.trees.place(link)]
    }
    /// Queue in front of `link`, to take its peak.
    pub fn queue_mut(&mut self, link: EdgeId) -> &mut LinkQueue<Rc<Message>> {
        debug_assert_eq!(self.overlay.trees.links()[link.index()].from, self.me);
        &mut self.queues[self.overlay.trees.place(link)]
    }
    /// Cost of a message over a link of the overlay, as far as this node knows.
    pub fn cost(&self, link: EdgeId) -> Dollars {
        self.costs[link.index()]
    }
    /// The members of a group in this node's view.
    pub fn members(&self, group: GroupId) -> &[(ClientId, OverlayNodeId)] {
        self.groups[group.index()].members()
    }
    /// Counters and money of the node's sending clients, in the order in which they started.
    pub fn senders(&self) -> impl Iterator<Item = (ClientId, SenderCounts, &Budget)> + '_ {
        self.agents.iter().map(|agent| (agent.client, agent.counts, &agent.budget))
    }

    /// When to call [`OverlayNode::advance`].
    pub fn deadline(&self) -> Time {
        let wake = self.wakes.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
        wake.min(self.next_update)
    }

    /// Does what is due by `now`: salaries, purchases, cost updates.
    pub fn advance(&mut self, now: Time) {
        while let Some(Reverse((at, agent))) = self.wakes.peek().copied()
            && at <= now
        {
            self.wakes.pop();
            self.foresee_wake();
            self.wake(now, at, agent as usize);
        }
        if self.next_update <= now {
            self.next_update += self.overlay.params.interval;
            self.update(now);
        }
    }

    /// Sends the node's changed prices, and lets clients read the new prices.
    fn update(&mut self, now: Time) {
        let mut told = Vec::new();
        let own = self.overlay.trees.own(self.me);
        for (place, (link, queue)) in own.iter().zip(&mut self.queues).enumerate() {
            let level = Level::of(queue.close_interval(now));
            if level.is_news(self.levels[link.index()]) {
                told.push(QueueLevel { link: place as u8, level });
            }
        }
        self.learn(self.me, &told);
        for told in told.chunks(MOST_TOLD) {
            self.send(now, &Rc::new(Message::prices(self.me, self.others(), told)));
        }
        if let Some(beyond) = self.order.mark() {
            self.tell_all(now, MessageBody::Mark(beyond));
        }
        self.reconsider(now);
    }

    fn others(&self) -> NodeSet {
        NodeSet::first(self.overlay.trees.nodes()).without(self.me)
    }

    fn tell_all(&mut self, now: Time, body: MessageBody) {
        self.send(now, &Rc::new(Message::control(self.me, self.others(), body)));
    }

    /// Puts a message into the queues of the next links down its tree.
    fn send(&mut self, now: Time, message: &Rc<Message>) {
        let kind = match message.body {
            MessageBody::Data { .. } => Kind::Data(1),
            MessageBody::Prices(_) => Kind::Prices,
            _ => Kind::Other,
        };
        let trees = &self.overlay.trees;
        for link in trees.down(message.origin, self.me, &message.to) {
            let queue = &mut self.queues[trees.place(link)];
            if queue.is_empty() {
                self.ready_links.push_back(link);
            }
            queue.push(now, kind, message.size, Rc::clone(message));
        }
    }

    /// Takes in a message that came over a link.
    pub fn receive(&mut self, now: Time, message: &Rc<Message>) {
        self.send(now, message);
        if message.to.contains(self.me) {
            self.consume(now, message.origin, &message.body);
        }
    }

    fn consume(&mut self, now: Time, origin: OverlayNodeId, body: &MessageBody) {
        match *body {
            MessageBody::Data { group, client, sequence, stamp, bought } => {
                self.counts.came += 1;
                self.accept(origin, group, stamp, Event::Data { group, client, sequence, bought });
            }
            MessageBody::Change { group, client, joins, stamp } => {
                let change = Event::Change { group, client, node: origin, joins };
                self.accept(origin, group, stamp, change);
            }
            MessageBody::Prices(ref told) => self.learn(origin, told),
            MessageBody::Interest(group) => self.include(now, origin, group),
            MessageBody::Included(group, stamp) => {
                self.order.hear(origin, stamp);
                self.groups[group.index()].included(origin);
                self.join_ready(now, group);
            }
            MessageBody::Mark(beyond) => self.order.hear_mark(origin, beyond),
        }
    }

    fn learn(&mut self, origin: OverlayNodeId, told: &[QueueLevel]) {
        let theirs = self.overlay.trees.own(origin);
        for QueueLevel { link, level } in told {
            let Some(link) = theirs.get(usize::from(*link)) else { continue };
            self.levels[link.index()] = *level;
            self.costs[link.index()] = self.overlay.params.link_cost(level.occupancy());
        }
    }

    /// Takes in an event with a place in its group's order.
    fn accept(&mut self, origin: OverlayNodeId, group: GroupId, stamp: OrderStamp, event: Event) {
        if self.is_agreed(group) {
            if origin != self.me {
                self.order.hear(origin, stamp);
            }
            self.order.push(origin, stamp, event);
        } else {
            self.arrived.push_back(event);
        }
    }

    /// Takes the next message for the connection of `link`, with its size. Call it when the
    /// connection has room for one.
    pub fn take(&mut self, now: Time, link: EdgeId) -> Option<(Bytes, Rc<Message>)> {
        self.queue_mut(link).take(now)
    }

    /// A link that had nothing to send and now has.
    pub fn poll_link(&mut self) -> Option<EdgeId> {
        self.ready_links.pop_front()
    }
    /// Deliveries that a message that is to cross `link` still owes.
    pub fn owed_over(&self, link: EdgeId, message: &Message) -> u64 {
        self.overlay.trees.owed(link, message)
    }

    /// Deliveries that messages in this node's queues still owe.
    pub fn owed_in_queues(&self) -> u64 {
        let trees = &self.overlay.trees;
        let owed = |(link, queue): (&EdgeId, &LinkQueue<Rc<Message>>)| -> u64 {
            queue.waiting_messages().map(|message| trees.owed(*link, message)).sum()
        };
        trees.own(self.me).iter().zip(&self.queues).map(owed).sum()
    }
}

#[cfg(test)]
mod tests;
