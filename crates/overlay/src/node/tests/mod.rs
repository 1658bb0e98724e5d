//! Nodes joined by queues that keep order and take turns at random, as a network of connections
//! without its times.

mod flow_control;
mod order;

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::*;
use crate::client::SenderSpec;
use crate::groups::{Delivery, DeliveryOrder};
use crate::tree::EdgeSpec;

/// Deliveries to a client.
pub(super) type Log = Vec<Delivery>;

pub(super) struct Net {
    pub nodes: Vec<OverlayNode>,
    pub now: Time,
    /// Messages on each link.
    pub on_links: Vec<VecDeque<Rc<Message>>>,
    /// Deliveries of each node, with its members at that time.
    pub logs: Vec<Vec<(Delivery, Vec<ClientId>)>>,
}

pub(super) fn both(cables: &[(u8, u8)]) -> Vec<EdgeSpec> {
    let link = |from: u8, to: u8| EdgeSpec {
        from: OverlayNodeId(from),
        to: OverlayNodeId(to),
        delay: Duration::from_millis(1),
    };
    cables.iter().flat_map(|(a, b)| [link(*a, *b), link(*b, *a)]).collect()
}

pub(super) fn sender(client: u32, group: u32) -> SenderSpec {
    SenderSpec {
        client: ClientId(client),
        group: GroupId(group),
        message: Bytes::new(1000),
        line: Rate::from_mbps(10),
        offered: None,
    }
}

impl Net {
    pub fn new(nodes: u8, links: &[EdgeSpec], groups: Vec<GroupSpec>, params: Params) -> Net {
        let trees = Trees::new(usize::from(nodes), links).unwrap();
        let overlay = Arc::new(Overlay { params, trees, groups });
        let node = |id: u8| {
            let random = Xoshiro256PlusPlus::seed_from_u64(u64::from(id));
            OverlayNode::new(OverlayNodeId(id), Arc::clone(&overlay), random)
        };
        Net {
            nodes: (0..nodes).map(node).collect(),
            now: Time::ZERO,
            on_links: vec![VecDeque::new(); links.len()],
            logs: vec![Vec::new(); usize::from(nodes)],
        }
    }

    /// Lets every node do what is due by `now`.
    pub fn advance(&mut self, now: Time) {
        self.now = now;
        for node in 0..self.nodes.len() {
            while self.nodes[node].deadline() <= now {
                self.nodes[node].advance(now);
            }
            self.collect(node);
        }
    }

    /// Lets a link take the next message of its queue.
    pub fn take(&mut self, link: usize) -> bool {
        let id = EdgeId(link as u16);
        let from = self.nodes[0].overlay.trees.links()[link].from;
        let taken = self.nodes[from.index()].take(self.now, id);
        let some = taken.is_some();
        self.on_links[link].extend(taken.map(|(_, message)| message));
        some
    }

    /// Lets the next message on a link arrive.
    pub fn arrive(&mut self, link: usize) -> bool {
        let to = self.nodes[0].overlay.trees.links()[link].to.index();
        let Some(message) = self.on_links[link].pop_front() else { return false };
        self.nodes[to].receive(self.now, &message);
        self.collect(to);
        true
    }

    pub fn collect(&mut self, node: usize) {
        while self.nodes[node].poll_link().is_some() {}
        while let Some(delivery) = self.nodes[node].poll_delivery() {
            let group = match delivery {
                Delivery::Data { group, .. } | Delivery::View { group, .. } => group,
            };
            let members = self.nodes[node].members(group).iter();
            let here = members.filter(|(_, at)| at.index() == node).map(|(client, _)| *client);
            self.logs[node].push((delivery, here.collect()));
        }
    }

    /// Lets all messages on their way arrive, and those that they cause.
    pub fn settle(&mut self) {
        loop {
            let mut moved = false;
            for link in 0..self.on_links.len() {
                moved |= self.take(link) | self.arrive(link);
            }
            if !moved {
                return;
            }
        }
    }

    /// Deliveries that messages owed at purchase equal those made and those on their way.
    pub fn check_books(&self) {
        let owed: u64 = self.nodes.iter().map(|node| node.counts().owed).sum();
        let came: u64 = self.nodes.iter().map(|node| node.counts().came).sum();
        let queued: u64 = self.nodes.iter().map(OverlayNode::owed_in_queues).sum();
        let trees = &self.nodes[0].overlay.trees;
        let on_links = self.on_links.iter().enumerate().flat_map(|(link, messages)| {
            messages.iter().map(move |message| trees.owed(EdgeId(link as u16), message))
        });
        assert_eq!(owed, came + queued + on_links.sum::<u64>());
        self.nodes.iter().for_each(check_aims);
    }
}

/// Each agent's destinations are those of its group.
fn check_aims(node: &OverlayNode) {
    let trees = &node.overlay.trees;
    for (index, agent) in node.agents.iter().enumerate() {
        let to = node.groups[agent.group.index()].to();
        let way = &node.ways[index * trees.most_crossed()..][..usize::from(agent.crossed)];
        assert_eq!(way, trees.crossed(node.me, to));
        assert_eq!(usize::from(agent.receivers), to.len());
    }
}

pub(super) fn group(service: DeliveryOrder, members: &[(u32, u8)]) -> GroupSpec {
    let members = members.iter().map(|(client, node)| (ClientId(*client), OverlayNodeId(*node)));
    GroupSpec { service, members: members.collect() }
}
