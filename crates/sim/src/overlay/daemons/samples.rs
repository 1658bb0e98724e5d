//! Samples of an overlay, and its outcome.

use ratewire_overlay::membership::LinkMessage;
use ratewire_overlay::queue::{LinkCounts, LinkQueue};
use ratewire_overlay::{Dollars, OverlayNodeId};
use ratewire_units::{Bytes, Duration, Time};

use super::super::spec::OverlaySpec;
use super::{Daemons, Past};
use crate::outcome::{GroupOutcome, OverlayLinkOutcome, OverlayOutcome, SenderOutcome};
use crate::record::{GroupSample, OverlayLinkSample, OverlaySample, SenderSample};

/// Counters as of the last sample.
#[derive(Debug)]
pub(super) struct Before {
    sent: Vec<u64>,
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
            owed: 0,
            delivered: vec![vec![0; spec.nodes.len()]; spec.groups.len()],
            areas: vec![0; spec.links.len()],
            traffic: vec![(Bytes::ZERO, Bytes::ZERO); spec.links.len()],
        }
    }
}

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
    pub(crate) fn sample(
        &mut self,
        at: Time,
        interval: Duration,
        tell: &mut dyn FnMut(&OverlaySample<'_>),
    ) {
        let (senders, owed) = self.sent(at);
        let mut groups = vec![GroupSample::default(); self.spec.groups.len()];
        let mut sampled = vec![SenderSample::default(); senders.len()];
        for ((sender, before), sample) in
            senders.iter().zip(&mut self.before.sent).zip(&mut sampled)
        {
            let now = sender.counts.sent;
            sample.sent = now - core::mem::replace(before, now);
            groups[sender.group.index()].sent += sample.sent;
        }
        for node in &self.nodes {
            let Some(daemon) = &node.daemon else { continue };
            for (sender, id) in node.clients.senders() {
                let Some(purse) = daemon.purse(at, id) else { continue };
                let sample = &mut sampled[sender];
                (sample.money, sample.period) = (Some(purse.money), Some(purse.period));
            }
        }
        let owed: u64 = owed.iter().sum();
        let owed_since = owed - core::mem::replace(&mut self.before.owed, owed);
        for ((group, (delivered, _)), before) in
            groups.iter_mut().zip(self.tally.groups()).zip(&mut self.before.delivered)
        {
            let since = delivered.iter().zip(before.iter()).map(|(now, then)| now - then);
            group.delivered = since.collect();
            before.copy_from_slice(delivered);
        }
        let mut links = Vec::with_capacity(self.connections.len());
        for place in 0..self.connections.len() {
            links.push(self.sample_link(at, interval, place));
        }
        tell(&OverlaySample {
            at,
            interval,
            groups: &groups,
            links: &links,
            senders: &sampled,
            owed: owed_since,
        });
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
        let since = total.area - core::mem::replace(&mut self.before.areas[place], total.area);
        let traffic = (counts.data, counts.control());
        let before = core::mem::replace(&mut self.before.traffic[place], traffic);
        let connection = &self.connections[place];
        let mut price = Dollars::ZERO;
        let mut queue_max = 0;
        if let Some(daemon) = &mut self.nodes[connection.from.index()].daemon {
            let link = daemon.links().find(|link| link.peer == connection.to);
            price = link.map_or(Dollars::ZERO, |link| link.cost);
            queue_max = daemon.queue_mut(connection.to).map_or(0, LinkQueue::take_peak);
        }
        OverlayLinkSample {
            queue_mean: since as f64 / interval.ps().max(1) as f64,
            queue_max,
            price,
            data: traffic.0 - before.0,
            control: traffic.1 - before.1,
        }
    }

    pub(crate) fn outcome(&mut self, ended: Time) -> OverlayOutcome {
        let (senders, owed) = self.sent(ended);
        let mut sent = vec![0; self.spec.groups.len()];
        senders.iter().for_each(|sender| sent[sender.group.index()] += sender.counts.sent);
        let tallies = self.tally.groups();
        let groups = tallies.zip(sent).zip(owed).map(|(((by_node, told), sent), owed)| {
            let delivered: u64 = by_node.iter().sum();
            let mean = told.latency.checked_div(u128::from(delivered));
            GroupOutcome {
                sent,
                owed,
                delivered: by_node.to_vec(),
                latency_mean: mean.map(|ps| Duration::from_ps(ps as u64)),
                latency_max: (delivered > 0).then_some(told.latency_max),
                views: told.views,
            }
        });
        let groups = groups.collect();
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
