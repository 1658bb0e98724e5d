//! Links as of a time.

use ratewire_units::Time;

use super::network::Network;
use crate::link::Observation;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

impl Network {
    /// Counters and backlog of a link as of `now`.
    pub fn observe(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Observation {
        self.catch_up(now, id, scheduler);
        let far = self.fabric.far_tally(id);
        self.links[id.index()].observe(now, &far)
    }

    /// As [`Network::observe`], without a new start of the interval's peaks.
    pub fn glance(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) -> Observation {
        self.catch_up(now, id, scheduler);
        let tally = self.links[id.index()].tally;
        let seen = self.observe(now, id, scheduler);
        self.links[id.index()].tally = tally;
        seen
    }
}
