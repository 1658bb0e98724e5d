//! Nodes between the ends of data: switches of ensembles and daemons of overlays. What they
//! return is carried out.

use ratewire_net::{Body, Ecn, Label};

use super::Simulation;
use super::schedule::OtherEvent;
use crate::overlay::OverlayEvent;
use crate::record::{FlowId, FollowedFate};
use crate::setup::MemberEvent;

impl Simulation<'_> {
    /// Hands a packet of an ensemble to the switch at which it has arrived; returns false if it has
    /// arrived at a host.
    pub(super) fn relay(&mut self, label: &Label) -> bool {
        if self.hosts.flows.get(label.flow, label.generation).is_none() {
            return false; // The flow has ended here.
        }
        let is_ack = matches!(self.env.network.content(label).body, Body::Ack { .. });
        let place = self.junctions.place(label.generation, is_ack);
        let is_followed = place.is_some() && self.env.network.tracer().follows(label);
        if is_followed {
            self.env.network.tracer_mut().hand_on();
        }
        let Some(place) = place else {
            self.hosts.note_growth(&self.env, label);
            return false;
        };
        let now = self.env.clock.now;
        let (content, ack) = self.hosts.take(&mut self.env, label);
        self.junctions.receive(now, place, &content, ack.as_ref(), label.ecn == Ecn::Marked);
        let mut followed = None;
        if is_followed {
            let flow = self.hosts.followed_flow();
            followed = self.junctions.continues(place.switch, is_ack, flow);
            if followed.is_none() {
                self.end_following(FollowedFate::AcknowledgedLater);
            }
        }
        self.send_on(place.switch, followed);
        true
    }

    /// Sends the outputs of a switch; one of them may take the place of the followed packet.
    pub(super) fn send_on(&mut self, switch: u32, followed: Option<usize>) {
        let mut out = core::mem::take(&mut self.junctions.out);
        for (i, output) in out.drain(..).enumerate() {
            let Some(id) = self.junctions.flow_of(switch, &output) else { continue };
            if let Some(slot) = self.hosts.forward(&mut self.env, id, output, followed == Some(i)) {
                self.complete(slot);
            }
        }
        self.junctions.out = out;
        if let Some(due) = self.junctions.next_timer(switch) {
            self.env.schedule.later(due, OtherEvent::Switch(switch));
        }
    }

    pub(super) fn member_event(&mut self, event: MemberEvent) {
        match event {
            MemberEvent::Fail { junction, member } => {
                for id in self.junctions.edge(junction, member) {
                    let flow = self.hosts.abandon(id);
                    self.end_flow(flow);
                }
                self.junctions.fail(self.env.clock.now, junction, member);
                self.send_on(junction, None);
            }
            MemberEvent::Recover { junction, member } => {
                self.junctions.recover(junction, member);
                for id in self.junctions.edge(junction, member) {
                    let spec = &self.setup.flows[id as usize];
                    let runs = spec.start <= self.env.clock.now
                        && spec.stop.is_none_or(|stop| stop > self.env.clock.now);
                    if runs && self.hosts.slots[id as usize].is_none() {
                        self.open_again(id);
                    }
                }
            }
            MemberEvent::Hold(id) | MemberEvent::Resume(id) => {
                let holds = matches!(event, MemberEvent::Hold(_));
                if let Some(slot) = self.hosts.hold(id, holds) {
                    self.pump(slot);
                }
            }
        }
    }

    pub(super) fn overlay_event(&mut self, event: OverlayEvent) {
        let Some(overlay) = &mut self.env.overlay else { return };
        let next = overlay.on_event(self.env.clock.now, event);
        for id in next.close {
            let flow = self.hosts.abandon(id as u32);
            self.end_flow(flow);
        }
        next.open.into_iter().for_each(|id| self.open_again(id as u32));
        if let Some((at, event)) = next.later {
            self.env.schedule.later(at, OtherEvent::Overlay(event));
        }
        next.nodes.for_each(|node| self.stir(node));
    }

    /// After an action of an overlay's node: delivers what it has for its clients, sends its
    /// messages over its links, and sets its timer.
    pub(super) fn stir(&mut self, node: usize) {
        let now = self.env.clock.now;
        if let Some(overlay) = &mut self.env.overlay {
            overlay.deliver(now, node);
        }
        while let Some(overlay) = &mut self.env.overlay
            && let Some(flow) = overlay.poll_flow(node)
        {
            // A link that has not started yet finds its messages when it starts.
            if let Some(slot) = self.hosts.slots[flow] {
                self.pump(slot);
            }
        }
        if let Some(overlay) = &mut self.env.overlay
            && let Some(due) = overlay.next_timer(now, node)
        {
            let event = OverlayEvent::Node(node as u32);
            self.env.schedule.later(due, OtherEvent::Overlay(event));
        }
    }

    /// Opens the ends of a listed flow again.
    fn open_again(&mut self, id: u32) {
        let spec = &self.setup.flows[id as usize];
        // The flow's routes were found when it first started.
        let Ok(slot) = self.hosts.open(&mut self.env, FlowId(id), spec) else { return };
        self.pump(slot);
    }
}
