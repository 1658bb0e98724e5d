//! From the network's thread, which must wait for nobody, to who records a run on another: a report's figures and files
//! take longer than packets may be late.

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

/// How long what is told waits at most, if nobody wakes the recorder.
const PATIENCE: Duration = Duration::from_millis(20);

/// What a [`Recorder`] is told, a call each.
pub(crate) enum Call {
    /// A flow, and the class of arriving traffic that it is of.
    FlowStarted(FlowId, Option<usize>),
    FlowSample(FlowSample),
    ArrivingSample(ArrivingSample),
    LinkSample(LinkSample),
    FlowCompleted(FlowCompleted),
    Progress(Progress),
}

/// Between the two threads.
pub(crate) struct Relay<'a> {
    setup: &'a Setup,
    /// What is told and not passed on. The network's thread only tries to lock it: a channel would have it spin, before
    /// all others, until who takes something goes on.
    calls: Mutex<Vec<Call>>,
    listener: Thread,
    /// The recorder wants no more.
    is_stopped: AtomicBool,
    /// The network tells no more.
    is_over: AtomicBool,
}

impl<'a> Relay<'a> {
    /// To this thread.
    pub(crate) fn new(setup: &'a Setup) -> Relay<'a> {
        Relay {
            setup,
            calls: Mutex::default(),
            listener: thread::current(),
            is_stopped: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        }
    }

    /// Where the network tells, once.
    pub(crate) fn teller(&self) -> Teller<'_> {
        Teller { relay: self, calls: Vec::new() }
    }

    /// Passes on what is told, until there is no more: in the order in which it was.
    pub(crate) fn listen(&self, recorder: &mut impl Recorder) {
        let _stop = StopAtEnd(self);
        let mut calls = Vec::new();
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
                self.pass_on(call, recorder);
            }
        }
    }

    fn pass_on(&self, call: Call, recorder: &mut impl Recorder) {
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
                if recorder.progress(&progress).is_break() {
                    self.is_stopped.store(true, Relaxed);
                }
            }
        }
    }
}

/// Where the network's thread tells what a recorder is told; what it has told is passed on to the end when it is dropped.
pub(crate) struct Teller<'a> {
    relay: &'a Relay<'a>,
    /// What could not be put down yet.
    calls: Vec<Call>,
}

impl Teller<'_> {
    pub(crate) fn tell(&mut self, call: Call) {
        self.calls.push(call);
    }

    /// Tells how far the run has come, and has all that was told passed on. A break is that of the recorder at an
    /// earlier one.
    pub(crate) fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.tell(Call::Progress(progress));
        if let Ok(mut calls) = self.relay.calls.try_lock() {
            put_down(&mut self.calls, &mut calls);
        }
        self.relay.listener.unpark();
        match self.relay.is_stopped.load(Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Drop for Teller<'_> {
    fn drop(&mut self) {
        let mut calls = self.relay.calls.lock().unwrap_or_else(PoisonError::into_inner);
        put_down(&mut self.calls, &mut calls);
        drop(calls);
        self.relay.is_over.store(true, Release);
        self.relay.listener.unpark();
    }
}

/// Usually nothing is there, and room that is used again is taken in exchange.
fn put_down(own: &mut Vec<Call>, calls: &mut Vec<Call>) {
    match calls.is_empty() {
        true => swap(own, calls),
        false => calls.append(own),
    }
}

/// Stops the network where the recorder's thread panics.
struct StopAtEnd<'a>(&'a Relay<'a>);

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

    /// Keeps the times of what it is told, and has enough at the second call of progress.
    #[derive(Default)]
    struct Listed {
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
            if self.progress < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
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

    /// Tells of progress until there is a break; not for ever.
    fn until_break(mut teller: Teller<'_>) -> bool {
        (0..10_000).any(|_| {
            thread::sleep(Duration::from_millis(1));
            teller.progress(PROGRESS).is_break()
        })
    }

    #[test]
    fn all_that_is_told_is_passed_on_in_its_order() {
        let setup = setup();
        let relay = Relay::new(&setup);
        let mut recorder = Listed::default();
        thread::scope(|scope| {
            let mut teller = relay.teller();
            scope.spawn(move || {
                for n in 0..10_000 {
                    teller.tell(sample(n));
                    if n % 7 == 0 {
                        let _ = teller.progress(PROGRESS);
                    }
                }
                teller.tell(Call::FlowStarted(FlowId(1), Some(3)));
            });
            relay.listen(&mut recorder);
        });
        assert_eq!(recorder.samples.len(), 10_000);
        assert!(recorder.samples.is_sorted());
        assert_eq!(recorder.progress, 10_000_u32.div_ceil(7));
        assert_eq!(recorder.started, [(setup.flows[1].name.clone(), Some(3))]);
    }

    #[test]
    fn the_network_stops_where_the_recorder_has_enough() {
        let setup = setup();
        let relay = Relay::new(&setup);
        let was_stopped = thread::scope(|scope| {
            let teller = relay.teller();
            let network = scope.spawn(|| until_break(teller));
            relay.listen(&mut Listed::default());
            network.join().unwrap()
        });
        assert!(was_stopped);
    }

    #[test]
    fn the_network_stops_where_the_recorder_panics() {
        let setup = setup();
        let relay = Relay::new(&setup);
        let was_stopped = thread::scope(|scope| {
            let mut teller = relay.teller();
            teller.tell(Call::FlowSample(FlowSample {
                at: Time::ZERO,
                interval: ratewire_units::Duration::ZERO,
                flow: FlowId(0),
                delivered: Bytes::ZERO,
                retransmitted: Bytes::ZERO,
                window: Bytes::MAX,
                in_flight: None,
                receive_window: Bytes::MAX,
                srtt: ratewire_units::Duration::ZERO,
                rtt: ratewire_units::Duration::ZERO,
                pacing: None,
            }));
            let network = scope.spawn(|| until_break(teller));
            let listen = AssertUnwindSafe(|| relay.listen(&mut Listed::default()));
            assert!(catch_unwind(listen).is_err());
            network.join().unwrap()
        });
        assert!(was_stopped);
    }
}
