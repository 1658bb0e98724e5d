//! Passes records of a world to the report, to files and to listeners.

use std::ops::ControlFlow;

use ratewire_net::CapturedFrame;
use ratewire_report::{Collected, Collector, Completion, RunInfo, World};
use ratewire_sim::RunError;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::{
    ArrivingSample, FlowCompleted, FlowSample, FlowStarted, Followed, LinkSample, OverlaySample,
    PacketSeen, Progress, Recorder,
};
use ratewire_sim::setup::Setup;
use ratewire_statistics::Histogram;
use ratewire_transport::Writer;
use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::Labels;
use super::arrived::Arrived;
use super::crossing::Crossing;
use super::files::Files;
use super::overlay::{self, Prices};
use super::shares::{Shares, Sharing};
use super::transfers::Transfers;
use super::why;
use super::window::Window;
use crate::Error;
use crate::listen::{Interrupted, Listener, Running, StopReason};
use crate::results::tables::KeptTables;

/// Observations beyond the engine's own counters.
pub(crate) struct Seen {
    pub(crate) collected: Collected,
    /// Queue samples of each link, in packets and in bytes.
    pub(crate) queues: Vec<(Histogram, Histogram)>,
    /// Payload that each listed flow delivered while all long flows were running.
    pub(crate) together: Vec<Option<Bytes>>,
    pub(crate) shared: Sharing,
    pub(crate) prices: Prices,
    /// The measured part of the run, if not all is measured.
    pub(crate) window: Option<Window>,
    /// Flows of arriving traffic that started, by class.
    pub(crate) arrived: Vec<Arrived>,
    /// Flows of a given size that started and did not complete.
    pub(crate) unfinished: u64,
    /// Tables of samples, if any were kept.
    pub(crate) held: Option<KeptTables>,
}

/// Passes records of a world to the report, to files, to the listener and to another recorder.
pub(crate) struct Observer<'a> {
    setup: &'a Setup,
    labels: &'a Labels,
    info: &'a RunInfo,
    running: Running<'a>,
    listener: &'a dyn Listener,
    /// Time and reason, if the listener ends the run.
    pub(super) stopped: Option<(Time, StopReason)>,
    collector: Collector,
    files: Option<Files>,
    /// First write error, reported at the end of the run.
    failed: Option<Error>,
    also: Box<dyn Recorder + 'a>,
    queues: Vec<(Histogram, Histogram)>,
    together: Vec<Option<Bytes>>,
    /// Time from which all long flows are running.
    together_from: Time,
    shares: Shares,
    /// The measured part of the run, if not all is measured.
    window: Option<Window>,
    prices: Prices,
    transfers: Transfers,
    crossing: Option<Crossing>,
    arrived: Vec<Arrived>,
    /// Time of the last sample.
    sampled: Time,
    /// Calls of [`Recorder::progress`] since the run was interrupted.
    waited: u32,
}

/// Calls of [`Recorder::progress`] for which an interrupted run waits for its next sample.
const MOST_CALLS_TO_A_SAMPLE: u32 = 2;

impl<'a> Observer<'a> {
    pub(crate) fn new(
        setup: &'a Setup,
        labels: &'a Labels,
        running: Running<'a>,
        listener: &'a dyn Listener,
        files: Option<Files>,
        also: Box<dyn Recorder + 'a>,
    ) -> Observer<'a> {
        let end = Time::ZERO + setup.duration;
        // Edges of ensembles cannot be compared with whole flows.
        let is_long = |(id, f): &(usize, &ratewire_sim::setup::FlowSpec)| {
            let all_the_time = match setup.measured {
                Some((from, to)) => f.start <= from && f.stop.is_none_or(|s| s >= to),
                // Then flows are compared from the start of the last one.
                None => f.start < end && f.stop.is_none_or(|s| s >= end),
            };
            let is_whole = !setup.ensembles.has_edge(*id);
            f.app.writer == Writer::Unlimited && all_the_time && is_whole
        };
        let flows = || setup.flows.iter().enumerate();
        let together = flows().map(|f| is_long(&f).then_some(Bytes::ZERO)).collect();
        let starts = flows().filter(is_long).map(|(_, f)| f.start);
        let together_from = starts.max().unwrap_or(Time::ZERO);
        Observer {
            setup,
            labels,
            info: running.info,
            running,
            listener,
            stopped: None,
            collector: Collector::new(running.info),
            files,
            failed: None,
            also,
            queues: vec![Default::default(); setup.network.links.len()],
            together,
            together_from,
            shares: Shares::new(setup, together_from),
            window: Window::of(setup),
            prices: Prices::default(),
            transfers: Transfers::default(),
            crossing: labels.rates_at.map(|link| Crossing::new(link, setup.flows.len())),
            arrived: setup.traffic.iter().map(|class| Arrived::new(class.fan_in)).collect(),
            sampled: Time::ZERO,
            waited: 0,
        }
    }

    /// Asks the listener whether the run may start.
    ///
    /// # Errors
    /// An error if the listener ends the run; the reason is in [`Observer::stopped`].
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        let start = Progress { now: Time::ZERO, packets: 0, flows: 0 };
        match self.progress(&start) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(RunError::Stopped(Time::ZERO).into()),
        }
    }

    pub(crate) fn finish(mut self, outcome: &Outcome) -> Result<Seen, Error> {
        let mut unfinished = 0;
        for transfer in std::mem::take(&mut self.transfers).rest(outcome) {
            unfinished += u64::from(self.is_measured_from(transfer.start));
            self.write(|files, info| files.completion(info, &transfer));
        }
        if outcome.ended < Time::ZERO + self.setup.duration && self.stopped.is_some() {
            let part = partial(outcome.ended, self.setup.duration);
            self.files.iter_mut().for_each(|files| files.note_partial(&part));
        }
        let finished = self.files.take().map(Files::finish).transpose();
        match (self.failed, finished) {
            (Some(failure), _) | (None, Err(failure)) => Err(failure),
            (None, Ok(held)) => Ok(Seen {
                collected: self.collector.finish(),
                queues: self.queues,
                together: self.together,
                shared: self.shares.finish(),
                prices: self.prices,
                window: self.window,
                arrived: self.arrived,
                unfinished,
                held,
            }),
        }
    }

    /// Whether a sample that ends at `at` is of the measured part.
    fn is_measured(&self, at: Time) -> bool {
        self.window.as_ref().is_none_or(|window| window.covers(at))
    }

    /// Whether what starts at `at` is of the measured part.
    fn is_measured_from(&self, at: Time) -> bool {
        self.window.as_ref().is_none_or(|window| window.includes(at))
    }

    /// Writes to the files until the first error.
    fn write(&mut self, write: impl FnOnce(&mut Files, &RunInfo) -> Result<(), Error>) {
        if let Some(files) = &mut self.files
            && let Err(failure) = write(files, self.info)
        {
            self.files = None;
            self.failed = Some(failure);
        }
    }
}

/// How much of a run there is: `12 s of 30 s`.
fn partial(ended: Time, planned: Duration) -> String {
    format!("{} of {planned}", ended.since(Time::ZERO))
}

impl Recorder for Observer<'_> {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        self.also.flow_started(started);
        if self.is_measured_from(started.at)
            && let Some(class) = started.traffic.and_then(|class| self.arrived.get_mut(class))
        {
            class.start(started);
        }
        self.transfers.begin(&self.setup.ensembles, started);
    }

    fn flow_sample(&mut self, sample: &FlowSample) {
        self.also.flow_sample(sample);
        self.sampled = sample.at;
        self.shares.reach(sample.at);
        self.shares.deliver(sample.flow.0, sample.delivered);
        let index = sample.flow.0 as usize;
        let is_measured = self.is_measured(sample.at);
        if let Some(window) = &mut self.window {
            window.flow(sample);
        }
        if is_measured
            && sample.at - sample.interval >= self.together_from
            && let Some(Some(delivered)) = self.together.get_mut(index)
        {
            *delivered += sample.delivered;
        }
        let crossed = self.crossing.as_mut().map(|crossing| crossing.take(index));
        let row = ratewire_report::FlowRow {
            at: sample.at,
            interval: sample.interval,
            flow: sample.flow.0,
            goodput: Throughput::over(sample.delivered, sample.interval),
            cwnd: sample.window,
            in_flight: sample.in_flight,
            receive_window: sample.receive_window,
            srtt: sample.srtt,
            pacing: sample.pacing,
            retransmitted: sample.retransmitted,
            at_link: crossed.map(|size| Throughput::over(size, sample.interval)),
        };
        self.collector.flow(&row);
        self.listener.flow_sample(&self.running, &row);
        self.write(|files, info| files.flow(info, &row));
    }

    fn arriving_sample(&mut self, sample: &ArrivingSample) {
        self.also.arriving_sample(sample);
        self.sampled = sample.at;
        let goodput = Throughput::over(sample.delivered, sample.interval);
        self.collector.add(sample.at, sample.interval, goodput);
    }

    fn link_sample(&mut self, sample: &LinkSample) {
        self.also.link_sample(sample);
        self.sampled = sample.at;
        self.shares.reach(sample.at);
        let is_measured = self.is_measured(sample.at);
        if let Some(window) = &mut self.window {
            window.link(sample);
        }
        if is_measured && let Some((packets, bytes)) = self.queues.get_mut(sample.link.index()) {
            packets.add(f64::from(sample.queue_packets));
            bytes.add(sample.queue_bytes.as_f64());
        }
        let row = ratewire_report::LinkRow {
            at: sample.at,
            interval: sample.interval,
            link: sample.link.0,
            utilisation: sample.busy,
            throughput: Throughput::over(sample.sent, sample.interval),
            queue_packets_mean: sample.queue_packets_mean,
            queue_packets_max: sample.queue_packets_max,
            queue_bytes_mean: sample.queue_bytes_mean,
            drops: sample.drops.total(),
            marks: sample.marks,
            paused: sample.paused,
        };
        self.collector.link(&row);
        self.listener.link_sample(&self.running, &row);
        self.write(|files, info| files.link(info, &row));
    }

    fn overlay_sample(&mut self, sample: &OverlaySample<'_>) {
        self.also.overlay_sample(sample);
        if let Some(spec) = &self.setup.overlay {
            self.prices.add(sample);
            let rows = overlay::sample(sample, spec);
            self.collector.overlay(&rows);
            self.write(|files, info| files.overlay(info, &rows));
        }
    }

    fn flow_completed(&mut self, completed: &FlowCompleted) {
        self.also.flow_completed(completed);
        self.shares.complete(completed.flow.0, completed.start + completed.took);
        let is_measured = self.is_measured_from(completed.start);
        if is_measured
            && let Some(class) = completed.traffic.and_then(|class| self.arrived.get_mut(class))
        {
            class.complete(completed);
        }
        // Without a size, `took` is the time until the stop, or the length of a pause: no transfer.
        let Some(transfer) = self.transfers.complete(completed) else { return };
        self.write(|files, info| files.completion(info, &transfer));
        if !is_measured {
            return;
        }
        self.collector.completion(Completion {
            flow: u64::from(transfer.flow),
            law: self.labels.law_name(self.setup, completed.law),
            traffic: transfer.traffic,
            size: transfer.size,
            start: transfer.start,
            took: completed.took,
            ideal: transfer.ideal,
        });
    }

    fn followed(&mut self, followed: &Followed) {
        self.also.followed(followed);
        self.collector.answer(why::answer(followed, self.setup));
    }

    fn packet(&mut self, seen: &PacketSeen) {
        self.crossing.iter_mut().for_each(|crossing| crossing.see(seen));
        self.also.packet(seen);
    }

    fn frame(&mut self, seen: &CapturedFrame) {
        self.also.frame(seen);
    }

    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        if let ControlFlow::Break(reason) = self.listener.reached(&self.running, progress) {
            // An interrupted run goes on to its next sample, if that is near.
            let waits = reason.is::<Interrupted>()
                && self.running.info.world == World::Simulate
                && progress.now > Time::ZERO
                && progress.now != self.sampled
                && self.waited < MOST_CALLS_TO_A_SAMPLE;
            self.waited += 1;
            if !waits {
                self.stopped = Some((progress.now, reason));
                return ControlFlow::Break(());
            }
        }
        self.also.progress(progress)
    }
}
