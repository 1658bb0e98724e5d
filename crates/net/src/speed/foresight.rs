//! Fetching what is about to be needed into the caches.
//!
//! Links, packets and flows by the thousand do not fit there, and a packet would wait for memory at each
//! hop for longer than it is worked on. But what comes next is known: these are called in turn as an event
//! comes nearer, for where one thing lies is written in the one before.

use std::ops::Range;

use prefetch_index::prefetch_index;
use ratewire_laws::AnyPort;

use crate::link::{LONG, Link, NO_PORT};
use crate::network::{END, Network, RouteId};
use crate::packet::{Body, Label};
use crate::spec::LinkId;

/// How far behind the head of a long row: memory answers in the time that so many packets take.
const BEHIND: u32 = 4;
const _: () = assert!(2 * BEHIND <= LONG);
/// How far behind the head of a delay line, on which each packet goes to another link or flow: its place; its place in the
/// route table; where it goes, and what it carries; and, if there are ports at all, what that link's port, switch and row
/// need. Without ports fetching that takes longer than it spares.
const PLACE: u32 = 16;
const HOP: u32 = 12;
const NEXT: u32 = 8;
const PORT: u32 = 2;
/// How far behind it the end of a flow is told, and once more when it has come. What its packet carries is here by then.
const FAR_END: u32 = 4;
const NEAR_END: u32 = 2;
const _: () = assert!(PORT < NEXT && NEXT < HOP && HOP < PLACE);
const _: () = assert!(NEAR_END < FAR_END && FAR_END < NEXT);
/// What so many packets carry stays in the caches: as many as were ever on their way at once.
const FEW_PACKETS: usize = 4096;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Where a packet finds what it needs of a buffer.
pub(crate) const FIRST_LINE: Range<usize> = 0..LINE;
/// Where it finds what it needs of an outlet.
const FIRST_LINES: Range<usize> = 0..2 * LINE;

/// The end of a flow to which a packet is about to come: its receiver with data, else its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The flow, in the caller's numbering.
    pub flow: u32,
    /// It brings data.
    pub is_data: bool,
}

impl Network {
    /// The event of a link comes up: of the link, what every packet needs; with switches, all, and its far end.
    #[inline]
    pub fn foresee(&self, id: LinkId) {
        if let Some(link) = self.links.get(id.index()) {
            link.foresee();
            if self.fabric.foresee_end(id) {
                link.foresee_waiting();
            }
        }
    }

    /// Packets come to a link, of which all but the first have to wait.
    #[inline]
    pub fn foresee_burst(&self, id: LinkId) {
        if let Some(link) = self.links.get(id.index()) {
            link.foresee();
            link.foresee_waiting();
        }
    }

    /// It comes nearer: the packet at the head, the one behind it, whose own event comes too soon to be seen, what packets
    /// that wait need of the link, and of one that starts at a switch its end there and the buffer that pauses it.
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
            if let Some(buffer) = self.buffer(id) {
                prefetch_bytes(buffer, FIRST_LINE);
            }
        }
    }

    /// It comes nearer still: what the packet carries, and the link to which it goes, if it goes to one.
    #[inline]
    pub fn foresee_delivery(&self, id: LinkId) -> Option<LinkId> {
        self.foresee_packet(self.head(id)?)
    }

    /// The end of a flow to which the packet at the head goes, where it goes to no other link. What it carries is here, and
    /// what it tells beside comes.
    #[inline]
    pub fn ahead(&self, id: LinkId) -> Option<Ahead> {
        let head = self.head(id)?;
        self.packets.foresee_beyond(head.content);
        Some(self.end_of(head))
    }

    /// Whether a packet goes to no other link.
    #[inline]
    fn arrives(&self, label: &Label) -> bool {
        self.routes[label.hop as usize] == END
    }

    /// A packet is about to take this route.
    #[inline]
    pub fn foresee_route(&self, route: RouteId) {
        prefetch_index(&self.routes, route.0 as usize);
    }

    /// A packet is about to come to a link that was foreseen: its place in the row, the port, and its start at a switch.
    #[inline]
    pub fn foresee_place(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        link.foresee_tail();
        if link.port != NO_PORT {
            prefetch_bytes(&self.ports[link.port as usize], 0..size_of::<AnyPort>());
        }
        if let Some(outlet) = link.outlet() {
            prefetch_bytes(outlet, FIRST_LINES);
        }
    }

    /// It is due, and one of few links: what packets behind the head bring to where they go, and those behind the one being
    /// sent to its own port. Where no port looks at it, it was touched last when it was sent.
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

    /// Whether what a packet carries is looked at where it goes, by a port or a host. To be asked where links are few, of
    /// which the next is in the caches.
    #[inline]
    fn is_looked_at(&self, label: &Label) -> bool {
        let next = self.routes[label.hop as usize];
        next == END || self.links[next as usize].port != NO_PORT
    }

    /// Packets that wait, and what they carry where a port sees them off.
    #[inline]
    fn foresee_departures(&self, link: &Link) {
        if link.waiting() > 2 * BEHIND {
            link.row.foresee(link.started + 2 * BEHIND);
            if link.port != NO_PORT {
                self.packets.foresee(link.row[link.started + BEHIND].content);
            }
        }
    }

    /// The same link: the ends of flows at which a packet arrives that was looked at so, the next one's and that of one
    /// that comes later, of which comes what it tells beside. `None` where the row is short or leads to other links.
    #[inline]
    pub fn ends_behind(&self, id: LinkId) -> Option<(Ahead, Ahead)> {
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

    /// It is due: what the next events of this link need, where they come too soon to be seen. Of a train of
    /// acknowledgements that arrive at their sender, returns the flow.
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
                let Ahead { flow, is_data } = self.end_of(head);
                return Some(flow).filter(|_| !is_data);
            }
        }
        None
    }

    /// A delay line is due: what packets behind its head need. Returns the ends of flows at which a packet far behind
    /// it and one near it arrive, where they go to no other link. What the near one tells beside comes.
    #[inline]
    pub fn foresee_line(&self, id: LinkId) -> (Option<Ahead>, Option<Ahead>) {
        self.foresee_line_of_routers(id);
        let Some(Link { row, .. }) = self.links.get(id.index()) else { return (None, None) };
        let arriving = |label: &&Label| self.arrives(label);
        let far = row.get(FAR_END).filter(arriving).map(|label| self.end_of(label));
        let near = row.get(NEAR_END).filter(arriving).map(|label| {
            self.packets.foresee_beyond(label.content);
            self.end_of(label)
        });
        (far, near)
    }

    /// The same, but for ends of flows: where hosts lag, no packet on a line of which an event tells goes to one.
    #[inline(always)]
    pub fn foresee_line_of_routers(&self, id: LinkId) {
        let Some(Link { row, .. }) = self.links.get(id.index()) else { return };
        row.foresee(PLACE);
        if let Some(label) = row.get(HOP) {
            prefetch_index(&self.routes, label.hop as usize);
        }
        if let Some(label) = row.get(NEXT) {
            self.foresee_packet(label);
        }
        if !self.ports.is_empty()
            && let Some(label) = row.get(PORT)
        {
            self.foresee_hop(label);
        }
    }

    /// A packet has arrived: what it carries.
    #[inline]
    pub fn foresee_arrived(&self, label: &Label) {
        self.packets.foresee(label.content);
    }
    /// What it carries is here: what that tells beside comes.
    #[inline]
    pub fn foresee_beyond(&self, label: &Label) {
        self.packets.foresee_beyond(label.content);
    }
    /// The end of a flow at which a packet has arrived whose content is here.
    #[inline]
    pub fn end_of(&self, label: &Label) -> Ahead {
        let is_data = matches!(self.packets.content(label.content).body, Body::Data { .. });
        Ahead { flow: label.flow, is_data }
    }
    /// Whether there are ports.
    #[inline]
    pub fn has_ports(&self) -> bool {
        !self.ports.is_empty()
    }

    #[inline]
    fn foresee_hop(&self, label: &Label) {
        let next = self.routes[label.hop as usize];
        if next != END {
            self.foresee_place(LinkId(next));
        }
    }

    #[inline]
    fn head(&self, id: LinkId) -> Option<&Label> {
        self.links.get(id.index())?.row.front()
    }

    /// What a packet carries that goes where this place in the route table tells: hosts and ports look at it, links
    /// do not.
    #[inline]
    fn foresee_content(&self, hop: u32, label: &Label) {
        if !self.ports.is_empty() || self.routes[hop as usize] == END {
            self.packets.foresee(label.content);
        }
    }

    #[inline]
    fn foresee_packet(&self, label: &Label) -> Option<LinkId> {
        self.foresee_content(label.hop, label);
        let next = Some(self.routes[label.hop as usize]).filter(|next| *next != END).map(LinkId)?;
        self.foresee(next);
        Some(next)
    }
}

/// Fetches the cache lines in which these bytes of a value lie: cheaply where both are known when this is compiled
/// and the value begins with a line.
#[inline]
pub fn prefetch_bytes<T>(value: &T, bytes: Range<usize>) {
    let start = (&raw const *value).addr();
    let before = if align_of::<T>() < LINE { start % LINE } else { 0 };
    let nothing: &[u8] = &[];
    for line in (before + bytes.start) / LINE..(before + bytes.end).div_ceil(LINE) {
        // Nothing is read: what an index into no bytes leads to may be any address.
        let address = (start - before).wrapping_add(line * LINE);
        prefetch_index(nothing, address.wrapping_sub(nothing.as_ptr().addr()));
    }
}

impl Link {
    /// The two cache lines that every packet touches.
    #[inline]
    fn foresee(&self) {
        prefetch_bytes(self, 0..2 * LINE);
    }

    /// The other two, of one that has to wait.
    #[inline]
    fn foresee_waiting(&self) {
        prefetch_bytes(self, 2 * LINE..4 * LINE);
    }

    /// The places of the next two packets in the row.
    #[inline]
    fn foresee_tail(&self) {
        self.row.foresee(self.row.len());
        self.row.foresee(self.row.len() + 1);
    }
}
