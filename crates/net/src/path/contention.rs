//! Links that share a medium send one at a time.

use ratewire_units::Time;

use super::network::Network;
use crate::medium::{Access, contend_again};
use crate::scheduler::Scheduler;
use crate::spec::MediumId;

impl Network {
    /// Lets the next link send, if the medium is free and one wants to.
    pub(super) fn contend(&mut self, now: Time, id: MediumId, scheduler: &mut impl Scheduler) {
        loop {
            match self.mediums.access(now, id, &mut self.links) {
                Access::Nobody => return,
                Access::Wait(link, until) => {
                    return contend_again(until, link, &mut self.links, scheduler);
                }
                Access::Collision(until) => {
                    self.mediums.collide(id, until, &mut self.links, scheduler);
                }
                Access::Send(winner) => {
                    // The port's timers up to now come before the departure.
                    self.catch_up(now, winner, scheduler);
                    // If the discipline drops all waiting packets, the next link has its turn.
                    if self.dequeue(now, winner) {
                        self.start_waiting(now, winner, scheduler);
                        let free = self.links[winner.index()].busy_until;
                        self.mediums.occupy(id, winner, free, &mut self.links, scheduler);
                    }
                }
            }
        }
    }
}
