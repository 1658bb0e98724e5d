//! Starts and ends of the ends of flows.

use ratewire_net::Network;
use ratewire_net::spec::LinkId;

use super::Hosts;
use crate::SetupError;
use crate::engine::environment::Environment;
use crate::flow::{Flow, Start};
use crate::record::FlowId;
use crate::setup::FlowSpec;
use crate::small_queue::{Knowledge, is_possible};

impl Hosts<'_> {
    /// Puts the two ends of a flow on their hosts.
    ///
    /// # Errors
    /// An error if there is no route from one to the other, or back.
    pub(crate) fn open(
        &mut self,
        env: &mut Environment,
        id: FlowId,
        spec: &FlowSpec,
    ) -> Result<u32, SetupError> {
        let forward =
            self.paths.routes.get(&mut env.network, spec.from, spec.to, u64::from(id.0))?;
        let reverse =
            self.paths.routes.get(&mut env.network, spec.to, spec.from, u64::from(id.0))?;
        let mut flow = Flow::new(Start {
            now: env.clock.now,
            id,
            spec,
            setup: self.setup,
            forward,
            reverse,
            knowledge: self.knowledge(spec, forward.first, &env.network),
            fed: env.overlay.as_ref().and_then(|overlay| overlay.link_of(id.0 as usize)),
        });
        if self.setup.ensembles.holds(id.0, env.clock.now) {
            flow.sender.hold();
        }
        let slot = self.flows.insert(flow);
        let index = id.0 as usize;
        self.slots.resize(self.slots.len().max(index + 1), None);
        self.slots[index] = Some(slot);
        Ok(slot)
    }

    /// How a flow learns what it has in the queue of its host's own link.
    fn knowledge(&self, spec: &FlowSpec, link: LinkId, network: &Network) -> Knowledge {
        let own = &self.setup.network.links[link.index()];
        let law = &self.setup.laws[spec.law];
        if !spec.transport.keeps_small_queues(law) || !is_possible(own) {
            Knowledge::Unneeded
        } else if network.foretells(link) {
            Knowledge::Foretold
        } else {
            Knowledge::Seen
        }
    }

    /// Whether all data of a flow have arrived and its completion is not noted yet.
    pub(crate) fn is_whole(&mut self, slot: u32) -> bool {
        self.flows.at(slot).is_some_and(|flow| flow.is_whole())
    }

    /// Lets the application of a flow write no more; returns the flow's slot.
    pub(crate) fn stop(&mut self, id: u32) -> Option<u32> {
        let slot = self.slot_of(id)?;
        let flow = self.flows.at(slot)?;
        flow.sender.stop();
        flow.end = flow.sender.stream_end().unwrap_or(u64::MAX);
        Some(slot)
    }

    /// Lets the application of a flow pause, or go on; returns the flow's slot.
    pub(crate) fn hold(&mut self, id: u32, holds: bool) -> Option<u32> {
        let slot = self.slot_of(id)?;
        let sender = &mut self.flows.at(slot)?.sender;
        if holds {
            sender.hold()
        } else {
            sender.resume()
        }
        Some(slot)
    }

    /// Removes a flow whose data are all acknowledged.
    pub(crate) fn remove(&mut self, slot: u32) -> Option<Box<Flow>> {
        self.following.forget(slot);
        self.flows.remove(slot)
    }

    /// Removes a flow whose host has failed; its slot is not reused.
    pub(crate) fn abandon(&mut self, id: u32) -> Option<Box<Flow>> {
        let slot = self.slots[id as usize].take()?;
        self.following.forget(slot);
        self.flows.abandon(slot)
    }
}
