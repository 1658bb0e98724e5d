//! Packets leave the queue of a link.

mod rare;

use ratewire_units::{Bytes, Time};

use super::network::Network;
use crate::packet::Label;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

pub(super) use rare::treat;

impl Network {
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
        if link.books {
            return link.end_bookings(now);
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
    /// here would keep it in memory for all packets, most of which do not need it.
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
