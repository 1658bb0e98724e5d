//! Arrivals at links with a discipline, a policer, a medium or a trace, and at those that are down.
//! Few links are like this, so this code is kept apart from that of most packets.

use rand_core::Rng;
use ratewire_units::{Bytes, Time};

use crate::link::Link;
use crate::packet::Label;
use crate::path::departure::treat;
use crate::path::network::Network;
use crate::path::trail::DropReason;
use crate::policer::Policed;
use crate::queue::Arrival;
use crate::random::unit;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

impl Network {
    /// Whether the link's policers, if there are any, let a packet pass to the port.
    #[cold]
    pub(in crate::path) fn police(&mut self, now: Time, id: LinkId, label: Label) -> bool {
        let link = &mut self.links[id.index()];
        let on_wire = link.on_wire(label.size);
        let Some(extra) = link.extra.as_deref_mut() else { return true };
        if let Some(bucket) = extra.token_policer.as_mut().filter(|_| !extra.down)
            && !bucket.takes(now, on_wire)
        {
            extra.tally.dropped_exceeding += 1;
            self.discard(&label, DropReason::Exceeding);
            return false;
        }
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
        self.discard(&label, DropReason::Policed);
        false
    }

    /// Handles the rest of an arrival at a link with a discipline, a medium or a trace, or at one
    /// that is down.
    #[cold]
    pub(in crate::path) fn arrive_rare(
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
        if link.sorts() {
            return self.arrive_sorted(now, id, label, scheduler);
        }
        let idle =
            medium.is_none() && link.busy_until <= now && link.waiting() == 0 && link.can_send();
        if idle {
            return self.start(now, id, label, scheduler);
        }
        if !link.has_room_for(label.size) && !self.may_send_at_once(now, id, scheduler) {
            return self.drop_full(id, &label);
        }
        self.wait(now, id, label, scheduler);
        if let Some(medium) = medium {
            self.contend(now, medium, scheduler);
        }
    }

    /// Handles the rest of an arrival at a link whose discipline sorts. Even a packet that need not
    /// wait goes through its queue. If there is no room, the discipline may choose the packets to
    /// drop.
    fn arrive_sorted(
        &mut self,
        now: Time,
        id: LinkId,
        label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        let link = &self.links[id.index()];
        let medium = link.medium();
        let is_idle =
            medium.is_none() && link.busy_until <= now && link.waiting() == 0 && link.can_send();
        let is_kept = is_idle || link.makes_room() || link.has_room_for(label.size);
        if !is_kept && !self.may_send_at_once(now, id, scheduler) {
            return self.drop_full(id, &label);
        }
        let link = &mut self.links[id.index()];
        link.sum_areas(now);
        let arrival = link.arrival(now, &label);
        let Some(extra) = link.extra.as_deref_mut() else { return };
        let Some(sorted) = &mut extra.sorted else { return };
        let queue = extra.discipline.place(&arrival, &mut || unit(extra.random.next_u64()));
        sorted.push(queue, now, label);
        link.waiting_bytes += u64::from(label.size);
        link.add(now, label);
        if is_idle && self.dequeue(now, id) {
            self.start_waiting(now, id, scheduler);
        }
        if let Some(medium) = medium {
            self.contend(now, medium, scheduler);
        }
        self.shed(id);
        let link = &mut self.links[id.index()];
        let (packets, bytes) = (link.waiting(), link.waiting_bytes);
        link.tally.peak_packets = link.tally.peak_packets.max(packets);
        link.tally.peak_bytes = link.tally.peak_bytes.max(bytes);
    }

    /// Drops the packets that the discipline chooses, until there is room.
    fn shed(&mut self, id: LinkId) {
        loop {
            let link = &mut self.links[id.index()];
            let is_full = link.is_overfull();
            let Some(extra) = link.extra.as_deref_mut() else { return };
            let Some(sorted) = &mut extra.sorted else { return };
            let Some((queue, count)) = extra.discipline.shed(sorted.queues(), is_full) else {
                return;
            };
            let dropped: Vec<Label> = (0..count).map_while(|_| sorted.pop(queue)).collect();
            if dropped.is_empty() {
                return;
            }
            for label in dropped {
                let link = &mut self.links[id.index()];
                link.fifo.pop_back();
                link.waiting_bytes -= u64::from(label.size);
                self.drop_full(id, &label);
            }
        }
    }

    /// Whether a packet may enter the queue: the link is up, and the discipline does not drop the
    /// packet.
    fn lets_in(&mut self, now: Time, id: LinkId, label: &mut Label) -> bool {
        let link = &mut self.links[id.index()];
        let arrival = link.arrival(now, label);
        let Some(extra) = link.extra.as_deref_mut() else { return true };
        if extra.down {
            extra.tally.dropped_down += 1;
            self.discard(label, DropReason::Down);
            return false;
        }
        let mut draw = || unit(extra.random.next_u64());
        let treatment = extra.discipline.on_arrival(&arrival, &mut draw);
        let passes = treat(&mut link.tally, &mut extra.tally, label, treatment);
        if !passes {
            self.discard(label, DropReason::Early);
        }
        passes
    }

    /// Whether a packet that arrives at a link on a medium is sent at once, and needs no room.
    fn may_send_at_once(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) -> bool {
        let Some(medium) = self.links[id.index()].medium() else { return false };
        // Waiting packets of the medium go first, even if the event of the free medium is still to
        // come.
        self.contend(now, medium, scheduler);
        let link = &self.links[id.index()];
        self.mediums.is_free(medium, now) && link.waiting() == 0 && link.can_send()
    }
}

impl Link {
    /// Whether the link's discipline sorts packets.
    fn sorts(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.sorted.is_some())
    }

    /// Whether the link's discipline makes room for a packet that finds none.
    fn makes_room(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.discipline.makes_room())
    }

    /// A packet that arrives now, as disciplines see it.
    fn arrival(&self, now: Time, label: &Label) -> Arrival {
        Arrival {
            now,
            size: Bytes::new(u64::from(label.size)),
            flow: label.generation,
            ecn: label.ecn,
            packet_time: self.packet_time(label.size),
            backlog: self.backlog(),
        }
    }
}
