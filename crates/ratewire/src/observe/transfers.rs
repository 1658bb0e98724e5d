//! Flows of a given size, from their start until all data have arrived.

use std::collections::BTreeMap;

use ratewire_report::Transfer;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::{FlowCompleted, FlowStarted};
use ratewire_sim::setup::Ensembles;
use ratewire_units::Bytes;

/// Transfers in progress, in the order of starting.
#[derive(Default)]
pub(crate) struct Transfers(BTreeMap<u32, Transfer>);

impl Transfers {
    pub(crate) fn begin(&mut self, ensembles: &Ensembles, started: &FlowStarted<'_>) {
        let flow = started.flow.0;
        // A flow that begins at a switch is part of another transfer.
        if let Some(size) = started.size.filter(|_| !ensembles.begins_at_switch(flow as usize)) {
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

    /// The transfer of a flow that ended. `None` if it has no given size, or was stopped before it
    /// had sent all, as emulated flows are.
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

    /// Transfers that did not complete, with their state at the end of the run.
    pub(crate) fn rest(&self, outcome: &Outcome) -> impl Iterator<Item = Transfer> {
        self.0.values().map(|transfer| {
            let end = outcome.flows.get(transfer.flow as usize);
            let retransmitted = end.map_or(Bytes::ZERO, |end| end.retransmitted);
            Transfer { retransmitted, ..*transfer }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_net::spec::NodeId;
    use ratewire_sim::record::FlowId;
    use ratewire_units::{Duration, Time};

    fn started(flow: u32, size: Option<Bytes>) -> FlowStarted<'static> {
        FlowStarted {
            flow: FlowId(flow),
            name: "f",
            from: NodeId(0),
            to: NodeId(1),
            law: 0,
            at: Time::ZERO,
            size,
            traffic: None,
        }
    }

    fn completed(flow: u32, size: u64) -> FlowCompleted {
        FlowCompleted {
            flow: FlowId(flow),
            law: 0,
            traffic: None,
            size: Bytes::new(size),
            start: Time::ZERO,
            took: Duration::from_secs(1),
            ideal: Duration::ZERO,
            retransmitted: Bytes::ZERO,
        }
    }

    #[test]
    fn what_was_stopped_before_all_was_sent_is_not_complete() {
        let mut transfers = Transfers::default();
        for flow in 0..3 {
            let size = (flow < 2).then_some(Bytes::new(1000));
            transfers.begin(&Ensembles::default(), &started(flow, size));
        }
        let sizes: Vec<_> = [(0, 999), (1, 1000), (2, 1000)]
            .map(|(flow, size)| transfers.complete(&completed(flow, size)).map(|t| t.size))
            .into();
        assert_eq!(sizes, [None, Some(Bytes::new(1000)), None]);
        assert!(transfers.complete(&completed(1, 1000)).is_none(), "reported once");
    }
}
