//! Follows packets, to explain what limited their flows' rates.

use ratewire_units::{Bytes, Time};

use super::Hosts;
use crate::engine::environment::Environment;
use crate::record::{FlowId, Followed, FollowedFate};

/// No slot.
const NONE: u32 = u32::MAX;

/// State of following: the current packet, and the next one.
#[derive(Debug)]
pub(super) struct Following {
    /// Slot whose next data packet is followed.
    slot: u32,
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
    /// Whether the next data packet from this slot is to be followed.
    #[inline]
    pub(super) fn is_next(&self, slot: u32) -> bool {
        slot == self.slot
    }

    /// Notes that the packet is sent.
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

impl Hosts<'_> {
    /// Starts following the flow asked about; no other flow is followed until its packet has been
    /// answered.
    #[cold]
    pub(crate) fn follow_asked(&mut self, env: &mut Environment) {
        if let Some((flow, _)) = self.setup.follow.asked
            && let Some(slot) = self.slot_of(flow.0)
        {
            env.network.tracer_mut().take_trail();
            self.following =
                Following { slot, asked: true, packet: None, turn: self.following.turn };
        }
    }

    /// Starts following the next listed flow, unless a packet is still being followed. Returns the
    /// packet that was followed before and not acknowledged.
    #[cold]
    pub(crate) fn follow_next(&mut self, env: &mut Environment) -> Option<Followed> {
        let underway = self.following.packet.is_some() && env.network.tracer().is_busy();
        if underway || self.following.asked {
            return None;
        }
        let before = self.give_up_following(env);
        let listed = self.setup.flows.len().min(self.setup.sampled_flows as usize) as u32;
        let turn = (self.following.turn + 1).min(listed);
        let next = (turn..listed).chain(0..turn).find_map(|id| Some((id, self.slot_of(id)?)));
        if let Some((flow, slot)) = next {
            self.following.turn = flow;
            self.following.slot = slot;
        }
        before
    }

    /// The flow in which the followed packet was sent.
    pub(crate) fn followed_flow(&self) -> Option<u32> {
        self.following.packet.as_ref().map(|packet| packet.flow.0)
    }

    /// Ends following: the followed packet, with its fate.
    #[cold]
    pub(crate) fn end_following(
        &mut self,
        env: &mut Environment,
        fate: FollowedFate,
    ) -> Option<Followed> {
        let trail = env.network.tracer_mut().take_trail()?;
        let Packet { flow, asked, sent, size } = self.following.packet.take()?;
        let slot = self.slot_of(flow.0)?;
        let of = self.flows.at(slot)?;
        Some(Followed {
            flow,
            asked,
            sent,
            size: Bytes::new(u64::from(size)),
            trail: trail.until(env.clock.now),
            fate,
            kept_by: of.sender.kept_by(),
            blocked: of.blocked,
            reason: of.sender.source().reason(),
            window: of.window(&self.setup.laws),
            pacing: of.sender.pacing(),
            srtt: of.sender.rtt().srtt(),
        })
    }

    /// Ends following; the followed packet, if there is one, was not acknowledged.
    pub(crate) fn give_up_following(&mut self, env: &mut Environment) -> Option<Followed> {
        let is_underway = env.network.tracer().is_busy();
        let fate = if is_underway { FollowedFate::Underway } else { FollowedFate::Lost };
        let followed = self.end_following(env, fate);
        self.following.packet = None;
        followed
    }
}
