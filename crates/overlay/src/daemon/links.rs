//! Queues in front of a daemon's links.

use std::collections::VecDeque;

use ratewire_units::{Bytes, Duration, Time};

use super::Payload;
use crate::ids::{EdgeId, OverlayNodeId};
use crate::membership::{LinkMessage, ViewBody};
use crate::price::Occupancy;
use crate::queue::{Kind, LinkQueue};
use crate::tree::EdgeSpec;

/// A daemon's links.
#[derive(Debug)]
pub(super) struct Links<G, P> {
    me: OverlayNodeId,
    /// Number of links of all daemons that this one knows.
    known: usize,
    links: Vec<Link<G, P>>,
    /// Neighbours whose empty queues have got a message.
    ready: VecDeque<OverlayNodeId>,
}

/// A link to a neighbour.
#[derive(Debug)]
pub(super) struct Link<G, P> {
    pub(super) peer: OverlayNodeId,
    pub(super) edge: EdgeId,
    pub(super) is_up: bool,
    pub(super) queue: LinkQueue<LinkMessage<G, P>>,
}

impl<G, P> Links<G, P> {
    pub(super) fn new(me: OverlayNodeId) -> Links<G, P> {
        Links { me, known: 0, links: Vec::new(), ready: VecDeque::new() }
    }

    /// Has those of these links that are this daemon's. They begin with the links known so far.
    pub(super) fn grow(&mut self, edges: &[EdgeSpec]) {
        let new = edges.iter().enumerate().skip(self.known);
        let own = new.filter(|(_, edge)| edge.from == self.me);
        self.links.extend(own.map(|(number, edge)| Link {
            peer: edge.to,
            edge: EdgeId(number as u16),
            is_up: false,
            queue: LinkQueue::default(),
        }));
        self.known = edges.len();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Link<G, P>> {
        self.links.iter()
    }
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Link<G, P>> {
        self.links.iter_mut()
    }
    /// Whether a message waits.
    pub(super) fn is_any_waiting(&self) -> bool {
        self.links.iter().any(|link| link.queue.waiting() > 0)
    }

    /// Drops what waits for a neighbour: its connection is new, or has ended.
    pub(super) fn clear(&mut self, now: Time, peer: OverlayNodeId, is_up: bool) {
        for link in self.links.iter_mut().filter(|link| link.peer == peer) {
            link.queue.clear(now);
            link.is_up = is_up;
        }
        self.ready.retain(|ready| *ready != peer);
    }

    /// Closes an interval of the queues' means, and looks at them if they are looked at so often.
    pub(super) fn close_interval(&mut self, now: Time, looks: Option<Duration>) {
        for link in &mut self.links {
            link.queue.close_interval(now);
            if let Some(apart) = looks {
                link.queue.look(now, apart);
            }
        }
    }

    /// Each link with the mean of its queue, in soft limits.
    pub(super) fn averages(
        &self,
        soft_limit: Occupancy,
    ) -> impl Iterator<Item = (EdgeId, Occupancy)> {
        self.links.iter().map(move |link| (link.edge, link.queue.relative(soft_limit)))
    }

    /// Queues a message for the link at this place.
    pub(super) fn push(
        &mut self,
        now: Time,
        place: usize,
        (kind, size): (Kind, Bytes),
        message: LinkMessage<G, P>,
    ) {
        let link = &mut self.links[place];
        if link.queue.is_empty() {
            self.ready.push_back(link.peer);
        }
        link.queue.push(now, kind, size, message);
    }

    /// Takes the next message for the link at this place, and its size.
    pub(super) fn take(&mut self, now: Time, place: usize) -> Option<(Bytes, LinkMessage<G, P>)> {
        self.links[place].queue.take(now)
    }

    /// A neighbour whose empty queue has got a message.
    pub(super) fn poll_ready(&mut self) -> Option<OverlayNodeId> {
        self.ready.pop_front()
    }
}

/// How a message counts in a link's queue.
pub(super) fn kind<G, P: Payload>(message: &LinkMessage<G, P>) -> (Kind, Bytes) {
    match message {
        LinkMessage::EnterPrices(_) | LinkMessage::Prices(_) => (Kind::Prices, Bytes::ZERO),
        LinkMessage::View(message) => match &message.body {
            ViewBody::Data { payload, .. } => (Kind::Data(payload.counted()), payload.size()),
            _ => (Kind::Other, Bytes::ZERO),
        },
        _ => (Kind::Other, Bytes::ZERO),
    }
}
