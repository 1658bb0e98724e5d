//! Fetching what is about to be needed into the caches.
//!
//! Links, packets and flows by the thousand do not fit there, and a packet would wait for memory at each
//! hop for longer than it is worked on. But what comes next is known: these are called in turn as an event
//! comes nearer, for where one thing lies is written in the one before.

use std::slice::from_ref;

use prefetch_index::prefetch_index;
use ratewire_laws::AnyPort;

use crate::link::{Link, NO_PORT};
use crate::network::{END, Network, RouteId};
use crate::packet::Label;
use crate::spec::LinkId;

/// How far behind the head of a long row: memory answers in the time that so many packets take.
const BEHIND: usize = 4;
/// Where so many packets are on the way, the events of a link come one after the other.
const LONG: usize = 64;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Where a packet is about to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// To another link.
    Link(LinkId),
    /// To a flow's end, and whether with data.
    Flow(u32, bool),
}

impl Network {
    /// The event of a link comes up.
    #[inline]
    pub fn foresee(&self, id: LinkId) {
        if let Some(link) = self.links.get(id.index()) {
            link.foresee();
        }
    }

    /// It comes nearer: the packet at the head, and the one behind it, whose own event comes too soon to be seen.
    #[inline]
    pub fn foresee_head(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        for label in link.row.iter().take(2) {
            prefetch_index(from_ref(label), 0);
        }
    }

    /// It comes nearer still: what the packet carries, and where it goes.
    #[inline]
    pub fn foresee_delivery(&self, id: LinkId) {
        if let Some(head) = self.head(id) {
            self.foresee_packet(head);
        }
    }

    /// Where the packet at the head goes.
    #[inline]
    pub fn ahead(&self, id: LinkId) -> Option<Ahead> {
        let head = self.head(id)?;
        Some(match self.routes[head.hop as usize] {
            END => Ahead::Flow(head.flow, self.packets.carries_data(head.content)),
            next => Ahead::Link(LinkId(next)),
        })
    }

    /// The first link of a route.
    #[inline]
    pub fn first_link(&self, route: RouteId) -> LinkId {
        LinkId(self.routes[route.0 as usize])
    }

    /// A packet is about to come to a link that was foreseen: its place in the row, and the port.
    #[inline]
    pub fn foresee_place(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        let (front, back) = link.row.as_slices();
        let end = if back.is_empty() { front } else { back };
        prefetch_index(end, end.len());
        if link.port != NO_PORT {
            let port = (&raw const self.ports[link.port as usize]).addr();
            for offset in (0..size_of::<AnyPort>()).step_by(LINE) {
                prefetch_address(port + offset);
            }
        }
    }

    /// It is due: what the next events of this link need, where they come too soon to be seen.
    #[inline]
    pub fn foresee_next(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        if link.row.len() > LONG {
            prefetch_index(from_ref(&link.row[2 * BEHIND]), 0);
            self.foresee_packet(&link.row[BEHIND]);
            self.foresee_hop(&link.row[BEHIND / 2]);
            let first = link.started as usize;
            if let Some(waiting) = link.row.get(first + 2 * BEHIND) {
                prefetch_index(from_ref(waiting), 0);
                self.packets.foresee(link.row[first + BEHIND].content);
            }
        } else if let Some(next) = link.row.get(1) {
            prefetch_index(from_ref(next), 0);
        }
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

    #[inline]
    fn foresee_packet(&self, label: &Label) {
        self.packets.foresee(label.content);
        let next = self.routes[label.hop as usize];
        if next != END {
            self.foresee(LinkId(next));
        }
    }
}

/// Fetches the cache line at an address, which may be nobody's: nothing is read.
#[inline]
fn prefetch_address(address: usize) {
    let nothing: &[u8] = &[];
    prefetch_index(nothing, address.wrapping_sub(nothing.as_ptr().addr()));
}

impl Link {
    /// The cache lines that every packet touches.
    #[inline]
    fn foresee(&self) {
        prefetch_index(from_ref(&self.busy_until), 0);
        prefetch_index(from_ref(&self.next_event), 0);
        prefetch_index(from_ref(&self.port_timer), 0);
    }
}
