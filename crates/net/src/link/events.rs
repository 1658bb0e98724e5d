//! Times of a link's next events.

use ratewire_units::Time;

use super::Link;
use crate::packet::Label;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

impl Link {
    /// Removes the packet at the head, which must exist.
    #[inline(always)]
    pub(crate) fn take_head(&mut self, id: LinkId, scheduler: &mut impl Scheduler) -> Label {
        let label = self.pop_head();
        self.passed += 1;
        match self.fifo.front() {
            // The usual case, in which nothing else is checked.
            Some(head) if self.started > 0 && !self.is_rare() => {
                self.next_event = head.time;
                scheduler.schedule(self.next_event, id);
            }
            _ => self.schedule_head(id, scheduler),
        }
        label
    }

    /// Schedules the arrival of the packet at the head as the link's next event.
    pub(crate) fn schedule_head(&mut self, id: LinkId, scheduler: &mut impl Scheduler) {
        let mut due = match self.fifo.front() {
            Some(head) if self.started > 0 => head.time,
            Some(&Label { size, .. }) if self.waits_behind_line() => self.arrival_after(size),
            _ => Time::NEVER,
        };
        if self.is_rare() {
            let medium_free = self.extra.as_ref().map_or(Time::NEVER, |extra| extra.medium_free);
            due = due.min(medium_free).min(self.next_due());
        }
        self.next_event = due;
        if due != Time::NEVER {
            scheduler.schedule(due, id);
        }
    }

    /// Schedules the arrival of the first waiting packet. The packet before it is on a delay line,
    /// where its arrival is no event of this link.
    #[cold]
    pub(crate) fn schedule_waiting(
        &mut self,
        id: LinkId,
        size: u32,
        scheduler: &mut impl Scheduler,
    ) {
        self.next_event = self.arrival_after(size);
        scheduler.schedule(self.next_event, id);
    }

    /// Puts a packet on the wire, whose arrival is known.
    #[inline(always)]
    pub(crate) fn put_on_wire(
        &mut self,
        id: LinkId,
        arrives: Time,
        label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        self.add(arrives, label);
        self.started += 1;
        if self.started == 1 && self.ends.have_events() {
            self.next_event = arrives.min(self.next_due());
            scheduler.schedule(self.next_event, id);
        }
    }

    /// Schedules an event of the link for that time or before.
    pub(crate) fn call_at(&mut self, at: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        if at < self.next_event {
            self.next_event = at;
            scheduler.schedule(at, id);
        }
    }
}
