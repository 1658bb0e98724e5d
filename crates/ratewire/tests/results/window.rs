//! Figures of a part of a run: of two parts they add up to those of the whole.

use ratewire::Experiment;
use ratewire::report::Summary;

/// A short queue with random losses, so that everything that is counted happens; a flow that ends,
/// one that starts late, and arriving flows.
const SCENARIO: &str = r#"
duration = "10 s"
law      = "dctcp"

[topology]
kind = "dumbbell"
pairs = 3
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", loss = { random = 0.002 }, queue = "8 packets", discipline = { red = { min = "3 packets", max = "6 packets", weight = 0.5, ecn = true } } }

[[flow]]
name = "early"
from = "s1"
to   = "d1"
stop = "4 s"

[[flow]]
name  = "late"
from  = "s2"
to    = "d2"
start = "6 s"

[[flow]]
name = "always"
from = "s3"
to   = "d3"

[[traffic]]
name     = "mice"
between  = [["s1", "d2"]]
arrivals = { poisson = "40 /s" }
sizes    = { fixed = "9 KB" }
"#;

fn experiment() -> Experiment {
    Experiment::parse("window.toml", SCENARIO).expect("a scenario")
}

fn run_of(experiment: Experiment) -> Summary {
    experiment.run().expect("it runs").runs()[0].summary().clone()
}

fn during(part: &str) -> Summary {
    run_of(experiment().during(part).expect(part))
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-9)
}

#[test]
fn figures_of_two_parts_add_up_to_those_of_the_whole() {
    let [first, second] = ["0 s .. 3 s", "3 s .."].map(during);
    let whole = run_of(experiment());
    assert_eq!((first.measured_s(), second.measured_s(), whole.measured_s()), (3.0, 7.0, 10.0));
    assert_eq!((second.measured_from_s, second.measured_to_s), (Some(3.0), Some(10.0)));
    let parts = first.links.iter().zip(&second.links);
    for ((a, b), link) in parts.zip(&whole.links) {
        let mean = |a: f64, b: f64| 0.3 * a + 0.7 * b;
        assert!(near(mean(a.utilisation, b.utilisation), link.utilisation), "{}", link.name);
        assert!(near(mean(a.throughput_bps, b.throughput_bps), link.throughput_bps));
        assert!(near(mean(a.queue_packets_mean, b.queue_packets_mean), link.queue_packets_mean));
        assert!(near(mean(a.queue_bytes_mean, b.queue_bytes_mean), link.queue_bytes_mean));
        assert_eq!(a.queue_packets_max.max(b.queue_packets_max), link.queue_packets_max);
        assert_eq!(a.queue_bytes_max.max(b.queue_bytes_max), link.queue_bytes_max);
        assert_eq!(a.marks + b.marks, link.marks);
        for (reason, drops) in &link.drops {
            let of = |link: &ratewire::report::LinkSummary| link.drops.get(reason).copied();
            assert_eq!(of(a).unwrap_or(0) + of(b).unwrap_or(0), *drops, "{reason}");
        }
    }
    let bottleneck = &whole.links[0];
    assert!(bottleneck.marks > 0 && bottleneck.drops.len() > 1, "{bottleneck:?}");
    let samples = |s: &Summary| (s.rtt.unwrap().samples, s.one_way.unwrap().samples);
    let (a, b) = (samples(&first), samples(&second));
    assert_eq!((a.0 + b.0, a.1 + b.1), samples(&whole));
    for ((a, b), flow) in first.flows.iter().zip(&second.flows).zip(&whole.flows) {
        assert_eq!(a.retransmitted_packets + b.retransmitted_packets, flow.retransmitted_packets);
        assert_eq!(a.retransmitted_bytes + b.retransmitted_bytes, flow.retransmitted_bytes);
    }
    let arrived = |s: &Summary| (s.traffic[0].arrived_flows, s.completions.clone().unwrap().flows);
    let (a, b) = (arrived(&first), arrived(&second));
    assert_eq!((a.0 + b.0, a.1 + b.1), arrived(&whole));
    assert_eq!(
        first.unfinished_flows.unwrap() + second.unfinished_flows.unwrap(),
        whole.unfinished_flows.unwrap()
    );
}

#[test]
fn flows_that_arrive_count_in_the_longest_round_trip() {
    let of = |part: &str| during(part).rtt_max_s.expect("round trips");
    let longest = run_of(experiment()).rtt_max_s.expect("round trips");
    // To a nanosecond.
    assert!((of("0 s .. 10 s") - longest).abs() < 1e-9, "{longest}");
    assert!((of("0 s .. 3 s").max(of("3 s .. 10 s")) - longest).abs() < 1e-9);
}

#[test]
fn fairness_is_that_of_flows_that_run_all_the_time() {
    // The early flow has stopped, and the late one runs from the start of the part.
    let part = during("6 s .. 10 s");
    let jain = part.jain_index.expect("two flows");
    let rates = [part.flows[1].delivered_bytes as f64, part.flows[2].delivered_bytes as f64];
    let expected = ratewire_statistics::jain_index(&rates).expect("rates");
    assert!(near(jain, expected), "{jain} {expected}");
    assert!(during("3 s .. 5 s").jain_index.is_none(), "one flow runs through it");
}

#[test]
fn a_flow_is_measured_while_it_runs() {
    let part = during("6 s .. 10 s");
    let [early, late, always] = &part.flows[..] else { panic!("{:?}", part.flows) };
    assert_eq!((early.delivered_bytes, early.goodput_bps, early.share), (0, 0.0, 0.0));
    assert!(early.rtt.is_none() && early.loss_share.is_none());
    let rate = |bytes: u64| bytes as f64 * 8.0 / 4.0;
    assert!(near(late.goodput_bps, rate(late.delivered_bytes)));
    assert!(near(late.share + always.share, 1.0));
    let before = during("3 s .. 5 s");
    let early = &before.flows[0];
    // It stops at 4 s, and is complete soon after.
    let lasted = early.delivered_bytes as f64 * 8.0 / early.goodput_bps;
    assert!((1.0..1.2).contains(&lasted), "{lasted}");
}

#[test]
fn settings_of_the_part_are_checked() {
    let refused = |experiment: Result<Experiment, ratewire::Error>| {
        format!("{:#}", experiment.expect_err("refused"))
    };
    let bad = |part| refused(experiment().during(part));
    assert!(bad("12 s ..").contains("at 12 s the run has ended"), "{}", bad("12 s .."));
    assert!(bad("5 s .. 12 s").contains("at 12 s the run has ended"));
    assert!(bad("5 s .. 2 s").contains("`during` does not end after it begins"));
    assert!(bad("5 s").contains("two times such as"));
    let text = SCENARIO.replace("law      =", "warm_up = \"1 s\"\nduring = \"2 s ..\"\nlaw      =");
    let text = refused(Experiment::parse("window.toml", &text));
    assert!(text.contains("both say where figures are measured"), "{text}");
    let both = experiment().set("warm_up", "2 s").and_then(|it| it.during("1 s .. 4 s"));
    assert_eq!(run_of(both.expect("`during` counts")).measured_to_s, Some(4.0));
    let odd = experiment().set("record.interval", "7 ms").and_then(|it| it.set("warm_up", "3 s"));
    let text = refused(odd);
    assert!(text.contains("is no multiple of the sampling interval"), "{text}");
    let overlay = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/market-data.toml");
    let overlay = Experiment::load(overlay).expect("a scenario");
    let text = refused(overlay.during("1 s .."));
    assert!(text.contains("figures of an overlay are of the whole run"), "{text}");
    // What is set for this run replaces the other key of the file.
    let file = SCENARIO.replace("law      =", "warm_up = \"1 s\"\nlaw      =");
    let of_file = || Experiment::parse("window.toml", &file).expect("a scenario");
    let set = run_of(of_file().during("2 s .. 4 s").expect("a part"));
    assert_eq!((set.measured_from_s, set.measured_to_s), (Some(2.0), Some(4.0)));
    assert_eq!(run_of(of_file()).measured_from_s, Some(1.0));
    assert_eq!(run_of(of_file().set("warm_up", "0 s").expect("none")).measured_s(), 10.0);
}

/// Of an edge that ends at a switch, too, arrivals are known, and so the share that was lost.
#[test]
fn packets_that_arrive_at_a_switch_have_delays() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/sharded-key-value.toml");
    let experiment = Experiment::load(path).and_then(|it| it.set("duration", "2 s"));
    let summary = run_of(experiment.expect("a scenario"));
    for flow in &summary.flows {
        let delay = flow.one_way.expect(&flow.name);
        assert!(delay.samples > 100 && delay.mean_s > 0.0, "{}: {delay:?}", flow.name);
        assert!(flow.loss_share.is_some_and(|share| share < 0.5), "{}", flow.name);
    }
}
