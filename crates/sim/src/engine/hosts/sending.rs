//! What the ends of a flow send, and when they next act.

use ratewire_net::Label;
use ratewire_units::{Bytes, Time};

use super::{Action, Hosts};
use crate::engine::environment::Environment;
use crate::record::PROGRESS_EVERY;

/// Why a sender sends no more.
enum Stops {
    /// It has nothing to send, or may not.
    Done,
    /// Its socket found no room in the queue of its host's own link.
    NoRoom,
    /// It has sent as many packets as it was asked for.
    Enough,
}

impl Hosts<'_> {
    /// Sends what the flow in a slot may send now, and notes its next timer.
    #[inline]
    pub(crate) fn pump(&mut self, env: &mut Environment, slot: u32) -> Option<Action> {
        match self.send(env, slot, PROGRESS_EVERY) {
            Stops::Done => {}
            Stops::NoRoom => self.wait_for_room(slot),
            Stops::Enough => return Some(Action::Report(slot)),
        }
        self.rest(env, slot)
    }

    /// Sends one packet of a flow whose socket waits for room.
    pub(crate) fn send_one(&mut self, env: &mut Environment, slot: u32) -> Option<Action> {
        if !matches!(self.send(env, slot, 1), Stops::Done) {
            self.wait_for_room(slot);
        }
        self.rest(env, slot)
    }

    /// Sends up to `most` packets.
    #[inline]
    fn send(&mut self, env: &mut Environment, slot: u32, most: u64) -> Stops {
        let now = env.clock.now;
        let Some(flow) = self.flows.at(slot) else { return Stops::Done };
        flow.blocked = false;
        for _ in 0..most {
            if flow.waits_for_room && !env.network.admits(flow.own_link, flow.packet_size) {
                return Stops::NoRoom;
            }
            flow.look_at_queue(now, slot, &mut env.network, &mut env.schedule);
            if let Some(link) = flow.fed
                && flow.sender.unsent() < flow.sender.mss()
                && let Some(overlay) = &mut env.overlay
            {
                // Messages are fed before the sender could miss them and be taken for idle.
                flow.end = overlay.feed(now, link, &mut flow.sender);
            }
            let Some(mut segment) = flow.sender.poll_transmit(now) else { return Stops::Done };
            self.packets.sent += 1;
            self.paths.choose(flow, false, env);
            let address = flow.out(slot, &mut segment, self.setup);
            if self.following.is_next(slot) && segment.payload > Bytes::ZERO {
                self.following.start(now, flow.id, address.size);
                env.network.send_followed(now, &address, &segment, &mut env.schedule);
            } else {
                env.network.send(now, &address, &segment, &mut env.schedule);
            }
            flow.note_sent(&env.network);
        }
        Stops::Enough
    }

    /// Notes the next timer of a flow that has sent what it could, unless it has ended.
    #[inline]
    pub(crate) fn rest(&mut self, env: &mut Environment, slot: u32) -> Option<Action> {
        let flow = self.flows.at(slot)?;
        if flow.end == u64::MAX
            && let Some(end) = flow.sender.stream_end()
        {
            flow.end = end;
            if flow.is_whole() {
                return Some(Action::Complete(slot));
            }
        }
        if flow.sender.is_done() {
            return Some(Action::Retire(slot));
        }
        self.arm(env, slot);
        None
    }

    /// Sends acknowledgements that were delayed until now.
    #[cold]
    pub(super) fn acknowledge_waiting(&mut self, env: &mut Environment, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        self.paths.choose(flow, true, env);
        let mut ack = flow.receiver.acknowledge(env.clock.now);
        let address = flow.back(slot, &mut ack, self.setup);
        self.packets.sent += 1;
        env.network.acknowledge(env.clock.now, &address, &ack, &mut env.schedule);
    }

    /// Sends the arrived packet back as its acknowledgement.
    #[inline(always)]
    pub(super) fn acknowledge(&mut self, env: &mut Environment, slot: u32, label: &Label) {
        let Some(flow) = self.flows.at(slot) else { return };
        self.paths.choose(flow, true, env);
        let mut ack = flow.receiver.acknowledge(env.clock.now);
        let address = flow.back(slot, &mut ack, self.setup);
        let waits = flow.receiver.deadline() != Time::NEVER;
        self.packets.sent += 1;
        env.network.answer(env.clock.now, label, &address, &ack, &mut env.schedule);
        if waits {
            self.arm(env, slot);
        }
    }

    /// Sets the timer of a flow to when it must next act.
    #[inline]
    pub(super) fn arm(&mut self, env: &mut Environment, slot: u32) {
        let Some(flow) = self.flows.at(slot) else { return };
        // A blocked packet does not wait for its pace or its application.
        let sender = if flow.blocked { flow.sender.timer() } else { flow.sender.deadline() };
        let due = sender.min(flow.receiver.deadline());
        if due >= flow.timer_at {
            return;
        }
        debug_assert!(flow.later_timer_at >= env.clock.now, "a timer that is noted was passed by");
        let before = core::mem::replace(&mut flow.timer_at, due);
        if before != Time::NEVER {
            flow.later_timer_at = before;
        } else if due >= flow.later_timer_at {
            // The timer of a paced flow with a full window: its timeout was scheduled when the
            // window filled before.
            flow.timer_at = core::mem::replace(&mut flow.later_timer_at, Time::NEVER);
            return;
        }
        env.schedule.set_timer(due, slot);
    }
}
