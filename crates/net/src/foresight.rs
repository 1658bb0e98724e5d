//! Fetching what is about to be needed into the caches.
//!
//! Links, packets and flows by the thousand do not fit there, and a packet would wait for memory at each
//! hop for longer than it is worked on. But what comes next is known: these are called in turn as an event
//! comes nearer, for where one thing lies is written in the one before.

use std::slice::from_ref;

use prefetch_index::prefetch_index;

use crate::link::Link;
use crate::network::{END, Network};
use crate::packet::Label;
use crate::spec::LinkId;

/// How far behind the head of a long row: memory answers in the time that so many packets take.
const BEHIND: usize = 4;

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

    /// It is near: the flow that the packet at the head arrives for, if it does, and whether with data.
    #[inline]
    pub fn foresee_arrival(&self, id: LinkId) -> Option<(u32, bool)> {
        let head = self.head(id)?;
        let arrives = self.routes[head.hop as usize] == END;
        arrives.then(|| (head.flow, self.packets.carries_data(head.content)))
    }

    /// It is due: of a long row the packet some places behind, else the next, for the events of a link that
    /// is never idle come up one after the other, too soon to be seen.
    #[inline]
    pub fn foresee_next(&self, id: LinkId) {
        let Some(link) = self.links.get(id.index()) else { return };
        if let Some(later) = link.row.get(2 * BEHIND) {
            prefetch_index(from_ref(later), 0);
        }
        if let Some(next) = link.row.get(BEHIND).or_else(|| link.row.get(1)) {
            self.foresee_packet(next);
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

impl Link {
    /// The two cache lines that every packet touches.
    #[inline]
    fn foresee(&self) {
        prefetch_index(from_ref(&self.busy_until), 0);
        prefetch_index(from_ref(&self.next_event), 0);
    }
}
