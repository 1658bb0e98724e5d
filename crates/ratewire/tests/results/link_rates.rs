//! Rates of flows at a link, as samples and as expectations.

use crate::batches;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type};
use ratewire::Experiment;

/// Two links of 10 and 4 Mbit/s in a row, and flows that do not react: one of 6 Mbit/s over both
/// links, one of 2 Mbit/s over the first.
const ROW: &str = r#"
duration = "10 s"
law = "fixed"
[topology]
kind = "custom"
[[node]]
name = "s"
[[node]]
name = "d"
[[node]]
name = "near"
[[node]]
name = "r"
host = false
[[link]]
between = ["s", "r"]
rate = "10 Mbit/s"
delay = "10 ms"
[[link]]
between = ["r", "d"]
rate = "4 Mbit/s"
delay = "10 ms"
queue = "10 packets"
[[link]]
between = ["r", "near"]
rate = "100 Mbit/s"
delay = "1 ms"
[[flow]]
from = "s"
to = "d"
options = { rate = "6 Mbit/s" }
[[flow]]
from = "s"
to = "near"
options = { rate = "2 Mbit/s" }
[record]
interval = "100 ms"
"#;

fn experiment(more: &str) -> Experiment {
    Experiment::parse("row.toml", &format!("{ROW}{more}")).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Mean over the run of a column of the flows' table, by flow; `None` if it is null.
fn means(results: &ratewire::Results, column: &str) -> [Option<f64>; 2] {
    let mut rows = [Vec::new(), Vec::new()];
    for batch in batches(&results.runs()[0].flow_samples()) {
        let flows = batch["flow"].as_primitive::<UInt32Type>().values();
        let rates = batch[column].as_primitive::<Float64Type>();
        for (row, flow) in flows.iter().enumerate().filter(|(row, _)| !rates.is_null(*row)) {
            rows[*flow as usize].push(rates.value(row));
        }
    }
    rows.map(|all| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64))
}

fn close(measured: Option<f64>, expected: f64) {
    let measured = measured.expect("a rate");
    assert!((measured / expected - 1.0).abs() < 0.02, "{measured} for {expected}");
}

#[test]
fn a_flow_has_its_own_rate_at_each_link() {
    let at = |link: &str| {
        let results = experiment(&format!("rates_at = \"{link}\"\n")).run().expect("a run");
        means(&results, "at_link_bps")
    };
    let first = at("s->r");
    close(first[0], 6e6);
    close(first[1], 2e6);
    let second = at("r->d");
    close(second[0], 4e6);
    assert_eq!(second[1], Some(0.0));
    // The acknowledgements of a flow are not its data.
    assert_eq!(at("d->r"), [Some(0.0); 2]);
    let results = experiment("").run().expect("a run");
    assert_eq!(means(&results, "at_link_bps"), [None; 2]);
}

/// The samples of all flows make up what the link carried, whatever the interval and the order in
/// which hosts and links take turns.
#[test]
fn rates_of_all_flows_make_up_the_link() {
    for interval in ["1 ms", "7 ms", "500 ms"] {
        let experiment = experiment("rates_at = \"s->r\"\n").set("record.interval", interval);
        let results = experiment.expect("an interval").run().expect("a run");
        let rates = means(&results, "at_link_bps").map(Option::unwrap);
        let run = &results.runs()[0];
        let link = run.link("s->r");
        let carried = link.expect("the link").throughput_bps;
        // What is on the wire at the end has been sent and has not arrived.
        let on_the_wire = carried * 0.01 / 10.0 + 2.0 * 1500.0 * 8.0 / 10.0;
        let missing = carried - rates.iter().sum::<f64>();
        assert!((-1.0..=on_the_wire).contains(&missing), "{interval}: {missing} of {carried}");
    }
}

#[test]
fn expectations_are_about_flows_at_a_link() {
    let expect = |link: &str, flow: &str, equals: &str| {
        format!(
            "[[expect]]\nmetric = \"throughput\"\nlink = \"{link}\"\nflow = {flow}\n\
             during = \"2 s .. 10 s\"\nequals = \"{equals}\"\ntolerance = \"1 %\"\n"
        )
    };
    let all = [
        expect("s->r", "\"s->d\"", "6 Mbit/s"),
        expect("s->r", "\"s->near\"", "2 Mbit/s"),
        expect("s->r", "\"*\"", "8 Mbit/s"),
        expect("r->d", "[\"s->d\", \"s->near\"]", "4 Mbit/s"),
        "[[expect]]\nmetric = \"throughput\"\nlink = \"r->d\"\nflow = \"s->near\"\nmax = \"0 bit/s\"\n"
            .to_string(),
    ];
    let results = experiment(&all.concat()).run().expect("a run");
    let verdicts = results.runs()[0].verdicts();
    assert_eq!(verdicts.len(), all.len());
    for verdict in verdicts {
        assert!(verdict.pass, "{verdict}");
    }
    assert_eq!(verdicts[0].claim, "throughput of s->d at s->r, 2 s .. 10 s");
}

/// A packet takes 1.2 ms of the first link and 3 ms of the second.
#[test]
fn no_sample_is_above_the_links_rate() {
    let results =
        experiment("").set("record.interval", "500 us").expect("set").run().expect("a run");
    let rate = |link: u32| if link < 2 { 10e6 } else { 4e6 };
    let (mut most, mut samples) = ([0.0_f64; 2], 0);
    for batch in batches(&results.runs()[0].link_samples()) {
        let links = batch["link"].as_primitive::<UInt32Type>().values();
        let rates = batch["throughput_bps"].as_primitive::<Float64Type>().values();
        for (link, bps) in links.iter().zip(rates).filter(|(link, _)| **link < 4) {
            // To a byte at each end of a sample.
            assert!(*bps <= rate(*link) + 32_000.0, "{bps} at link {link}");
            most[(*link / 2) as usize] = most[(*link / 2) as usize].max(*bps);
            samples += 1;
        }
    }
    assert!(samples > 1000 && most[0] > 9.9e6 && most[1] > 3.9e6, "{samples} {most:?}");
}
