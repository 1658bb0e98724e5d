//! The agreed order: one order of messages and view changes, the same at every node (section 3.1).
//!
//! The method is Lamport's. Each event carries its node's stamp, above any stamp that the node has
//! seen, and events are delivered by (stamp, node). Messages of one node reach another in order,
//! because all go down one tree of links that keep order. Once a node has heard a stamp from every
//! other node, it has all events up to that stamp. A silent node sends its stamp with its next cost
//! update ([`Mark`](crate::message::MessageBody::Mark)), and only if others have moved on.

use std::collections::BTreeMap;

use crate::ids::OverlayNodeId;
use crate::message::OrderStamp;

/// One node's part in the agreed order of events `E`.
#[derive(Clone, Debug)]
pub struct Agreed<E> {
    me: OverlayNodeId,
    /// Highest stamp used or seen.
    clock: OrderStamp,
    /// Stamp that each node last sent to all, this node's included.
    marked: Vec<OrderStamp>,
    /// Highest stamp heard from each node.
    heard: Vec<OrderStamp>,
    pending: BTreeMap<(OrderStamp, OverlayNodeId), E>,
}

impl<E> Agreed<E> {
    /// The part of node `me` among this many nodes.
    pub fn new(me: OverlayNodeId, nodes: usize) -> Agreed<E> {
        let (marked, heard) = (vec![0; nodes], vec![0; nodes]);
        Agreed { me, clock: 0, marked, heard, pending: BTreeMap::new() }
    }

    /// Stamp of a new event of this node.
    pub fn stamp(&mut self) -> OrderStamp {
        self.clock += 1;
        self.clock
    }
    /// A stamp below all later events of this node.
    pub fn now(&self) -> OrderStamp {
        self.clock
    }

    /// Distance of this node's stamp from the one it last sent to all, if the others do not know
    /// it.
    pub fn mark(&mut self) -> Option<OrderStamp> {
        let marked = &mut self.marked[self.me.index()];
        let beyond = self.clock - *marked;
        *marked = self.clock;
        (beyond > 0).then_some(beyond)
    }

    /// Notes another node's mark: its distance from that node's last one.
    pub fn hear_mark(&mut self, from: OverlayNodeId, beyond: OrderStamp) {
        let marked = &mut self.marked[from.index()];
        *marked = marked.saturating_add(beyond);
        let stamp = *marked;
        self.hear(from, stamp);
    }

    /// Notes a stamp that another node has reached.
    pub fn hear(&mut self, from: OverlayNodeId, stamp: OrderStamp) {
        self.heard[from.index()] = self.heard[from.index()].max(stamp);
        self.clock = self.clock.max(stamp);
    }

    /// Takes in an event, of this node or another.
    pub fn push(&mut self, from: OverlayNodeId, stamp: OrderStamp, event: E) {
        self.pending.insert((stamp, from), event);
    }

    /// The next event in the order, once none can come before it.
    pub fn pop(&mut self) -> Option<E> {
        let next = self.pending.first_entry()?;
        let stamp = next.key().0;
        let others = self.heard.iter().enumerate().filter(|(node, _)| *node != self.me.index());
        others.map(|(_, heard)| *heard).all(|heard| heard >= stamp).then(|| next.remove())
    }

    /// Events whose turn has not come.
    pub fn waiting(&self) -> impl Iterator<Item = &E> {
        self.pending.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_waits_until_all_have_come_past_it() {
        let mut order = Agreed::new(OverlayNodeId(1), 3);
        order.hear(OverlayNodeId(0), 5);
        order.push(OverlayNodeId(0), 5, "theirs");
        let own = order.stamp();
        assert_eq!(own, 6);
        order.push(OverlayNodeId(1), own, "mine");
        assert_eq!(order.pop(), None);
        order.hear(OverlayNodeId(2), 5);
        assert_eq!(order.pop(), Some("theirs"));
        assert_eq!(order.pop(), None);
        order.hear(OverlayNodeId(2), 9);
        order.hear(OverlayNodeId(0), 6);
        assert_eq!(order.pop(), Some("mine"));
    }

    #[test]
    fn a_stamp_is_told_once() {
        let mut order: Agreed<()> = Agreed::new(OverlayNodeId(0), 2);
        assert_eq!(order.mark(), None);
        order.hear_mark(OverlayNodeId(1), 3);
        assert_eq!(order.mark(), Some(3));
        order.hear(OverlayNodeId(1), 3);
        assert_eq!(order.mark(), None);
        order.hear_mark(OverlayNodeId(1), 2);
        assert_eq!((order.mark(), order.now()), (Some(2), 5));
    }
}
