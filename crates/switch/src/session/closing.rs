//! The end of a session: it goes from the peer to the members, and back when all of them have
//! sent their last frame. If the switch has connected to the peer, or a switch has on whose behalf
//! this one has its members, it goes the other way.

use ratewire_acp::channel::{CloseReason, Closing};
use ratewire_acp::wire::EndKind;
use ratewire_anypoint::Side;
use ratewire_units::Time;

use super::Session;
use crate::leg::Leg;

/// Code of a reset of the peer when all members have gone whose streams were to end first.
const MEMBERS_LOST: u64 = 4;
/// Code of a reset of the members when the peer's connection has failed.
const PEER_LOST: u64 = 3;

impl Session {
    /// Handles a side's statement that its stream ends at an offset.
    pub(super) fn on_close(&mut self, side: Side, end: u64) {
        if let Some(leg) = self.leg_mut(side) {
            leg.end = Some(end);
            leg.closing.other_asks();
            self.has_ends = true;
        }
    }

    /// Tells sides that have sent their last that all has arrived, and passes that on.
    pub(super) fn look_at_ends(&mut self, now: Time) {
        if !self.has_ends || self.peer.closed().is_some() {
            return;
        }
        let sides: Vec<Side> = self.legs().map(|(side, _)| side).collect();
        for side in sides {
            let below = self.switch.acknowledged_below(side);
            let Some(leg) = self.leg_mut(side) else { continue };
            if leg.end.is_some_and(|end| below >= end) {
                leg.closing.other_is_whole();
                self.changed.push(side);
            }
        }
        let is_peer_whole = self.peer.closing.is_other_whole();
        for k in 0..self.members.len() {
            let has_left = |leg: &Leg| leg.closing.is_other_whole() && leg.leaves;
            let has_left = self.members[k].as_ref().is_some_and(has_left);
            if has_left && !is_peer_whole && !self.is_draining(k) {
                // It would not work on what the peer still sends.
                self.lose(now, k, CloseReason::Done);
            }
        }
        let is_staying = |k: usize| self.members[k].is_some() && !self.is_draining(k);
        let has_members = (0..self.members.len()).any(is_staying);
        let is_whole = |leg: &Leg| leg.closing.is_other_whole();
        let are_members_whole = self.members.iter().flatten().all(is_whole);
        let members_first = self.kind == EndKind::SwitchAfter;
        if members_first && self.has_begun() && has_members && are_members_whole {
            self.close(Side::Peer);
        }
        let has_none = self.members.iter().all(Option::is_none);
        if members_first && has_none && !is_peer_whole && !self.peer.closing.may_write() {
            // None may join any more. A new session has members again.
            return self.reset(MEMBERS_LOST, "no member is left");
        }
        if is_peer_whole && (!members_first || !self.peer.closing.may_write()) {
            (0..self.members.len()).for_each(|k| self.close(Side::Member(k)));
            if are_members_whole {
                self.close(Side::Peer);
            }
        }
    }

    /// Ends the switch's stream to a side.
    pub(super) fn close(&mut self, side: Side) {
        let end = self.switch.next_offset(side);
        if let Some(leg) = self.leg_mut(side)
            && leg.closing.may_write()
        {
            leg.closing.close_own(end);
            self.changed.push(side);
        }
    }

    /// Ends the session because the peer's connection is over: members are told.
    pub(super) fn end(&mut self, reason: CloseReason) {
        let told = CloseReason::Local { code: PEER_LOST, text: reason.to_string() };
        match &reason {
            CloseReason::Violation(_) => self.peer.closing.reset(reason),
            _ => self.peer.closing.end(reason),
        }
        let reset = |closing: &mut Closing| closing.reset(told.clone());
        self.members.iter_mut().flatten().for_each(|leg| reset(&mut leg.closing));
        self.changed_all();
    }
}
