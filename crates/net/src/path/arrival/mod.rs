//! Packets arrive at links. Every packet passes through this code at every hop.

mod rare;

use ratewire_units::{Bytes, Time};

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

    /// Handles the arrival of a packet at a link; one that finds the link idle leaves it in the
    /// same step, with the same results as step by step.
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        now: Time,
        id: LinkId,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        // References are renewed only where necessary: every packet passes here at every hop.
        let mut link = &mut self.links[id.index()];
        if link.is_behind(now) {
            self.catch_up(now, id, scheduler);
            link = &mut self.links[id.index()];
        }
        link.arrived += 1;
        let is_followed = self.tracer.follows(&label);
        let Some(per_byte) = link.idle_per_byte(now).filter(|_| !is_followed) else {
            return self.take_in(now, id, label, is_followed, scheduler);
        };
        if link.has_port() {
            let header = self.packets.header_mut(label.content);
            let size = Bytes::new(u64::from(label.size));
            label.ecn = self.ports.on_passage(now, link, size, label.ecn, header);
        }
        let arrives = link.pass(now, label.size, per_byte);
        if link.delay_line != DelayLineId::NONE {
            self.lines.send_off(&mut self.links, now, id, arrives, label, scheduler);
        } else if link.fifo.len() > 0 || !self.enters_ahead(id, arrives, label, scheduler) {
            self.links[id.index()].put_on_wire(id, arrives, label, scheduler);
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
            let has_none = self.links[id.index()].fifo.len() == 0;
            if !has_none || !self.enters_ahead(id, arrives, label, scheduler) {
                self.links[id.index()].put_on_wire(id, arrives, label, scheduler);
            }
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

    /// Lets a packet enter its next link at a time to come, if it may and that link will be idle
    /// then; returns whether it does. No packet may be on the wire of the link that it leaves.
    #[inline(always)]
    fn enters_ahead(
        &mut self,
        from: LinkId,
        at: Time,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) -> bool {
        let Some(to) = self.routes.next_ahead(&label) else { return false };
        let link = &mut self.links[to.index()];
        let Some(per_byte) = link.idle_per_byte(at).filter(|_| !self.tracer.follows(&label)) else {
            return false;
        };
        label.hop += 1;
        link.arrived += 1;
        let arrives = link.pass(at, label.size, per_byte);
        link.put_on_wire(to, arrives, label, scheduler);
        self.links[from.index()].passed += 1;
        true
    }
}
