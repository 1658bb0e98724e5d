//! The part of a run that its figures are about, and sums of samples over it.

use ratewire_sim::outcome::{Disturbances, Drops, FlowOutcome, LinkOutcome, Outcome, Pausing};
use ratewire_sim::record::{FlowSample, LinkSample};
use ratewire_sim::setup::Setup;
use ratewire_units::{Bytes, Duration, Time};

/// Sums of samples over a part of the run.
pub(crate) struct Window {
    from: Time,
    to: Time,
    links: Vec<LinkSums>,
    flows: Vec<FlowSums>,
}

#[derive(Clone, Copy, Default)]
struct FlowSums {
    delivered: Bytes,
    retransmitted: Bytes,
    retransmitted_packets: u64,
    /// Packets that its sender had sent again by the last sample.
    sent_again: u64,
}

#[derive(Clone, Copy, Default)]
struct LinkSums {
    time: Duration,
    busy: f64,
    sent: Bytes,
    packets: u64,
    /// Integrals of the backlog over seconds.
    queue_packets: f64,
    queue_bytes: f64,
    queue_packets_max: u32,
    queue_bytes_max: Bytes,
    drops: Drops,
    marks: u64,
    clamps: u64,
    pausing: Pausing,
    disturbances: Disturbances,
}

impl Window {
    /// The measured part of a run; `None` if all of it is measured.
    pub(crate) fn of(setup: &Setup) -> Option<Window> {
        let (from, to) = setup.measured?;
        Some(Window {
            from,
            to,
            links: vec![LinkSums::default(); setup.network.links.len()],
            flows: vec![FlowSums::default(); setup.flows.len()],
        })
    }

    /// Whether a sample of an interval that ends at `at` belongs to it.
    pub(crate) fn covers(&self, at: Time) -> bool {
        self.from < at && at <= self.to
    }

    /// Whether something that happens at `at` belongs to it, such as a flow's start.
    pub(crate) fn includes(&self, at: Time) -> bool {
        self.from <= at && at < self.to
    }

    pub(crate) fn flow(&mut self, sample: &FlowSample) {
        let is_covered = self.covers(sample.at);
        let Some(flow) = self.flows.get_mut(sample.flow.0 as usize) else { return };
        let before = std::mem::replace(&mut flow.sent_again, sample.retransmitted_packets);
        if is_covered {
            flow.delivered += sample.delivered;
            flow.retransmitted += sample.retransmitted;
            // A flow may have a new sender, which has sent nothing again.
            let more = sample.retransmitted_packets.checked_sub(before);
            flow.retransmitted_packets += more.unwrap_or(sample.retransmitted_packets);
        }
    }

    pub(crate) fn link(&mut self, sample: &LinkSample) {
        if !self.covers(sample.at) {
            return;
        }
        let Some(link) = self.links.get_mut(sample.link.index()) else { return };
        let seconds = sample.interval.secs();
        link.time += sample.interval;
        link.busy += sample.busy * seconds;
        link.sent += sample.sent;
        link.packets += sample.packets;
        link.queue_packets += sample.queue_packets_mean * seconds;
        link.queue_bytes += sample.queue_bytes_mean * seconds;
        link.queue_packets_max = link.queue_packets_max.max(sample.queue_packets_max);
        link.queue_bytes_max = link.queue_bytes_max.max(sample.queue_bytes_max);
        link.drops += sample.drops;
        link.marks += sample.marks;
        link.clamps += sample.clamps;
        link.pausing += sample.pausing;
        link.disturbances += sample.disturbances;
    }

    /// The end of the part, or of the run if that was ended before.
    fn end(&self, ended: Time) -> Time {
        self.to.min(ended)
    }

    /// Time over which links were measured.
    pub(crate) fn length(&self, ended: Time) -> Duration {
        self.end(ended).max(self.from).since(self.from)
    }

    /// When a flow ran within the part: until it completed, if it did.
    pub(crate) fn life(&self, flow: &FlowOutcome, ended: Time) -> Duration {
        let started = flow.started.unwrap_or(Time::NEVER).max(self.from);
        let end = flow.completed.unwrap_or(Time::NEVER).min(self.end(ended));
        end.max(started).since(started)
    }

    /// What flows and links did in the part. Payload counts when it arrives, in order or not.
    pub(crate) fn outcome(&self, outcome: &Outcome) -> (Vec<FlowOutcome>, Vec<LinkOutcome>) {
        let flow = |(flow, sums): (&FlowOutcome, &FlowSums)| {
            let of = outcome.delays.of_flow(flow.flow.0 as usize).map(|of| &of.round_trip);
            let rtt = |ns: Option<f64>| ns.map(|ns| Duration::from_nanos(ns as u64));
            FlowOutcome {
                delivered: sums.delivered,
                retransmitted: sums.retransmitted,
                retransmitted_packets: sums.retransmitted_packets,
                min_rtt: rtt(of.and_then(|of| of.min())),
                max_rtt: rtt(of.and_then(|of| of.max())),
                mean_rtt: rtt(of.and_then(|of| of.mean())),
                ..flow.clone()
            }
        };
        let link = |(link, sums): (&LinkOutcome, &LinkSums)| {
            let seconds = sums.time.secs();
            let mean = |integral: f64| if seconds > 0.0 { integral / seconds } else { 0.0 };
            LinkOutcome {
                link: link.link,
                busy: Duration::from_secs_f64(sums.busy),
                sent: sums.sent,
                packets: sums.packets,
                queue_packets_mean: mean(sums.queue_packets),
                queue_bytes_mean: mean(sums.queue_bytes),
                queue_packets_max: sums.queue_packets_max,
                queue_bytes_max: sums.queue_bytes_max,
                drops: sums.drops,
                marks: sums.marks,
                clamps: sums.clamps,
                pausing: sums.pausing,
                disturbances: sums.disturbances,
            }
        };
        (
            outcome.flows.iter().zip(&self.flows).map(flow).collect(),
            outcome.links.iter().zip(&self.links).map(link).collect(),
        )
    }
}
