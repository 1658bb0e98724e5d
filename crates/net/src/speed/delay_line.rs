//! Delay lines: FIFOs that are shared by links whose packets take equally long.
//!
//! A packet that finds its link idle arrives after its transmission time and the link's delay.
//! Packets of all links for which these take equally long arrive in the order in which they were
//! sent. One FIFO and one event serve them all: a delay line. With thousands of links, it replaces
//! their own FIFOs, which hold few packets and lie far apart in memory. It also has the next
//! packets in order of memory (see [`crate::speed::look_ahead`]).
//!
//! A delay line is a link itself, numbered behind those of the network. Other links put packets on
//! it as they send them. If hosts lag ([`crate::speed::lag`]), hosts' links have other delay lines
//! than routers' links, because hosts fill theirs later. Lines that lead to hosts then have no
//! events.

use ratewire_units::{Duration, Time};

use crate::link::{DelayLineId, EndFlags, Link, Links};
use crate::news::News;
use crate::packet::{Fate, Label};
use crate::route_store::RouteStore;
use crate::scheduler::Scheduler;
use crate::slab::Slab;
use crate::spec::LinkId;
use crate::speed::tuning::DELAY_LINES;

const _: () = assert!(DELAY_LINES <= DelayLineId::END);
/// Delay of an unused delay line.
const UNUSED: Duration = Duration::MAX;

/// The state of all delay lines together; the lines themselves are among the [`Links`].
#[derive(Debug)]
pub(crate) struct DelayLines {
    /// Whether hosts lag, or did.
    has_leaves: bool,
    /// Time up to which hosts have put their packets on their links.
    hosts_at: Time,
    /// Links and delay lines that end at leaves and had no events at first.
    to_leaves: Vec<LinkId>,
}

impl Default for DelayLines {
    fn default() -> DelayLines {
        DelayLines { has_leaves: false, hosts_at: Time::NEVER, to_leaves: Vec::new() }
    }
}

impl DelayLines {
    /// Lets links share delay lines from now on, except where a link `may_change`: packets on a
    /// delay line arrive when they were to arrive as they were sent.
    pub(crate) fn begin(links: &mut Links, may_change: impl Fn(LinkId) -> bool) {
        links.reserve_lines(DELAY_LINES);
        for id in links.ids().filter(|id| !may_change(*id)) {
            let link = &mut links[id.index()];
            // A host that takes different times to process its packets sends them in no delay
            // line's order.
            if !link.is_rare() && !link.ends.has_processing() {
                link.delay_line = DelayLineId::UNKNOWN;
            }
        }
    }

    /// Gives hosts' links other delay lines than routers' links, because hosts lag from now on.
    pub(super) fn begin_lag(&mut self) {
        self.has_leaves = true;
    }

    /// Notes that hosts have sent all their packets before this time.
    #[inline]
    pub(super) fn hosts_are_at(&mut self, at: Time) {
        self.hosts_at = at;
    }

    /// Lets packets be taken from the far end of this link, a leaf, without an event.
    pub(super) fn lead_to_leaf(&mut self, id: LinkId, link: &mut Link) {
        link.ends.insert(EndFlags::EVENTLESS);
        self.to_leaves.push(id);
    }

    /// The links and delay lines that end at leaves and had no events at first.
    #[inline]
    pub(super) fn to_leaves(&self) -> &[LinkId] {
        &self.to_leaves
    }

    /// Ends the lag of hosts; returns the links and delay lines that need events from now on.
    pub(super) fn end_lag(&mut self) -> Vec<LinkId> {
        self.hosts_at = Time::NEVER;
        core::mem::take(&mut self.to_leaves)
    }

    /// Time up to which all arrivals at a link are known.
    #[inline]
    pub(crate) fn known_until(&self, ends: EndFlags, now: Time) -> Time {
        if ends.start_at_leaf() { now.min(self.hosts_at) } else { now }
    }

    /// Whether a packet that is sent at `now` and arrives at `arrives` can go on this delay line.
    #[inline]
    pub(super) fn takes(links: &Links, line: LinkId, now: Time, arrives: Time) -> bool {
        links
            .get(line.index())
            .is_some_and(|line| arrives.since(now) == line.delay && line.last_arrival <= arrives)
    }

    /// Sends a packet that did not have to wait: on its link's delay line, or otherwise on the
    /// link's own wire.
    #[inline(always)]
    pub(crate) fn send_off(
        &mut self,
        links: &mut Links,
        now: Time,
        id: LinkId,
        arrives: Time,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        let link = &mut links[id.index()];
        // If hosts lag, it is unknown whether packets in the FIFO have arrived by now.
        let is_behind_others = link.fifo.len() > 0 && !link.ends.start_at_leaf();
        if link.delay_line == DelayLineId::NONE || is_behind_others {
            return link.put_on_wire(id, arrives, label, scheduler);
        }
        let line = link.delay_line;
        let mut line = links.line(line);
        if !DelayLines::takes(links, line, now, arrives) {
            line = self.find_delay_line(links, id, arrives.since(now));
            if !DelayLines::takes(links, line, now, arrives) {
                line = id;
            }
        }
        if line == id {
            return links[id.index()].put_on_wire(id, arrives, label, scheduler);
        }
        links[id.index()].passed += 1;
        if links[id.index()].is_watched() {
            label.fate = Fate::Watched;
            if links[line.index()].ends.have_events() {
                links.extra_mut(line);
            }
        }
        let wire = &mut links[line.index()];
        wire.arrived += 1;
        wire.last_arrival = arrives;
        wire.put_on_wire(line, arrives, label, scheduler);
    }

    /// Finds the delay line of this latency, or makes it if it can, and makes it the link's own.
    /// Returns the link's line, which is the old one if there is none.
    #[cold]
    fn find_delay_line(&mut self, links: &mut Links, id: LinkId, latency: Duration) -> LinkId {
        let leaves = links[id.index()].ends.leaves();
        let suits = |line: &Link| line.delay == latency && line.ends.leaves() == leaves;
        let found = links.lines().iter().position(suits);
        let found = found.or_else(|| self.make_delay_line(links, leaves, latency));
        let link = &mut links[id.index()];
        if let Some(found) = found {
            link.delay_line = DelayLineId::new(found);
        } else if link.delay_line == DelayLineId::UNKNOWN {
            link.delay_line = DelayLineId::NONE;
        }
        links.line(links[id.index()].delay_line)
    }

    /// Makes a delay line, unless there are too many.
    ///
    /// If hosts lag, hosts' lines have even numbers and all others odd ones. The numbers then do
    /// not depend on whether a host or a router needs a line first.
    fn make_delay_line(
        &mut self,
        links: &mut Links,
        leaves: EndFlags,
        latency: Duration,
    ) -> Option<usize> {
        let lines = links.lines();
        let is_alike = |line: &&Link| {
            line.ends.start_at_leaf() == leaves.start_at_leaf() && line.delay < UNUSED
        };
        let at = if self.has_leaves {
            2 * lines.iter().filter(is_alike).count() + usize::from(!leaves.start_at_leaf())
        } else {
            lines.len()
        };
        if at >= DELAY_LINES {
            return None;
        }
        while links.lines().len() <= at {
            links.push_line(UNUSED);
        }
        let id = links.line(DelayLineId::new(at));
        let line = &mut links[id.index()];
        (line.delay, line.ends) = (latency, leaves);
        if leaves.end_at_leaf() {
            self.lead_to_leaf(id, &mut links[id.index()]);
        }
        Some(at)
    }
}

/// Captures the watched packet at the head of a delay line, which has reached its link's far end.
/// The packet stays at the head.
#[cold]
pub(crate) fn see_head(
    line: LinkId,
    links: &mut Links,
    routes: &RouteStore,
    packets: &Slab,
    news: &mut News,
) {
    let Some(head) = links[line.index()].fifo.get_mut(0) else { return };
    head.fate = Fate::Arrives;
    news.note_captured(head.time, routes.current(head), *head, routes, packets);
}
