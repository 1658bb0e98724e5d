//! Samples of an overlay, and its outcome.

use ratewire_overlay::membership::LinkMessage;
use ratewire_overlay::queue::{LinkCounts, LinkQueue};
use ratewire_overlay::{Dollars, OverlayNodeId, SenderCounts};
use ratewire_units::{Bytes, Duration, Time};

use super::super::samples::group_outcomes;
use super::{Daemons, Past};
use crate::outcome::{OverlayLinkOutcome, OverlayOutcome, SenderOutcome};
use crate::record::{OverlayLinkSample, OverlaySample, Recorder, SenderSample};

impl Past {
    /// Adds the counters of a queue.
    pub(super) fn add<G, P>(&mut self, now: Time, queue: &mut LinkQueue<LinkMessage<G, P>>) {
        let counts = queue.counts();
        self.area += queue.area(now);
        self.arrived += counts.arrived;
        self.taken += counts.taken;
        self.data += counts.data;
        self.most = self.most.max(counts.most);
    }
}

impl Daemons {
    /// Counters of a node's senders over all lives of its daemon.
    pub(super) fn sender_counts(
        &self,
        now: Time,
        node: OverlayNodeId,
    ) -> Vec<(usize, SenderCounts)> {
        let node = &self.nodes[node.index()];
        let Some(daemon) = &node.daemon else { return Vec::new() };
        let counts = |(sender, id): (usize, _)| {
            let (before, purse) = (self.sent_before[sender], daemon.purse(now, id)?);
            let counts = SenderCounts {
                sent: before.sent + purse.sent,
                owed: before.owed + purse.owed,
                blocked: before.blocked + purse.blocked,
            };
            Some((sender, counts))
        };
        node.clients.senders().filter_map(counts).collect()
    }

    /// Messages that each sender has paid for, and deliveries owed to each group's messages.
    fn sent(&self, now: Time) -> (Vec<SenderOutcome>, Vec<u64>) {
        let earlier = self.spec.senders.iter().zip(&self.sent_before);
        let mut sent: Vec<SenderOutcome> = earlier
            .map(|(sender, counts)| SenderOutcome { group: sender.spec.group, counts: *counts })
            .collect();
        for node in 0..self.nodes.len() {
            for (sender, counts) in self.sender_counts(now, OverlayNodeId(node as u8)) {
                sent[sender].counts = counts;
            }
        }
        let mut owed = vec![0; self.spec.groups.len()];
        sent.iter().for_each(|sender| owed[sender.group.index()] += sender.counts.owed);
        (sent, owed)
    }

    /// Changes since the last sample.
    pub(crate) fn sample(&mut self, at: Time, interval: Duration, recorder: &mut dyn Recorder) {
        let (senders, owed) = self.sent(at);
        let mut sampled = vec![SenderSample::default(); senders.len()];
        for node in &self.nodes {
            let Some(daemon) = &node.daemon else { continue };
            for (sender, id) in node.clients.senders() {
                let Some(purse) = daemon.purse(at, id) else { continue };
                let sample = &mut sampled[sender];
                (sample.money, sample.period) = (Some(purse.money), Some(purse.period));
            }
        }
        let links: Vec<_> = (0..self.connections.len())
            .map(|place| self.sample_link(at, interval, place))
            .collect();
        let groups = self.before.groups(&senders, &mut sampled, &self.tally.groups);
        let owed = self.before.owed(owed.iter().sum());
        let (groups, links, senders) = (&groups[..], &links[..], &sampled[..]);
        recorder.overlay_sample(&OverlaySample { at, interval, groups, links, senders, owed });
    }

    /// Counters of a link over all lives of its daemon.
    fn totals(&mut self, now: Time, place: usize) -> (Past, LinkCounts) {
        let connection = &self.connections[place];
        let mut total = connection.past;
        if let Some(daemon) = &mut self.nodes[connection.from.index()].daemon
            && let Some(queue) = daemon.queue_mut(connection.to)
        {
            total.add(now, queue);
        }
        let counts = LinkCounts {
            arrived: total.arrived,
            taken: total.taken,
            data: total.data,
            updates: Bytes::new(connection.updates),
            other: Bytes::new(connection.other),
            most: total.most,
        };
        (total, counts)
    }

    fn sample_link(&mut self, at: Time, interval: Duration, place: usize) -> OverlayLinkSample {
        let (total, counts) = self.totals(at, place);
        let connection = &self.connections[place];
        let mut price = Dollars::ZERO;
        let mut queue_max = 0;
        if let Some(daemon) = &mut self.nodes[connection.from.index()].daemon {
            let link = daemon.links().find(|link| link.peer == connection.to);
            price = link.map_or(Dollars::ZERO, |link| link.cost);
            queue_max = daemon.queue_mut(connection.to).map_or(0, LinkQueue::take_peak);
        }
        let link = self.before.link(interval, place, total.area, &counts);
        OverlayLinkSample { queue_max, price, ..link }
    }

    pub(crate) fn outcome(&mut self, ended: Time) -> OverlayOutcome {
        let (senders, owed) = self.sent(ended);
        let groups = group_outcomes(&senders, &owed, &self.tally.groups);
        let run = ended.ps().max(1) as f64;
        let mut links = Vec::with_capacity(self.connections.len());
        for place in 0..self.connections.len() {
            let (total, counts) = self.totals(ended, place);
            links.push(OverlayLinkOutcome {
                flow: self.spec.links[place].flow,
                queue_mean: total.area as f64 / run,
                queue_max: counts.most,
                counts,
            });
        }
        OverlayOutcome { groups, senders, links, views: self.tally.entered_by_node().to_vec() }
    }
}
