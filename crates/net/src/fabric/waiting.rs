//! Packets that wait in a switch.

use rand_core::Rng;
use ratewire_backpressure::flows;
use ratewire_backpressure::queues::{Arrangement, QueueAddress};

use super::{End, Fabric, QueuedPacket, SwitchNode, Wires};
use crate::link::Links;
use crate::packet::Label;
use crate::route_store::RouteStore;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

/// A packet that leaves a switch.
#[derive(Debug)]
pub(crate) struct Leaving {
    pub(crate) label: Label,
    /// Another link for which a packet has come to the head of its queue.
    pub(crate) exposed: Option<LinkId>,
}

impl Fabric {
    /// Puts a packet into the queue at the start of a link; returns whether there is room for it.
    pub(crate) fn hold<S: Scheduler>(
        &mut self,
        id: LinkId,
        label: Label,
        routes: &RouteStore,
        wires: &mut Wires<'_, S>,
    ) -> bool {
        let from = routes.before(&label).map_or(End::OWN, |link| self.ends[link.index()]);
        let has_room = match self.buffers.get(from.buffer as usize) {
            Some(buffer) => buffer.has_room_for(&label),
            None => wires.links[id.index()].has_own_room(wires.now, label.size),
        };
        if !has_room {
            if let Some(buffer) = self.buffers.get_mut(from.buffer as usize) {
                buffer.overflowed += 1;
            }
            return false;
        }
        self.account(from.buffer, &label, wires);
        self.enqueue(id, label, from, wires);
        true
    }

    /// Puts a packet into its queue.
    fn enqueue<S: Scheduler>(
        &mut self,
        id: LinkId,
        mut label: Label,
        from: End,
        wires: &mut Wires<'_, S>,
    ) {
        let now = wires.now;
        label.time = now;
        let link = &mut wires.links[id.index()];
        link.sum_areas(now);
        link.waiting_bytes += u64::from(label.size);
        link.held += 1;
        let Some(outlet) = link.outlet_mut() else { return };
        outlet.coalesce(now);
        let (node, output) = (outlet.node(), outlet.output());
        let (lane, counted) = match self.switches[node].switch.arrangement() {
            Arrangement::ByFlow(queues) => {
                self.lane_by_flow(id, queues, &label, from.buffer, wires)
            }
            _ if self.switches[node].has_classes => (u32::from(label.class), false),
            _ => (0, false),
        };
        let place = QueueAddress { input: from.input, output, lane };
        let packet = QueuedPacket { label, buffer: from.buffer, counted };
        self.switches[node].switch.push(place, packet);
    }

    /// The queue of a flow at an output, and whether the packet is counted against its previous
    /// queue.
    fn lane_by_flow<S: Scheduler>(
        &mut self,
        id: LinkId,
        queues: u32,
        label: &Label,
        buffer: u32,
        wires: &mut Wires<'_, S>,
    ) -> (u32, bool) {
        let now = wires.now;
        let Some(outlet) = wires.links[id.index()].outlet() else { return (0, false) };
        let output = outlet.output();
        let SwitchNode { switch, assignments, lane_bytes, random, .. } =
            &mut self.switches[outlet.node()];
        let is_open = |lane: u32| outlet.gate().is_lane_open(now, lane);
        let is_free = |lane: u32| switch.is_empty(output, lane) && is_open(lane);
        let draw = || random.next_u64();
        let lane = assignments[output as usize].place(now, label.generation, draw, is_free);
        let waiting = &mut lane_bytes[(output * queues + lane) as usize];
        *waiting += u64::from(label.size);
        let Some(room) = self.buffers.get(buffer as usize) else { return (lane, false) };
        // Queues with packets that may be sent, this one included.
        let others = switch.lanes_ready(output).filter(|other| *other != lane && is_open(*other));
        let active = others.count() as u32 + u32::from(is_open(lane));
        let counted =
            *waiting > flows::threshold(outlet.rate(), room.spec.hop_round_trip, active).get();
        if counted {
            self.count(buffer, u32::from(label.lane), wires);
        }
        (lane, counted)
    }

    /// The packet that a link sends next, if it can send one now. If one may go later, schedules
    /// the link.
    pub(crate) fn next<S: Scheduler>(
        &mut self,
        id: LinkId,
        wires: &mut Wires<'_, S>,
    ) -> Option<Leaving> {
        let now = wires.now;
        let link = &mut wires.links[id.index()];
        if link.held == 0 || !link.can_send() {
            return None;
        }
        let (busy_until, held) = (link.busy_until, link.held);
        let outlet = link.outlet_mut()?;
        let wait = if busy_until > now { Some(busy_until) } else { outlet.unreleased(now, held) };
        if let Some(until) = wait {
            link.look_again(until, id, wires.scheduler);
            return None;
        }
        let output = outlet.output();
        let SwitchNode { switch, links, .. } = &mut self.switches[outlet.node()];
        let by_flow = matches!(switch.arrangement(), Arrangement::ByFlow(_));
        let gate = outlet.gate();
        let is_open = |lane: u32| match by_flow {
            true => gate.is_lane_open(now, lane),
            false => gate.is_open(now, lane),
        };
        let Some(turn) = switch.pop(output, is_open) else {
            let opening = gate.next_opening(now);
            if switch.has_turn(output, |_| true) {
                link.look_again(opening, id, wires.scheduler);
            }
            return None;
        };
        outlet.note_released();
        let exposed = turn.exposed.filter(|other| *other != output);
        let exposed = exposed.map(|output| links[output as usize]);
        link.held -= 1;
        self.let_go(id, turn.place, &turn.item, wires);
        let mut label = turn.item.label;
        if by_flow {
            label.lane = turn.place.lane as u8;
        }
        Some(Leaving { label, exposed })
    }

    /// Removes a packet from the queue in which it waited for a link.
    fn let_go<S: Scheduler>(
        &mut self,
        id: LinkId,
        place: QueueAddress,
        packet: &QueuedPacket,
        wires: &mut Wires<'_, S>,
    ) {
        let now = wires.now;
        let label = &packet.label;
        let link = &mut wires.links[id.index()];
        // The leaving packet counted as waiting until now.
        link.sum_areas_with(now, 1);
        link.waiting_bytes -= u64::from(label.size);
        let Some(outlet) = link.outlet_mut() else { return };
        if outlet.take_wanted() {
            wires.news.note_unblocked(id);
        }
        let node = &mut self.switches[outlet.node()];
        if let Arrangement::ByFlow(queues) = node.switch.arrangement() {
            node.assignments[place.output as usize].leave(now, label.generation);
            let at = place.output * queues + place.lane;
            node.lane_bytes[at as usize] -= u64::from(label.size);
        }
        self.release(packet, wires);
    }

    /// Removes all packets that wait for a link that has gone down.
    pub(crate) fn empty<S: Scheduler>(
        &mut self,
        id: LinkId,
        wires: &mut Wires<'_, S>,
    ) -> Vec<Label> {
        let Some(outlet) = wires.links[id.index()].outlet() else { return Vec::new() };
        let drained = self.switches[outlet.node()].switch.drain(outlet.output());
        for (place, packet) in &drained {
            let link = &mut wires.links[id.index()];
            link.held -= 1;
            if let Some(outlet) = link.outlet_mut() {
                outlet.forget_bursts();
            }
            self.let_go(id, *place, packet, wires);
        }
        drained.into_iter().map(|(_, packet)| packet.label).collect()
    }

    /// All links that start at the switch where this one starts.
    pub(crate) fn links_beside(&self, id: LinkId, links: &Links) -> Vec<LinkId> {
        let node = links[id.index()].outlet().map(|outlet| &self.switches[outlet.node()]);
        node.map_or(Vec::new(), |node| node.links.clone())
    }
}
