//! A packet's path through a switch.

use ratewire_units::{Bytes, Time};

use super::departure::treat;
use super::network::Network;

use super::trail::DropReason;
use crate::fabric::{Leaving, Wires};
use crate::packet::Label;
use crate::queue::{Backlog, Departure};
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

/// The parts of a network that its switches need to send pause frames.
macro_rules! wires {
    ($network:ident, $now:expr, $scheduler:expr) => {
        &mut Wires {
            now: $now,
            links: &mut $network.links,
            news: &mut $network.news,
            scheduler: &mut *$scheduler,
        }
    };
}

impl Network {
    /// Handles the arrival of a packet at a link that starts at a switch.
    pub(super) fn join(
        &mut self,
        now: Time,
        id: LinkId,
        label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        if self.links[id.index()].lets_pass(now, label.class) {
            return self.start(now, id, label, scheduler);
        }
        if !self.fabric.hold(id, label, &self.routes, wires!(self, now, scheduler)) {
            return self.drop_full(id, &label);
        }
        self.take_turns(now, id, scheduler);
        let link = &mut self.links[id.index()];
        let (packets, bytes) = (link.waiting_all(), link.waiting_bytes);
        link.tally.peak_packets = link.tally.peak_packets.max(packets);
        link.tally.peak_bytes = link.tally.peak_bytes.max(bytes);
    }

    /// Lets a link send, if it can, and then the links whose packets became heads of their queues.
    pub(super) fn take_turns(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let mut next = Some(id);
        while let Some(id) = next {
            next = self.take_turn(now, id, scheduler);
        }
    }

    /// Lets a link send one packet, if it can; returns another link for which a packet has come to
    /// the head of its queue.
    fn take_turn(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<LinkId> {
        // The port's timers up to now come before the departure.
        self.catch_up_if_due(now, id, scheduler);
        let leaving = self.fabric.next(id, wires!(self, now, scheduler))?;
        let Leaving { mut label, exposed } = leaving;
        if self.survives(now, id, &mut label) {
            self.start(now, id, label, scheduler);
        }
        let link = &mut self.links[id.index()];
        if link.held > 0 {
            let free = link.busy_until;
            link.look_again(free.max(now), id, scheduler);
        }
        exposed
    }

    /// Whether the discipline passes a packet that is about to leave.
    fn survives(&mut self, now: Time, id: LinkId, label: &mut Label) -> bool {
        let link = &mut self.links[id.index()];
        let size = Bytes::new(u64::from(label.size));
        let Backlog { packets, bytes } = link.backlog();
        let departure = Departure {
            now,
            queue: 0,
            size,
            ecn: label.ecn,
            sojourn: now.since(label.time),
            // In a switch the packet itself counts.
            backlog: Backlog { packets: packets + 1, bytes: bytes + size },
            link_bytes: bytes + size,
            next: None,
        };
        let Some(extra) = link.extra.as_deref_mut() else { return true };
        let treatment = extra.discipline.on_departure(&departure);
        let passes = treat(&mut link.tally, &mut extra.tally, label, treatment);
        if !passes {
            self.discard(label, DropReason::Early);
        }
        passes
    }

    /// Drops all packets that wait for a link that has gone down.
    pub(super) fn empty_switch(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let dropped = self.fabric.empty(id, wires!(self, now, scheduler));
        self.links[id.index()].note_dropped_down(dropped.len() as u64);
        dropped.iter().for_each(|label| self.discard(label, DropReason::Down));
        // Other packets have come to the heads of their queues.
        for other in self.fabric.links_beside(id, &self.links) {
            self.take_turns(now, other, scheduler);
        }
    }

    /// Handles an event of a link that may start at a switch; returns a packet that its far end has
    /// taken in.
    #[inline]
    pub(super) fn on_switch_event(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        let is_due = self.links[id.index()].outlet()?.next_due() <= now;
        if is_due { self.on_switch_due(now, id, scheduler) } else { None }
    }

    /// Handles a due turn, a frame, or an event of the far end.
    fn on_switch_due(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        if self.links[id.index()].outlet_mut()?.obey(now) {
            self.take_turns(now, id, scheduler);
        }
        let is_due = self.links[id.index()].outlet()?.far_is_due(now);
        if !is_due {
            return None;
        }
        self.fabric.on_far_due(id, &self.routes, wires!(self, now, scheduler))
    }

    /// Queues an arrived packet for intake at the far end of its link.
    pub(super) fn await_intake(
        &mut self,
        now: Time,
        id: LinkId,
        label: &Label,
        scheduler: &mut impl Scheduler,
    ) {
        if !self.fabric.await_intake(id, label, wires!(self, now, scheduler)) {
            self.drop_full(id, label);
        }
    }
}
