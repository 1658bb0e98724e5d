//! Verdicts on runs that the tests make up sample by sample.

use ratewire_net::spec::{LinkId, NodeId};
use ratewire_scenario::{Finding, Scenario};
use ratewire_sim::outcome::{Drops, FlowOutcome, LinkOutcome, Outcome, Pausing};
use ratewire_sim::record::{FlowCompleted, FlowId, FlowSample, LinkSample, Recorder};
use ratewire_units::{Bytes, Duration, Time};

use crate::common::{dumbbell, parse_with, scenario};

const SECOND: Duration = Duration::from_secs(1);

fn at(seconds: u64) -> Time {
    Time::ZERO + SECOND * seconds
}

fn flow_sample(flow: u32, second: u64, delivered: u64) -> FlowSample {
    FlowSample {
        at: at(second),
        interval: SECOND,
        flow: FlowId(flow),
        delivered: Bytes::new(delivered),
        retransmitted: Bytes::new(10),
        retransmitted_packets: 1,
        window: Bytes::new(1440 * (second + u64::from(flow))),
        in_flight: Some(Bytes::ZERO),
        receive_window: Bytes::MAX,
        srtt: Duration::ZERO,
        rtt: Duration::from_millis(40 + second),
        pacing: None,
    }
}

fn link_sample(second: u64) -> LinkSample {
    LinkSample {
        at: at(second),
        interval: SECOND,
        link: LinkId(0),
        busy: if second <= 5 { 0.5 } else { 1.0 },
        sent: Bytes::new(1_000_000),
        queue_packets_mean: second as f64,
        queue_packets_max: 2 * second as u32,
        queue_bytes_mean: 1500.0 * second as f64,
        queue_bytes_max: Bytes::new(3000 * second),
        queue_packets: second as u32 + 1,
        queue_bytes: Bytes::new(1500 * (second + 1)),
        packets: 667,
        drops: Drops { full: second, ..Drops::default() },
        marks: 1,
        clamps: 0,
        pausing: Pausing { pauses: second, ..Pausing::default() },
        disturbances: Default::default(),
        paused: if second <= 5 { 0.2 } else { 0.4 },
    }
}

fn flow_outcome(flow: u32, started: bool, delivered: u64) -> FlowOutcome {
    FlowOutcome {
        flow: FlowId(flow),
        name: format!("s{}->d{}", flow + 1, flow + 1),
        from: NodeId(0),
        to: NodeId(1),
        law: 0,
        traffic: None,
        started: started.then_some(Time::ZERO),
        completed: None,
        delivered: Bytes::new(delivered),
        retransmitted: Bytes::new(7),
        retransmitted_packets: 1,

        timeouts: 0,
        refused: 0,
        min_rtt: Some(Duration::from_millis(40)),
        max_rtt: Some(Duration::from_millis(60)),
        mean_rtt: Some(Duration::from_millis(45)),
        clamps: u64::from(flow) * 7,
    }
}

fn outcome(flows: Vec<FlowOutcome>) -> Outcome {
    Outcome {
        flows,
        links: vec![LinkOutcome {
            link: LinkId(0),
            busy: SECOND * 8,
            sent: Bytes::new(12_500_000),
            packets: 10,
            queue_packets_mean: 3.5,
            queue_bytes_mean: 5000.0,
            queue_packets_max: 21,
            queue_bytes_max: Bytes::new(31_000),
            drops: Default::default(),
            marks: 11,
            clamps: 0,
            pausing: Pausing { pauses: 60, paused: SECOND * 3, frames: 9, overflowed: 2 },
            disturbances: Default::default(),
        }],
        packets: Default::default(),
        events: 0,
        data_packets_delivered: 0,
        ended: at(10),
        delays: Default::default(),
        deadlock: None,
        overlay: None,
    }
}

/// Two flows on a 10 Mbit/s link for 10 s, sampled every second, with these expectations.
fn two_flows(expectations: &str) -> Scenario {
    let flows = "[[flow]]\nfrom = \"s*\"\nto = \"d*\"\n[record]\ninterval = \"1 s\"\n";
    let text = dumbbell(&format!("{flows}{expectations}")).replace("kind", "pairs = 2\nkind");
    scenario(&text)
}

/// The verdicts on a made-up run.
///
/// The first flow delivers 1000 bytes a second. The second delivers 500 a second in the first five
/// seconds and 1000 afterwards.
fn verdicts(expectations: &str) -> Vec<Finding> {
    judge(&two_flows(expectations))
}

fn judge(scenario: &Scenario) -> Vec<Finding> {
    let plan = scenario.plan(None, None).unwrap();
    let mut evaluator = scenario.evaluator(&plan);
    for second in 1..=10 {
        evaluator.flow_sample(&flow_sample(0, second, 1000));
        evaluator.flow_sample(&flow_sample(1, second, if second <= 5 { 500 } else { 1000 }));
        evaluator.link_sample(&link_sample(second));
    }
    evaluator.finish(&outcome(vec![flow_outcome(0, true, 10_000), flow_outcome(1, true, 7_500)]))
}

/// The value that one expectation measures.
#[track_caller]
fn measured(expectation: &str) -> f64 {
    let all = verdicts(&format!("[[expect]]\n{expectation}"));
    all[0].measured.unwrap_or_else(|| panic!("{}", all[0]))
}

#[track_caller]
fn reason(expectation: &str) -> String {
    let all = verdicts(&format!("[[expect]]\n{expectation}"));
    assert!(!all[0].pass && all[0].measured.is_none());
    all[0].reason.clone().unwrap()
}

#[test]
fn link_metrics_over_a_window() {
    let link = |metric: &str, bound: &str| {
        measured(&format!(
            "metric = \"{metric}\"\nlink = \"bottleneck\"\nduring = \"4 s .. 8 s\"\nmax = {bound}"
        ))
    };
    // Samples that end at 5, 6, 7 and 8 s.
    assert_eq!(link("utilisation", "1"), (0.5 + 3.0) / 4.0);
    assert_eq!(link("throughput", "\"1 bit/s\""), 8e6);
    assert_eq!(link("queue_mean", "\"1 packets\""), 6.5);
    assert_eq!(link("queue_mean", "\"1 B\""), 9750.0);
    // 9750 bytes at 10 Mbit/s.
    assert_eq!(link("queue_mean", "\"1 ms\""), 0.0078);
    assert_eq!(link("queue_max", "\"1 packets\""), 16.0);
    assert_eq!(link("queue_max", "\"1 B\""), 24_000.0);
    assert_eq!(link("queue_p99", "\"1 packets\""), 9.0);
    assert_eq!(link("queue_p99", "\"1 B\""), 13_500.0);
    assert_eq!(link("drops", "0"), 26.0);
    assert_eq!(link("marks", "0"), 4.0);
    assert_eq!(link("pauses", "0"), 26.0);
    assert_eq!(link("paused", "0"), (0.2 + 1.2) / 4.0);
}

#[test]
fn a_queue_in_time_is_of_the_rate_at_the_time() {
    let change = |at: &str, rate: &str| {
        format!("[[change]]\nat = \"{at}\"\nlink = \"bottleneck\"\nrate = \"{rate}\"\n")
    };
    // In microseconds.
    let queue = |changes: &str, metric: &str, during: &str| {
        let expect = format!(
            "[[expect]]\nmetric = \"{metric}\"\nlink = \"bottleneck\"\n{during}max = \"1 ms\""
        );
        let verdict = verdicts(&format!("{changes}{expect}")).remove(0);
        verdict
            .measured
            .map(|value| (value * 1e6).round() as u64)
            .ok_or(verdict.reason.unwrap_or_default())
    };
    let slower = change("7 s", "1 Mbit/s");
    let during = "during = \"4 s .. 8 s\"\n";
    // 7500, 9000, 10,500 bytes at 10 Mbit/s, and then 12,000 at 1 Mbit/s.
    assert_eq!(queue(&slower, "queue_mean", during), Ok((6000 + 7200 + 8400 + 96_000) / 4));
    assert_eq!(queue(&slower, "queue_max", during), Ok(192_000));
    assert_eq!(queue(&slower, "queue_p99", during), Ok(108_000));
    // In the middle of a sample the link's mean rate in that sample counts.
    let half = change("7.5 s", "1 Mbit/s");
    assert_eq!(queue(&half, "queue_p99", during), Ok(19_636));
    assert_eq!(queue(&half, "queue_max", during), Ok(34_909));
    let pause = change("7.2 s", "0 bit/s") + &change("7.7 s", "10 Mbit/s");
    assert_eq!(queue(&pause, "queue_max", during), Ok(38_400), "it sends half of the time");
    // Over the whole run the outcome gives the queue if the rate is constant, otherwise the samples
    // do.
    assert_eq!(queue("", "queue_max", ""), Ok(24_800));
    assert_eq!(queue(&change("5 s", "10 Mbit/s"), "queue_max", ""), Ok(24_800));
    assert_eq!(queue(&slower, "queue_max", ""), Ok(240_000));
    let stands = change("7 s", "0 bit/s");
    let no_length = "a queue in front of a link of rate 0 has no length in time".to_string();
    assert_eq!(queue(&stands, "queue_mean", during), Err(no_length));
    assert_eq!(queue(&stands, "queue_max", "during = \"4 s .. 7 s\"\n"), Ok(16_800));
}

#[test]
fn link_metrics_over_the_whole_run_are_those_of_the_outcome() {
    let link = |metric: &str, bound: &str| {
        measured(&format!("metric = \"{metric}\"\nlink = \"bottleneck\"\nmax = {bound}"))
    };
    assert_eq!(link("utilisation", "1"), 0.8);
    assert_eq!(link("throughput", "\"1 bit/s\""), 1e7);
    assert_eq!(link("queue_max", "\"1 packets\""), 21.0);
    assert_eq!(link("queue_p99", "\"1 packets\""), 11.0);
    assert_eq!(measured("metric = \"marks\"\nmax = 3"), 11.0);
    assert_eq!(measured("metric = \"pauses\"\nmax = 3"), 60.0);
    assert_eq!(measured("metric = \"overflows\"\nmax = 3"), 2.0);
    assert_eq!(measured("metric = \"deadlock\"\nmax = 3"), 0.0);
}

#[test]
fn flow_metrics() {
    let during = "during = \"0 s .. 5 s\"\n";
    assert_eq!(measured(&format!("metric = \"goodput\"\n{during}min = \"1 bit/s\"")), 12_000.0);
    assert_eq!(measured("metric = \"goodput\"\nflow = \"s1->d1\"\nmin = \"1 bit/s\""), 8_000.0);
    let share = format!("metric = \"share\"\nflow = \"s2->*\"\n{during}min = 0.1");
    assert_eq!(measured(&share), 2500.0 / 7500.0);
    let ratio =
        format!("metric = \"ratio\"\nflow = \"s1->d1\"\nof = \"s2->d2\"\n{during}min = 0.1");
    assert_eq!(measured(&ratio), 2.0);
    assert_eq!(measured(&format!("metric = \"jain\"\n{during}min = 0.1")), 0.9);
    assert_eq!(measured(&format!("metric = \"retransmitted\"\n{during}max = \"0 B\"")), 100.0);
    assert_eq!(measured("metric = \"retransmitted\"\nmax = \"0 B\""), 14.0);
    assert_eq!(measured("metric = \"clamps\"\nmax = 0"), 7.0);
    assert_eq!(measured("metric = \"clamps\"\nflow = \"s1->d1\"\nmax = 0"), 0.0);
    // Packets of 1500 bytes carry 1500 - 40 - 20 bytes under XCP.
    assert_eq!(measured("metric = \"window_max\"\nmax = \"1 packets\""), 11.0);
    assert_eq!(
        measured(&format!("metric = \"window_mean\"\nflow = \"s1->d1\"\n{during}max = \"1 B\"")),
        4320.0
    );
    assert_eq!(measured(&format!("metric = \"rtt_min\"\n{during}max = \"1 s\"")), 0.041);
    assert_eq!(measured(&format!("metric = \"rtt_mean\"\n{during}max = \"1 s\"")), 0.043);
    assert_eq!(measured("metric = \"rtt_max\"\nmax = \"1 s\""), 0.06, "of the outcome");
    assert_eq!(measured(&format!("metric = \"rtt_max\"\n{during}max = \"1 s\"")), 0.045);
    assert_eq!(measured("metric = \"rtt_mean\"\nmax = \"1 s\""), 0.045);
}

#[test]
fn convergence_is_counted_from_the_window_s_start() {
    let convergence = |more: &str| format!("metric = \"convergence_time\"\nmax = \"10 s\"\n{more}");
    assert_eq!(measured(&convergence("")), 5.0);
    assert_eq!(measured(&convergence("during = \"2 s .. 8 s\"")), 3.0);
    // Averaged over 2 s, the block from 4 to 6 s is still 1500 to 2000. Two blocks remain: too few.
    assert!(reason(&convergence("average = \"2 s\"")).contains("had not converged"));
    assert_eq!(measured(&convergence("average = \"2 s\"\nduring = \"6 s .. 10 s\"")), 0.0);
    assert!(reason(&convergence("during = \"2 s .. 7 s\"")).contains("had not converged"));
    assert_eq!(measured(&convergence("within = \"40 %\"")), 0.0);
    assert!(reason(&convergence("during = \"0 s .. 5 s\"")).contains("had not converged"));
}

#[test]
fn what_has_no_samples_fails() {
    let scenario = two_flows(
        "[[expect]]\nmetric = \"drops\"\nlink = \"bottleneck\"\nduring = \"0 s .. 1 s\"\nmax = 0\n\
         [[expect]]\nmetric = \"goodput\"\nmin = \"0 bit/s\"\n\
         [[expect]]\nmetric = \"goodput\"\nflow = \"s1->d1\"\nduring = \"0 s .. 1 s\"\nmin = \"0 bit/s\"\n\
         [[expect]]\nmetric = \"jain\"\nflow = \"s1->d1\"\nmin = 0.1",
    );
    let plan = scenario.plan(None, None).unwrap();
    let evaluator = scenario.evaluator(&plan);
    let flows = vec![flow_outcome(0, true, 0), flow_outcome(1, false, 0)];
    let all = evaluator.finish(&outcome(flows));
    let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "FAIL  drops of bottleneck, 0 s .. 1 s: - (<= 0): the link has no samples in this time",
            "FAIL  goodput of all flows, whole run: - (>= 0 bit/s): s2->d2 never started",
            "FAIL  goodput of s1->d1, 0 s .. 1 s: - (>= 0 bit/s): s1->d1 has no samples in this time",
            "FAIL  jain of s1->d1, whole run: - (>= 0.1): nothing was delivered",
        ]
    );
}

#[test]
fn completion_times_of_flows_and_classes() {
    let text = "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\nsize = \"1 KB\"\ncount = 2\n\
        [[traffic]]\nname = \"web\"\narrivals = { every = \"1 s\" }\nsizes = { fixed = \"1 KB\" }\n\
        [[expect]]\nmetric = \"completion_time\"\nmax = \"2 s\"\n\
        [[expect]]\nmetric = \"completion_time\"\ntraffic = \"web\"\nstatistic = \"p50\"\nmax = \"2 s\"\n\
        [[expect]]\nmetric = \"completion_time\"\nflow = \"s1->d1\"\nmax = \"0.5 s\"";
    let scenario = scenario(&dumbbell(text));
    let plan = scenario.plan(None, None).unwrap();
    let mut evaluator = scenario.evaluator(&plan);
    let mut done = |flow: u32, traffic: Option<usize>, millis: u64| {
        evaluator.flow_completed(&FlowCompleted {
            flow: FlowId(flow),
            law: 0,
            traffic,
            size: Bytes::new(1000),
            start: Time::ZERO,
            took: Duration::from_millis(millis),
            ideal: Duration::from_millis(40),
            retransmitted: Bytes::ZERO,
        });
    };
    done(0, None, 700);
    for (i, millis) in [300, 100, 200].into_iter().enumerate() {
        done(2 + i as u32, Some(0), millis);
    }
    let all = evaluator.finish(&outcome(vec![flow_outcome(0, true, 0), flow_outcome(1, true, 0)]));
    assert_eq!(all[0].reason.as_deref(), Some("s2->d2 did not complete"));
    assert_eq!(all[1].measured, Some(0.2));
    assert_eq!((all[2].measured, all[2].pass), (Some(0.7), false));
}

#[test]
fn a_reference_is_compared_flow_by_flow() {
    let text = |more: &str| {
        dumbbell(&format!(
            "[[flow]]\nfrom = \"s*\"\nto = \"d*\"\n[record]\ninterval = \"1 s\"\n\
             [[expect]]\nmetric = \"reference_error\"\nfile = \"r.csv\"\ncapacity = \"10 kbit/s\"\n\
             headers = false\nmax = \"5 %\"\n{more}"
        ))
        .replace("kind", "pairs = 2\nkind")
    };
    // The first flow as in the run; the second 400 bit/s too fast after 5 s.
    let mut csv = "t_s,flow0_bps,flow1_bps\n".to_string();
    for half in 1..=20 {
        let rate = if half <= 10 { 4000 } else { 8400 };
        csv.push_str(&format!("{},8000,{rate}\n", f64::from(half) / 2.0));
    }
    let judge = |more: &str| {
        let read = parse_with(&text(more), &[("r.csv", csv.as_str())]);
        judge(&read.unwrap_or_else(|all| panic!("{all}"))).remove(0)
    };
    let worst = judge("");
    assert_eq!((worst.measured, worst.pass), (Some(0.04), true));
    assert_eq!(judge("statistic = \"mean\"").measured, Some(0.01));
    assert_eq!(judge("during = \"0 s .. 5 s\"").measured, Some(0.0));
    // Everything within 10 s of the start of a flow is left out, so nothing remains.
    assert!(judge("skip = \"10 s\"").reason.unwrap().contains("outside what is skipped"));
}

#[test]
fn bounds_are_shown_as_they_are_held() {
    let all = verdicts(
        "[[expect]]\nmetric = \"utilisation\"\nlink = \"bottleneck\"\nmin = \"70 %\"\nsource = \"here\"\n\
         [[expect]]\nmetric = \"jain\"\nmin = 0.9\nmax = 1\n\
         [[expect]]\nmetric = \"goodput\"\nequals = \"14 kbit/s\"\ntolerance = \"1 %\"\n\
         [[expect]]\nmetric = \"marks\"\nequals = 12",
    );
    let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "pass  utilisation of bottleneck, whole run: 0.8 (>= 0.7)",
            "pass  jain of all flows, whole run: 0.98 (0.9 .. 1)",
            "pass  goodput of all flows, whole run: 14 kbit/s (14 kbit/s +- 140 bit/s)",
            "FAIL  marks of all links, whole run: 11 (12)",
        ]
    );
    assert_eq!(all[0].source.as_deref(), Some("here"));
}

#[test]
fn a_claim_says_which_of_several_values_it_is_of() {
    let claims = verdicts(
        "[[expect]]\nmetric = \"completion_time\"\nstatistic = \"p99\"\nmax = \"1 s\"\n\
         [[expect]]\nmetric = \"completion_time\"\nflow = \"s1->d1\"\nmax = \"1 s\"\n\
         [[expect]]\nmetric = \"goodput\"\nmin = \"1 bit/s\"\n",
    );
    let claims: Vec<&str> = claims.iter().map(|verdict| verdict.claim.as_str()).collect();
    assert_eq!(
        claims,
        [
            "p99 completion_time of all flows, whole run",
            "completion_time of s1->d1, whole run",
            "goodput of all flows, whole run"
        ]
    );
}
