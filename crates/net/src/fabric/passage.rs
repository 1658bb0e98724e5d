//! A packet's way through a switch.

use rand_core::Rng;
use ratewire_backpressure::flows;
use ratewire_backpressure::queues::{Arrangement, Place};
use ratewire_units::{Bytes, Time};

use super::{End, Held, Node, Outlet};
use crate::network::{END, Network, Scheduler};
use crate::packet::Label;
use crate::path::rare::pass;
use crate::queue::{Backlog, Departure};
use crate::spec::{LinkId, Sockets};

impl Network {
    /// The link by which a packet that is at one now came to its start; `None` if it was sent there.
    pub(crate) fn came_by(&self, label: &Label) -> Option<LinkId> {
        let before = (label.hop as usize).checked_sub(2).map(|at| self.routes[at]);
        before.filter(|link| *link != END).map(LinkId)
    }

    /// Where it came to its start.
    #[inline]
    fn end_before(&self, label: &Label) -> End {
        self.came_by(label).map_or(End::OWN, |link| self.fabric.ends[link.index()])
    }

    /// A packet comes to a link that starts at a switch.
    pub(crate) fn join(
        &mut self,
        now: Time,
        id: LinkId,
        label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        if self.need_not_wait(now, id, &label) {
            return self.start(now, id, label, scheduler);
        }
        let from = self.end_before(&label);
        let has_room = match self.fabric.buffers.get(from.buffer as usize) {
            Some(buffer) => buffer.has_room_for(&label),
            None => self.has_own_room(now, id, label.size),
        };
        if !has_room {
            if let Some(buffer) = self.fabric.buffers.get_mut(from.buffer as usize) {
                buffer.overflowed += 1;
            }
            return self.drop_full(id, label.content);
        }
        self.account(now, from.buffer, &label, scheduler);
        self.hold(now, id, label, from, scheduler);
        self.take_turns(now, id, scheduler);
        let link = &mut self.links[id.index()];
        let (packets, bytes) = (link.waiting_all(), link.waiting_bytes);
        link.tally.peak_packets = link.tally.peak_packets.max(packets);
        link.tally.peak_bytes = link.tally.peak_bytes.max(bytes);
    }

    /// Whether a packet finds its link idle and open, in a switch where it has nothing else to wait for: it
    /// takes no room, and the switch need not know of it.
    fn need_not_wait(&self, now: Time, id: LinkId, label: &Label) -> bool {
        let link = &self.links[id.index()];
        let Some(outlet) = link.outlet() else { return false };
        link.held == 0
            && link.busy_until <= now
            && link.can_send()
            && outlet.bursts.is_none()
            && outlet.is_virtual
            && outlet.gate.is_open(now, u32::from(label.class))
    }

    /// Whether a packet that did not come by a paused link may wait, or need not. Where sockets wait
    /// for room, what they could not hold back (acknowledgements, probes) is never dropped.
    fn has_own_room(&self, now: Time, id: LinkId, size: u32) -> bool {
        let link = &self.links[id.index()];
        let Some(outlet) = link.outlet() else { return true };
        let idle = link.busy_until <= now && link.held == 0 && link.can_send();
        idle || outlet.sockets != Sockets::Drop || link.has_room_beside(link.held, size)
    }

    /// Puts a packet into its queue.
    fn hold(
        &mut self,
        now: Time,
        id: LinkId,
        mut label: Label,
        from: End,
        scheduler: &mut impl Scheduler,
    ) {
        label.time = now;
        let link = &mut self.links[id.index()];
        link.sum_areas(now);
        link.waiting_bytes += u64::from(label.size);
        link.held += 1;
        let Some(outlet) = link.outlet_mut() else { return };
        outlet.coalesce(now);
        let (node, output) = (outlet.node as usize, outlet.output);
        let (lane, counted) = match self.fabric.switches[node].switch.arrangement() {
            Arrangement::ByFlow(queues) => {
                self.lane_by_flow(now, id, queues, &label, from.buffer, scheduler)
            }
            _ if self.fabric.switches[node].has_classes => (u32::from(label.class), false),
            _ => (0, false),
        };
        let place = Place { input: from.input, output, lane };
        let held = Held { label, buffer: from.buffer, counted };
        self.fabric.switches[node].switch.push(place, held);
    }

    /// The queue of a flow at an output, and whether the packet is counted against the one it was in before.
    fn lane_by_flow(
        &mut self,
        now: Time,
        id: LinkId,
        queues: u32,
        label: &Label,
        buffer: u32,
        scheduler: &mut impl Scheduler,
    ) -> (u32, bool) {
        let Some(outlet) = self.links[id.index()].outlet() else { return (0, false) };
        let output = outlet.output;
        let Node { switch, assignments, lane_bytes, random, .. } =
            &mut self.fabric.switches[outlet.node as usize];
        let is_open = |lane: u32| outlet.gate.is_lane_open(now, lane);
        let is_free = |lane: u32| switch.is_empty(output, lane) && is_open(lane);
        let draw = || random.next_u64();
        let lane = assignments[output as usize].place(now, label.generation, draw, is_free);
        let waiting = &mut lane_bytes[(output * queues + lane) as usize];
        *waiting += u64::from(label.size);
        let Some(room) = self.fabric.buffers.get(buffer as usize) else { return (lane, false) };
        // Queues in which something waits that may be sent, this one included.
        let others = switch.lanes_ready(output).filter(|other| *other != lane && is_open(*other));
        let active = others.count() as u32 + u32::from(is_open(lane));
        let counted =
            *waiting > flows::threshold(outlet.rate, room.spec.hop_round_trip, active).get();
        if counted {
            self.count(now, buffer, u32::from(label.lane), scheduler);
        }
        (lane, counted)
    }

    /// Lets a link send, if it can, and then those that could not because of what was before their packets.
    pub(crate) fn take_turns(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let mut next = Some(id);
        while let Some(id) = next {
            next = self.take_turn(now, id, scheduler);
        }
    }

    /// Lets a link send one packet, if it can. Returns another link for which a packet has come to the
    /// head of its queue.
    fn take_turn(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<LinkId> {
        // The port's timers up to now come before the departure.
        self.catch_up_if_due(now, id, scheduler);
        let link = &mut self.links[id.index()];
        if link.held == 0 || !link.can_send() {
            return None;
        }
        let (busy_until, held) = (link.busy_until, link.held);
        let outlet = link.outlet_mut()?;
        let wait = if busy_until > now { Some(busy_until) } else { outlet.unreleased(now, held) };
        if let Some(until) = wait {
            self.look_again(until, id, scheduler);
            return None;
        }
        let output = outlet.output;
        let Node { switch, links, .. } = &mut self.fabric.switches[outlet.node as usize];
        let by_flow = matches!(switch.arrangement(), Arrangement::ByFlow(_));
        let gate = &outlet.gate;
        let is_open = |lane: u32| match by_flow {
            true => gate.is_lane_open(now, lane),
            false => gate.is_open(now, lane),
        };
        let Some(turn) = switch.pop(output, is_open) else {
            let opening = gate.next_opening(now);
            if switch.has_turn(output, |_| true) {
                self.look_again(opening, id, scheduler);
            }
            return None;
        };
        if let Some(bursts) = &mut outlet.bursts {
            bursts.released -= 1;
        }
        let exposed = turn.exposed.filter(|other| *other != output);
        let exposed = exposed.map(|output| links[output as usize]);
        self.links[id.index()].held -= 1;
        self.let_go(now, id, turn.place, &turn.item, scheduler);
        let mut label = turn.item.label;
        if by_flow {
            label.lane = turn.place.lane as u8;
        }
        if self.survives(now, id, &mut label) {
            self.start(now, id, label, scheduler);
        }
        let link = &self.links[id.index()];
        if link.held > 0 {
            let free = link.busy_until;
            self.look_again(free.max(now), id, scheduler);
        }
        exposed
    }

    /// Whether the discipline lets a packet that is about to leave go.
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
            next: None,
        };
        let Some(extra) = link.extra.as_deref_mut() else { return true };
        let treatment = extra.discipline.on_departure(&departure);
        let passes = pass(&mut link.tally, &mut extra.tally, label, treatment);
        if !passes {
            self.discard(label.content);
        }
        passes
    }

    /// A packet leaves the queue in which it waited for a link.
    fn let_go(
        &mut self,
        now: Time,
        id: LinkId,
        place: Place,
        held: &Held,
        scheduler: &mut impl Scheduler,
    ) {
        let label = &held.label;
        let link = &mut self.links[id.index()];
        // The one that leaves is still among those that waited until now.
        link.sum_areas_with(now, 1);
        link.waiting_bytes -= u64::from(label.size);
        let Some(outlet) = link.outlet_mut() else { return };
        if core::mem::take(&mut outlet.wanted) {
            self.fabric.roomy.push(id);
            self.has_news = true;
        }
        let node = &mut self.fabric.switches[outlet.node as usize];
        if let Arrangement::ByFlow(queues) = node.switch.arrangement() {
            node.assignments[place.output as usize].leave(now, label.generation);
            let at = place.output * queues + place.lane;
            node.lane_bytes[at as usize] -= u64::from(label.size);
        }
        self.release(now, held, scheduler);
    }

    /// Takes out and drops all that waits for a link, which has gone down.
    pub(crate) fn empty_switch(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let Some(outlet) = self.links[id.index()].outlet() else { return };
        let (node, output) = (outlet.node as usize, outlet.output);
        let drained = self.fabric.switches[node].switch.drain(output);
        for (place, held) in drained {
            let link = &mut self.links[id.index()];
            link.note_dropped_down(1);
            link.held -= 1;
            if let Some(outlet) = link.outlet_mut() {
                outlet.forget_bursts();
            }
            self.let_go(now, id, place, &held, scheduler);
            self.discard(held.label.content);
        }
        // Other packets have come to the heads of their queues.
        for i in 0..self.fabric.switches[node].links.len() {
            let other = self.fabric.switches[node].links[i];
            self.take_turns(now, other, scheduler);
        }
    }

    /// Has it looked at again at that time whose turn it is.
    pub(super) fn look_again(&mut self, at: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        let Some(outlet) = link.outlet_mut() else { return };
        outlet.turn_at = at;
        if at < link.next_event {
            link.next_event = at;
            scheduler.schedule(at, id);
        }
    }
}

impl Outlet {
    /// The first packet since the last release starts the clock.
    fn coalesce(&mut self, now: Time) {
        if let Some(bursts) = &mut self.bursts
            && bursts.due == Time::NEVER
        {
            bursts.due = now + bursts.every;
        }
    }

    /// Until when packets are kept back to be released together; `None` if one may go.
    fn unreleased(&mut self, now: Time, waiting: u32) -> Option<Time> {
        let bursts = self.bursts.as_mut()?;
        if bursts.released == 0 {
            if waiting < bursts.packets && bursts.due > now {
                return Some(bursts.due);
            }
            bursts.released = waiting;
            bursts.due = Time::NEVER;
        }
        None
    }

    /// Nothing is left of what was to be released.
    fn forget_bursts(&mut self) {
        if let Some(bursts) = &mut self.bursts {
            (bursts.released, bursts.due) = (0, Time::NEVER);
        }
    }
}
