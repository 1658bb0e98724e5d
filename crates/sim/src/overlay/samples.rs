//! Samples of an overlay: what has changed since the last one.

use ratewire_overlay::queue::LinkCounts;
use ratewire_overlay::{Dollars, SenderCounts};
use ratewire_units::{Bytes, Duration};

use super::tally::OverlayTally;
use crate::outcome::{GroupOutcome, SenderOutcome};
use crate::record::{GroupSample, OverlayLinkSample, SenderSample};
use crate::setup::overlay::OverlaySpec;

/// Counters as of the last sample.
#[derive(Debug)]
pub(super) struct Before {
    sent: Vec<u64>,
    blocked: Vec<Duration>,
    owed: u64,
    /// Messages by group and node.
    delivered: Vec<Vec<u64>>,
    areas: Vec<u128>,
    traffic: Vec<(Bytes, Bytes)>,
}

impl Before {
    pub(super) fn new(spec: &OverlaySpec) -> Before {
        Before {
            sent: vec![0; spec.senders.len()],
            blocked: vec![Duration::ZERO; spec.senders.len()],
            owed: 0,
            delivered: vec![vec![0; spec.nodes.len()]; spec.groups.len()],
            areas: vec![0; spec.links.len()],
            traffic: vec![(Bytes::ZERO, Bytes::ZERO); spec.links.len()],
        }
    }

    /// Messages of each group, and those of each sender, which are noted in `sampled` with the time
    /// for which they waited.
    pub(super) fn groups(
        &mut self,
        senders: &[SenderOutcome],
        sampled: &mut [SenderSample],
        tally: &OverlayTally,
    ) -> Vec<GroupSample> {
        let mut groups = vec![GroupSample::default(); self.delivered.len()];
        for (place, (sender, sample)) in senders.iter().zip(sampled).enumerate() {
            let SenderCounts { sent, blocked, .. } = sender.counts;
            sample.sent = sent - core::mem::replace(&mut self.sent[place], sent);
            let before = core::mem::replace(&mut self.blocked[place], blocked);
            sample.blocked = blocked.saturating_sub(before);
            groups[sender.group.index()].sent += sample.sent;
        }
        let delivered = tally.groups().zip(&mut self.delivered);
        for (group, ((delivered, _), before)) in groups.iter_mut().zip(delivered) {
            let since = delivered.iter().zip(before.iter()).map(|(now, then)| now - then);
            group.delivered = since.collect();
            before.copy_from_slice(delivered);
        }
        groups
    }

    /// Deliveries newly owed.
    pub(super) fn owed(&mut self, owed: u64) -> u64 {
        owed - core::mem::replace(&mut self.owed, owed)
    }

    /// Queue and traffic of a link, without the maximum of its queue and its price.
    pub(super) fn link(
        &mut self,
        interval: Duration,
        place: usize,
        area: u128,
        counts: &LinkCounts,
    ) -> OverlayLinkSample {
        let since = area - core::mem::replace(&mut self.areas[place], area);
        let traffic = (counts.data, counts.control());
        let before = core::mem::replace(&mut self.traffic[place], traffic);
        OverlayLinkSample {
            queue_mean: since as f64 / interval.ps().max(1) as f64,
            queue_max: 0,
            price: Dollars::ZERO,
            data: traffic.0 - before.0,
            control: traffic.1 - before.1,
        }
    }
}

/// Outcomes of all groups; `owed` are deliveries by group.
pub(super) fn group_outcomes(
    senders: &[SenderOutcome],
    owed: &[u64],
    tally: &OverlayTally,
) -> Vec<GroupOutcome> {
    let mut sent = vec![0; owed.len()];
    senders.iter().for_each(|sender| sent[sender.group.index()] += sender.counts.sent);
    let groups = tally.groups().zip(sent).zip(owed);
    let outcomes = groups.map(|(((by_node, told), sent), owed)| {
        let delivered: u64 = by_node.iter().sum();
        let mean = told.latency.checked_div(u128::from(delivered));
        GroupOutcome {
            sent,
            owed: *owed,
            delivered: by_node.to_vec(),
            latency_mean: mean.map(|ps| Duration::from_ps(ps as u64)),
            latency_max: (delivered > 0).then_some(told.latency_max),
            views: told.views,
        }
    });
    outcomes.collect()
}
