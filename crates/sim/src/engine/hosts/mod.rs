//! Hosts: the ends of flows, which process packets and send others.
//!
//! A host gives its packets to the network and sets its timers. Whatever concerns others is
//! returned: [`Delivered`], [`Action`].

mod following;
mod forwarding;
mod lives;
mod paths;
mod sending;
mod waits;

use ratewire_laws::Header;
use ratewire_net::{Body, Ecn, Label};
use ratewire_transport::Reply;
use ratewire_units::{Bytes, Time};

use super::environment::Environment;
use crate::delays::AllDelays;
use crate::flow::FlowTable;
use crate::outcome::PacketCounts;
use crate::routes::RouteTable;
use crate::setup::Setup;
use following::Following;
use paths::Paths;
use waits::Waits;

/// What is to be done about a flow, by its slot, after it has sent what it could.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// All its data have arrived: note that, then [`Hosts::rest`].
    Complete(u32),
    /// All its data are acknowledged: remove it.
    Retire(u32),
    /// It has sent many packets at once: report the progress, then [`Hosts::pump`], or
    /// [`Hosts::rest`] if the run is to end.
    Report(u32),
}

/// What is to be done about a packet that has arrived at its host.
#[derive(Debug)]
pub(super) enum Delivered {
    /// Nothing more; its flow may have an action.
    Taken(Option<Action>),
    /// Data that may complete the flow in this slot, or are followed: note that, then
    /// [`Hosts::reply`].
    Data(u32, Reply),
    /// An acknowledgement that is followed, with its header: note that, then [`Hosts::pump`].
    Followed(u32, Box<Header>),
}

/// All hosts of a run.
#[derive(Debug)]
pub(super) struct Hosts<'a> {
    setup: &'a Setup,
    pub(super) flows: FlowTable,
    /// Slot of each flow that has started.
    pub(super) slots: Vec<Option<u32>>,
    /// Paths of their packets.
    pub(super) paths: Paths<'a>,
    waits: Waits,
    following: Following,
    pub(super) delays: AllDelays,
    /// Packets that they have sent and got.
    pub(super) packets: PacketCounts,
    /// Data packets that they have got.
    pub(super) data_packets: u64,
    /// Times at which hosts acted.
    #[cfg(test)]
    pub(super) acts: Vec<Time>,
}

impl<'a> Hosts<'a> {
    pub(super) fn new(setup: &'a Setup, routes: RouteTable) -> Hosts<'a> {
        Hosts {
            setup,
            flows: FlowTable::default(),
            slots: vec![None; setup.flows.len()],
            paths: Paths::new(setup, routes),
            waits: Waits::new(setup.seed),
            following: Following::default(),
            delays: AllDelays::new(setup.measured, setup.flows.len()),
            packets: PacketCounts::default(),
            data_packets: 0,
            #[cfg(test)]
            acts: Vec::new(),
        }
    }

    /// Slot of a flow that has started and not ended.
    pub(super) fn slot_of(&mut self, id: u32) -> Option<u32> {
        let slot = (*self.slots.get(id as usize)?)?;
        // Another flow may have taken the slot.
        self.flows.get(slot, id).map(|_| slot)
    }

    /// Processes a packet that has arrived at its host.
    #[inline]
    pub(super) fn deliver(&mut self, env: &mut Environment, label: &Label) -> Delivered {
        let now = env.clock.now;
        #[cfg(test)]
        self.acts.push(now);
        self.packets.delivered += 1;
        let slot = label.flow;
        let content = env.network.content(label);
        let Some(flow) = self.flows.get(slot, label.generation) else {
            self.data_packets += u64::from(matches!(content.body, Body::Data { .. }));
            env.network.remove(label);
            return Delivered::Taken(None);
        };
        match content.body {
            Body::Ack { .. } => {
                // The header is not moved: a copy would read bytes that were just written in
                // smaller parts, which the CPU cannot forward from its stores.
                if let Some(ack) = &mut env.network.ack(label) {
                    if let Some(took) = flow.on_ack(now, ack, self.setup) {
                        self.delays.round_trip(now, flow.id.0, took);
                    }
                    if env.network.tracer().follows(label) {
                        env.network.remove(label);
                        return Delivered::Followed(slot, Box::new(ack.header));
                    }
                }
                env.network.remove(label);
                Delivered::Taken(self.pump(env, slot))
            }
            Body::Data { offset, payload, stamp } => {
                self.data_packets += 1;
                if let Some(sent) = env.network.sent(label) {
                    self.delays.one_way(now, flow.id.0, now.since(sent));
                }
                let marked = label.ecn == Ecn::Marked;
                let payload = Bytes::new(u64::from(payload));
                let flow = if flow.receiver.answers_first(marked) {
                    self.acknowledge_waiting(env, slot);
                    let Some(flow) = self.flows.at(slot) else { return Delivered::Taken(None) };
                    flow
                } else {
                    flow
                };
                let content = env.network.content(label);
                let reply =
                    flow.receiver.on_data(now, offset, payload, &content.header, marked, stamp);
                let is_followed = reply == Reply::Later && env.network.tracer().follows(label);
                if flow.is_whole() || is_followed {
                    return Delivered::Data(slot, reply);
                }
                self.reply(env, slot, label, reply);
                Delivered::Taken(None)
            }
            Body::Open => {
                let mut ack = flow.receiver.open(now, &content.header);
                self.paths.choose(flow, true, env);
                let address = flow.back(slot, &mut ack, self.setup);
                self.packets.sent += 1;
                env.network.answer(now, label, &address, &ack, &mut env.schedule);
                Delivered::Taken(None)
            }
            // Modelled hosts send no real packets.
            Body::Kept(_) => {
                env.network.remove(label);
                Delivered::Taken(None)
            }
        }
    }

    /// Replies to data that have arrived for the flow in a slot.
    #[inline(always)]
    pub(super) fn reply(&mut self, env: &mut Environment, slot: u32, label: &Label, reply: Reply) {
        match reply {
            Reply::Now => self.acknowledge(env, slot, label),
            Reply::Later => {
                env.network.remove(label);
                self.arm(env, slot);
            }
        }
    }

    /// Handles a timer event of the flow in a slot.
    pub(super) fn on_timer(&mut self, env: &mut Environment, slot: u32) -> Option<Action> {
        let now = env.clock.now;
        let flow = self.flows.at(slot)?;
        if flow.timer_at != now {
            if flow.later_timer_at == now {
                flow.later_timer_at = Time::NEVER;
            }
            return None;
        }
        flow.timer_at = Time::NEVER;
        #[cfg(test)]
        self.acts.push(now);
        if flow.receiver.deadline() <= now && flow.receiver.on_timer(now) {
            self.acknowledge_waiting(env, slot);
        }
        let flow = self.flows.at(slot)?;
        if let Some(mut segment) = flow.sender.on_timer(now) {
            self.packets.sent += 1;
            self.paths.choose(flow, false, env);
            let address = flow.out(slot, &mut segment, self.setup);
            env.network.send(now, &address, &segment, &mut env.schedule);
            flow.note_sent(&env.network);
        }
        self.pump(env, slot)
    }

    /// Counts packets that were dropped or lost since the last call.
    pub(super) fn count_losses(&mut self, env: &mut Environment) {
        for (flow, packets) in env.network.news().take_lost_data() {
            self.delays.lose(env.clock.now, flow, packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_units::{Duration, Rate};

    use crate::dumbbell::Dumbbell;
    use crate::engine::Simulation;
    use crate::record::NoRecorder;
    use crate::speed::Speed;

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
        let round_trips = simulation.hosts.packets.sent as f64 / 2.0;
        let each = simulation.env.clock.events as f64 / round_trips;
        assert!((6.9..7.1).contains(&each), "{each} events each");
    }
}
