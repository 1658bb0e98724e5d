//! What a run reports, on its way and at its end.

use ratewire_net::spec::LinkId;
use ratewire_units::Time;

use super::Simulation;
use super::schedule::OtherEvent;
use crate::error::RunError;
use crate::outcome::{LinkOutcome, Outcome, PacketCounts};
use crate::record::FollowedFate;

impl Simulation<'_> {
    /// Reports the followed packet, which is followed no more.
    pub(super) fn end_following(&mut self, fate: FollowedFate) {
        let followed = self.hosts.end_following(&mut self.env, fate);
        self.records.report_followed(followed);
    }

    pub(super) fn sample(&mut self) {
        let faults = &mut self.faults;
        self.records.sample(&mut self.env, &mut self.hosts, &self.junctions, faults);
    }

    pub(super) fn schedule_sample(&mut self) {
        let (now, end) = (self.env.clock.now, self.env.clock.end);
        // `outcome` takes the last sample, after all events of the last instant.
        let interval = self.setup.sample_interval.filter(|i| !i.is_zero());
        let next = interval.map(|interval| now + interval).filter(|at| *at < end);
        self.env.network.set_observed_at(next.unwrap_or(end));
        if let Some(at) = next {
            self.env.schedule.later(at, OtherEvent::Sample);
        }
    }

    /// Reports the progress of the run, unless a law has broken a rule of its traits. Hosts and
    /// network must have reached this time: the run may end.
    pub(super) fn report_progress(&mut self, now: Time) -> Result<(), RunError> {
        self.check_laws()?;
        let told = self.records.report_progress(now, &self.env, &self.hosts);
        if told.is_continue() { Ok(()) } else { Err(RunError::Stopped(now)) }
    }

    pub(super) fn check_laws(&self) -> Result<(), RunError> {
        self.faults.check(&self.env, self.setup, &self.outcomes.list)
    }

    /// The outcome of the run, which has reached its end; to be called once.
    pub(super) fn outcome(&mut self) -> Result<Outcome, RunError> {
        let now = self.env.clock.now;
        if self.setup.sample_interval.is_some() {
            self.sample();
        }
        let followed = self.hosts.give_up_following(&mut self.env);
        self.records.report_followed(followed);
        self.records.report_frames(&mut self.env);
        self.env.network.look_for_deadlocks(now);
        for slot in 0..self.hosts.flows.slots() {
            let Some(mut flow) = self.hosts.remove(slot) else { continue };
            flow.passed = self.junctions.passed(flow.id.0);
            self.faults.look_at(&flow, now);
            self.outcomes.settle(&flow);
        }
        self.check_laws()?;
        for flow in &mut self.outcomes.list {
            flow.clamps = self.env.network.clamps(flow.flow.0);
            flow.delivered = flow.delivered.saturating_sub(self.junctions.skipped(flow.flow.0));
        }
        let mut links = Vec::with_capacity(self.setup.network.links.len());
        for link in (0..self.setup.network.links.len() as u32).map(LinkId) {
            let seen = self.env.network.observe(now, link, &mut self.env.schedule);
            links.push(LinkOutcome::of(link, &seen, now));
        }
        let packets = PacketCounts {
            dropped: links.iter().map(|link| link.drops.total()).sum(),
            duplicated: links.iter().map(|link| link.disturbances.duplicated).sum(),
            in_flight: self.env.network.in_flight(),
            ..self.hosts.packets
        };
        let unbalanced = self.env.network.unbalanced_link();
        if !packets.are_conserved() || unbalanced.is_some() {
            return Err(RunError::NotConserved { packets, link: unbalanced });
        }
        if let Some(overlay) = &self.env.overlay {
            overlay.check()?;
        }
        Ok(Outcome {
            overlay: self.env.overlay.as_mut().map(|overlay| overlay.outcome(self.env.clock.end)),
            flows: core::mem::take(&mut self.outcomes.list),
            links,
            packets,
            events: self.env.clock.events,
            data_packets_delivered: self.hosts.data_packets,
            ended: self.env.clock.end,
            delays: core::mem::take(&mut self.hosts.delays),
            deadlock: self.env.network.deadlock().cloned(),
        })
    }
}
