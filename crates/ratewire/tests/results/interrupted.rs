//! How soon an interrupted run ends.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use ratewire::units::{Duration, Time};
use ratewire::{Error, Experiment, Interrupt, Listener, Progress, Results, Running, StopReason};

/// Interrupts a run once its progress is such, and counts how often it is asked from then on.
struct When<P> {
    is_such: P,
    interrupt: Interrupt,
    asked: AtomicU64,
    /// Packets in the network at the last question.
    packets: AtomicU64,
}

impl<P: Fn(&Progress) -> bool + Sync> Listener for When<P> {
    fn reached(&self, run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
        if (self.is_such)(progress) {
            self.interrupt.interrupt();
        }
        if self.interrupt.is_interrupted() {
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.packets.store(progress.packets, Ordering::Relaxed);
        }
        self.interrupt.reached(run, progress)
    }
}

/// The results of a scenario that is interrupted, under its first law, and the packets in the
/// network then. The run must end when it has been asked a few times.
fn interrupted(text: &str, is_such: impl Fn(&Progress) -> bool + Sync) -> (Box<Results>, u64) {
    let experiment = Experiment::parse("interrupted.toml", text).unwrap();
    let law = experiment.scenario().laws()[0].clone();
    let (asked, packets) = Default::default();
    let listener = When { is_such, interrupt: Interrupt::default(), asked, packets };
    let failed = experiment.laws([law]).run_with(&listener).unwrap_err();
    let Error::Incomplete(results) = failed else { panic!("{text}: {failed}") };
    let asked = listener.asked.into_inner();
    assert!((1..=5).contains(&asked), "it was asked {asked} times: {text}");
    (results, listener.packets.into_inner())
}

/// The next sample may be far away in events. An outcome can be made at any time: packets and
/// messages are conserved.
#[test]
fn a_run_ends_between_samples_that_are_far_apart() {
    for file in ["three-flows", "salaries", "sharded-key-value", "half-duplex", "pauses"] {
        let path = format!("{}/../../scenarios/{file}.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let (text, _) = text.split_once("[[expect]]").expect("expectations at the end");
        let own = text.lines().filter(|line| !line.starts_with("duration "));
        let text: String = own.map(|line| format!("{line}\n")).collect();
        let far = format!("duration = '100 s'\n{text}\n[record]\ninterval = '50 s'\n");
        for ms in [1, 40, 333] {
            let at = Time::ZERO + Duration::from_millis(ms);
            let (results, _) = interrupted(&far, |progress| progress.now >= at);
            let [run] = results.runs() else { panic!("{file}: {:?}", results.failures()) };
            assert!(run.is_partial() && run.summary().duration_s < 10.0, "{file}");
        }
    }
}

/// A window that is full at once: one event sends a million packets.
#[test]
fn a_run_ends_within_an_event_that_sends_many_packets() {
    let text = "duration = '10 s'\nlaw = 'newreno'\n[topology]\nkind = 'dumbbell'\n\
                bottleneck = { rate = '100 Gbit/s', delay = '1 s' }\n\
                [options.newreno]\ninitial_window = '1000000 packets'\n\
                [[flow]]\nfrom = 's1'\nto = 'd1'\nstart = '10 ms'\n";
    let (results, packets) = interrupted(text, |progress| progress.packets >= 100_000);
    assert!(packets < 300_000, "it was asked at {packets} packets");
    assert!(results.runs().iter().all(|run| run.is_partial()));
    assert_eq!(results.runs().len(), 1, "{:?}", results.failures());
}
