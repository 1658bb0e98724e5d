//! Prefetching of memory that coming events need.
//!
//! Thousands of links, packets and flows do not fit the caches: at each hop, a packet would wait
//! for memory longer than its processing takes. But coming events are known. The address of one
//! piece of memory is stored in another, so the methods of [`LookAhead`] are called in turn as an
//! event comes nearer.

use crate::fabric::Fabric;
use crate::link::{DelayLineId, Link, Links};
use crate::packet::{Body, Label};
use crate::port::Ports;
use crate::prefetch::{FIRST_LINE, FIRST_LINES, LINE, LONG, prefetch_bytes};
use crate::route_store::{RouteId, RouteStore};
use crate::slab::Slab;
use crate::spec::LinkId;
use crate::speed::delay_line::DelayLines;
use crate::speed::tuning::{
    BEHIND, FEW_PACKETS, LINE_FAR_END, LINE_HOP, LINE_NEAR_END, LINE_NEXT, LINE_PLACE, LINE_PORT,
};

/// The end of a flow at which a packet is about to arrive: the receiver for data, otherwise the
/// sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// The flow, in the caller's numbering.
    pub flow: u32,
    /// Whether the packet has data.
    pub is_data: bool,
}

/// Access to memory that coming events need; see
/// [`Network::look_ahead`](crate::Network::look_ahead).
///
/// For a scheduled event, the caller calls [`foresee`](LookAhead::foresee),
/// [`foresee_head`](LookAhead::foresee_head), [`foresee_delivery`](LookAhead::foresee_delivery),
/// [`end_at_head`](LookAhead::end_at_head) and [`foresee_place`](LookAhead::foresee_place), in this
/// order, as the event comes nearer.
#[derive(Clone, Copy, Debug)]
pub struct LookAhead<'a> {
    pub(crate) links: &'a Links,
    pub(crate) lines: &'a DelayLines,
    pub(crate) packets: &'a Slab,
    pub(crate) ports: &'a Ports,
    pub(crate) routes: &'a RouteStore,
    pub(crate) fabric: &'a Fabric,
}

impl LookAhead<'_> {
    /// Whether a link is a delay line.
    #[inline]
    pub fn is_delay_line(&self, id: LinkId) -> bool {
        self.links.is_line(id)
    }

    /// Whether more latencies occurred than there can be delay lines.
    #[inline]
    pub fn lacks_delay_lines(&self) -> bool {
        self.lines.are_lacking()
    }

    /// Number of links without a delay line, which keep their packets themselves.
    pub fn links_without_delay_line(&self) -> usize {
        self.links.own().iter().filter(|link| link.delay_line == DelayLineId::NONE).count()
    }

    /// Prefetches the part of a link that every packet needs, before the link's event. With
    /// switches, prefetches the whole link and its far end.
    #[inline]
    pub fn foresee(&self, id: LinkId) {
        if let Some(link) = self.links.get(id.index()) {
            link.foresee();
            if self.fabric.foresee_end(id) {
                link.foresee_waiting();
            }
        }
    }

    /// Prefetches a link at which several packets arrive at once, of which all but the first have
    /// to wait.
    #[inline]
    pub fn foresee_burst(&self, id: LinkId) {
        if let Some(link) = self.links.get(id.index()) {
            link.foresee();
            link.foresee_waiting();
        }
    }

    /// Prefetches a link's first two packets, and the part of the link that waiting packets need.
    /// The second packet's own event comes too soon to be foreseen. For a link that starts at a
    /// switch, prefetches its outlet and the buffer that pauses it.
    #[inline]
    pub fn foresee_head(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        link.fifo.foresee(0);
        if link.fifo.len() > 1 {
            link.fifo.foresee(1);
        }
        if link.waiting() > 0 {
            link.foresee_waiting();
        }
        if let Some(outlet) = link.outlet() {
            prefetch_bytes(outlet, FIRST_LINES);
            if let Some(buffer) = self.fabric.buffer(id) {
                prefetch_bytes(buffer, FIRST_LINE);
            }
        }
    }

    /// Prefetches the content of the packet at a link's head, and the packet's next link, which is
    /// returned; `None` if the packet goes to no other link.
    #[inline]
    pub fn foresee_delivery(&self, id: LinkId) -> Option<LinkId> {
        self.foresee_packet(self.head(id)?)
    }

    /// The end of a flow at which the packet at a link's head arrives, if it goes to no other link.
    ///
    /// The packet's content must have been prefetched. Prefetches the window and ranges that few
    /// acknowledgements keep apart.
    #[inline]
    pub fn end_at_head(&self, id: LinkId) -> Option<FlowEnd> {
        let head = self.head(id)?;
        self.packets.foresee_beyond(head.content);
        Some(self.end_of(head))
    }

    /// Whether a packet goes to no other link.
    #[inline]
    fn arrives(&self, label: &Label) -> bool {
        self.routes.next(label).is_none()
    }

    /// Prefetches the first entry of a route that a packet is about to take.
    #[inline]
    pub fn foresee_route(&self, route: RouteId) {
        self.routes.prefetch(route.first_hop());
    }

    /// Prefetches what an arriving packet needs at a link: its slot in the queue, the port, and the
    /// outlet at a switch. The link itself must have been prefetched.
    #[inline]
    pub fn foresee_place(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        link.foresee_tail();
        self.ports.prefetch(link);
        if let Some(outlet) = link.outlet() {
            prefetch_bytes(outlet, FIRST_LINES);
        }
    }

    /// Prefetches for packets behind the head of a link whose event is due, if there are few links:
    /// their contents, for the next port or host and, for waiting packets, for the link's own port.
    /// Without a port or host that reads it, a packet's content was last touched when it was sent.
    #[inline]
    pub fn foresee_behind(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        if self.packets.peak() <= FEW_PACKETS {
            return;
        }
        let is_long = link.fifo.len() > LONG;
        if is_long {
            link.fifo.foresee(2 * BEHIND);
        }
        if (link.ends.end_route() || !self.ports.is_empty())
            && let Some(next) = link.fifo.get(if is_long { BEHIND } else { 1 })
            && self.is_looked_at(next)
        {
            self.packets.foresee(next.content);
        }
        self.foresee_departures(link);
    }

    /// Whether the next port or host reads a packet's content. Only for networks of few links,
    /// where the next link is in the caches.
    #[inline]
    fn is_looked_at(&self, label: &Label) -> bool {
        self.routes.next(label).is_none_or(|next| self.links[next.index()].has_port())
    }

    /// Prefetches waiting packets, and their contents if the link has a port.
    #[inline]
    fn foresee_departures(&self, link: &Link) {
        if link.waiting() > 2 * BEHIND {
            link.fifo.foresee(link.started + 2 * BEHIND);
            if link.has_port() {
                self.packets.foresee(link.fifo[link.started + BEHIND].content);
            }
        }
    }

    /// The ends of flows at which the next packet and a later one arrive; `None` if the queue is
    /// short or leads to other links.
    ///
    /// [`foresee_behind`](LookAhead::foresee_behind) must have been called for the link. Prefetches
    /// the window and ranges that few acknowledgements keep apart, of the later packet.
    #[inline]
    pub fn ends_behind(&self, id: LinkId) -> Option<(FlowEnd, FlowEnd)> {
        let Link { fifo, ends, .. } = self.links.get(id.index())?;
        if !ends.end_route() || fifo.len() <= LONG {
            return None;
        }
        let (next, later) = (&fifo[1], &fifo[BEHIND / 2]);
        if !self.arrives(next) || !self.arrives(later) {
            return None;
        }
        self.packets.foresee_beyond(later.content);
        Some((self.end_of(next), self.end_of(later)))
    }

    /// Prefetches for the next events of a link whose event is due, because they come too soon to
    /// be foreseen. If a train of acknowledgements arrives at its sender, returns the flow.
    #[inline]
    pub fn foresee_next(&self, id: LinkId) -> Option<u32> {
        let link = self.links.get(id.index())?;
        if let Some(outlet) = link.outlet()
            && link.held > 1
            && let Some(next) = self.fabric.foresee_turns(outlet)
        {
            self.packets.foresee(next.content);
        }
        if link.fifo.len() > LONG {
            link.fifo.foresee(2 * BEHIND);
            self.foresee_packet(&link.fifo[BEHIND]);
            if !self.ports.is_empty() {
                self.foresee_hop(&link.fifo[BEHIND / 2]);
            }
            self.foresee_departures(link);
        } else if let (Some(head), Some(next)) = (link.fifo.front(), link.fifo.get(1)) {
            // Packets of a train take one route.
            self.foresee_content(head.hop, next);
            if link.fifo.len() > 2 {
                link.fifo.foresee(2);
            }
            if self.arrives(head) {
                let FlowEnd { flow, is_data } = self.end_of(head);
                return Some(flow).filter(|_| !is_data);
            }
        }
        None
    }

    /// Prefetches for packets behind the head of a delay line whose event is due.
    ///
    /// Returns the ends of flows at which a packet far behind the head and one near it arrive, if
    /// they go to no other link. Prefetches the window and ranges that few acknowledgements keep
    /// apart, of the near packet.
    #[inline]
    pub fn foresee_line(&self, id: LinkId) -> (Option<FlowEnd>, Option<FlowEnd>) {
        self.foresee_line_of_routers(id);
        let Some(Link { fifo, .. }) = self.links.get(id.index()) else { return (None, None) };
        let arriving = |label: &&Label| self.arrives(label);
        let far = fifo.get(LINE_FAR_END).filter(arriving).map(|label| self.end_of(label));
        let near = fifo.get(LINE_NEAR_END).filter(arriving).map(|label| {
            self.packets.foresee_beyond(label.content);
            self.end_of(label)
        });
        (far, near)
    }

    /// Prefetches as [`foresee_line`](LookAhead::foresee_line) does, but not for ends of flows: if
    /// hosts lag, no packet on a line with events goes to one.
    #[inline(always)]
    pub fn foresee_line_of_routers(&self, id: LinkId) {
        let Some(Link { fifo, .. }) = self.links.get(id.index()) else { return };
        fifo.foresee(LINE_PLACE);
        if let Some(label) = fifo.get(LINE_HOP) {
            self.routes.prefetch(label.hop);
        }
        if let Some(label) = fifo.get(LINE_NEXT) {
            self.foresee_packet(label);
        }
        if !self.ports.is_empty()
            && let Some(label) = fifo.get(LINE_PORT)
        {
            self.foresee_hop(label);
        }
    }

    /// Prefetches the content of a packet that has arrived.
    #[inline]
    pub fn foresee_arrived(&self, label: &Label) {
        self.packets.foresee(label.content);
    }
    /// Prefetches the window and ranges that few acknowledgements keep apart.
    /// [`foresee_arrived`](LookAhead::foresee_arrived) must have been called for the packet.
    #[inline]
    pub fn foresee_beyond(&self, label: &Label) {
        self.packets.foresee_beyond(label.content);
    }
    /// The end of a flow at which a packet has arrived. The packet's content must have been
    /// prefetched.
    #[inline]
    pub fn end_of(&self, label: &Label) -> FlowEnd {
        let is_data = matches!(self.packets.content(label.content).body, Body::Data { .. });
        FlowEnd { flow: label.flow, is_data }
    }
    /// Whether there are ports.
    #[inline]
    pub fn has_ports(&self) -> bool {
        !self.ports.is_empty()
    }

    #[inline]
    fn foresee_hop(&self, label: &Label) {
        if let Some(next) = self.routes.next(label) {
            self.foresee_place(next);
        }
    }

    #[inline]
    fn head(&self, id: LinkId) -> Option<&Label> {
        self.links.get(id.index())?.fifo.front()
    }

    /// Prefetches the content of a packet, if a host or a port is to read it. `hop` is the packet's
    /// next place in the route table.
    #[inline]
    fn foresee_content(&self, hop: u32, label: &Label) {
        if !self.ports.is_empty() || self.routes.link_at(hop).is_none() {
            self.packets.foresee(label.content);
        }
    }

    #[inline]
    fn foresee_packet(&self, label: &Label) -> Option<LinkId> {
        self.foresee_content(label.hop, label);
        let next = self.routes.next(label)?;
        self.foresee(next);
        Some(next)
    }
}

impl Link {
    /// Prefetches the two cache lines that every packet touches.
    #[inline]
    fn foresee(&self) {
        prefetch_bytes(self, 0..2 * LINE);
    }

    /// Prefetches the other two cache lines, which a packet that has to wait touches.
    #[inline]
    fn foresee_waiting(&self) {
        prefetch_bytes(self, 2 * LINE..4 * LINE);
    }

    /// Prefetches the slots of the next two packets in the queue.
    #[inline]
    fn foresee_tail(&self) {
        self.fifo.foresee(self.fifo.len());
        self.fifo.foresee(self.fifo.len() + 1);
    }
}
