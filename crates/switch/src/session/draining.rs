//! A member that finishes what it has and gets nothing new.

use ratewire_acp::channel::CloseReason;
use ratewire_anypoint::Side;
use ratewire_units::Time;

use super::Session;

impl Session {
    /// Gives a member no new frames, and ends the switch's stream to it. The member's connection
    /// closes when it has all of its frames, has sent its last, and the peer has all of that.
    pub fn drain(&mut self, member: usize) {
        if self.members[member].is_some() && self.gates.set(member, true) {
            self.close(Side::Member(member));
        }
    }

    /// Lets members go whose connections were drained and are over.
    pub(super) fn look_at_drained(&mut self, now: Time) {
        for k in 0..self.members.len() {
            let is_over = self.members[k].as_ref().is_some_and(|leg| leg.closing.is_over());
            if is_over && self.is_draining(k) {
                self.lose(now, k, CloseReason::Done);
            }
        }
    }
}
