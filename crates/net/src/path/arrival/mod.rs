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
    fn arrive(&mut self, now: Time, id: LinkId, label: Label, scheduler: &mut impl Scheduler) {
        // The reference is renewed only where necessary: every packet passes here at every hop.
        let mut link = &mut self.links[id.index()];
        if link.is_behind(now) {
            self.catch_up(now, id, scheduler);
            link = &mut self.links[id.index()];
        }
        link.arrived += 1;
        let is_followed = self.tracer.follows(&label);
        match link.idle_per_byte(now) {
            Some(per_byte) if !is_followed => self.pass(now, id, per_byte, label, scheduler),
            _ => self.take_in(now, id, label, is_followed, scheduler),
        }
    }

    /// Handles a packet that has to wait, that comes to a link with something rare, or that is
    /// followed, which is processed step by step.
    #[inline(never)]
    fn take_in(
        &mut self,
        now: Time,
        id: LinkId,
        mut label: Label,
        is_followed: bool,
        scheduler: &mut impl Scheduler,
    ) {
        let mut link = &mut self.links[id.index()];
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
            self.start(now, id, label, scheduler);
        } else if !link.has_room_for(label.size) {
            self.drop_full(id, &label);
        } else if let Some(per_byte) = link.per_byte.filter(|_| link.books) {
            let starts = link.busy_until;
            let arrives = link.book(now, label.size, per_byte);
            if is_followed {
                self.note_departure(starts, id, &label);
            }
            self.put_on_wire(id, arrives, label, scheduler);
        } else {
            self.wait(now, id, label, scheduler);
        }
    }

    /// Queues a packet behind the packet in transmission.
    #[inline]
    fn wait(&mut self, now: Time, id: LinkId, label: Label, scheduler: &mut impl Scheduler) {
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
        if link.has_port() {
            let header = self.packets.header_mut(label.content);
            let size = Bytes::new(u64::from(label.size));
            label.ecn = self.ports.on_passage(now, link, size, label.ecn, header);
        }
        let arrives = link.pass(now, label.size, per_byte);
        if link.delay_line == DelayLineId::NONE {
            self.put_on_wire(id, arrives, label, scheduler);
        } else {
            self.lines.send_off(&mut self.links, now, id, arrives, label, scheduler);
        }
    }

    /// Puts a packet on its link's wire, or into the next link ahead of time.
    #[inline(always)]
    fn put_on_wire(
        &mut self,
        id: LinkId,
        arrives: Time,
        label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        if let Some(next) = self.routes.next_ahead(&label)
            && self.links[id.index()].fifo.len() == 0
            && self.enters_ahead(arrives, next, label, scheduler)
        {
            self.links[id.index()].passed += 1;
            return;
        }
        self.links[id.index()].put_on_wire(id, arrives, label, scheduler);
    }

    /// Lets a packet enter a link at a time to come, if the link will be idle then; returns whether
    /// it does.
    #[inline]
    fn enters_ahead(
        &mut self,
        at: Time,
        id: LinkId,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) -> bool {
        let link = &mut self.links[id.index()];
        let Some(per_byte) = link.idle_per_byte(at).filter(|_| !self.tracer.follows(&label)) else {
            return false;
        };
        label.hop += 1;
        link.arrived += 1;
        let arrives = link.pass(at, label.size, per_byte);
        link.put_on_wire(id, arrives, label, scheduler);
        true
    }
}
