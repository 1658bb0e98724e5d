//! A run in steps is the run, and what is changed between them takes effect.

use std::sync::{Arc, Mutex};

use ratewire_net::spec::*;
use ratewire_sim::Steps;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, LinkSample, NoRecorder, Recorder,
};
use ratewire_sim::setup::{Arrivals, Setup, Sizes};
use ratewire_transport::App;
use ratewire_units::{Bytes, Duration, Time};

use crate::net::*;

/// All samples and completions, as text.
#[derive(Clone, Default)]
struct Samples(Arc<Mutex<Vec<String>>>);

impl Samples {
    fn note(&self, call: &impl core::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{call:?}"));
    }
}

impl Recorder for Samples {
    fn flow_started(&mut self, _: &FlowStarted<'_>) {}
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.note(sample);
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        self.note(sample);
    }
    fn flow_completed(&mut self, completed: &FlowCompleted) {
        self.note(completed);
    }
}

/// Random arrivals, losses and a listed change; the bottleneck is link 2.
fn busy(law: &str) -> Setup {
    let mut net = Net::new(self::law(law, &[]));
    net.nodes(4);
    net.cable(0, 2, MBPS(50), MS(2));
    let middle = net.cable(2, 3, MBPS(10), MS(10));
    net.cable(3, 1, MBPS(50), MS(2));
    net.link(middle).limit = Limit::Packets(30);
    net.link(middle).loss = Loss::Random(0.002);
    net.flow(0, 1, App::unlimited()).transport.handshake = true;
    let later = net.flow(1, 0, App::unlimited());
    (later.start, later.stop) = (secs(0.3), Some(secs(1.2)));
    net.traffic(Arrivals::Poisson(20.0), Sizes::Pareto { shape: 1.5, mean: 2e4 });
    net.setup.changes = vec![(secs(1.0), LinkId(middle), Change::Rate(MBPS(3)))];
    net.setup.sample_interval = Some(MS(50));
    net.seconds(3.0).setup
}

/// An outcome without the number of events, which may be another in steps.
fn without_events(outcome: &str) -> String {
    let is_of_events = |part: &&str| part.trim_start().starts_with("events:");
    outcome.split(',').filter(|part| !is_of_events(part)).collect()
}

fn whole(setup: &Setup) -> (String, Vec<String>) {
    let mut samples = Samples::default();
    let outcome = ratewire_sim::run(setup, &mut samples).unwrap();
    (format!("{outcome:?}"), samples.0.lock().unwrap().clone())
}

/// A run in steps of this length, with a look at everything after each.
fn stepped(
    setup: &Setup,
    step: Duration,
    mut between: impl FnMut(&mut Steps),
) -> (Outcome, Samples) {
    let samples = Samples::default();
    let mut steps = Steps::new(setup.clone(), Box::new(samples.clone())).unwrap();
    while steps.now() < Time::ZERO + setup.duration {
        let next = steps.now() + step;
        steps.run_until(next).unwrap();
        for flow in 0..setup.flows.len() {
            steps.flow(flow).unwrap();
        }
        for link in 0..setup.network.links.len() {
            steps.link(LinkId(link as u32)).unwrap();
        }
        between(&mut steps);
    }
    (steps.finish().unwrap(), samples)
}

#[test]
fn steps_and_looks_change_nothing() {
    for law in ["xcp", "cubic", "hpcc"] {
        let setup = busy(law);
        let (outcome, samples) = whole(&setup);
        // Shorter than a packet's time, as long as samples, and longer.
        for step in [Duration::from_micros(317), MS(50), MS(1234)] {
            let (stepped, seen) = stepped(&setup, step, |_| {});
            assert_eq!(
                without_events(&format!("{stepped:?}")),
                without_events(&outcome),
                "{law}, {step}"
            );
            assert_eq!(*seen.0.lock().unwrap(), samples, "{law}, {step}");
        }
    }
}

#[test]
fn a_change_between_steps_is_the_change_that_is_listed() {
    let mut setup = busy("cubic");
    let changes = [
        (secs(0.5), LinkId(2), Change::Delay(MS(30))),
        (secs(1.5), LinkId(2), Change::Rate(MBPS(8))),
        (secs(2.0), LinkId(3), Change::Up(false)),
        (secs(2.5), LinkId(3), Change::Up(true)),
    ];
    let unchanged = whole(&setup);
    let (stepped, seen) = stepped(&setup, MS(500), |steps| {
        let now = steps.now();
        for (_, link, change) in changes.iter().filter(|(at, ..)| *at == now) {
            steps.change(*link, change);
        }
    });
    setup.changes.extend(changes);
    let (outcome, samples) = whole(&setup);
    assert_ne!(outcome, unchanged.0);
    assert_eq!(without_events(&format!("{stepped:?}")), without_events(&outcome));
    assert_eq!(*seen.0.lock().unwrap(), samples);
}

/// CUBIC keeps the queue of its own host small.
#[test]
fn a_sender_heeds_a_change_of_its_own_host_s_link() {
    let mut setup = busy("cubic");
    setup.traffic.clear();
    let change = (secs(0.5), LinkId(0), Change::Rate(MBPS(1)));
    let queued = |outcome: &Outcome| outcome.links[0].queue_packets_mean;
    let (stepped, _) = stepped(&setup, MS(500), |steps| {
        if steps.now() == change.0 {
            steps.change(change.1, &change.2);
        }
    });
    setup.changes.push(change);
    setup.changes.sort_by_key(|change| change.0);
    let listed = ratewire_sim::run(&setup, &mut Samples::default()).unwrap();
    let ratio = queued(&stepped) / queued(&listed);
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
fn flows_and_links_are_seen_as_they_are() {
    let setup = busy("newreno");
    let mut steps = Steps::new(setup.clone(), Box::new(NoRecorder)).unwrap();
    let second = steps.flow(1).unwrap();
    assert!(!second.has_begun && !second.has_ended && second.reason.is_none());
    assert!(steps.flow(2).is_none() && steps.link(LinkId(6)).is_none());
    steps.run_until(secs(0.9)).unwrap();
    assert_eq!(steps.now(), secs(0.9));
    let first = steps.flow(0).unwrap();
    assert!(first.has_begun && !first.has_ended && first.reason.is_some());
    assert!(first.window > Bytes::ZERO && first.srtt >= MS(28) && first.rtt >= MS(28));
    assert!(first.in_flight > Bytes::ZERO && first.delivered > Bytes::new(200_000));
    let link = steps.link(LinkId(2)).unwrap();
    assert!(link.sent_bytes > first.delivered && link.busy > MS(300));
    // The past stays.
    steps.run_until(secs(0.1)).unwrap();
    assert_eq!(steps.now(), secs(0.9));
    steps.run_until(secs(99.0)).unwrap();
    assert_eq!(steps.now(), secs(3.0));
    let second = steps.flow(1).unwrap();
    assert!(second.has_begun && second.has_ended);
    let (first, last) = (steps.flow(0).unwrap(), steps.link(LinkId(2)).unwrap());
    let outcome = steps.finish().unwrap();
    assert_eq!(second.delivered, outcome.flows[1].delivered);
    // What has arrived beyond a hole counts in a step, not in the outcome.
    assert!(first.delivered >= outcome.flows[0].delivered);
    assert_eq!(last.drops(), outcome.links[2].drops.total());
}
