//! Hosts and network in turn.
//!
//! What a host sends takes at least its own link's delay to come to where it meets what others send. So hosts may lag
//! behind the network by the least such delay: the network goes first, what comes to hosts meanwhile is kept, and then
//! they see all of it in the order in which it came. The code and the memory of the one do not push those of the other
//! out of the caches at each packet, what hosts will look at next is known, and packets on their way to hosts need
//! no event.
//!
//! Hosts that can do so are leaves: nodes with one cable, through which no route leads. Nobody else puts packets on a
//! leaf's link, so that it can be told of them later than the network is told of what happens elsewhere.

use ratewire_units::{Duration, Time};

use crate::link::Ends;
use crate::network::{Network, Scheduler};
use crate::packet::{Fate, Label};
use crate::spec::{DriverSpec, LinkId, NetworkSpec, NodeId};

/// How far hosts and network are.
#[derive(Debug)]
pub(crate) struct Lag {
    /// Hosts lag, or did.
    pub(crate) has_leaves: bool,
    /// Up to when hosts have put what they send on their links.
    hosts_at: Time,
    /// Delay lines of links that end at leaves.
    lines: Vec<LinkId>,
}

impl Default for Lag {
    fn default() -> Lag {
        Lag { has_leaves: false, hosts_at: Time::NEVER, lines: Vec::new() }
    }
}

impl Lag {
    /// Up to when it is known what comes to a link.
    #[inline]
    pub(crate) fn known_until(&self, ends: Ends, now: Time) -> Time {
        if ends.start_at_leaf() { now.min(self.hosts_at) } else { now }
    }
}

impl Network {
    /// From now on hosts that are leaves take turns with the network. Returns by how much they may lag, or nothing where
    /// they cannot take turns. To be called before links are watched or send; leaves' own links are never to change then.
    pub fn let_hosts_lag(
        &mut self,
        spec: &NetworkSpec,
        is_leaf: impl Fn(NodeId) -> bool,
    ) -> Option<Duration> {
        let of_leaves = || spec.links.iter().filter(|link| is_leaf(link.from));
        let is_plain = |driver: &DriverSpec| *driver == DriverSpec::default();
        let can = of_leaves().all(|link| link.is_plain() && is_plain(&link.driver))
            && spec.links.iter().all(|link| link.pause.is_none());
        let lag = of_leaves().map(|link| link.delay).min()?;
        if !can || lag.is_zero() {
            return None;
        }
        self.use_delay_lines();
        self.lag.has_leaves = true;
        for (link, spec) in self.links.iter_mut().zip(&spec.links) {
            link.ends = link.ends.with_leaves(is_leaf(spec.from), is_leaf(spec.to));
        }
        Some(lag)
    }

    /// From now on everything happens in the order of its time. To be called when hosts have caught up.
    pub fn end_lag(&mut self, scheduler: &mut impl Scheduler) {
        self.lag.hosts_at = Time::NEVER;
        for line in core::mem::take(&mut self.lag.lines) {
            Self::schedule_head(&mut self.links[line.index()], line, scheduler);
        }
        // What waits on a host's link may do so behind a packet on a delay line, as it never does on others.
        self.links.iter_mut().for_each(|link| link.ends = link.ends.without_leaf_at_end());
    }

    /// Hosts have sent what they send before this time.
    #[inline]
    pub fn hosts_are_at(&mut self, at: Time) {
        self.lag.hosts_at = at;
    }

    /// Notes a new delay line.
    pub(crate) fn note_line(&mut self, id: LinkId) {
        if self.links[id.index()].ends.end_at_leaf() {
            self.lag.lines.push(id);
        }
    }

    /// When the next packet comes to a host of those of which no event tells.
    pub fn next_for_hosts(&self) -> Time {
        let heads = self.lag.lines.iter().filter_map(|id| self.links[id.index()].row.front());
        heads.map(|label| label.time).min().unwrap_or(Time::NEVER)
    }

    /// Tells of the packets that come to hosts before this time and of which no event tells: of each delay line
    /// in their order.
    pub fn take_for_hosts(&mut self, until: Time, mut tell: impl FnMut(Label)) {
        for at in 0..self.lag.lines.len() {
            let id = self.lag.lines[at];
            let mut line = &mut self.links[id.index()];
            while let Some(head) = line.row.front()
                && head.time < until
            {
                if head.fate == Fate::Watched {
                    self.see_head(id);
                    line = &mut self.links[id.index()];
                }
                line.passed += 1;
                tell(line.pop_head());
            }
        }
    }
}
