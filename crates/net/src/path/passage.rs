//! A packet's way through a link: arrival, queue, departure, delivery. Every packet passes through
//! this code at every hop.

use ratewire_units::{Bytes, SerialTime, Time};

use super::network::Network;
use super::trail::DropReason;
use crate::link::DelayLineId;
use crate::packet::Label;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

impl Network {
    /// Puts a packet on the next link of its route, or returns it at the route's end.
    #[inline(always)]
    pub(super) fn forward(
        &mut self,
        now: Time,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        let Some(link) = self.routes.next(&label) else { return Some(label) };
        label.hop += 1;
        self.arrive(now, link, label, scheduler);
        None
    }

    /// Handles an event of a link; returns a packet that has arrived at its destination.
    #[inline(always)]
    pub fn on_event(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        let mut link = &mut self.links[id.index()];
        if link.next_event != now {
            return None;
        }
        let label = if link.is_rare() {
            self.on_rare_event(now, id, scheduler)?
        } else {
            // The port's timers can wait until it sees a packet again, because nothing that it sees
            // changes before.
            if link.departure_is_due(now) {
                let until = self.lines.known_until(link.ends, now);
                self.catch_up(until, id, scheduler);
                link = &mut self.links[id.index()];
            }
            link.take_head(id, scheduler)
        };
        self.forward(now, label, scheduler)
    }

    /// Handles the arrival of a packet at a link.
    #[inline(always)]
    fn arrive(&mut self, now: Time, id: LinkId, mut label: Label, scheduler: &mut impl Scheduler) {
        // The reference is renewed only where necessary: every packet passes here at every hop.
        let mut link = &mut self.links[id.index()];
        if link.is_behind(now) {
            self.catch_up(now, id, scheduler);
            link = &mut self.links[id.index()];
        }
        let is_followed = self.tracer.follows(&label);
        if is_followed {
            self.note_arrival(now, id, label);
            link = &mut self.links[id.index()];
        }
        link.arrived += 1;
        if let Some(per_byte) = link.idle_per_byte(now)
            && !is_followed
        {
            return self.pass(now, id, per_byte, label, scheduler);
        }
        if link.extra.is_some() {
            if !self.police(now, id, label) {
                return;
            }
            link = &mut self.links[id.index()];
        }
        if link.has_port() {
            let header = self.packets.header_mut(label.content);
            let size = Bytes::new(u64::from(label.size));
            label.ecn = self.ports.on_arrival(now, link, size, label.ecn, header);
        }
        if link.is_rare() {
            match link.extra {
                Some(_) => self.arrive_rare(now, id, label, scheduler),
                None => self.join(now, id, label, scheduler),
            }
        } else if link.idle_per_byte(now).is_some() {
            // A followed packet is processed step by step.
            self.start(now, id, label, scheduler);
        } else if link.has_room_for(label.size) {
            self.wait(now, id, label, scheduler);
        } else {
            self.drop_full(id, &label);
        }
    }

    /// Queues a packet behind the packet in transmission.
    #[inline(always)]
    pub(super) fn wait(
        &mut self,
        now: Time,
        id: LinkId,
        label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        let link = &self.links[id.index()];
        let has_bursts = link.ends.start_at_leaf() && link.delay_line != DelayLineId::NONE;
        if has_bursts
            && let Some(start) = self.lines.send_early(&mut self.links, now, id, &label, scheduler)
        {
            if self.tracer.follows(&label) {
                self.note_departure(start, id, &label);
            }
            return;
        }
        let link = &mut self.links[id.index()];
        link.enqueue(now, label);
        if link.delay_line != DelayLineId::NONE && link.fifo.len() == 1 && now < link.busy_until {
            link.schedule_waiting(id, label.size, scheduler);
        }
    }

    /// Handles a packet at an empty link in one step, with the same results as step by step.
    #[inline(always)]
    fn pass(
        &mut self,
        now: Time,
        id: LinkId,
        per_byte: SerialTime,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        let link = &mut self.links[id.index()];
        let size = Bytes::new(u64::from(label.size));
        if link.has_port() {
            let header = self.packets.header_mut(label.content);
            label.ecn = self.ports.on_passage(now, link, size, label.ecn, header);
        }
        let time = per_byte.of(link.on_wire(label.size));
        let arrives = link.send(now + time, time, size);
        if link.delay_line == DelayLineId::NONE {
            link.put_on_wire(id, arrives, label, scheduler);
        } else {
            self.lines.send_off(&mut self.links, now, id, arrives, label, scheduler);
        }
    }

    #[cold]
    pub(super) fn drop_full(&mut self, id: LinkId, label: &Label) {
        self.links[id.index()].tally.dropped_full += 1;
        self.discard(label, DropReason::Full);
    }

    #[inline(always)]
    pub(super) fn catch_up_if_due(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) {
        if self.links[id.index()].is_behind(now) {
            self.catch_up(now, id, scheduler);
        }
    }

    /// Processes a link's queue up to `now`: departures and the port's timers, in order of time.
    pub(super) fn catch_up(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        if link.early > 0 {
            // No port timer comes first: early packets exist only on links without ports.
            link.start_early(now);
        }
        loop {
            let link = &mut self.links[id.index()];
            let departs = link.waiting() > 0 && link.can_send() && link.medium().is_none();
            let departure = if departs { link.busy_until } else { Time::NEVER };
            if departure.min(link.port_timer) > now {
                return;
            }
            if departure <= link.port_timer {
                if self.dequeue(departure, id) {
                    self.start_waiting(departure, id, scheduler);
                }
            } else {
                self.ports.on_timer(link);
            }
        }
    }

    /// Chooses the waiting packet that is sent next; false if the discipline dropped all.
    #[inline]
    pub(super) fn dequeue(&mut self, now: Time, id: LinkId) -> bool {
        let link = &mut self.links[id.index()];
        link.sum_areas(now);
        if link.extra.is_some() {
            return self.dequeue_rare(now, id);
        }
        let Some(next) = link.fifo.get(link.started) else { return false };
        link.waiting_bytes -= u64::from(next.size);
        true
    }

    /// Starts the transmission of the first waiting packet.
    #[inline]
    pub(super) fn start_waiting(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        let at = link.started;
        let Some(mut label) = link.fifo.get(at).copied() else { return };
        link.started += 1;
        let arrives = self.launch(now, id, &mut label);
        let link = &mut self.links[id.index()];
        let place = &mut link.fifo[at];
        (place.time, place.fate) = (arrives, label.fate);
        if at == 0 && link.next_event != arrives {
            link.next_event = arrives.min(link.next_due());
            scheduler.schedule(link.next_event, id);
        }
    }

    /// Starts the transmission of a packet that did not wait. Not inlined: a pointer to the label
    /// here would keep it in memory for all packets, most of which do not need it
    /// ([`Network::pass`]).
    #[inline(never)]
    pub(super) fn start(
        &mut self,
        now: Time,
        id: LinkId,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        let arrives = self.launch(now, id, &mut label);
        self.lines.send_off(&mut self.links, now, id, arrives, label, scheduler);
    }

    /// Lets the port process a departure; returns the arrival time.
    #[inline(always)]
    fn launch(&mut self, now: Time, id: LinkId, label: &mut Label) -> Time {
        let mut link = &mut self.links[id.index()];
        let size = Bytes::new(u64::from(label.size));
        if link.has_port() {
            let header = self.packets.header_mut(label.content);
            self.ports.on_departure(now, link, size, header);
        }
        if self.tracer.follows(label) {
            self.note_departure(now, id, label);
            link = &mut self.links[id.index()];
        }
        let (left, busy) = match (&link.extra, link.per_byte) {
            (None, Some(per_byte)) => {
                let time = per_byte.of(link.on_wire(label.size));
                (now + time, time)
            }
            _ => {
                self.launch_rare(now, id, label);
                link = &mut self.links[id.index()];
                let (left, busy) = link.transmit(now, label.size);
                let late = link.draw_jitter();
                let arrives = link.send_late(left, busy, size, late);
                if self.tracer.follows(label) {
                    self.note_variation(now, id, late);
                }
                return arrives;
            }
        };
        link.send(left, busy, size)
    }
}
