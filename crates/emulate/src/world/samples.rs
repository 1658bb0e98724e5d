//! Reports on flows and links during a run, and its result.

use ratewire_net::spec::LinkId;
use ratewire_sim::outcome::{FlowOutcome, LinkOutcome, Outcome};
use ratewire_sim::record::{ArrivingSample, FlowCompleted, FlowId, FlowSample, LinkSample};
use ratewire_units::{Bytes, Duration, Time};

use super::World;
use super::round_trips::RoundTripFigures;
use crate::Error;
use crate::fidelity::Fidelity;
use crate::flow::{Answer, Answers, Asking, Flow, SenderInfo};
use crate::handoff::Call;

/// A flow's state between samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowCounts {
    /// Payload that has left the network for the receiver, each byte once.
    pub(super) arrived: Bytes,
    /// Payload that entered the network more than once, and its packets.
    pub(super) sent_again: Bytes,
    pub(super) packets_sent_again: u64,
    /// Payload that had arrived at the last sample, and the part that was reported.
    due: Bytes,
    reported: Bytes,
    sampled_retransmitted: Bytes,
    started: bool,
    completed: bool,
    /// Whether the flow was sampled after its completion.
    settled: bool,
    pub(super) round_trips: RoundTripFigures,
}

impl FlowCounts {
    /// Payload that arrived between the last two samples.
    fn newly_arrived(&mut self) -> Bytes {
        self.due - core::mem::replace(&mut self.reported, self.due)
    }
}

/// A sample whose flows are reported between packets, some at a time: thousands at once would make
/// packets late.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reporting {
    at: Time,
    interval: Duration,
    /// The next flow.
    next: usize,
}

/// Flows reported at once.
const REPORTED_AT_ONCE: usize = 64;

impl World<'_> {
    /// Starts to ask kernels about flows at each sample.
    pub(super) fn start_asking(&mut self) -> Result<(), Error> {
        let interval = self.setup.sample_interval.filter(|interval| !interval.is_zero());
        let Some(interval) = interval.filter(|_| self.reported_flows > 0) else { return Ok(()) };
        let sampled = self.setup.sampled_flows as usize;
        self.asking = Some(Asking::start(self.flows, sampled, interval, self.clock)?);
        Ok(())
    }

    /// Reports some flows, if the kernel has answered.
    pub(super) fn report_some(&mut self) {
        let Some(reporting) = self.reporting else { return };
        self.look_for_answers();
        if self.answers.are_of(reporting.at) {
            self.report_up_to(reporting.next + REPORTED_AT_ONCE);
        }
    }

    fn look_for_answers(&mut self) {
        if let Some(asking) = &self.asking {
            asking.look(&mut self.answers);
        }
    }

    fn report_up_to(&mut self, end: usize) {
        let Some(Reporting { at, interval, next }) = self.reporting else { return };
        let end = end.min(self.reported_flows);
        (next..end).for_each(|n| self.report(n, at, interval));
        self.reporting =
            (end < self.reported_flows).then_some(Reporting { at, interval, next: end });
    }

    fn report(&mut self, n: usize, at: Time, interval: Duration) {
        let answer = self.answers.of(n);
        self.report_start_and_end(n, at, &answer);
        if let Some(arrived) = answer.arrived {
            self.counts[n].due = self.counts[n].due.max(arrived);
        }
        let count = &self.counts[n];
        if (n as u32) < self.setup.sampled_flows && count.started && !count.settled {
            let sample = self.flow_sample(n, at, interval, &answer);
            // The kernel is asked once more after the end, and no more then.
            self.counts[n].settled = self.counts[n].completed;
            self.reporter.report(Call::FlowSample(sample));
        }
    }

    pub(super) fn sample(&mut self, at: Time) {
        if self.reporting.is_some() {
            // If the kernel has not answered yet, its last answer is reported again.
            self.look_for_answers();
            self.report_up_to(self.reported_flows);
        }
        let interval = at.since(self.last_sample);
        self.last_sample = at;
        if interval.is_zero() {
            return;
        }
        let mut arrived = Bytes::ZERO;
        for (n, count) in self.counts[..self.reported_flows].iter_mut().enumerate() {
            count.due = count.due.max(count.arrived);
            if n as u32 >= self.setup.sampled_flows {
                arrived += count.newly_arrived();
            }
        }
        self.reporting = Some(Reporting { at, interval, next: 0 });
        if !self.classes.is_empty() {
            let sample = ArrivingSample { at, interval, delivered: arrived };
            self.reporter.report(Call::ArrivingSample(sample));
        }
        for i in 0..self.setup.network.links.len() {
            let link = LinkId(i as u32);
            let seen = self.network.observe(at, link, &mut self.agenda);
            let sample = LinkSample::of(link, &self.link_before[i], &seen, at, interval);
            self.reporter.report(Call::LinkSample(sample));
            self.link_before[i] = seen;
        }
    }

    /// Class of traffic of a flow.
    fn class(&self, n: usize) -> Option<usize> {
        let listed = self.setup.flows.len() - self.classes.len();
        n.checked_sub(listed).map(|arrived| self.classes[arrived])
    }

    fn started(&self, n: usize) -> Option<Time> {
        match &self.flows[n] {
            Some(flow) => flow.started(),
            None => (self.counts[n].arrived > Bytes::ZERO).then(|| self.setup.flows[n].start),
        }
    }

    fn report_start_and_end(&mut self, n: usize, at: Time, answer: &Answer) {
        let spec = &self.setup.flows[n];
        if at < spec.start || spec.stop.is_some_and(|stop| stop <= spec.start) {
            return;
        }
        let flow = FlowId(n as u32);
        if !self.counts[n].started {
            self.counts[n].started = true;
            self.reporter.report(Call::FlowStarted(flow, self.class(n)));
        }
        let Some(own) = &self.flows[n] else { return };
        let (Some(started), Some(completed)) = (own.started(), own.completed()) else { return };
        if self.counts[n].completed || !answer.is_last {
            return;
        }
        self.counts[n].completed = true;
        let size = own.delivered();
        let route = self.routes.get(&mut self.network, spec.from, spec.to, n as u64);
        let back = self.routes.get(&mut self.network, spec.to, spec.from, n as u64);
        let headers = spec.transport.headers;
        let mss = spec.transport.packet.saturating_sub(headers);
        let completed = FlowCompleted {
            flow,
            law: spec.law,
            traffic: self.class(n),
            size,
            start: started,
            took: completed.since(started),
            ideal: match (route, back) {
                (Ok(route), Ok(back)) => {
                    route.ideal(&back, self.setup.ideal, true, (size, mss, headers))
                }
                _ => Duration::ZERO,
            },
            retransmitted: answer.info.map_or(Bytes::ZERO, |info| info.retransmitted),
        };
        self.reporter.report(Call::FlowCompleted(completed));
    }

    fn flow_sample(
        &mut self,
        n: usize,
        at: Time,
        interval: Duration,
        answer: &Answer,
    ) -> FlowSample {
        // Not for a program's flow, whose sockets nobody else can ask, nor before a flow has one.
        let known = answer.info;
        let (retransmitted, packets_again) = self.retransmitted(n, known.as_ref());
        let is_sealed = self.flows[n].as_ref().is_some_and(Flow::is_acp);
        let count = &mut self.counts[n];
        let srtt = known.map_or(Duration::ZERO, |info| info.rtt);
        if is_sealed && !srtt.is_zero() {
            count.round_trips.note(srtt);
            self.delays.round_trip(at, n as u32, srtt);
        }
        let sample = FlowSample {
            at,
            interval,
            flow: FlowId(n as u32),
            delivered: count.newly_arrived(),
            retransmitted: retransmitted.saturating_sub(count.sampled_retransmitted),
            retransmitted_packets: packets_again,
            window: known.map_or(Bytes::MAX, |info| info.window),
            in_flight: known.map(|info| info.in_flight),
            receive_window: known.map_or(Bytes::MAX, |info| info.receive_window),
            srtt,
            rtt: srtt,
            pacing: known.and_then(|info| info.pacing),
        };
        count.sampled_retransmitted = count.sampled_retransmitted.max(retransmitted);
        sample
    }

    /// Payload and packets that a flow has sent again: the kernel's count, or for a program's flow,
    /// whose sockets are not ours, the network's.
    fn retransmitted(&self, n: usize, info: Option<&SenderInfo>) -> (Bytes, u64) {
        match &self.flows[n] {
            Some(_) => info
                .map_or((Bytes::ZERO, 0), |info| (info.retransmitted, info.retransmitted_packets)),
            None => (self.counts[n].sent_again, self.counts[n].packets_sent_again),
        }
    }

    /// The result of the run.
    pub(super) fn finish(mut self) -> Result<(Outcome, Fidelity), Error> {
        let end = self.end;
        self.asking = None;
        self.answers = Answers::now(self.flows, end);
        self.sample(end);
        self.report_up_to(self.reported_flows);
        self.network.look_for_deadlocks(end);
        for host in self.hosts {
            self.fidelity.refused_by_devices += host.device_drops()?;
        }
        let flows = (0..self.reported_flows).map(|n| self.flow_outcome(n)).collect();
        let mut links = Vec::new();
        for i in 0..self.setup.network.links.len() as u32 {
            let seen = self.network.observe(end, LinkId(i), &mut self.agenda);
            links.push(LinkOutcome::of(LinkId(i), &seen, end));
        }
        self.packets.dropped = links.iter().map(|link| link.drops.total()).sum();
        self.packets.duplicated = links.iter().map(|link| link.disturbances.duplicated).sum();
        self.packets.in_flight = self.network.in_flight();
        let p = self.packets;
        if !p.are_conserved() || self.network.unbalanced_link().is_some() {
            return Err(Error::new(
                format!("packets are not conserved: {p:?}"),
                "please report it",
            ));
        }
        let outcome = Outcome {
            flows,
            links,
            packets: p,
            events: self.events,
            data_packets_delivered: self.data_packets,
            ended: end,
            delays: core::mem::take(&mut self.delays),
            deadlock: self.network.deadlock().cloned(),
            overlay: None,
        };
        Ok((outcome, self.fidelity))
    }

    fn flow_outcome(&self, n: usize) -> FlowOutcome {
        let (spec, count) = (&self.setup.flows[n], &self.counts[n]);
        let own = self.flows[n].as_ref();
        let info = own.and_then(Flow::info);
        let (retransmitted, retransmitted_packets) = self.retransmitted(n, info.as_ref());
        let range = count.round_trips.range();
        FlowOutcome {
            flow: FlowId(n as u32),
            name: spec.name.clone(),
            from: spec.from,
            to: spec.to,
            law: spec.law,
            traffic: self.class(n),
            started: self.started(n),
            completed: own.and_then(Flow::completed),
            delivered: own.map_or(count.arrived, Flow::delivered),
            retransmitted,
            retransmitted_packets,
            timeouts: info.map_or(0, |info| info.timeouts),
            refused: own.map_or(0, Flow::refused),
            min_rtt: range.map(|(min, _)| min),
            max_rtt: range.map(|(_, max)| max),
            mean_rtt: count.round_trips.mean(),
            clamps: self.network.clamps(n as u32),
        }
    }
}
