//! Events of a link that has something rare: packets that reach its far end, in order, late or
//! twice.

use ratewire_units::{Duration, Time};

use crate::link::{Duplicates, Link};
use crate::packet::{Body, Fate, Label};
use crate::path::network::Network;
use crate::path::trail::DropReason;
use crate::scheduler::Scheduler;
use crate::spec::{LinkId, MediumId};
use crate::speed::delay_line::see_head;

impl Network {
    /// Handles an event of a link that has something rare; returns a packet that goes on from the
    /// far end.
    pub(in crate::path) fn on_rare_event(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        if let Some(medium) = self.links[id.index()].medium() {
            self.on_medium_event(now, id, medium, scheduler);
        }
        let until = self.lines.known_until(self.links[id.index()].ends, now);
        self.catch_up_if_due(until, id, scheduler);
        if let Some(taken_in) = self.on_switch_event(now, id, scheduler) {
            let link = &mut self.links[id.index()];
            link.passed += 1;
            link.schedule_head(id, scheduler);
            return Some(taken_in);
        }
        let link = &mut self.links[id.index()];
        if let Some(late) = link.take_late(now) {
            return self.land(now, id, late, scheduler);
        }
        let head = link.fifo.front().copied();
        let Some(head) = head.filter(|head| link.started > 0 && head.time <= now) else {
            // A packet that has just started may have scheduled its arrival already.
            if link.next_event <= now {
                link.schedule_head(id, scheduler);
            }
            return None;
        };
        if head.fate == Fate::Watched {
            see_head(id, &mut self.links, &self.routes, &self.packets, &mut self.news);
            return Some(self.links[id.index()].take_head(id, scheduler));
        }
        if head.fate != Fate::Arrives {
            self.end_on_the_way(id, scheduler);
            return None;
        }
        let head = self.links[id.index()].pop_head();
        self.land(now, id, head, scheduler)
    }

    /// Handles a packet that has reached the far end; returns the packet if it goes on from there.
    fn land(
        &mut self,
        now: Time,
        id: LinkId,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        if label.fate == Fate::Copied {
            label.fate = Fate::Arrives;
        } else {
            self.duplicate(id, &label);
        }
        self.note_captured(now, id, label);
        let waits = self.links[id.index()].has_intake();
        if waits {
            self.await_intake(now, id, &label, scheduler);
        }
        let link = &mut self.links[id.index()];
        link.passed += u64::from(!waits);
        link.schedule_head(id, scheduler);
        (!waits).then_some(label)
    }

    /// Lets a copy of a packet arrive right behind it, if the link duplicates the packet.
    #[inline]
    fn duplicate(&mut self, id: LinkId, label: &Label) {
        let Some(extra) = self.links[id.index()].extra.as_deref_mut() else { return };
        if !extra.duplicates.as_mut().is_some_and(Duplicates::draw) {
            return;
        }
        extra.tally.duplicated += 1;
        if self.tracer.follows(label)
            && let Some(hop) = self.tracer.hop_mut()
        {
            hop.copied = true;
        }
        let content = self.packets.copy(label.content);
        extra.late.push_front(Label { content, fate: Fate::Copied, ..*label });
        if let Body::Kept(number) = self.packets.content(content).body {
            self.news.note_copied(number);
        }
    }

    /// Handles an event of a link on a medium, which may have become free.
    #[cold]
    fn on_medium_event(
        &mut self,
        now: Time,
        id: LinkId,
        medium: MediumId,
        scheduler: &mut impl Scheduler,
    ) {
        if let Some(extra) = self.links[id.index()].extra.as_deref_mut()
            && extra.medium_free <= now
        {
            extra.medium_free = Time::NEVER;
        }
        self.contend(now, medium, scheduler);
    }

    /// Removes the packet at the head, which is lost, late or dropped.
    #[cold]
    fn end_on_the_way(&mut self, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        let head = link.pop_head();
        match head.fate {
            Fate::Lost => link.note_lost(),
            Fate::Late => {
                let delay = link.put_aside(head);
                if self.tracer.follows(&head)
                    && let Some(hop) = self.tracer.hop_mut()
                {
                    hop.overtaken = delay;
                }
            }
            Fate::Gone | Fate::Arrives | Fate::Watched | Fate::Copied => link.gone -= 1,
        }
        self.links[id.index()].schedule_head(id, scheduler);
        if head.fate == Fate::Lost {
            self.discard(&head, DropReason::Lost);
        }
    }

    #[inline]
    fn note_captured(&mut self, now: Time, id: LinkId, label: Label) {
        if self.links[id.index()].is_watched() {
            self.news.note_captured(now, id, label, &self.routes, &self.packets);
        }
    }
}

impl Link {
    /// Puts a late packet aside at the far end, until its delayed arrival; returns the delay.
    fn put_aside(&mut self, mut label: Label) -> Duration {
        let Some(extra) = self.extra.as_deref_mut() else { return Duration::ZERO };
        let delay = extra.reorder.map_or(Duration::ZERO, |reorder| reorder.delay);
        label.time += delay;
        label.fate = Fate::Arrives;
        extra.late.push_back(label);
        delay
    }

    /// Removes and returns a late packet that arrives by now.
    fn take_late(&mut self, now: Time) -> Option<Label> {
        let late = &mut self.extra.as_deref_mut()?.late;
        if late.front()?.time <= now { late.pop_front() } else { None }
    }
}
