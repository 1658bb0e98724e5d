//! Flows of a class of arriving traffic, summed up, and its incasts.

use std::collections::BTreeMap;

use ratewire_report::{DelaySummary, TrafficSummary};
use ratewire_sim::record::{FlowCompleted, FlowStarted};
use ratewire_statistics::Histogram;
use ratewire_units::{Bytes, Duration, Time};

/// Flows of a class that started in the measured part of the run.
#[derive(Debug)]
pub(crate) struct Arrived {
    flows: u64,
    size: Bytes,
    completed: u64,
    retransmitted: Bytes,
    fan_in: u32,
    /// By the start of an incast whose flows are not all complete: how many are, and the longest.
    open: BTreeMap<Time, (u32, Duration)>,
    /// Nanoseconds until the last flow of each incast was complete.
    incasts: Histogram<10>,
}

impl Arrived {
    /// No flows yet, of a class of which `fan_in` start at once.
    pub(crate) fn new(fan_in: u32) -> Arrived {
        Arrived {
            flows: 0,
            size: Bytes::ZERO,
            completed: 0,
            retransmitted: Bytes::ZERO,
            fan_in,
            open: BTreeMap::new(),
            incasts: Histogram::default(),
        }
    }

    pub(crate) fn start(&mut self, started: &FlowStarted<'_>) {
        self.flows += 1;
        self.size += started.size.unwrap_or(Bytes::ZERO);
    }

    pub(crate) fn complete(&mut self, completed: &FlowCompleted) {
        self.completed += 1;
        self.retransmitted += completed.retransmitted;
        if self.fan_in <= 1 {
            return;
        }
        let (done, longest) = self.open.entry(completed.start).or_default();
        *done += 1;
        *longest = completed.took.max(*longest);
        if *done == self.fan_in {
            self.incasts.add(longest.secs() * 1e9);
            self.open.remove(&completed.start);
        }
    }

    /// Writes them to the summary of their class.
    pub(crate) fn fill(&self, class: &mut TrafficSummary) {
        class.arrived_flows = self.flows;
        class.arrived_bytes = self.size.get();
        class.completed_flows = self.completed;
        class.retransmitted_bytes = self.retransmitted.get();
        class.incasts = DelaySummary::of(&self.incasts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_sim::record::FlowId;

    /// The summary after flows that started and took so many milliseconds.
    fn of(fan_in: u32, flows: &[(u64, u64)]) -> TrafficSummary {
        let mut arrived = Arrived::new(fan_in);
        for (start, took) in flows {
            arrived.complete(&FlowCompleted {
                flow: FlowId(0),
                law: 0,
                traffic: Some(0),
                size: Bytes::new(1000),
                start: Time::ZERO + Duration::from_millis(*start),
                took: Duration::from_millis(*took),
                ideal: Duration::ZERO,
                retransmitted: Bytes::new(10),
            });
        }
        let mut summary = TrafficSummary::default();
        arrived.fill(&mut summary);
        summary
    }

    #[test]
    fn an_incast_is_complete_with_its_last_flow() {
        // The second incast begins before the first is complete; of the third a flow is missing.
        let flows = [(0, 5), (10, 3), (0, 30), (10, 4), (20, 1), (0, 6), (10, 50), (20, 2)];
        let all = of(3, &flows);
        let incasts = all.incasts.expect("incasts");
        assert_eq!((incasts.samples, incasts.mean_s, incasts.max_s), (2, 0.04, 0.05));
        assert_eq!((all.completed_flows, all.retransmitted_bytes), (8, 80));
        assert_eq!(of(1, &flows).incasts, None, "single flows are no incasts");
    }
}
