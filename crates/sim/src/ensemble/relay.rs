//! Actions of the engine at a switch.

use ratewire_anypoint::{Output, Side};
use ratewire_net::{Body, Ecn, Label};
use ratewire_transport::{Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Time};

use super::spec::MemberEvent;
use crate::engine::{OtherEvent, Simulation};
use crate::record::{FlowId, FollowedFate};

impl Simulation<'_> {
    /// Processes a packet of an edge; returns whether it arrived at a switch.
    pub(crate) fn relay(&mut self, label: &Label) -> bool {
        if self.flows.get(label.flow, label.generation).is_none() {
            return false; // The flow has ended here.
        }
        let content = *self.network.content(label);
        let ends = self.junctions.ends(label.generation);
        let is_ack = matches!(content.body, Body::Ack { .. });
        let Some((j, side)) = (if is_ack { ends.from } else { ends.to }) else {
            if let Body::Data { offset, payload, .. } = content.body
                && let Some(flow) = self.flows.at(label.flow)
                && offset + u64::from(payload) > flow.receiver.delivered().get()
            {
                flow.grew = self.now;
            }
            return false;
        };
        let is_followed = self.network.tracer().follows(label);
        if is_followed {
            self.network.tracer_mut().hand_on();
        }
        let mut out = core::mem::take(&mut self.junctions.out);
        let ack = self.network.ack(label);
        if let (Body::Data { .. }, Some(sent)) = (content.body, self.network.sent(label)) {
            self.delays.one_way(self.now, label.generation, self.now.since(sent));
        }
        self.network.remove(label);
        let junction = &mut self.junctions.list[j as usize];
        let now = self.now;
        if let Some(ack) = ack {
            junction.switch.on_ack(now, side, &ack, &mut out);
        } else {
            let segment = segment(&content.body, content.header);
            self.data_packets += u64::from(segment.kind != SegmentKind::Open);
            let key = match side {
                Side::Peer => junction.keys.content(segment.offset / junction.frame),
                Side::Member(_) => [0; 8],
            };
            let marked = label.ecn == Ecn::Marked;
            junction.switch.on_segment(now, side, &segment, key[..].into(), marked, &mut out);
        }
        let followed = if is_followed { self.continues(j, is_ack, &out) } else { None };
        if is_followed && followed.is_none() {
            self.report_followed(FollowedFate::AcknowledgedLater);
        }
        self.send_on(j, &mut out, followed);
        self.junctions.out = out;
        true
    }

    /// The output of a switch that takes the place of the followed packet.
    #[cold]
    fn continues(&self, j: u32, is_ack: bool, out: &[Output]) -> Option<usize> {
        let junction = &self.junctions.list[j as usize];
        let is_data = |output: &Output| matches!(output, Output::Segment(..));
        let is_for_it = |output: &Output| self.is_followed_flow(junction.flow_of(output));
        let data = (!is_ack).then(|| out.iter().position(is_data)).flatten();
        let ack = || out.iter().position(|output| !is_data(output) && is_for_it(output));
        data.or_else(ack).or_else(|| (!out.is_empty()).then_some(0))
    }

    /// Sends the outputs of a switch; one of them may take the place of the followed packet.
    fn send_on(&mut self, j: u32, out: &mut Vec<Output>, followed: Option<usize>) {
        for (i, output) in out.drain(..).enumerate() {
            let flow = self.junctions.list[j as usize].flow_of(&output);
            let is_followed = followed == Some(i);
            match output {
                Output::Segment(_, segment) => self.send_segment(flow, segment, false, is_followed),
                Output::Skip(_, segment) => self.send_segment(flow, segment, true, false),
                Output::Ack(_, mut ack) => {
                    let Some((slot, flow)) = flow.and_then(|id| {
                        let slot = self.slots[id as usize]?;
                        Some((slot, self.flows.get(slot, id)?))
                    }) else {
                        continue;
                    };
                    let address = flow.back(slot, &mut ack, self.setup);
                    let is_whole = ack.cumulative >= flow.end && !flow.completed;
                    self.packets.sent += 1;
                    if is_followed {
                        self.network.acknowledge_on(self.now, &address, &ack, &mut self.wheel);
                    } else {
                        self.network.acknowledge(self.now, &address, &ack, &mut self.wheel);
                    }
                    if is_whole {
                        self.complete(slot);
                    }
                }
            }
        }
        self.arm_switch(j);
    }

    /// Completes the edges beyond the far end of this one, whose data have now all arrived too.
    #[cold]
    pub(crate) fn complete_beyond(&mut self, flow: u32) {
        let is_open = |id: u32| self.outcomes[id as usize].completed.is_none();
        for id in self.junctions.over_with(flow, is_open) {
            if let Some(slot) = self.slots[id as usize]
                && self.flows.get(slot, id).is_some_and(|flow| !flow.completed)
            {
                self.complete(slot);
            }
        }
    }

    fn send_segment(
        &mut self,
        flow: Option<u32>,
        mut segment: Segment,
        is_empty: bool,
        is_followed: bool,
    ) {
        let Some((slot, flow)) = flow.and_then(|id| {
            let slot = self.slots[id as usize]?;
            Some((slot, self.flows.get(slot, id)?))
        }) else {
            return;
        };
        let mut address = flow.out(slot, &mut segment, self.setup);
        if is_empty {
            address.size = flow.headers;
        }
        self.packets.sent += 1;
        if is_followed {
            self.network.send_on(self.now, &address, &segment, &mut self.wheel);
        } else {
            self.network.send(self.now, &address, &segment, &mut self.wheel);
        }
    }

    fn arm_switch(&mut self, j: u32) {
        let junction = &mut self.junctions.list[j as usize];
        let due = junction.switch.deadline();
        if due < junction.timer_at {
            junction.timer_at = due;
            self.later(due, OtherEvent::Switch(j));
        }
    }

    /// Handles the due timer of a switch.
    pub(crate) fn switch_timer(&mut self, j: u32) {
        let mut out = Vec::new();
        let junction = &mut self.junctions.list[j as usize];
        junction.timer_at = Time::NEVER;
        junction.switch.on_timer(self.now, &mut out);
        self.send_on(j, &mut out, None);
    }

    /// Applies an event of a member.
    pub(crate) fn member_event(&mut self, event: MemberEvent) {
        match event {
            MemberEvent::Fail { junction, member } => self.fail_member(junction, member as usize),
            MemberEvent::Recover { junction, member } => {
                let edge = self.junctions.list[junction as usize].members[member as usize];
                self.junctions.list[junction as usize].switch.recover(member as usize);
                [edge.inbound, edge.outbound].into_iter().flatten().for_each(|id| self.restart(id));
            }
            MemberEvent::Hold(id) => self.with_sender(id, |sender| sender.hold()),
            MemberEvent::Resume(id) => self.with_sender(id, |sender| sender.resume()),
        }
    }

    fn with_sender(&mut self, id: u32, act: impl FnOnce(&mut ratewire_transport::Sender)) {
        if let Some(slot) = self.slots[id as usize]
            && let Some(flow) = self.flows.get(slot, id)
        {
            act(&mut flow.sender);
            self.pump(slot);
        }
    }

    fn fail_member(&mut self, j: u32, member: usize) {
        let edge = self.junctions.list[j as usize].members[member];
        for id in [edge.inbound, edge.outbound].into_iter().flatten() {
            if let Some(slot) = self.slots[id as usize].take() {
                self.abandon(slot);
            }
        }
        let mut out = Vec::new();
        self.junctions.list[j as usize].switch.fail(self.now, member, &mut out);
        self.send_on(j, &mut out, None);
    }

    /// Starts the ends of an edge again at a host that has recovered.
    fn restart(&mut self, id: u32) {
        let spec = &self.setup.flows[id as usize];
        let stopped = spec.stop.is_some_and(|stop| stop <= self.now);
        if spec.start <= self.now && !stopped && self.slots[id as usize].is_none() {
            // The flow's routes were found when it first started.
            let Ok(slot) = self.open(FlowId(id), spec) else { return };
            self.pump(slot);
        }
    }
}

fn segment(body: &Body, header: ratewire_laws::Header) -> Segment {
    let (kind, offset, payload, stamp) = match *body {
        Body::Data { offset, payload, stamp } => {
            (SegmentKind::Data { again: false }, offset, payload, stamp)
        }
        Body::Open | Body::Ack { .. } | Body::Kept(_) => (SegmentKind::Open, 0, 0, Stamp::NONE),
    };
    Segment { kind, offset, payload: Bytes::new(u64::from(payload)), stamp, header }
}
