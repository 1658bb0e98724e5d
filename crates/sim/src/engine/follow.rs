//! Follows packets, to explain what limited their flows' rates.

use ratewire_units::{Bytes, Time};

use super::Simulation;
use crate::record::{FlowId, Followed, FollowedFate};

/// No slot.
const NONE: u32 = u32::MAX;

/// State of following: the current packet, and the next one.
#[derive(Debug)]
pub(super) struct Following {
    /// Slot whose next data packet is followed.
    pub(super) slot: u32,
    /// Whether that packet is the one asked about.
    asked: bool,
    packet: Option<Packet>,
    /// Listed flow whose turn was last.
    turn: u32,
}

/// The packet that is followed.
#[derive(Debug)]
struct Packet {
    flow: FlowId,
    asked: bool,
    sent: Time,
    size: u32,
}

impl Default for Following {
    fn default() -> Following {
        Following { slot: NONE, asked: false, packet: None, turn: 0 }
    }
}

impl Following {
    #[cold]
    pub(super) fn start(&mut self, now: Time, flow: FlowId, size: u32) {
        self.slot = NONE;
        let asked = core::mem::take(&mut self.asked);
        self.packet = Some(Packet { flow, asked, sent: now, size });
    }

    /// Forgets a slot whose flow is over.
    pub(super) fn forget(&mut self, slot: u32) {
        if self.slot == slot {
            self.slot = NONE;
            self.asked = false;
        }
    }
}

impl Simulation<'_> {
    /// Starts following the flow asked about; no other flow is followed until its packet has been
    /// answered.
    #[cold]
    pub(super) fn follow_asked(&mut self) {
        if let Some((flow, _)) = self.setup.follow.asked
            && let Some(Some(slot)) = self.slots.get(flow.0 as usize)
            // Another flow may have taken the slot.
            && self.flows.get(*slot, flow.0).is_some()
        {
            self.network.tracer_mut().take_trail();
            self.following =
                Following { slot: *slot, asked: true, packet: None, turn: self.following.turn };
        }
    }

    /// Starts following the next listed flow, unless a packet is still being followed.
    #[cold]
    pub(super) fn follow_next(&mut self) {
        let listed = self.setup.flows.len().min(self.setup.sampled_flows as usize) as u32;
        let underway = self.following.packet.is_some() && self.network.tracer().is_busy();
        if underway || self.following.asked {
            return;
        }
        self.give_up_following();
        let turn = (self.following.turn + 1).min(listed);
        let mut slot_of = |flow: u32| {
            let slot = self.slots[flow as usize]?;
            self.flows.get(slot, flow).map(|_| (flow, slot))
        };
        let next = (turn..listed).chain(0..turn).find_map(&mut slot_of);
        if let Some((flow, slot)) = next {
            self.following.turn = flow;
            self.following.slot = slot;
        }
    }

    /// Whether the followed packet was sent in this flow.
    #[cold]
    pub(crate) fn is_followed_flow(&self, flow: Option<u32>) -> bool {
        flow.is_some() && self.following.packet.as_ref().map(|packet| packet.flow.0) == flow
    }

    /// Reports the followed packet.
    #[cold]
    pub(crate) fn report_followed(&mut self, fate: FollowedFate) {
        let Some(trail) = self.network.tracer_mut().take_trail() else { return };
        let Some(packet) = self.following.packet.take() else { return };
        let Packet { flow, asked, sent, size } = packet;
        let Some(slot) = self.slots[flow.0 as usize] else { return };
        let Some(of) = self.flows.get(slot, flow.0) else { return };
        self.recorder.followed(&Followed {
            flow,
            asked,
            sent,
            size: Bytes::new(u64::from(size)),
            trail: trail.until(self.now),
            fate,
            kept_by: of.sender.kept_by(),
            blocked: of.blocked,
            reason: of.sender.source().reason(),
            window: of.window(&self.setup.laws),
            pacing: of.sender.pacing(),
            srtt: of.sender.rtt().srtt(),
        });
    }

    /// Reports the followed packet, if there is one, as not acknowledged.
    pub(super) fn give_up_following(&mut self) {
        let fate = if self.network.tracer().is_busy() {
            FollowedFate::Underway
        } else {
            FollowedFate::Lost
        };
        self.report_followed(fate);
        self.following.packet = None;
    }
}
