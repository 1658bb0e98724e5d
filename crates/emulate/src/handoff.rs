//! Hands what the network's thread records to the thread that writes reports and files, without
//! making the network wait: a report takes longer than packets may be late.

use std::mem::swap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use ratewire_sim::record::{
    ArrivingSample, FlowCompleted, FlowId, FlowSample, FlowStarted, LinkSample, Progress, Recorder,
};
use ratewire_sim::setup::Setup;

/// Longest wait of a call if nobody wakes the recorder.
const PATIENCE: Duration = Duration::from_millis(20);

/// A call of a [`Recorder`].
pub(crate) enum Call {
    /// A flow, and its class of arriving traffic.
    FlowStarted(FlowId, Option<usize>),
    FlowSample(FlowSample),
    ArrivingSample(ArrivingSample),
    LinkSample(LinkSample),
    FlowCompleted(FlowCompleted),
    Progress(Progress),
}

/// Queue of recorder calls between the network's thread and the recorder's.
pub(crate) struct Handoff<'a> {
    setup: &'a Setup,
    /// Calls that the listener has not taken, in any number. The network's thread only tries to
    /// lock them, and keeps its own until it succeeds: with a channel it would spin, ahead of all
    /// other threads, until the listener goes on.
    calls: Mutex<Vec<Call>>,
    listener: Thread,
    /// Whether the recorder has ended the run.
    is_stopped: AtomicBool,
    /// Whether the network's thread has made its last call.
    is_over: AtomicBool,
}

impl<'a> Handoff<'a> {
    /// Makes the calling thread the listener.
    pub(crate) fn new(setup: &'a Setup) -> Handoff<'a> {
        Handoff {
            setup,
            calls: Mutex::default(),
            listener: thread::current(),
            is_stopped: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        }
    }

    /// The network's end, of which there is one: dropping it ends [`Handoff::listen`].
    pub(crate) fn reporter(&self) -> Reporter<'_> {
        Reporter { handoff: self, calls: Vec::new() }
    }

    /// Passes calls on to the recorder in order, until the network makes no more calls. If the
    /// recorder breaks at some progress, it gets no more progress, and the network ends: its last
    /// samples follow.
    pub(crate) fn listen(&self, recorder: &mut dyn Recorder) {
        let _stop = StopAtEnd(self);
        let mut calls = Vec::new();
        let mut goes_on = true;
        loop {
            let was_over = self.is_over.load(Acquire);
            swap(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner), &mut calls);
            if calls.is_empty() {
                if was_over {
                    return;
                }
                thread::park_timeout(PATIENCE);
            }
            for call in calls.drain(..) {
                self.pass_on(call, recorder, &mut goes_on);
            }
            if !goes_on {
                self.is_stopped.store(true, Relaxed);
            }
        }
    }

    fn pass_on(&self, call: Call, recorder: &mut dyn Recorder, goes_on: &mut bool) {
        match call {
            Call::FlowStarted(flow, traffic) => {
                let spec = &self.setup.flows[flow.0 as usize];
                recorder.flow_started(&FlowStarted {
                    flow,
                    name: &spec.name,
                    from: spec.from,
                    to: spec.to,
                    law: spec.law,
                    at: spec.start,
                    size: spec.size(),
                    traffic,
                });
            }
            Call::FlowSample(sample) => recorder.flow_sample(&sample),
            Call::ArrivingSample(sample) => recorder.arriving_sample(&sample),
            Call::LinkSample(sample) => recorder.link_sample(&sample),
            Call::FlowCompleted(completed) => recorder.flow_completed(&completed),
            Call::Progress(progress) => {
                *goes_on = *goes_on && recorder.progress(&progress).is_continue();
            }
        }
    }
}

/// The network's end. Dropping it hands over the remaining calls.
pub(crate) struct Reporter<'a> {
    handoff: &'a Handoff<'a>,
    /// Calls that could not be handed over yet.
    calls: Vec<Call>,
}

impl Reporter<'_> {
    pub(crate) fn report(&mut self, call: Call) {
        self.calls.push(call);
    }

    /// Reports progress, and has all earlier calls passed on. A break is the recorder's at an
    /// earlier progress.
    pub(crate) fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.report(Call::Progress(progress));
        if let Ok(mut calls) = self.handoff.calls.try_lock() {
            put_down(&mut self.calls, &mut calls);
        }
        self.handoff.listener.unpark();
        match self.handoff.is_stopped.load(Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Drop for Reporter<'_> {
    fn drop(&mut self) {
        let mut calls = self.handoff.calls.lock().unwrap_or_else(PoisonError::into_inner);
        put_down(&mut self.calls, &mut calls);
        drop(calls);
        self.handoff.is_over.store(true, Release);
        self.handoff.listener.unpark();
    }
}

/// Swaps the buffers if the listener has taken all calls, so that no memory is allocated.
fn put_down(own: &mut Vec<Call>, calls: &mut Vec<Call>) {
    match calls.is_empty() {
        true => swap(own, calls),
        false => calls.append(own),
    }
}

/// Stops the network if the recorder's thread panics.
struct StopAtEnd<'a>(&'a Handoff<'a>);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.is_stopped.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use ratewire_laws::AnyLaw;
    use ratewire_sim::dumbbell::Dumbbell;
    use ratewire_units::{Bytes, Rate, Time};

    use super::*;

    /// Keeps the times of its calls, and breaks at the progress of this number.
    #[derive(Default)]
    struct Listed {
        enough: u32,
        samples: Vec<Time>,
        started: Vec<(String, Option<usize>)>,
        progress: u32,
    }

    impl Recorder for Listed {
        fn flow_started(&mut self, started: &FlowStarted<'_>) {
            self.started.push((started.name.to_string(), started.traffic));
        }
        fn flow_sample(&mut self, sample: &FlowSample) {
            panic!("{sample:?}");
        }
        fn arriving_sample(&mut self, sample: &ArrivingSample) {
            self.samples.push(sample.at);
        }
        fn link_sample(&mut self, _: &LinkSample) {}
        fn flow_completed(&mut self, _: &FlowCompleted) {}
        fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
            self.progress += 1;
            if self.progress == self.enough {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }

    fn setup() -> Setup {
        let rtt = ratewire_units::Duration::from_millis(10);
        Dumbbell::new(AnyLaw::new("cubic", &[]).unwrap(), 2, Rate::from_mbps(10), rtt, 10).setup()
    }

    fn sample(n: u64) -> Call {
        let interval = ratewire_units::Duration::from_millis(1);
        Call::ArrivingSample(ArrivingSample {
            at: Time::ZERO + interval * n,
            interval,
            delivered: Bytes::ZERO,
        })
    }

    const PROGRESS: Progress = Progress { now: Time::ZERO, packets: 0, flows: 0 };

    /// Reports progress until there is a break, but not for ever.
    fn until_break(mut reporter: Reporter<'_>) -> bool {
        (0..10_000).any(|_| {
            thread::sleep(Duration::from_millis(1));
            reporter.progress(PROGRESS).is_break()
        })
    }

    #[test]
    fn all_calls_are_passed_on_in_their_order() {
        let setup = setup();
        let handoff = Handoff::new(&setup);
        let mut recorder = Listed::default();
        thread::scope(|scope| {
            let mut reporter = handoff.reporter();
            scope.spawn(move || {
                for n in 0..10_000 {
                    reporter.report(sample(n));
                    if n % 7 == 0 {
                        let _ = reporter.progress(PROGRESS);
                    }
                }
                reporter.report(Call::FlowStarted(FlowId(1), Some(3)));
            });
            handoff.listen(&mut recorder);
        });
        assert_eq!(recorder.samples.len(), 10_000);
        assert!(recorder.samples.is_sorted());
        assert_eq!(recorder.progress, 10_000_u32.div_ceil(7));
        assert_eq!(recorder.started, [(setup.flows[1].name.clone(), Some(3))]);
    }

    #[test]
    fn the_network_stops_where_the_recorder_has_enough() {
        let setup = setup();
        let handoff = Handoff::new(&setup);
        let was_stopped = thread::scope(|scope| {
            let reporter = handoff.reporter();
            let network = scope.spawn(|| until_break(reporter));
            let mut recorder = Listed { enough: 2, ..Listed::default() };
            handoff.listen(&mut recorder);
            assert_eq!(recorder.progress, 2);
            network.join().unwrap()
        });
        assert!(was_stopped);
    }

    #[test]
    fn samples_follow_a_break_and_no_progress_does() {
        let setup = setup();
        let handoff = Handoff::new(&setup);
        let mut reporter = handoff.reporter();
        for n in 0..3 {
            reporter.report(sample(n));
            assert!(
                reporter.progress(Progress { now: Time::from_ps(n), ..PROGRESS }).is_continue()
            );
        }
        drop(reporter);
        let mut recorder = Listed { enough: 2, ..Listed::default() };
        handoff.listen(&mut recorder);
        assert_eq!((recorder.samples.len(), recorder.progress), (3, 2));
    }

    #[test]
    fn the_network_stops_where_the_recorder_panics() {
        let setup = setup();
        let handoff = Handoff::new(&setup);
        let was_stopped = thread::scope(|scope| {
            let mut reporter = handoff.reporter();
            reporter.report(Call::FlowSample(FlowSample {
                at: Time::ZERO,
                interval: ratewire_units::Duration::ZERO,
                flow: FlowId(0),
                delivered: Bytes::ZERO,
                retransmitted: Bytes::ZERO,
                retransmitted_packets: 0,
                window: Bytes::MAX,
                in_flight: None,
                receive_window: Bytes::MAX,
                srtt: ratewire_units::Duration::ZERO,
                rtt: ratewire_units::Duration::ZERO,
                pacing: None,
            }));
            let network = scope.spawn(|| until_break(reporter));
            let listen = AssertUnwindSafe(|| handoff.listen(&mut Listed::default()));
            assert!(catch_unwind(listen).is_err());
            network.join().unwrap()
        });
        assert!(was_stopped);
    }
}
