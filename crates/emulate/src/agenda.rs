//! Calls that links ask for, in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ratewire_net::Scheduler;
use ratewire_net::spec::LinkId;
use ratewire_units::Time;

/// Calls that are due, and when.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    /// With a number in the order of arrival, which sorts calls that are due at once.
    due: BinaryHeap<Reverse<(Time, u64, u32)>>,
    noted: u64,
}

impl Agenda {
    /// When the next call is due; [`Time::NEVER`] if none is.
    pub(crate) fn next(&self) -> Time {
        self.due.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at)
    }

    /// The next call, if it is due by `now`.
    pub(crate) fn pop(&mut self, now: Time) -> Option<(Time, LinkId)> {
        if self.next() > now {
            return None;
        }
        self.due.pop().map(|Reverse((at, _, link))| (at, LinkId(link)))
    }
}

impl Scheduler for Agenda {
    fn schedule(&mut self, at: Time, link: LinkId) {
        self.noted += 1;
        self.due.push(Reverse((at, self.noted, link.0)));
    }

    fn schedule_release(&mut self, at: Time, link: LinkId) {
        // Real hosts take their own time, and the network never adds any.
        debug_assert!(false, "a release at {at} on link {}", link.0);
    }
}
