//! Links that share a wire.
//!
//! What comes to an idle link arrives after the time its bits take and the link's delay. Packets of all links that take
//! equally long arrive in the order in which they were sent, so that one row and one event serve them all: a delay line.
//! With thousands of links it spares the rows of each, which hold a packet now and then and whose memory is far away,
//! and shows what comes next in order of memory (see [`crate::speed::foresight`]). A delay line is a link, behind those of the
//! network, onto which the packets of others are put as they are sent, or even before ([`crate::speed::burst`]). Where hosts lag
//! ([`crate::speed::lag`]) their links' lines are others than routers' for they are filled later, and those that lead to hosts
//! have no events.

use ratewire_units::{Duration, Time};

use crate::link::{Ends, Link};
use crate::network::{Network, Scheduler};
use crate::packet::{Fate, Label};
use crate::spec::LinkId;

/// So many latencies get a delay line: a link whose packets are not equally long looks through them.
pub(crate) const MOST: usize = 64;
const _: () = assert!(MOST < DelayLine::NONE.0 as usize);
/// The delay of a place in which there is no delay line.
const UNUSED: Duration = Duration::MAX;

/// The delay line that a link's packets take, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DelayLine(u8);

impl DelayLine {
    /// Not looked for yet.
    pub(crate) const UNKNOWN: DelayLine = DelayLine(u8::MAX);
    /// There is none: none are used, others have taken all, or its packets may not arrive, or not in order.
    pub(crate) const NONE: DelayLine = DelayLine(u8::MAX - 1);
}

impl Network {
    /// The delay line as a link.
    #[inline]
    pub(crate) fn link_of(&self, line: DelayLine) -> LinkId {
        LinkId(self.own_links + u32::from(line.0))
    }

    /// Whether a link is a delay line.
    #[inline]
    pub fn is_delay_line(&self, id: LinkId) -> bool {
        id.0 >= self.own_links
    }

    /// From now on links whose packets take equally long share a delay line: worth it for thousands, or
    /// where hosts lag. To be called before
    /// links are watched or send.
    pub fn use_delay_lines(&mut self) {
        self.links.reserve_exact(MOST);
        let plain = self.links.iter_mut().filter(|link| !link.is_rare());
        plain.for_each(|link| link.delay_line = DelayLine::UNKNOWN);
    }

    /// How many links keep what is on its way to themselves.
    pub fn links_without_delay_line(&self) -> usize {
        let has_none = |link: &&Link| link.delay_line == DelayLine::NONE;
        self.links[..self.own_links as usize].iter().filter(has_none).count()
    }

    /// Whether there were more latencies than there can be delay lines.
    #[inline]
    pub fn lacks_delay_lines(&self) -> bool {
        self.lacks_delay_lines
    }

    /// Whether what is sent now and arrives then goes on this delay line.
    #[inline]
    pub(crate) fn takes(&self, line: LinkId, now: Time, arrives: Time) -> bool {
        self.links
            .get(line.index())
            .is_some_and(|line| arrives.since(now) == line.delay && line.last_arrival <= arrives)
    }

    /// A packet that did not have to wait leaves: for the delay line of its link, or else for the link's own wire.
    #[inline(always)]
    pub(crate) fn send_off(
        &mut self,
        now: Time,
        id: LinkId,
        arrives: Time,
        label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        let link = &mut self.links[id.index()];
        // Where hosts lag it is not known whether those in the row have arrived by now.
        let is_behind_others = link.row.len() > 0 && !link.ends.start_at_leaf();
        if link.delay_line == DelayLine::NONE || is_behind_others {
            return Self::put_on_wire(link, id, arrives, label, scheduler);
        }
        let line = link.delay_line;
        let mut line = self.link_of(line);
        if !self.takes(line, now, arrives) {
            line = self.find_delay_line(id, arrives.since(now));
            if !self.takes(line, now, arrives) {
                line = id;
            }
        }
        if line == id {
            let link = &mut self.links[id.index()];
            return Self::put_on_wire(link, id, arrives, label, scheduler);
        }
        self.links[id.index()].passed += 1;
        self.put_on_line(id, line, arrives, label, scheduler);
    }

    /// A packet of a link comes on a delay line.
    #[inline(always)]
    pub(crate) fn put_on_line(
        &mut self,
        id: LinkId,
        line: LinkId,
        arrives: Time,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        let is_watched = self.links[id.index()].is_watched();
        let wire = &mut self.links[line.index()];
        if is_watched {
            label.fate = Fate::Watched;
            wire.extra_mut(u64::from(line.0), self.seed);
        }
        wire.arrived += 1;
        wire.last_arrival = arrives;
        if wire.ends.end_at_leaf() {
            // It is taken before an event would tell of it.
            wire.add(arrives, label);
            wire.started += 1;
        } else {
            Self::put_on_wire(wire, line, arrives, label, scheduler);
        }
    }

    /// The delay line for what takes so long, which is the link's from now on; else the one that it has.
    #[cold]
    fn find_delay_line(&mut self, id: LinkId, latency: Duration) -> LinkId {
        let found = self.find_line(self.links[id.index()].ends.leaves(), latency, MOST);
        let link = &mut self.links[id.index()];
        if let Some(found) = found {
            link.delay_line = found;
        } else {
            self.lacks_delay_lines = true;
            if link.delay_line == DelayLine::UNKNOWN {
                link.delay_line = DelayLine::NONE;
            }
        }
        self.link_of(self.links[id.index()].delay_line)
    }

    /// The delay line for what takes so long between such ends: a new one if there is none and may be one more below this
    /// number.
    #[cold]
    pub(crate) fn find_line(
        &mut self,
        leaves: Ends,
        latency: Duration,
        most: usize,
    ) -> Option<DelayLine> {
        let suits = |line: &Link| line.delay == latency && line.ends == leaves;
        let found = self.links[self.own_links as usize..].iter().position(suits);
        let found = found.or_else(|| self.make_delay_line(leaves, latency, most));
        found.map(|at| DelayLine(at as u8))
    }

    /// A new delay line, if there may be one more below this number. Where hosts may lag, theirs have even numbers and all
    /// others odd ones: which of a host and a router needs one first is not to matter then.
    fn make_delay_line(&mut self, leaves: Ends, latency: Duration, most: usize) -> Option<usize> {
        let own_links = self.own_links as usize;
        let lines = &self.links[own_links..];
        let is_alike = |line: &&Link| {
            line.ends.start_at_leaf() == leaves.start_at_leaf() && line.delay < UNUSED
        };
        let at = if self.lag.has_leaves {
            2 * lines.iter().filter(is_alike).count() + usize::from(!leaves.start_at_leaf())
        } else {
            lines.len()
        };
        if at >= most {
            return None;
        }
        while self.links.len() <= own_links + at {
            self.links.push(Link::wire(UNUSED));
        }
        let line = &mut self.links[own_links + at];
        (line.delay, line.ends) = (latency, leaves);
        line.delay_line = DelayLine::UNKNOWN;
        self.note_line(LinkId((own_links + at) as u32));
        Some(at)
    }

    /// The link from which a packet came to a delay line.
    fn link_it_is_on(&self, label: &Label) -> LinkId {
        LinkId(self.routes[label.hop as usize - 1])
    }

    /// A packet that is watched, at the head of a delay line, has come to the far end of its link.
    #[cold]
    pub(crate) fn take_watched(&mut self, line: LinkId, scheduler: &mut impl Scheduler) -> Label {
        self.see_head(line);
        Self::take_head(&mut self.links[line.index()], line, scheduler)
    }

    /// The same, and it stays.
    #[cold]
    pub(crate) fn see_head(&mut self, line: LinkId) {
        let Some(head) = self.links[line.index()].row.get_mut(0) else { return };
        head.fate = Fate::Arrives;
        let label = *head;
        self.capture(label.time, self.link_it_is_on(&label), label);
    }

    /// Takes a link's packets back on the link's own wire: when those arrive that come after them may change, and that of
    /// the one being sent, and they must not overtake each other.
    pub(crate) fn recall(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let Link { delay_line, last_arrival, .. } = self.links[id.index()];
        if delay_line == DelayLine::NONE || last_arrival < now {
            return;
        }
        let mut recalled = Vec::new();
        for line in (self.own_links..self.links.len() as u32).map(LinkId) {
            let all = self.links[line.index()].row.split_off(0);
            let (of_it, others): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|label| self.link_it_is_on(label) == id);
            let wire = &mut self.links[line.index()];
            others.into_iter().for_each(|label| wire.row.push_back(label));
            if of_it.is_empty() {
                continue;
            }
            wire.started -= of_it.len() as u32;
            wire.arrived -= of_it.len() as u64;
            if !wire.ends.end_at_leaf()
                && wire.row.front().is_none_or(|head| head.time != wire.next_event)
            {
                Self::schedule_head(wire, line, scheduler);
            }
            recalled.extend(of_it.into_iter().map(|l| Label { fate: Fate::Arrives, ..l }));
        }
        if recalled.is_empty() {
            return;
        }
        let link = &mut self.links[id.index()];
        link.passed -= recalled.len() as u64;
        let waiting = link.row.split_off(link.started);
        recalled.extend(link.row.split_off(0));
        recalled.sort_by_key(|label| label.time);
        link.started = recalled.len() as u32;
        recalled.into_iter().chain(waiting).for_each(|label| link.row.push_back(label));
        Self::schedule_head(link, id, scheduler);
    }
}
