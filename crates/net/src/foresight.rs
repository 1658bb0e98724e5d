//! Fetching what is about to be needed into the caches.
//!
//! Links, packets and flows by the thousand do not fit there, and a packet would wait for memory at each
//! hop for longer than it is worked on. But what comes next is known: these are called in turn as an event
//! comes nearer, for where one thing lies is written in the one before.

use std::slice::from_ref;

use prefetch_index::prefetch_index;

use crate::link::Link;
use crate::network::{END, Network};
use crate::spec::LinkId;

impl Network {
    /// The event of a link comes up.
    #[inline]
    pub fn foresee(&self, id: LinkId) {
        if let Some(link) = self.links.get(id.index()) {
            link.foresee();
        }
    }

    /// It comes nearer: the packet at the head.
    #[inline]
    pub fn foresee_head(&self, id: LinkId) {
        if let Some(head) = self.links.get(id.index()).and_then(|link| link.row.front()) {
            prefetch_index(from_ref(head), 0);
        }
    }

    /// It comes nearer still: what the packet carries, and where it goes. Returns its flow if it arrives.
    #[inline]
    pub fn foresee_delivery(&self, id: LinkId) -> Option<u32> {
        let head = self.links.get(id.index())?.row.front()?;
        self.packets.foresee(head.content);
        match self.routes[head.hop as usize] {
            END => Some(head.flow),
            link => {
                self.foresee(LinkId(link));
                None
            }
        }
    }

    /// It is due: what the packet behind the head carries, whose own event comes too soon to be seen.
    #[inline]
    pub fn foresee_next(&self, id: LinkId) {
        if let Some(next) = self.links.get(id.index()).and_then(|link| link.row.get(1)) {
            self.packets.foresee(next.content);
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
