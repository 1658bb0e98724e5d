//! Changes of an active link: its rate, its delay, its state, its losses, its queue.

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::network::Network;
use super::trail::DropReason;
use crate::link::{DelayLineId, Link, LossState};
use crate::scheduler::Scheduler;
use crate::spec::{Change, LinkId, Loss};

/// Bytes over which the transmission time of a byte is averaged, to keep its fraction.
const MANY: Bytes = Bytes::new(1_000_000);

impl Network {
    /// Applies a change of a link. The link may not book departures nor have a delay line, and may
    /// not be that of a host that lags or did.
    pub fn change(
        &mut self,
        now: Time,
        id: LinkId,
        change: &Change,
        scheduler: &mut impl Scheduler,
    ) {
        let link = &self.links[id.index()];
        debug_assert!(!link.ends.start_at_leaf(), "nothing about a leaf's own link changes");
        debug_assert!(
            !link.books && link.delay_line == DelayLineId::NONE,
            "a link that changes neither books departures nor has a delay line"
        );
        self.catch_up(now, id, scheduler);
        self.processing.stop_foretelling(id);
        match change {
            Change::Delay(delay) => self.links[id.index()].delay = *delay,
            Change::Up(up) => self.set_up(now, id, *up, scheduler),
            Change::Rate(rate) => self.change_rate(now, id, *rate, scheduler),
            Change::Loss(loss) => self.change_loss(id, loss),
            Change::Limit(limit) => self.links[id.index()].set_limit(*limit),
        }
    }

    fn change_loss(&mut self, id: LinkId, loss: &Loss) {
        self.links.extra_mut(id).loss = LossState::new(loss);
    }

    fn set_up(&mut self, now: Time, id: LinkId, up: bool, scheduler: &mut impl Scheduler) {
        self.links.extra_mut(id).set_up(now, up);
        if up {
            return;
        }
        let link = &mut self.links[id.index()];
        if link.outlet().is_some() {
            return self.empty_switch(now, id, scheduler);
        }
        link.sum_areas(now);
        let mut dropped = link.fifo.split_off(link.started);
        link.note_dropped_down(dropped.len() as u64);
        link.waiting_bytes = 0;
        if let Some(extra) = link.extra.as_deref_mut() {
            if let Some(sorted) = &mut extra.sorted {
                dropped = sorted.drain();
            }
            extra.discipline.on_empty(now);
        }
        dropped.iter().for_each(|label| self.discard(label, DropReason::Down));
    }

    fn change_rate(&mut self, now: Time, id: LinkId, rate: Rate, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        if link.extra.as_ref().is_some_and(|e| e.trace.is_some()) {
            return;
        }
        self.set_rate(now, id, rate);
        let link = &mut self.links[id.index()];
        link.schedule_head(id, scheduler);
        self.ports.on_rate_change(now, link, rate);
        if let Some(policer) = link.extra.as_deref_mut().and_then(|e| e.policer.as_mut()) {
            policer.on_rate_change(rate);
        }
        // Packets that waited at rate zero start now and not in the past.
        link.busy_until = link.busy_until.max(now);
        let medium = link.medium();
        if let Some(outlet) = link.outlet_mut() {
            outlet.set_rate(rate);
            self.take_turns(now, id, scheduler);
        }
        self.catch_up(now, id, scheduler);
        if let Some(medium) = medium {
            self.contend(now, medium, scheduler);
        }
    }

    /// Continues the packet in transmission at the new rate; at rate zero it stops.
    fn set_rate(&mut self, now: Time, id: LinkId, rate: Rate) {
        let link = &mut self.links[id.index()];
        let Some(left) = link.set_rate(now, rate) else { return };
        if link.per_byte.is_none() {
            self.links.extra_mut(id).stalled = Some(left);
        }
        let link = &mut self.links[id.index()];
        let free = link.busy_until;
        link.move_last_arrival(free);
        if let Some(medium) = link.medium() {
            if let Some(extra) = link.extra.as_deref_mut() {
                extra.medium_free = free;
            }
            self.mediums.stays_busy_until(medium, free);
        }
    }
}

impl Link {
    /// Sets the rate. Returns the remaining bytes of the packet in transmission, if there is one.
    fn set_rate(&mut self, now: Time, rate: Rate) -> Option<f64> {
        let old = self.per_byte;
        self.per_byte = rate.serial_time();
        let stalled = self.extra.as_mut().and_then(|e| e.stalled.take());
        // A packet that waits for a shaper has not begun.
        let begins = now.max(self.shaped_until());
        // Remaining bytes, and the time already counted for them.
        let (left, counted) = match (stalled, old) {
            (Some(bytes), _) => (bytes, Duration::ZERO),
            (None, Some(old)) if self.busy_until > now => {
                let time = self.busy_until.since(begins);
                (time.secs() / (old.of(MANY).secs() / MANY.as_f64()), time)
            }
            _ => return None,
        };
        let rest = self.per_byte.map(|per_byte| {
            Duration::from_secs_f64(left * (per_byte.of(MANY).secs() / MANY.as_f64()))
        });
        self.busy_until = rest.map_or(Time::NEVER, |rest| begins + rest);
        self.busy = self.busy.saturating_sub(counted) + rest.unwrap_or_default();
        Some(left)
    }

    /// Sets the time at which the packet in transmission will have left.
    fn move_last_arrival(&mut self, free: Time) {
        if let Some(at) = self.started.checked_sub(1) {
            // After a shortened delay it must not overtake the packet before it.
            let before = at.checked_sub(1).map_or(Time::ZERO, |at| self.fifo[at].time);
            self.fifo[at].time = (free + self.delay + self.last_jitter()).max(before);
            self.last_arrival = self.fifo[at].time;
        }
    }
}
