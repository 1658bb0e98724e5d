//! The routes of packets, as links one after the other.

use prefetch_index::prefetch_index;

use crate::packet::Label;
use crate::spec::LinkId;

/// End of a route in the table.
const END: u32 = u32::MAX;
/// Bit of a link in the table that packets may enter ahead ([`RouteStore::merge`]).
const AHEAD: u32 = 1 << 31;

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
    /// Whether links are merged, so that no route may be added any more.
    is_merged: bool,
}

impl RouteStore {
    /// Makes a route from these links.
    pub(crate) fn add(&mut self, links: &[LinkId]) -> RouteId {
        assert!(!self.is_merged, "a new route may lead to a link that packets have entered ahead");
        let at = self.table.len() as u32;
        self.table.extend(links.iter().map(|l| l.0));
        self.table.push(END);
        RouteId(at)
    }

    /// Whether a route consists of these links.
    pub(crate) fn is(&self, route: RouteId, links: &[LinkId]) -> bool {
        let at = self.table[route.0 as usize..].iter().take_while(|link| **link != END);
        at.map(|link| link & !AHEAD).eq(links.iter().map(|l| l.0))
    }

    /// The link at this place in the table; `None` at the end of a route.
    #[inline(always)]
    pub(crate) fn link_at(&self, hop: u32) -> Option<LinkId> {
        let link = self.table[hop as usize];
        if link == END { None } else { Some(LinkId(link & !AHEAD)) }
    }

    /// The next link of a packet; `None` if it goes to a host.
    #[inline(always)]
    pub(crate) fn next(&self, label: &Label) -> Option<LinkId> {
        self.link_at(label.hop)
    }

    /// The link that a packet is on.
    pub(crate) fn current(&self, label: &Label) -> LinkId {
        LinkId(self.table[label.hop as usize - 1] & !AHEAD)
    }

    /// Lets packets enter links ahead, each from the only link from which packets ever come to it,
    /// where `may` says of these two that they may. Of three such links in a row, packets enter one
    /// ahead. Returns the links that they enter.
    pub(crate) fn merge(
        &mut self,
        links: usize,
        may: impl Fn(LinkId, LinkId) -> bool,
    ) -> Vec<LinkId> {
        self.is_merged = true;
        // What comes before each link: a link, or `END` for a host or several.
        let mut feeders = vec![None; links];
        let mut before = END;
        for &link in &self.table {
            if let Some(feeder) = feeders.get_mut(link as usize) {
                *feeder = Some(feeder.map_or(before, |one| if one == before { one } else { END }));
            }
            before = link;
        }
        let (mut left, mut entered) = (vec![false; links], vec![false; links]);
        for (to, feeder) in feeders.into_iter().enumerate() {
            if let Some(from) = feeder.filter(|from| *from != END)
                && may(LinkId(from), LinkId(to as u32))
                && !entered[from as usize]
                && !left[to]
            {
                (left[from as usize], entered[to]) = (true, true);
            }
        }
        let is_entered = |link: &u32| entered.get(*link as usize) == Some(&true);
        self.table.iter_mut().filter(|link| is_entered(link)).for_each(|link| *link |= AHEAD);
        (0..links as u32).filter(is_entered).map(LinkId).collect()
    }

    /// The next link of a packet, if the packet may enter it ahead.
    #[inline(always)]
    pub(crate) fn next_ahead(&self, label: &Label) -> Option<LinkId> {
        let link = self.table[label.hop as usize];
        (link & AHEAD != 0 && link != END).then_some(LinkId(link & !AHEAD))
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
