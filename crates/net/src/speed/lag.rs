//! Hosts and network in turn.
//!
//! What a host sends takes at least its own link's delay to come to where it meets what others
//! send. So hosts may lag behind the network by the least such delay: the network goes first, what
//! comes to hosts meanwhile is kept, and then they see all of it in the order in which it came. The
//! code and the memory of the one do not push those of the other out of the caches at each packet,
//! what hosts will look at next is known, and packets on their way to hosts need no event.
//!
//! Hosts that can do so are leaves: nodes with one cable, through which no route leads. Nobody else
//! puts packets on a leaf's link, so that it can be told of them later than the network is told of
//! what happens elsewhere.

use ratewire_units::{Duration, Time};

use crate::link::Links;
use crate::news::News;
use crate::packet::{Fate, Label, Slab};
use crate::route_store::RouteStore;
use crate::scheduler::Scheduler;
use crate::spec::{DriverSpec, NetworkSpec, NodeId};
use crate::speed::delay_line::{DelayLines, see_head};

/// The means by which hosts lag behind a network. Made by
/// [`Network::host_lag`](crate::Network::host_lag).
#[derive(Debug)]
pub struct HostLag<'a> {
    pub(crate) links: &'a mut Links,
    pub(crate) lines: &'a mut DelayLines,
    pub(crate) packets: &'a Slab,
    pub(crate) routes: &'a RouteStore,
    pub(crate) news: &'a mut News,
}

impl HostLag<'_> {
    /// From now on hosts that are leaves take turns with the network. Returns by how much they may
    /// lag, or nothing where they cannot take turns. To be called before links are watched or send;
    /// leaves' own links are never to change then.
    pub fn begin(self, spec: &NetworkSpec, is_leaf: impl Fn(NodeId) -> bool) -> Option<Duration> {
        let of_leaves = || spec.links.iter().filter(|link| is_leaf(link.from));
        let is_plain = |driver: &DriverSpec| *driver == DriverSpec::default();
        let can = of_leaves().all(|link| link.is_plain() && is_plain(&link.driver))
            && spec.links.iter().all(|link| link.pause.is_none());
        let lag = of_leaves().map(|link| link.delay).min()?;
        if !can || lag.is_zero() {
            return None;
        }
        self.lines.begin(self.links);
        self.lines.begin_lag();
        for (link, spec) in self.links.iter_mut().zip(&spec.links) {
            link.ends = link.ends.with_leaves(is_leaf(spec.from), is_leaf(spec.to));
        }
        Some(lag)
    }

    /// From now on everything happens in the order of its time. To be called when hosts have caught
    /// up.
    pub fn end(self, scheduler: &mut impl Scheduler) {
        for line in self.lines.end_lag() {
            self.links[line.index()].schedule_head(line, scheduler);
        }
        // What waits on a host's link may do so behind a packet on a delay line, as it never does
        // on others.
        self.links.iter_mut().for_each(|link| link.ends = link.ends.without_leaf_at_end());
    }

    /// Hosts have sent what they send before this time.
    #[inline]
    pub fn hosts_are_at(self, at: Time) {
        self.lines.hosts_are_at(at);
    }

    /// When the next packet comes to a host of those of which no event tells.
    #[inline]
    pub fn next_for_hosts(self) -> Time {
        let lines = self.lines.to_leaves().iter();
        let heads = lines.filter_map(|id| self.links[id.index()].row.front());
        heads.map(|label| label.time).min().unwrap_or(Time::NEVER)
    }

    /// Tells of the packets that come to hosts before this time and of which no event tells: of
    /// each delay line in their order.
    #[inline]
    pub fn take_for_hosts(self, until: Time, mut tell: impl FnMut(Label)) {
        for &id in self.lines.to_leaves() {
            let mut line = &mut self.links[id.index()];
            while let Some(head) = line.row.front()
                && head.time < until
            {
                if head.fate == Fate::Watched {
                    see_head(id, self.links, self.routes, self.packets, self.news);
                    line = &mut self.links[id.index()];
                }
                line.passed += 1;
                tell(line.pop_head());
            }
        }
    }
}
