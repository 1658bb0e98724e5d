//! The routes of packets, as links one after the other.

use prefetch_index::prefetch_index;

use crate::packet::Label;
use crate::spec::LinkId;

/// End of a route in the table.
const END: u32 = u32::MAX;

/// A route that packets can be sent along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(u32);

impl RouteId {
    /// Place in the table of the route's first link: the [`Label::hop`] of a packet that is about
    /// to take it.
    #[inline]
    pub(crate) fn first_hop(self) -> u32 {
        self.0
    }
}

/// All routes of a network, one after the other, each a run of link numbers followed by [`END`].
#[derive(Debug, Default)]
pub(crate) struct RouteStore {
    table: Vec<u32>,
}

impl RouteStore {
    /// Makes a route from these links.
    pub(crate) fn add(&mut self, links: &[LinkId]) -> RouteId {
        let at = self.table.len() as u32;
        self.table.extend(links.iter().map(|l| l.0));
        self.table.push(END);
        RouteId(at)
    }

    /// Whether a route consists of these links.
    pub(crate) fn is(&self, route: RouteId, links: &[LinkId]) -> bool {
        let at = self.table[route.0 as usize..].iter().take_while(|link| **link != END);
        at.copied().eq(links.iter().map(|l| l.0))
    }

    /// The link at this place in the table; `None` at the end of a route.
    #[inline(always)]
    pub(crate) fn link_at(&self, hop: u32) -> Option<LinkId> {
        let link = self.table[hop as usize];
        if link == END { None } else { Some(LinkId(link)) }
    }

    /// The next link of a packet; `None` if it goes to a host.
    #[inline(always)]
    pub(crate) fn next(&self, label: &Label) -> Option<LinkId> {
        self.link_at(label.hop)
    }

    /// The link that a packet is on.
    pub(crate) fn current(&self, label: &Label) -> LinkId {
        LinkId(self.table[label.hop as usize - 1])
    }

    /// The link before the current one; `None` if the packet was sent here.
    pub(crate) fn before(&self, label: &Label) -> Option<LinkId> {
        (label.hop as usize).checked_sub(2).and_then(|at| self.link_at(at as u32))
    }

    /// Number of links that a packet crossed before its current one.
    pub(crate) fn crossed(&self, label: &Label) -> u32 {
        let before = (label.hop as usize).saturating_sub(1);
        let crossed = self.table[..before].iter().rev().take_while(|link| **link != END);
        crossed.count() as u32
    }

    /// Prefetches a place in the table.
    #[inline]
    pub(crate) fn prefetch(&self, hop: u32) {
        prefetch_index(&self.table, hop as usize);
    }
}
