//! A packet's way through a link with a discipline, losses, a trace, a medium, or that is down or
//! captured. Few links are like that, so this code is kept apart.

use ratewire_laws::Header;
use ratewire_units::{Bytes, Duration, Time};

use super::network::Network;
use crate::link::{Active, Link, RareTally, Tally};
use crate::packet::{Ecn, Fate, Label};
use crate::policer::Policed;
use crate::queue::discipline::Verdict;
use crate::scheduler::Scheduler;
use crate::spec::{LinkId, MediumId};
use crate::speed::delay_line::see_head;

impl Network {
    /// Whether the policer, if there is one, passes a packet to the port.
    #[cold]
    pub(super) fn police(&mut self, now: Time, id: LinkId, label: Label) -> bool {
        let Some(extra) = self.links[id.index()].extra.as_deref_mut() else { return true };
        let Some(policer) = &mut extra.policer else { return true };
        let header = self.packets.header_mut(label.content);
        let size = Bytes::new(u64::from(label.size));
        let policed = policer.on_arrival(now, label.generation, size, header);
        if policed == Policed::Passes {
            return true;
        }
        *self.clamps.entry(label.generation).or_default() += 1;
        if policed == Policed::Corrected {
            extra.tally.corrected += 1;
            return true;
        }
        extra.tally.dropped_policed += 1;
        self.discard(label.content);
        false
    }

    /// Rare parts of a departure: losses, and changes of congestion headers.
    #[cold]
    pub(super) fn launch_rare(&mut self, now: Time, id: LinkId, label: &mut Label) {
        let link = &mut self.links[id.index()];
        label.fate = link.draw_fate(now);
        let Some(extra) = link.extra.as_deref_mut() else { return };
        let header = self.packets.header_mut(label.content);
        if let Some(policer) = &mut extra.policer {
            policer.on_departure(label.generation, header);
        }
        if extra.strips {
            *header = Header::None;
        }
    }

    /// Rare parts of an arrival: a discipline, a medium, a trace, or a link that is down.
    #[cold]
    pub(super) fn arrive_rare(
        &mut self,
        now: Time,
        id: LinkId,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        if self.links[id.index()].extra.is_some() && !self.lets_in(now, id, &mut label) {
            return;
        }
        let link = &mut self.links[id.index()];
        if link.outlet().is_some() {
            return self.join(now, id, label, scheduler);
        }
        let medium = link.medium();
        let idle =
            medium.is_none() && link.busy_until <= now && link.waiting() == 0 && link.can_send();
        if idle {
            return self.start(now, id, label, scheduler);
        }
        if !link.has_room_for(label.size) && !self.may_send_at_once(now, id, scheduler) {
            return self.drop_full(id, label.content);
        }
        self.wait(now, id, label, scheduler);
        if let Some(medium) = medium {
            self.contend(now, medium, scheduler);
        }
    }

    /// Whether a link's state and discipline let a packet into its queue.
    fn lets_in(&mut self, now: Time, id: LinkId, label: &mut Label) -> bool {
        let link = &mut self.links[id.index()];
        let waiting = Bytes::new(link.waiting_bytes);
        let packet_time = link.packet_time(label.size);
        let Some(extra) = link.extra.as_deref_mut() else { return true };
        if extra.down {
            extra.tally.dropped_down += 1;
            self.discard(label.content);
            return false;
        }
        let Active::Red(red) = &mut extra.discipline else { return true };
        let verdict = red.on_arrival(now, waiting, packet_time, &mut extra.random);
        let passes = pass(&mut link.tally, &mut extra.tally, label, verdict);
        if !passes {
            self.discard(label.content);
        }
        passes
    }

    /// Whether an arriving packet on a medium need not wait, and so needs no room.
    fn may_send_at_once(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) -> bool {
        let Some(medium) = self.links[id.index()].medium() else { return false };
        // Waiting links go first, whichever learns first that the medium is free.
        self.contend(now, medium, scheduler);
        let link = &self.links[id.index()];
        self.mediums.is_free(medium, now) && link.waiting() == 0 && link.can_send()
    }

    /// Lets the discipline decide about the packet that is about to leave, and about the next if it
    /// drops it.
    #[cold]
    pub(super) fn dequeue_rare(&mut self, now: Time, id: LinkId) -> bool {
        loop {
            let link = &mut self.links[id.index()];
            let left = link.waiting() - 1;
            let (waiting_bytes, at) = (Bytes::new(link.waiting_bytes), link.started);
            let Some(extra) = link.extra.as_deref_mut() else { return true };
            let Some(label) = link.row.get_mut(at) else { return false };
            let size = Bytes::new(u64::from(label.size));
            let verdict = match &mut extra.discipline {
                Active::CoDel(c) => c.on_departure(now, now.since(label.time), waiting_bytes, size),
                Active::Red(red) => {
                    if left == 0 {
                        red.emptied(now);
                    }
                    Verdict::Pass
                }
                Active::DropTail => Verdict::Pass,
            };
            if pass(&mut link.tally, &mut extra.tally, label, verdict) {
                return true;
            }
            let content = label.content;
            if at == 0 {
                link.row.pop_front();
            } else {
                // Its place stays in the FIFO until it reaches the head.
                label.fate = Fate::Gone;
                label.time = link.last_arrival;
                link.started += 1;
                link.tally.gone += 1;
            }
            if left > 0
                && let Some(next) = link.row.get(link.started)
            {
                link.waiting_bytes -= u64::from(next.size);
            }
            self.discard(content);
            if left == 0 {
                return false;
            }
        }
    }

    /// Handles an event of a link with rare parts; returns a packet that continues from its far
    /// end.
    pub(super) fn on_rare_event(
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
            link.passed += 1;
            link.schedule_head(id, scheduler);
            self.note_captured(now, id, late);
            return Some(late);
        }
        let head = link.row.front().copied();
        let Some(head) = head.filter(|head| link.started > 0 && head.time <= now) else {
            // A packet that has just started may have scheduled its arrival.
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
        self.note_captured(now, id, head);
        if self.links[id.index()].has_intake() {
            self.await_intake(now, id, &head, scheduler);
            let link = &mut self.links[id.index()];
            link.pop_head();
            link.schedule_head(id, scheduler);
            return None;
        }
        Some(self.links[id.index()].take_head(id, scheduler))
    }

    /// Contends for the link's medium, if the link waits for it.
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

    /// Removes the packet at the head, which does not arrive.
    #[cold]
    fn end_on_the_way(&mut self, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        let head = link.pop_head();
        match head.fate {
            Fate::Lost => link.note_lost(),
            Fate::Late => link.put_aside(head),
            Fate::Gone | Fate::Arrives | Fate::Watched => link.tally.gone -= 1,
        }
        link.schedule_head(id, scheduler);
        if head.fate == Fate::Lost {
            self.discard(head.content);
        }
    }

    #[inline]
    fn note_captured(&mut self, now: Time, id: LinkId, label: Label) {
        if self.links[id.index()].is_watched() {
            self.news.note_captured(now, id, label, &self.packets);
        }
    }
}

impl Link {
    /// Puts a late packet aside at the far end.
    fn put_aside(&mut self, mut label: Label) {
        let Some(extra) = self.extra.as_deref_mut() else { return };
        let delay = extra.reorder.map_or(Duration::ZERO, |reorder| reorder.delay);
        label.time += delay;
        label.fate = Fate::Arrives;
        extra.late.push_back(label);
    }

    /// A late packet that arrives now.
    fn take_late(&mut self, now: Time) -> Option<Label> {
        let late = &mut self.extra.as_deref_mut()?.late;
        if late.front()?.time <= now { late.pop_front() } else { None }
    }
}

/// Applies a discipline's verdict; returns whether the packet continues.
pub(super) fn pass(
    tally: &mut Tally,
    rare: &mut RareTally,
    label: &mut Label,
    verdict: Verdict,
) -> bool {
    match verdict {
        Verdict::Pass => true,
        Verdict::MarkOrDrop if label.ecn != Ecn::NotCapable => {
            tally.marked += u64::from(label.ecn == Ecn::Capable);
            label.ecn = Ecn::Marked;
            true
        }
        Verdict::MarkOrDrop | Verdict::Drop => {
            rare.dropped_early += 1;
            false
        }
    }
}
