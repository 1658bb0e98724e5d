//! Events of links: packets reach the far end.

mod rare;

use ratewire_units::Time;

use super::network::Network;
use crate::packet::Label;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

impl Network {
    /// Handles an event of a link; returns a packet that has arrived at its destination.
    #[inline(always)]
    pub fn on_event(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        let mut link = &mut self.links[id.index()];
        if link.next_event != now {
            return None;
        }
        let label = if link.is_rare() {
            self.on_rare_event(now, id, scheduler)?
        } else {
            // The port's timers can wait until it sees a packet again, because nothing that it sees
            // changes before.
            if link.departure_is_due(now) {
                let until = self.lines.known_until(link.ends, now);
                self.catch_up(until, id, scheduler);
                link = &mut self.links[id.index()];
            }
            link.take_head(id, scheduler)
        };
        self.forward(now, label, scheduler)
    }
}
