//! Readers of formats whose published files may not be shipped, against files made for the tests.

use std::path::Path;

use ratewire_inputs::{arrivals, cdf, detect, mahimahi, read};
use ratewire_units::{Bytes, Duration, Rate, Time};

fn text(name: &str) -> String {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

#[test]
fn a_cellular_trace_starts_at_zero_with_a_burst_and_has_an_outage() {
    let trace = mahimahi::parse("outage.down", &text("outage.down")).unwrap();
    assert_eq!(trace.opportunities.len(), 20);
    assert_eq!(trace.opportunity(3), Time::ZERO);
    assert_eq!(trace.longest_gap(), Duration::from_millis(1_480));
    assert_eq!(trace.mean_rate(), Rate::from_bps(120_000));
    assert_eq!(trace.opportunity(20), Time::ZERO + Duration::from_secs(2));
}

#[test]
fn percent_is_probability_times_a_hundred() {
    let sizes = cdf::parse("percent.txt", &text("percent.txt"), &mut Vec::new()).unwrap();
    assert_eq!(sizes.points.last(), Some(&(2_000_000.0, 1.0)));
    assert_eq!(sizes.quantile(0.7), Bytes::new(8_000));
    assert_eq!(sizes.quantile(0.9), Bytes::new(64_000));
}

#[test]
fn sndlib_is_recognised_by_its_root() {
    let topology = detect::topology("triangle.xml", &text("triangle.xml")).unwrap();
    assert_eq!(topology.name, "triangle");
    assert_eq!((topology.edges.len(), topology.demands.len()), (3, 2));
}

#[test]
fn flows_from_a_file() {
    let flows = arrivals::parse("flows.txt", &text("flows.txt"), &mut Vec::new()).unwrap().flows;
    let order: Vec<(usize, u64)> = flows.iter().map(|flow| (flow.line, flow.size.get())).collect();
    assert_eq!(order, [(4, 1_500_000), (6, 400), (5, 20_000), (7, 1)]);
    assert_eq!(flows[2].from, "New York");
    assert_eq!(flows[2].to, "Vienna#2");
}

#[test]
fn deep_nesting_is_an_error_or_a_graph_but_never_a_crash() {
    let deep = 200_000;
    assert!(detect::topology("deep", &"<a>".repeat(deep)).is_err());
    let closed = "<a>".repeat(2_000) + &"</a>".repeat(2_000);
    assert!(detect::topology("deep", &closed).is_err());
    let json = format!("{{\"nodes\": {}{}}}", "[".repeat(deep), "]".repeat(deep));
    assert!(detect::topology("deep", &json).is_err());
}
