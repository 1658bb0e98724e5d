//! Hosts that lag behind the network.
//!
//! A host's packet takes at least the delay of the host's own link before it meets packets of
//! others. Hosts may therefore lag behind the network by the least such delay. The network goes
//! first, and keeps the packets that arrive at hosts meanwhile. Then hosts process these, in order
//! of arrival.
//!
//! - Hosts and network do not evict each other's code and data from the caches with each packet.
//! - The packets that hosts process next are known ahead.
//! - Packets on their way to hosts need no event.
//!
//! Only leaves can lag: hosts with one cable, through which no route leads. Nobody else puts
//! packets on a leaf's link, so the link may process them later than the network processes other
//! events.

use ratewire_units::{Duration, Time};

use crate::link::{DelayLineId, EndFlags, Links};
use crate::news::News;
use crate::packet::{Fate, Label};
use crate::route_store::RouteStore;
use crate::scheduler::Scheduler;
use crate::slab::Slab;
use crate::spec::{DriverSpec, LinkId, NetworkSpec, NodeId};
use crate::speed::delay_line::{DelayLines, see_head};

/// Access to the lag of hosts behind a network; see
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
    /// Lets hosts that are leaves lag behind the network from now on. Returns the largest lag;
    /// `None` if hosts cannot lag.
    ///
    /// Must be called before links are watched or send, and after
    /// [`Network::use_delay_lines`](crate::Network::use_delay_lines) and
    /// [`Network::book_departures`](crate::Network::book_departures). Leaves' own links must never
    /// change afterwards.
    pub fn begin(self, spec: &NetworkSpec, is_leaf: impl Fn(NodeId) -> bool) -> Option<Duration> {
        let all = || spec.links.iter().zip(self.links.own());
        let of_leaves = || all().filter(|(link, _)| is_leaf(link.from));
        // A packet that leaves its host by an event would need it at a time that the network has
        // passed.
        let sends_at_once =
            |ends: EndFlags| !ends.has_processing() || ends.contains(EndFlags::IN_ADVANCE);
        let can = all().all(|(link, _)| link.pause.is_none())
            && of_leaves().all(|(link, state)| {
                let is_plain = link.is_plain() && link.driver == DriverSpec::default();
                is_plain && sends_at_once(state.ends)
            });
        let lag = of_leaves().map(|(link, _)| link.delay).min()?;
        if !can || lag.is_zero() {
            return None;
        }
        self.lines.begin_lag();
        for (spec, id) in spec.links.iter().zip((0..).map(LinkId)) {
            let link = &mut self.links[id.index()];
            link.ends.set(EndFlags::LEAF_AT_START, is_leaf(spec.from));
            link.ends.set(EndFlags::LEAF_AT_END, is_leaf(spec.to));
            // All packets of a link that books have started, as far as its queue tells.
            let keeps_started = link.books && link.delay_line == DelayLineId::NONE;
            if link.ends.end_at_leaf() && keeps_started {
                self.lines.lead_to_leaf(id, link);
            }
        }
        Some(lag)
    }

    /// Number of links to hosts that have no events: each is looked at in each turn.
    pub fn links_without_events(self) -> usize {
        self.lines.to_leaves().len()
    }

    /// Ends the lag: from now on, all events come in order of time. Must be called when hosts have
    /// caught up.
    pub fn end(self, scheduler: &mut impl Scheduler) {
        for line in self.lines.end_lag() {
            self.links[line.index()].schedule_head(line, scheduler);
        }
        // Only the flags of the far ends go: a packet on a host's link may still wait behind one on
        // a delay line, as packets on other links never do.
        let of_leaf = EndFlags::LEAF_AT_END | EndFlags::EVENTLESS;
        self.links.iter_mut().for_each(|link| link.ends.remove(of_leaf));
    }

    /// Notes that hosts have sent all their packets before this time.
    #[inline]
    pub fn hosts_are_at(self, at: Time) {
        self.lines.hosts_are_at(at);
    }

    /// Time of the next packet's arrival at a host, of packets without events; [`Time::NEVER`]
    /// without any.
    #[inline]
    pub fn next_for_hosts(self) -> Time {
        let all = self.lines.to_leaves().iter().map(|id| &self.links[id.index()]);
        let heads =
            all.filter(|link| !link.ends.have_events()).filter_map(|link| link.fifo.front());
        heads.map(|label| label.time).min().unwrap_or(Time::NEVER)
    }

    /// Reports packets without events that arrive at hosts before this time: those of each link or
    /// delay line in order of arrival.
    #[inline]
    pub fn take_for_hosts(self, until: Time, mut tell: impl FnMut(Label)) {
        for &id in self.lines.to_leaves() {
            let mut link = &mut self.links[id.index()];
            while let Some(head) = link.fifo.front()
                && head.time < until
                && !link.ends.have_events()
            {
                if head.fate == Fate::Watched {
                    see_head(id, self.links, self.routes, self.packets, self.news);
                    link = &mut self.links[id.index()];
                }
                link.passed += 1;
                tell(link.pop_head());
            }
        }
    }
}
