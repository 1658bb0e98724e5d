//! Actions of hosts, and their times.

use ratewire_net::{Body, Ecn, Label};
use ratewire_transport::Reply;
use ratewire_units::{Bytes, Time};

use super::{FLOW_TIMER, PROGRESS_EVERY, Simulation};
use crate::record::FollowedFate;

impl Simulation<'_> {
    /// Processes a packet that has arrived at its host.
    #[inline]
    pub(super) fn deliver(&mut self, label: &Label) {
        let now = self.now;
        #[cfg(test)]
        self.acts.push(now);
        self.packets.delivered += 1;
        let slot = label.flow;
        if self.junctions.has(label.generation) && self.relay(label) {
            return;
        }
        let Some(flow) = self.flows.get(slot, label.generation) else {
            let is_data = matches!(self.network.content(label).body, Body::Data { .. });
            self.data_packets += u64::from(is_data);
            self.network.remove(label);
            return;
        };
        let content = self.network.content(label);
        match content.body {
            Body::Ack { .. } => {
                // The header is not moved: a copy would read bytes that were just written in
                // smaller parts, which the CPU cannot forward from its stores.
                if let Some(ack) = &mut self.network.ack(label) {
                    if let Some(took) = flow.on_ack(now, ack, self.setup) {
                        self.delays.round_trip(now, flow.id.0, took);
                    }
                    if self.network.tracer().follows(label) {
                        self.report_followed(FollowedFate::Acknowledged(now, ack.header));
                    }
                }
                self.network.remove(label);
                self.pump(slot);
            }
            Body::Data { offset, payload, stamp } => {
                self.data_packets += 1;
                if let Some(sent) = self.network.sent(label) {
                    self.delays.one_way(now, flow.id.0, now.since(sent));
                }
                let marked = label.ecn == Ecn::Marked;
                let payload = Bytes::new(u64::from(payload));
                if flow.receiver.answers_first(marked) {
                    self.acknowledge_waiting(slot);
                }
                let Some(flow) = self.flows.at(slot) else { return };
                let content = self.network.content(label);
                let reply =
                    flow.receiver.on_data(now, offset, payload, &content.header, marked, stamp);
                if flow.receiver.delivered().get() >= flow.end && !flow.completed {
                    self.complete(slot);
                }
                match reply {
                    Reply::Now => self.acknowledge(slot, label),
                    Reply::Later => {
                        if self.network.tracer().follows(label) {
                            self.report_followed(FollowedFate::AcknowledgedLater);
                        }
                        self.network.remove(label);
                        self.arm(slot);
                    }
                }
            }
            Body::Open => {
                let mut ack = flow.receiver.open(now, &content.header);
                if let Some(spread) = &mut self.spread {
                    let paths = (&mut self.routes, &mut self.network);
                    spread.choose(now, flow, true, &self.outcomes, paths);
                }
                let address = flow.back(slot, &mut ack, self.setup);
                self.packets.sent += 1;
                self.network.answer(now, label, &address, &ack, &mut self.wheel);
            }
            // Modelled hosts send no real packets.
            Body::Kept(_) => self.network.remove(label),
        }
    }

    /// Sends acknowledgements that were delayed until now.
    #[cold]
    fn acknowledge_waiting(&mut self, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        if let Some(spread) = &mut self.spread {
            let paths = (&mut self.routes, &mut self.network);
            spread.choose(self.now, flow, true, &self.outcomes, paths);
        }
        let mut ack = flow.receiver.acknowledge(self.now);
        let address = flow.back(slot, &mut ack, self.setup);
        self.packets.sent += 1;
        self.network.acknowledge(self.now, &address, &ack, &mut self.wheel);
    }

    /// Sends the arrived packet back as its acknowledgement.
    #[inline]
    fn acknowledge(&mut self, slot: u32, label: &Label) {
        let Some(flow) = self.flows.at(slot) else { return };
        if let Some(spread) = &mut self.spread {
            let paths = (&mut self.routes, &mut self.network);
            spread.choose(self.now, flow, true, &self.outcomes, paths);
        }
        let mut ack = flow.receiver.acknowledge(self.now);
        let address = flow.back(slot, &mut ack, self.setup);
        let waits = flow.receiver.deadline() != Time::NEVER;
        self.packets.sent += 1;
        self.network.answer(self.now, label, &address, &ack, &mut self.wheel);
        if waits {
            self.arm(slot);
        }
    }

    /// Sends what the sender may send now, and notes its next timer.
    #[inline]
    pub(crate) fn pump(&mut self, slot: u32) {
        if self.send_some(slot, u64::MAX) {
            self.wait_for_room(slot);
        }
        self.after_sending(slot);
    }

    /// Sends up to `most` packets; returns whether the socket must wait for room in its host's
    /// queue.
    #[inline]
    pub(super) fn send_some(&mut self, slot: u32, most: u64) -> bool {
        let Some(mut flow) = self.flows.at(slot) else { return false };
        flow.blocked = false;
        let mut left = most;
        let mut before_report = PROGRESS_EVERY;
        loop {
            if before_report == 0 {
                if self.is_told_to_end() {
                    return false;
                }
                before_report = PROGRESS_EVERY;
                let Some(again) = self.flows.at(slot) else { return false };
                flow = again;
            }
            if flow.waits_for_room
                && (left == 0 || !self.network.admits(flow.own_link, flow.packet_size))
            {
                return true;
            }
            flow.look_at_queue(self.now, slot, &mut self.network, &mut self.wheel);
            let Some(mut segment) = flow.next_segment(self.now, &mut self.overlay) else {
                return false;
            };
            left -= 1;
            before_report -= 1;
            self.packets.sent += 1;
            if let Some(spread) = &mut self.spread {
                let paths = (&mut self.routes, &mut self.network);
                spread.choose(self.now, flow, false, &self.outcomes, paths);
            }
            let address = flow.out(slot, &mut segment, self.setup);
            if slot == self.following.slot && segment.payload > Bytes::ZERO {
                self.following.start(self.now, flow.id, address.size);
                self.network.send_followed(self.now, &address, &segment, &mut self.wheel);
            } else {
                self.network.send(self.now, &address, &segment, &mut self.wheel);
            }
            flow.note_sent(&self.network);
        }
    }

    #[inline]
    pub(super) fn after_sending(&mut self, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        if flow.end == u64::MAX
            && let Some(end) = flow.sender.stream_end()
        {
            flow.end = end;
            self.complete_if_whole(slot);
        }
        let Some(flow) = self.flows.at(slot) else { return };
        if flow.sender.is_done() {
            self.retire(slot);
        } else {
            self.arm(slot);
        }
    }

    #[inline]
    fn arm(&mut self, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        // A blocked packet does not wait for its pace or its application.
        let sender = if flow.blocked { flow.sender.timer() } else { flow.sender.deadline() };
        let due = sender.min(flow.receiver.deadline());
        if due >= flow.timer_at {
            return;
        }
        debug_assert!(flow.later_timer_at >= self.now, "a timer that is noted was passed by");
        let before = core::mem::replace(&mut flow.timer_at, due);
        if before != Time::NEVER {
            flow.later_timer_at = before;
        } else if due >= flow.later_timer_at {
            // The timer of a paced flow with a full window: its timeout was scheduled when the
            // window filled before.
            flow.timer_at = core::mem::replace(&mut flow.later_timer_at, Time::NEVER);
            return;
        }
        match &mut self.turns {
            Some(turns) => turns.note_timer(due, slot),
            None => self.wheel.push(due, FLOW_TIMER | slot),
        }
    }

    pub(super) fn flow_timer(&mut self, slot: u32) {
        let now = self.now;
        let Some(flow) = self.flows.at(slot) else { return };
        if flow.timer_at != now {
            if flow.later_timer_at == now {
                flow.later_timer_at = Time::NEVER;
            }
            return;
        }
        flow.timer_at = Time::NEVER;
        #[cfg(test)]
        self.acts.push(now);
        if flow.receiver.deadline() <= now && flow.receiver.on_timer(now) {
            self.acknowledge_waiting(slot);
        }
        let Some(flow) = self.flows.at(slot) else { return };
        if let Some(mut segment) = flow.sender.on_timer(now) {
            self.packets.sent += 1;
            if let Some(spread) = &mut self.spread {
                let paths = (&mut self.routes, &mut self.network);
                spread.choose(now, flow, false, &self.outcomes, paths);
            }
            let address = flow.out(slot, &mut segment, self.setup);
            self.network.send(now, &address, &segment, &mut self.wheel);
            flow.note_sent(&self.network);
        }
        self.pump(slot);
    }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_units::{Duration, Rate};

    use crate::dumbbell::Dumbbell;
    use crate::engine::{Simulation, Speed};
    use crate::record::NoRecorder;

    /// A packet and its acknowledgement take six hops, and the sender acts once. Each time a window
    /// is full the sender waits for its timeout, whose event was scheduled when the window first
    /// filled.
    #[test]
    fn a_paced_packet_takes_seven_events() {
        let law = AnyLaw::new("xcp", &[]).expect("a law");
        let rtt = Duration::from_millis(80);
        let mut dumbbell = Dumbbell::new(law, 10, Rate::from_mbps(100), rtt, 1000);
        dumbbell.duration = Duration::from_secs(10);
        let setup = dumbbell.setup();
        let mut recorder = NoRecorder;
        let mut simulation =
            Simulation::new(&setup, Box::new(&mut recorder), Speed::full()).expect("a setup");
        simulation.run().expect("it runs");
        let round_trips = simulation.packets.sent as f64 / 2.0;
        let each = simulation.events as f64 / round_trips;
        assert!((6.9..7.1).contains(&each), "{each} events each");
    }
}
