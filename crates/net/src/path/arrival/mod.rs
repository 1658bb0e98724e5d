//! Packets arrive at links. Every packet passes through this code at every hop.

mod rare;

use ratewire_units::{Bytes, SerialTime, Time};

use super::network::Network;
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
        link.arrived += 1;
        if let Some(per_byte) = link.idle_per_byte(now)
            && !is_followed
        {
            return self.pass(now, id, per_byte, label, scheduler);
        }
        if link.books {
            link.end_bookings(now);
        }
        if is_followed {
            self.note_arrival(now, id, label);
            link = &mut self.links[id.index()];
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
            if is_followed {
                self.note_reason(id);
                link = &mut self.links[id.index()];
            }
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
        let link = &mut self.links[id.index()];
        if let Some(per_byte) = link.per_byte.filter(|_| link.books) {
            let starts = link.busy_until;
            let arrives = link.book(now, label.size, per_byte);
            link.put_on_wire(id, arrives, label, scheduler);
            if self.tracer.follows(&label) {
                self.note_departure(starts, id, &label);
            }
            return;
        }
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
}
