//! Flows of a given size, from their start until all of it has arrived.

use std::collections::BTreeMap;

use ratewire_report::Transfer;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::{FlowCompleted, FlowStarted};
use ratewire_sim::setup::Setup;
use ratewire_units::Bytes;

/// Those that are underway, in the order of starting.
#[derive(Default)]
pub(crate) struct Transfers(BTreeMap<u32, Transfer>);

impl Transfers {
    pub(crate) fn begin(&mut self, setup: &Setup, started: &FlowStarted<'_>) {
        let flow = started.flow.0;
        // What begins at a switch is a part of another's transfer.
        if let Some(size) =
            started.size.filter(|_| !setup.ensembles.begins_at_switch(flow as usize))
        {
            let transfer = Transfer {
                flow,
                traffic: started.traffic.map(|class| class as u32),
                from: started.from.0,
                to: started.to.0,
                size,
                start: started.at,
                ..Transfer::default()
            };
            self.0.insert(flow, transfer);
        }
    }

    /// What a flow that has come to its end has transferred; `None` if it was of no given size, or was stopped before
    /// it had sent that.
    pub(crate) fn complete(&mut self, completed: &FlowCompleted) -> Option<Transfer> {
        let flow = completed.flow.0;
        let transfer = self.0.get(&flow).filter(|transfer| completed.size >= transfer.size)?;
        let done = Transfer {
            start: completed.start,
            took: Some(completed.took),
            ideal: (!completed.ideal.is_zero()).then_some(completed.ideal),
            retransmitted: completed.retransmitted,
            ..*transfer
        };
        self.0.remove(&flow);
        Some(done)
    }

    /// Those that did not complete, as they were when the run ended.
    pub(crate) fn rest(&self, outcome: &Outcome) -> impl Iterator<Item = Transfer> {
        self.0.values().map(|transfer| {
            let end = outcome.flows.get(transfer.flow as usize);
            let retransmitted = end.map_or(Bytes::ZERO, |end| end.retransmitted);
            Transfer { retransmitted, ..*transfer }
        })
    }
}
