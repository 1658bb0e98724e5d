//! Joining, leaving, and deliveries to clients.

use std::rc::Rc;

use ratewire_units::Time;

use super::{Event, OverlayNode};
use crate::groups::{Delivery, DeliveryOrder};
use crate::ids::{ClientId, GroupId, OverlayNodeId};
use crate::message::{Message, MessageBody};

impl OverlayNode {
    pub(super) fn is_agreed(&self, group: GroupId) -> bool {
        self.overlay.groups[group.index()].service == DeliveryOrder::Agreed
    }

    /// Lets a client of this node join a group.
    pub fn join(&mut self, now: Time, group: GroupId, client: ClientId) {
        let others = self.others();
        self.groups[group.index()].prepare(client, others);
        self.groups[group.index()].include(self.me);
        self.aim(group, 0);
        self.tell_all(now, MessageBody::Interest(group));
        self.join_ready(now, group);
    }

    /// Lets a client of this node leave a group.
    pub fn leave(&mut self, now: Time, group: GroupId, client: ClientId) {
        if !self.groups[group.index()].regret(client) {
            self.change(now, group, client, false);
        }
    }

    /// Includes another node whose client wants to join: it gets this node's messages from now on.
    pub(super) fn include(&mut self, now: Time, node: OverlayNodeId, group: GroupId) {
        self.groups[group.index()].include(node);
        self.aim(group, 0);
        let body = MessageBody::Included(group, self.order.now());
        let to = [node].into_iter().collect();
        self.send(now, &Rc::new(Message::control(self.me, to, body)));
    }

    /// Joins the clients that all others have included by now.
    pub(super) fn join_ready(&mut self, now: Time, group: GroupId) {
        while let Some(joining) = self.groups[group.index()].ready() {
            self.change(now, group, joining.client, true);
            if joining.leaves {
                self.change(now, group, joining.client, false);
            }
        }
    }

    fn change(&mut self, now: Time, group: GroupId, client: ClientId, joins: bool) {
        let stamp = if self.is_agreed(group) { self.order.stamp() } else { 0 };
        self.tell_all(now, MessageBody::Change { group, client, joins, stamp });
        self.accept(self.me, group, stamp, Event::Change { group, client, node: self.me, joins });
    }

    /// The next delivery to clients of this node. Views change here: until the next call,
    /// [`OverlayNode::members`] are the members that the delivery is for, and after a view change
    /// those of the new view.
    pub fn poll_delivery(&mut self) -> Option<Delivery> {
        while let Some(event) = self.arrived.pop_front().or_else(|| self.order.pop()) {
            if let Some(delivery) = self.deliver(event) {
                return Some(delivery);
            }
        }
        None
    }

    /// Delivers an event whose turn it is.
    fn deliver(&mut self, event: Event) -> Option<Delivery> {
        match event {
            Event::Data { group, client, sequence, bought } => self.here[group.index()]
                .then_some(Delivery::Data { group, client, sequence, bought }),
            Event::Change { group, client, node, joins } => {
                let entry = &mut self.groups[group.index()];
                let before = *entry.to();
                let changed = entry.change(client, node, joins);
                let (number, is_here) = (entry.view, entry.is_here());
                if *entry.to() != before {
                    self.aim(group, 0);
                }
                let was_here = core::mem::replace(&mut self.here[group.index()], is_here);
                let concerns = changed && (was_here || is_here);
                concerns.then_some(Delivery::View { group, number, client, joined: joins })
            }
        }
    }
}
