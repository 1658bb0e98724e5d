//! The outcome of a run.

use ratewire_net::spec::LinkId;

use super::Simulation;
use crate::error::RunError;
use crate::outcome::{LinkOutcome, Outcome, PacketCounts};

impl Simulation<'_> {
    /// The outcome of the run, which has reached its end; to be called once.
    pub(super) fn outcome(&mut self) -> Result<Outcome, RunError> {
        let now = self.clock.now;
        if self.setup.sample_interval.is_some() {
            self.sample();
        }
        let followed = self.hosts.give_up_following(now, &mut self.network);
        self.records.report_followed(followed);
        self.records.report_frames(now, &mut self.network);
        self.network.look_for_deadlocks(now);
        for slot in 0..self.hosts.flows.slots() {
            let Some(mut flow) = self.hosts.remove(slot) else { continue };
            flow.passed = self.junctions.passed(flow.id.0);
            self.faults.look_at(&flow, now);
            self.outcomes.settle(&flow);
        }
        self.check_laws()?;
        for flow in &mut self.outcomes.list {
            flow.clamps = self.network.clamps(flow.flow.0);
            flow.delivered = flow.delivered.saturating_sub(self.junctions.skipped(flow.flow.0));
        }
        let mut links = Vec::with_capacity(self.setup.network.links.len());
        for link in (0..self.setup.network.links.len() as u32).map(LinkId) {
            let seen = self.network.observe(now, link, &mut self.schedule);
            links.push(LinkOutcome::of(link, &seen, now));
        }
        let packets = PacketCounts {
            dropped: links.iter().map(|link| link.drops.total()).sum(),
            duplicated: links.iter().map(|link| link.disturbances.duplicated).sum(),
            in_flight: self.network.in_flight(),
            ..self.hosts.packets
        };
        let unbalanced = self.network.unbalanced_link();
        if !packets.are_conserved() || unbalanced.is_some() {
            return Err(RunError::NotConserved { packets, link: unbalanced });
        }
        if let Some(overlay) = &self.overlay {
            overlay.check()?;
        }
        Ok(Outcome {
            overlay: self.overlay.as_mut().map(|overlay| overlay.outcome(self.clock.end)),
            flows: core::mem::take(&mut self.outcomes.list),
            links,
            packets,
            events: self.clock.events,
            data_packets_delivered: self.hosts.data_packets,
            ended: self.clock.end,
            delays: core::mem::take(&mut self.hosts.delays),
            deadlock: self.network.deadlock().cloned(),
        })
    }
}
