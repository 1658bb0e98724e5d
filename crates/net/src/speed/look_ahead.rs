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
use crate::prefetch::{FIRST_LINES, LINE, LONG, prefetch_bytes};
use crate::queue::fifo::Fifo;
use crate::route_store::{RouteId, RouteStore};
use crate::slab::Slab;
use crate::spec::LinkId;
use crate::speed::tuning::{BEHIND, LINE_HOP, LINE_NEXT, LINE_PLACE, LINE_PORT};

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
#[derive(Clone, Copy, Debug)]
pub struct LookAhead<'a> {
    pub(crate) links: &'a Links,
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

    /// Number of links without a delay line, which keep their packets themselves.
    pub fn links_without_delay_line(&self) -> usize {
        self.links.own().iter().filter(|link| link.delay_line == DelayLineId::NONE).count()
    }

    /// Prefetches a link, and its end at a switch.
    #[inline]
    pub fn foresee(&self, id: LinkId) {
        if let Some(link) = self.links.get(id.index()) {
            prefetch_bytes(link, 0..4 * LINE);
            self.fabric.foresee_end(id);
        }
    }

    /// Prefetches the first entry of a route that a packet is about to take.
    #[inline]
    pub fn foresee_route(&self, route: RouteId) {
        self.routes.prefetch(route.first_hop());
    }

    /// Prefetches what an arriving packet needs at a link: the slots for it and the next in the
    /// queue, the port, and the outlet at a switch. The link itself must have been prefetched.
    #[inline]
    pub fn foresee_place(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        link.fifo.foresee(link.fifo.len());
        link.fifo.foresee(link.fifo.len() + 1);
        self.ports.prefetch(link);
        if let Some(outlet) = link.outlet() {
            prefetch_bytes(outlet, FIRST_LINES);
        }
    }

    /// Prefetches for the next packets of a link or delay line whose event is due.
    #[inline]
    pub fn foresee_next(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        if self.is_delay_line(id) {
            return self.foresee_line(&link.fifo);
        }
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
        }
    }

    /// Prefetches for packets behind the head of a delay line.
    #[inline(always)]
    fn foresee_line(&self, fifo: &Fifo) {
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

    /// Prefetches the content of a packet, if a host or a port is to read it. `hop` is the packet's
    /// next place in the route table.
    #[inline]
    fn foresee_content(&self, hop: u32, label: &Label) {
        if !self.ports.is_empty() || self.routes.link_at(hop).is_none() {
            self.packets.foresee(label.content);
        }
    }

    #[inline]
    fn foresee_packet(&self, label: &Label) {
        self.foresee_content(label.hop, label);
        if let Some(next) = self.routes.next(label) {
            self.foresee(next);
        }
    }
}
