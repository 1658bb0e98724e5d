//! Fetching what is about to be needed into the caches.
//!
//! Links, packets and flows by the thousand do not fit there, and a packet would wait for memory at
//! each hop for longer than it is worked on. But what comes next is known: the methods of
//! [`LookAhead`] are called in turn as an event comes nearer, for where one thing lies is written
//! in the one before.

use crate::fabric::Fabric;
use crate::link::{DelayLine, Link, Links};
use crate::packet::{Body, Label, Slab};
use crate::port::Ports;
use crate::prefetch::{FIRST_LINE, FIRST_LINES, LINE, LONG, prefetch_bytes};
use crate::route_store::{RouteId, RouteStore};
use crate::spec::LinkId;
use crate::speed::delay_line::DelayLines;
use crate::speed::tuning::{
    BEHIND, FEW_PACKETS, LINE_FAR_END, LINE_HOP, LINE_NEAR_END, LINE_NEXT, LINE_PLACE, LINE_PORT,
};

/// The end of a flow to which a packet is about to come: its receiver with data, else its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// The flow, in the caller's numbering.
    pub flow: u32,
    /// The packet brings data.
    pub is_data: bool,
}

/// The view of events to come, for which a network's caller fetches memory. Made by
/// [`Network::look_ahead`](crate::Network::look_ahead).
///
/// Of an event that is scheduled, the caller calls [`foresee`](LookAhead::foresee),
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

    /// Whether there were more latencies than there can be delay lines.
    #[inline]
    pub fn lacks_delay_lines(&self) -> bool {
        self.lines.are_lacking()
    }

    /// How many links keep what is on its way to themselves.
    pub fn links_without_delay_line(&self) -> usize {
        self.links.own().iter().filter(|link| link.delay_line == DelayLine::NONE).count()
    }

    /// Fetches what every packet needs of a link whose event comes up; with switches, the whole
    /// link and its far end.
    #[inline]
    pub fn foresee(&self, id: LinkId) {
        if let Some(link) = self.links.get(id.index()) {
            link.foresee();
            if self.fabric.foresee_end(id) {
                link.foresee_waiting();
            }
        }
    }

    /// Fetches a link to which several packets come, of which all but the first have to wait.
    #[inline]
    pub fn foresee_burst(&self, id: LinkId) {
        if let Some(link) = self.links.get(id.index()) {
            link.foresee();
            link.foresee_waiting();
        }
    }

    /// Fetches the packet at a link's head, the one behind it, whose own event comes too soon to be
    /// seen, and what packets that wait need of the link. Of a link that starts at a switch,
    /// fetches its end there and the buffer that pauses it.
    #[inline]
    pub fn foresee_head(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        link.row.foresee(0);
        if link.row.len() > 1 {
            link.row.foresee(1);
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

    /// Fetches what the packet at a link's head carries, and the link to which the packet goes, if
    /// it goes to one.
    #[inline]
    pub fn foresee_delivery(&self, id: LinkId) -> Option<LinkId> {
        self.foresee_packet(self.head(id)?)
    }

    /// The end of a flow to which the packet at a link's head goes, where it goes to no other link.
    /// What the packet carries has been fetched by now; what few acknowledgements carry beside is
    /// fetched.
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

    /// Fetches the beginning of a route that a packet is about to take.
    #[inline]
    pub fn foresee_route(&self, route: RouteId) {
        self.routes.prefetch(route.first_hop());
    }

    /// Fetches, of a link that was foreseen and to which a packet is about to come, the packet's
    /// place in the queue, the port, and the link's start at a switch.
    #[inline]
    pub fn foresee_place(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        link.foresee_tail();
        self.ports.prefetch(link);
        if let Some(outlet) = link.outlet() {
            prefetch_bytes(outlet, FIRST_LINES);
        }
    }

    /// Of one of few links, whose event is due: fetches what packets behind the head bring to where
    /// they go, and what those behind the one being sent bring to the link's own port. Where no
    /// port looks at a packet, it was touched last when it was sent.
    #[inline]
    pub fn foresee_behind(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        if self.packets.peak() <= FEW_PACKETS {
            return;
        }
        let is_long = link.row.len() > LONG;
        if is_long {
            link.row.foresee(2 * BEHIND);
        }
        if (link.ends.end_route() || !self.ports.is_empty())
            && let Some(next) = link.row.get(if is_long { BEHIND } else { 1 })
            && self.is_looked_at(next)
        {
            self.packets.foresee(next.content);
        }
        self.foresee_departures(link);
    }

    /// Whether what a packet carries is looked at where it goes, by a port or a host. To be asked
    /// where links are few, of which the next is in the caches.
    #[inline]
    fn is_looked_at(&self, label: &Label) -> bool {
        self.routes.next(label).is_none_or(|next| self.links[next.index()].has_port())
    }

    /// Fetches packets that wait, and what they carry where a port sees them off.
    #[inline]
    fn foresee_departures(&self, link: &Link) {
        if link.waiting() > 2 * BEHIND {
            link.row.foresee(link.started + 2 * BEHIND);
            if link.has_port() {
                self.packets.foresee(link.row[link.started + BEHIND].content);
            }
        }
    }

    /// Of a link for which [`foresee_behind`](LookAhead::foresee_behind) was called: the ends of
    /// flows at which the next packet and a later one arrive. Fetches what the later one carries
    /// beside, as few acknowledgements do. `None` where the queue is short or leads to other links.
    #[inline]
    pub fn ends_behind(&self, id: LinkId) -> Option<(FlowEnd, FlowEnd)> {
        let Link { row, ends, .. } = self.links.get(id.index())?;
        if !ends.end_route() || row.len() <= LONG {
            return None;
        }
        let (next, later) = (&row[1], &row[BEHIND / 2]);
        if !self.arrives(next) || !self.arrives(later) {
            return None;
        }
        self.packets.foresee_beyond(later.content);
        Some((self.end_of(next), self.end_of(later)))
    }

    /// Fetches what the next events of a link whose event is due need, where they come too soon to
    /// be seen. Of a train of acknowledgements that arrive at their sender, returns the flow.
    #[inline]
    pub fn foresee_next(&self, id: LinkId) -> Option<u32> {
        let link = self.links.get(id.index())?;
        if let Some(outlet) = link.outlet()
            && link.held > 1
            && let Some(next) = self.fabric.foresee_turns(outlet)
        {
            self.packets.foresee(next.content);
        }
        if link.row.len() > LONG {
            link.row.foresee(2 * BEHIND);
            self.foresee_packet(&link.row[BEHIND]);
            if !self.ports.is_empty() {
                self.foresee_hop(&link.row[BEHIND / 2]);
            }
            self.foresee_departures(link);
        } else if let (Some(head), Some(next)) = (link.row.front(), link.row.get(1)) {
            // Of a train: it goes where the one before it goes.
            self.foresee_content(head.hop, next);
            if link.row.len() > 2 {
                link.row.foresee(2);
            }
            if self.arrives(head) {
                let FlowEnd { flow, is_data } = self.end_of(head);
                return Some(flow).filter(|_| !is_data);
            }
        }
        None
    }

    /// Fetches what packets behind the head of a delay line need, whose event is due. Returns the
    /// ends of flows at which a packet far behind the head and one near it arrive, where they go to
    /// no other link. Fetches what the near one carries beside, as few acknowledgements do.
    #[inline]
    pub fn foresee_line(&self, id: LinkId) -> (Option<FlowEnd>, Option<FlowEnd>) {
        self.foresee_line_of_routers(id);
        let Some(Link { row, .. }) = self.links.get(id.index()) else { return (None, None) };
        let arriving = |label: &&Label| self.arrives(label);
        let far = row.get(LINE_FAR_END).filter(arriving).map(|label| self.end_of(label));
        let near = row.get(LINE_NEAR_END).filter(arriving).map(|label| {
            self.packets.foresee_beyond(label.content);
            self.end_of(label)
        });
        (far, near)
    }

    /// Does what [`foresee_line`](LookAhead::foresee_line) does, but for ends of flows: where hosts
    /// lag, no packet on a line that has events goes to one.
    #[inline(always)]
    pub fn foresee_line_of_routers(&self, id: LinkId) {
        let Some(Link { row, .. }) = self.links.get(id.index()) else { return };
        row.foresee(LINE_PLACE);
        if let Some(label) = row.get(LINE_HOP) {
            self.routes.prefetch(label.hop);
        }
        if let Some(label) = row.get(LINE_NEXT) {
            self.foresee_packet(label);
        }
        if !self.ports.is_empty()
            && let Some(label) = row.get(LINE_PORT)
        {
            self.foresee_hop(label);
        }
    }

    /// Fetches what a packet that has arrived carries.
    #[inline]
    pub fn foresee_arrived(&self, label: &Label) {
        self.packets.foresee(label.content);
    }
    /// Fetches what few acknowledgements carry beside, of a packet for which
    /// [`foresee_arrived`](LookAhead::foresee_arrived) was called.
    #[inline]
    pub fn foresee_beyond(&self, label: &Label) {
        self.packets.foresee_beyond(label.content);
    }
    /// The end of a flow at which a packet has arrived, whose content has been fetched.
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
        self.links.get(id.index())?.row.front()
    }

    /// Fetches what a packet carries that goes where this place in the route table tells, if a host
    /// or a port is to look at it.
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
    /// Fetches the two cache lines that every packet touches.
    #[inline]
    fn foresee(&self) {
        prefetch_bytes(self, 0..2 * LINE);
    }

    /// Fetches the other two cache lines, which a packet that has to wait touches.
    #[inline]
    fn foresee_waiting(&self) {
        prefetch_bytes(self, 2 * LINE..4 * LINE);
    }

    /// Fetches the places of the next two packets in the queue.
    #[inline]
    fn foresee_tail(&self) {
        self.row.foresee(self.row.len());
        self.row.foresee(self.row.len() + 1);
    }
}
