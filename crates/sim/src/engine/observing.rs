//! What a run reports on its way.

use ratewire_units::Time;

use super::Simulation;
use super::schedule::OtherEvent;
use crate::error::RunError;
use crate::record::{FollowedFate, Progress};

impl Simulation<'_> {
    /// Reports the followed packet, which is followed no more.
    pub(super) fn end_following(&mut self, fate: FollowedFate) {
        let followed = self.hosts.end_following(self.clock.now, fate, &mut self.network);
        self.records.report_followed(followed);
    }

    pub(super) fn sample(&mut self) {
        let now = self.clock.now;
        let Some(interval) = self.records.begin_sample(now) else { return };
        let flows = &mut self.hosts.flows;
        self.records.sample_flows(now, interval, flows, &self.junctions, &mut self.faults);
        self.records.sample_links(now, interval, &mut self.network, &mut self.schedule);
        if let Some(overlay) = &mut self.overlay {
            overlay.sample(now, interval, &mut *self.records.recorder);
        }
        self.hosts.count_losses(now, &mut self.network);
        if self.setup.follow.in_turn {
            let followed = self.hosts.follow_next(now, &mut self.network);
            self.records.report_followed(followed);
        }
    }

    pub(super) fn schedule_sample(&mut self) {
        let (now, end) = (self.clock.now, self.clock.end);
        // `outcome` takes the last sample, after all events of the last instant.
        let interval = self.setup.sample_interval.filter(|i| !i.is_zero());
        let next = interval.map(|interval| now + interval).filter(|at| *at < end);
        self.network.set_observed_at(next.unwrap_or(end));
        if let Some(at) = next {
            self.schedule.later(at, OtherEvent::Sample);
        }
    }

    pub(super) fn progress(&self, now: Time) -> Progress {
        Progress { now, packets: self.network.in_flight(), flows: self.hosts.flows.in_use() }
    }

    /// Reports the progress of the run, unless a law has broken a rule of its traits. Hosts and
    /// network must have reached this time: the run may end.
    pub(super) fn report_progress(&mut self, now: Time) -> Result<(), RunError> {
        self.check_laws()?;
        let progress = self.progress(now);
        let goes_on = self.records.report_progress(&progress).is_continue();
        if goes_on { Ok(()) } else { Err(RunError::Stopped(now)) }
    }

    pub(super) fn check_laws(&self) -> Result<(), RunError> {
        self.faults.check(self.clock.now, self.setup, &self.network, &self.outcomes.list)
    }
}
