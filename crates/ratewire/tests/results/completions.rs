//! `completions.parquet` has a row for every flow of a given size, which agrees with the run's
//! other figures.

use crate::batches;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use ratewire::Experiment;
use ratewire::report::Run;
use ratewire_statistics::percentile;

/// Two listed flows with a size, one of them too large to complete; flows that arrive; and a flow
/// that stops and has no size.
const SCENARIO: &str = r#"
duration = "10 s"
law      = "newreno"

[topology]
kind       = "dumbbell"
pairs      = 2
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "20 packets" }

[[flow]]
name = "small"
from = "s1"
to   = "d1"
size = "500 KB"

[[flow]]
name = "large"
from = "s2"
to   = "d2"
size = "1 GB"

[[flow]]
name = "stops"
from = "s1"
to   = "d2"
stop = "2 s"

[[traffic]]
name     = "mice"
between  = [["s1", "d2"]]
arrivals = { poisson = "20 /s" }
sizes    = { fixed = "9 KB" }
"#;

/// A flow as a row of the file.
#[derive(Debug)]
struct Row {
    flow: u32,
    name: String,
    from: String,
    to: String,
    size: u64,
    start_s: f64,
    completion_s: Option<f64>,
    slowdown: Option<f64>,
    retransmitted: u64,
}

fn run() -> (Run, Vec<Row>) {
    run_of(SCENARIO)
}

fn run_of(scenario: &str) -> (Run, Vec<Row>) {
    let experiment = Experiment::parse("test.toml", scenario).unwrap();
    let results = experiment.run().unwrap();
    let batches = batches(&results.completions());
    (results.runs()[0].clone().into_report(), batches.iter().flat_map(rows).collect())
}

fn rows(batch: &RecordBatch) -> Vec<Row> {
    let column = |name: &str| batch.column_by_name(name).unwrap_or_else(|| panic!("no {name}"));
    let number = |name: &str, row| {
        let cells = column(name).as_primitive::<Float64Type>();
        cells.is_valid(row).then(|| cells.value(row))
    };
    let count = |name: &str, row| column(name).as_primitive::<UInt64Type>().value(row);
    let text = |name: &str, row| {
        let cells = column(name).as_dictionary::<UInt32Type>();
        cells.values().as_string::<i32>().value(cells.keys().value(row) as usize).to_string()
    };
    let row = |row| Row {
        flow: column("flow").as_primitive::<UInt32Type>().value(row),
        name: text("flow_name", row),
        from: text("from_name", row),
        to: text("to_name", row),
        size: count("size_bytes", row),
        start_s: number("start_s", row).unwrap(),
        completion_s: number("completion_s", row),
        slowdown: number("slowdown", row),
        retransmitted: count("retransmitted_bytes", row),
    };
    (0..batch.num_rows()).map(row).collect()
}

#[test]
fn each_flow_of_a_given_size_has_a_row() {
    let (run, rows) = run();
    let named = |name: &'static str| rows.iter().filter(move |row| row.name == name);
    let mice = named("mice").count() as u64;
    assert_eq!(Some(mice), run.summary.arrived_flows);
    assert!(mice > 100, "{mice}");
    for mouse in named("mice") {
        assert_eq!((&mouse.from[..], &mouse.to[..], mouse.size), ("s1", "d2", 9_000));
        assert!(mouse.flow > 2 && mouse.slowdown.is_none_or(|times| times >= 1.0), "{mouse:?}");
    }
    for (listed, own) in [("small", 0), ("large", 1)] {
        let [row] = named(listed).collect::<Vec<_>>()[..] else { panic!("rows of {listed}") };
        let known = &run.summary.flows[own];
        assert_eq!((row.flow, row.start_s), (own as u32, known.start_s));
        assert_eq!((Some(row.size), row.completion_s), (known.size_bytes, known.completion_s));
        // Retransmissions after the last byte has arrived are not part of the transfer.
        assert!(row.retransmitted <= known.retransmitted_bytes && row.retransmitted > 0, "{row:?}");
    }
    assert_eq!(
        named("large").next().map(|row| (row.completion_s, row.slowdown)),
        Some((None, None))
    );
    assert_eq!(named("stops").count(), 0, "what has no size has no completion time");
}

#[test]
fn rows_are_in_order_of_completion_and_then_those_that_did_not() {
    let (_, rows) = run();
    let ends: Vec<f64> = rows
        .iter()
        .map(|row| row.completion_s.map_or(f64::MAX, |took| row.start_s + took))
        .collect();
    assert!(ends.is_sorted(), "{ends:?}");
}

#[test]
fn percentiles_are_those_of_the_rows() {
    let (run, rows) = run();
    let mice: Vec<f64> =
        rows.iter().filter(|row| row.name == "mice").filter_map(|row| row.slowdown).collect();
    let all = run.summary.completions.expect("completions");
    let below_10_kb = &all.by_size[0];
    assert_eq!((below_10_kb.below_bytes, below_10_kb.flows), (Some(10_000), mice.len() as u64));
    assert_eq!(percentile(&mice, 50), below_10_kb.slowdown_median);
    assert_eq!(percentile(&mice, 99), below_10_kb.slowdown_p99);
    assert!(all.percentiles_exact);
}

#[test]
fn figures_of_completion_are_of_flows_of_a_given_size() {
    let (run, rows) = run();
    let took: Vec<f64> = rows.iter().filter_map(|row| row.completion_s).collect();
    let all = run.summary.completions.expect("completions");
    assert_eq!((all.flows, run.collected.completions_total), (took.len() as u64, all.flows));
    assert_eq!(Some((rows.len() - took.len()) as u64), run.summary.unfinished_flows);
    assert_eq!(
        (percentile(&took, 50), percentile(&took, 99)),
        (Some(all.median_s), Some(all.p99_s))
    );
    // A flow that stops still has a completion time.
    let stops = run.summary.flows.iter().find(|flow| flow.name == "stops").expect("the flow");
    assert!(stops.completion_s.is_some_and(|took| took >= 2.0));
    assert!(took.iter().all(|took| Some(*took) != stops.completion_s));
}

/// A flow that has not sent all data at the end of the run, one that pauses, and one at a constant
/// rate.
#[test]
fn what_did_not_carry_a_given_size_has_no_figures_of_completion() {
    let flows = r#"
[[flow]]
name = "cut"
from = "s1"
to   = "d1"
size = "1 GB"
stop = "1 s"

[[flow]]
from = "s1"
to   = "d1"
app  = { on_off = { burst = "10 KB", pause = "100 ms", count = 3 } }

[[flow]]
from = "s2"
to   = "d2"
stop = "1 s"
app  = { constant = { rate = "1 Mbit/s" } }
"#;
    let (topology, _) = SCENARIO.split_once("[[flow]]").expect("flows");
    let (run, rows) = run_of(&format!("{topology}{flows}"));
    assert!(run.summary.completions.is_none(), "{:?}", run.summary.completions);
    assert_eq!(run.summary.unfinished_flows, Some(1));
    let facts: Vec<_> =
        rows.iter().map(|row| (&row.name[..], row.size, row.completion_s)).collect();
    assert_eq!(facts, [("cut", 1_000_000_000, None)]);
}

#[test]
fn a_load_that_is_not_met_is_explained_by_what_arrived() {
    let text = r#"
duration = "10 s"
law      = "newreno"

[topology]
kind       = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "20 packets" }

[[traffic]]
load  = { link = "bottleneck", fraction = 0.6 }
sizes = { pareto = { shape = 1.3, mean = "100 KB" } }
stop  = "8 s"
"#;
    let results = Experiment::parse("load.toml", text).unwrap().run().unwrap();
    let summary = results.runs()[0].summary();
    let class = &summary.traffic[0];
    assert_eq!(Some(class.arrived_flows), summary.arrived_flows);
    let per_second = class.flows_per_second.unwrap();
    assert_eq!((class.arriving_s, class.expected_flows), (8.0, Some(per_second * 8.0)));
    // A load of 0.6 for 8 s is 6 MB with headers of 40 bytes a packet.
    let expected = class.expected_bytes.unwrap();
    assert!(expected > 5.7e6 && expected < 6e6, "{expected}");
    let flows = batches(&results.completions());
    let sizes: u64 = flows.iter().flat_map(rows).map(|row| row.size).sum();
    assert_eq!(class.arrived_bytes, sizes);
    let explained = "Utilisation of bottleneck is";
    assert!(results.table().contains(explained), "{}", results.table());
    assert!(ratewire::report::html::render(&results.page()).contains(explained));
}

/// A flow alone on a fat tree, and one whose slowest link is in the middle.
const ALONE: &str = r#"
duration = "400 ms"
law      = "newreno"

[topology]
kind   = "fat-tree"
k      = 4
link   = { rate = "1 Gbit/s", delay = "5 us", queue = "300 packets" }
access = { rate = "1 Gbit/s", delay = "5 us", queue = "300 packets" }

[transport]
min_rto = "5 ms"
jitter  = "none"
"#;

#[test]
fn a_flow_alone_has_a_slowdown_of_one() {
    let flow = |to: &str, start: u64, size: &str| {
        format!(
            "[[flow]]\nfrom = \"h1\"\nto = \"{to}\"\nstart = \"{start} ms\"\nsize = \"{size}\"\n"
        )
    };
    let flows: String = ["1000 B", "10 KB", "100 KB", "1 MB"]
        .iter()
        .zip(0..)
        .flat_map(|(size, n)| [flow("h16", 90 * n, size), flow("h2", 90 * n + 45, size)])
        .collect();
    for law in ["newreno", "dctcp"] {
        let experiment =
            Experiment::parse("alone.toml", &(ALONE.to_string() + &flows)).expect("one");
        let results = experiment.laws([law]).run().expect("a run");
        let completions = results.runs()[0].summary().completions.clone().expect("completions");
        let sizes = completions.by_size.iter().map(|of| of.slowdown_median);
        let sizes: Vec<f64> = sizes.chain([completions.slowdown_p99]).flatten().collect();
        // The first window is a little less than the path holds.
        let is_alone = |slowdown: f64| (0.99..1.02).contains(&slowdown);
        assert!(sizes.iter().copied().all(is_alone), "{law}: {sizes:?}");
        assert_eq!(sizes.len(), completions.by_size.len() + 1);
        assert_eq!(completions.flows, 8);
    }
    // HPCC's simulator has a round trip and all bytes at the slowest link.
    let text = ALONE.to_string() + &flow("h16", 0, "1000 B") + "[record]\nslowdown = \"hpcc\"\n";
    let results = Experiment::parse("hpcc.toml", &text).expect("one").run().expect("a run");
    let run = results.runs()[0].summary().clone();
    let (completions, packet) = (run.completions.expect("completions"), 1.0 / 125e6);
    let full = 1460.0;
    let base = 12.0 * 5e-6 + 6.0 * full * packet + 1040.0 * packet;
    let took = run.flows[0].completion_s.expect("an end");
    let slowdown = completions.slowdown_median.expect("a slowdown");
    assert!((slowdown - took / base).abs() < 1e-3, "{slowdown} {}", took / base);
}

/// Twelve servers answer a client at once, every 20 ms.
const INCAST: &str = r#"
duration = "200 ms"
law      = "dctcp"

[topology]
kind   = "fat-tree"
k      = 4
link   = { rate = "1 Gbit/s", delay = "5 us", queue = "100 packets" }
access = { rate = "1 Gbit/s", delay = "5 us", queue = "100 packets" }

[[traffic]]
name     = "incast"
between  = "all"
arrivals = { every = "20 ms" }
fan_in   = 12
sizes    = { fixed = "20 KB" }
stop     = "95 ms"
"#;

#[test]
fn an_incast_starts_as_many_flows_at_once_as_it_says() {
    let asked = ["incast_max/incast".parse().expect("a figure")];
    let experiment = Experiment::parse("incast.toml", INCAST).expect("one").figures(asked);
    let results = experiment.run().expect("a run");
    let summary = results.runs()[0].summary().clone();
    let traffic = &summary.traffic[0];
    assert_eq!((traffic.arrived_flows, traffic.expected_flows), (60, Some(60.0)));
    let mut bursts = std::collections::BTreeMap::new();
    let all = batches(&results.completions());
    for row in all.iter().flat_map(rows) {
        let burst: &mut (Vec<String>, Vec<String>, f64) =
            bursts.entry((row.start_s * 1e3).round() as u64).or_default();
        burst.0.push(row.from);
        burst.1.push(row.to);
        burst.2 = burst.2.max(row.completion_s.expect("an end"));
    }
    assert_eq!(bursts.keys().copied().collect::<Vec<u64>>(), [0, 20, 40, 60, 80]);
    let mut last: Vec<f64> = bursts.values().map(|burst| burst.2).collect();
    last.sort_by(f64::total_cmp);
    let incasts = traffic.incasts.expect("incasts");
    for (got, expected) in [(incasts.p50_s, last[2]), (incasts.max_s, last[4])] {
        assert!((got / expected - 1.0).abs() < 6e-4, "{incasts:?} {last:?}");
    }
    assert_eq!((incasts.samples, summary.figures["incast_max/incast"]), (5, Some(incasts.max_s)));
    let explained =
        "incast: 5 of 5 incasts of 12 flows each were complete; the last flow of each after";
    assert!(ratewire::report::html::render(&results.page()).contains(explained));
    for (from, to, _) in bursts.values_mut() {
        from.sort();
        from.dedup();
        to.dedup();
        assert_eq!((from.len(), to.len()), (12, 1), "{from:?} {to:?}");
    }
    let single = INCAST.replace("fan_in   = 12\n", "");
    let asked = ["incast_max/incast".parse().expect("a figure")];
    let single = Experiment::parse("single.toml", &single).expect("one").figures(asked);
    let wrong = single.run().expect_err("single flows").to_string();
    assert!(
        wrong.contains("no class with `fan_in` is called \"incast\": there is none"),
        "{wrong}"
    );
    let refused = |text: String| match Experiment::parse("incast.toml", &text) {
        Ok(_) => panic!("taken: {text}"),
        Err(wrong) => format!("{wrong:#}"),
    };
    let text = refused(INCAST.replace("fan_in   = 12", "fan_in = 16"));
    assert!(text.contains("has 15 senders, not 16"), "{text}");
    let load = INCAST.replace("arrivals = { every = \"20 ms\" }", "load = { fraction = 0.1 }");
    let text = refused(load);
    assert!(text.contains("`fan_in` means nothing here: `load` is of single flows"), "{text}");
}
