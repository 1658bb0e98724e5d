//! The end of a session: it goes from the peer to the members, and back when all of them have
//! sent their last frame.

use ratewire_acp::channel::{CloseReason, Closing};
use ratewire_anypoint::Side;
use ratewire_units::Time;

use super::Session;
use crate::leg::Leg;

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
            let leaves = |leg: &Leg| leg.closing.is_other_whole();
            let has_left = self.members[k].as_ref().is_some_and(leaves);
            if has_left && !is_peer_whole && !self.is_draining(k) {
                // It would not work on what the peer still sends.
                self.lose(now, k, CloseReason::Done);
            }
        }
        if is_peer_whole {
            for k in 0..self.members.len() {
                let end = self.switch.next_offset(Side::Member(k));
                self.close(Side::Member(k), end);
            }
        }
        let mut members = self.members.iter().flatten();
        if is_peer_whole && members.all(|leg| leg.closing.is_other_whole()) {
            let end = self.switch.next_offset(Side::Peer);
            self.close(Side::Peer, end);
        }
    }

    pub(super) fn close(&mut self, side: Side, end: u64) {
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
