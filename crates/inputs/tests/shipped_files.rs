//! The files under `data/`, held against what is known of them.

use std::path::{Path, PathBuf};

use ratewire_inputs::topology::{self, Topology};
use ratewire_inputs::{cdf, cooked, detect, mahimahi, read};
use ratewire_units::{Bytes, Duration, Rate};

#[allow(dead_code, reason = "the example's main is not called here")]
#[path = "../examples/make_traces.rs"]
mod make_traces;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name)
}

fn text(name: &str) -> String {
    read(&data(name)).unwrap()
}

fn topology(name: &str) -> Topology {
    detect::topology(name, &text(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn zoo(name: &str) -> Topology {
    let topology = topology(&format!("topology-zoo/{name}.graphml"));
    assert_eq!(topology.name, name);
    topology
}

fn counts(topology: &Topology) -> (usize, usize) {
    (topology.nodes.len(), topology.edges.len())
}

/// How many edges join a pair of nodes that an earlier edge joins already.
fn parallel(topology: &Topology) -> usize {
    let mut pairs: Vec<_> =
        topology.edges.iter().map(|edge| (edge.a.min(edge.b), edge.a.max(edge.b))).collect();
    pairs.sort_unstable();
    let all = pairs.len();
    pairs.dedup();
    all - pairs.len()
}

#[test]
fn topology_zoo_counts() {
    assert_eq!(counts(&zoo("Abilene")), (11, 14));
    assert_eq!(counts(&zoo("Geant2012")), (40, 61));
    assert_eq!(counts(&zoo("Nsfnet")), (13, 15));
    assert_eq!(counts(&zoo("AttMpls")), (25, 57));
    assert_eq!(counts(&zoo("Cogentco")), (197, 245));
    assert_eq!(counts(&zoo("Uninett2011")), (69, 98));
    assert_eq!(counts(&zoo("Sprint")), (11, 18));
}

#[test]
fn geant_has_gaps() {
    let geant = zoo("Geant2012");
    let nowhere = geant.nodes.iter().filter(|node| node.longitude.is_none()).count();
    assert_eq!(nowhere, 3);
    assert_eq!(geant.nodes.iter().filter(|node| node.latitude.is_none()).count(), 3);
    assert_eq!(geant.edges.iter().filter(|edge| edge.rate.is_some()).count(), 39);
    for edge in &geant.edges {
        let known = |i: usize| geant.nodes[i].longitude.is_some();
        assert_eq!(edge.length_km.is_some(), known(edge.a) && known(edge.b));
    }
}

#[test]
fn parallel_edges_are_kept() {
    assert_eq!(parallel(&zoo("AttMpls")), 1);
    assert_eq!(parallel(&zoo("Cogentco")), 2);
    let uninett = zoo("Uninett2011");
    assert_eq!(parallel(&uninett), 2);
    assert_eq!(uninett.edges.iter().filter(|edge| edge.rate.is_some()).count(), 93);
}

#[test]
fn repeated_labels_become_different_names() {
    let cogentco = zoo("Cogentco");
    assert_eq!(cogentco.nodes.iter().filter(|node| node.name.contains('#')).count(), 10);
    assert!(cogentco.node("Vienna").is_some());
}

#[test]
fn abilene_is_where_it_is() {
    let abilene = zoo("Abilene");
    let (a, b) = (abilene.node("New York").unwrap(), abilene.node("Chicago").unwrap());
    let edge = abilene.edges.iter().find(|edge| (edge.a, edge.b) == (a, b)).unwrap();
    let km = edge.length_km.unwrap();
    assert!((1_144.0..1_146.0).contains(&km), "{km}");
    let delay = topology::propagation_delay(km);
    assert!(delay > Duration::from_micros(5_720) && delay < Duration::from_micros(5_730));
    assert_eq!(edge.label.as_deref(), Some("OC-192c"));
    assert_eq!(abilene.components().len(), 1);
}

#[test]
fn topohub_counts_and_demands() {
    let of = |name: &str| topology(&format!("topohub/sndlib-{name}.json"));
    let (abilene, geant, germany) = (of("abilene"), of("geant"), of("germany50"));
    assert_eq!((abilene.name.as_str(), counts(&abilene)), ("abilene", (12, 15)));
    assert_eq!(counts(&geant), (22, 36));
    assert_eq!(counts(&germany), (50, 88));
    assert_eq!(abilene.demands.len(), 132);
    assert_eq!(geant.demands.len(), 462);
    // An undirected problem: once per pair, though the file's own statistics count twice.
    assert_eq!(germany.demands.len(), 662);
    let (from, to) = (abilene.node("IPLSng").unwrap(), abilene.node("STTLng").unwrap());
    let demand = abilene.demands.iter().find(|d| (d.from, d.to) == (from, to)).unwrap();
    assert_eq!(demand.rate, Rate::from_mbps(3_580));
    for topology in [&abilene, &geant] {
        let total: u64 = topology.demands.iter().map(|demand| demand.rate.bps()).sum();
        assert!(total.abs_diff(3_000_000_000_000) < 10_000_000_000, "{total}");
    }
}

#[test]
fn great_circles_agree_with_published_lengths() {
    for name in ["abilene", "geant", "germany50"] {
        let topology = topology(&format!("topohub/sndlib-{name}.json"));
        for edge in &topology.edges {
            let (a, b) = (&topology.nodes[edge.a], &topology.nodes[edge.b]);
            let ours = topology::great_circle_km(a, b).unwrap();
            let published = edge.length_km.unwrap();
            // Coordinates are published to a hundredth of a degree, about a kilometre.
            assert!(
                (ours - published).abs() < 2.0 + published * 0.006,
                "{name} {ours} {published}"
            );
        }
    }
}

#[test]
fn bandwidth_traces() {
    let of = |name: &str| {
        let mut notes = Vec::new();
        let trace = cooked::parse(name, &text(&format!("bandwidth/{name}")), &mut notes).unwrap();
        assert_eq!(notes, [], "{name}");
        trace
    };
    let check = |name: &str, rows: usize, last: f64| {
        let trace = of(name);
        assert_eq!(trace.steps.len(), rows, "{name}");
        let (start, _) = trace.steps[rows - 1];
        assert!((start.secs() - last).abs() < 1e-9, "{name} {start}");
        assert!(trace.period > start && trace.mean_rate() > Rate::ZERO);
    };
    check("fcc_trace_10009.txt", 261, 532.8376);
    check("fcc_trace_10060.txt", 350, 533.5508);
    check("hsdpa_norway_bus_1.txt", 266, 154.75999999);
    check("puffer_220218_a.txt", 163, 366.138999701);
    // Starts at 0.474 s and is shifted.
    check("oboe_trace_0.txt", 49, 176.082 - 0.474);
    assert_eq!(of("fcc_trace_10009.txt").steps[0].1, Rate::from_bps(499_976));
}

#[test]
fn flow_sizes() {
    let of = |name: &str| {
        let mut notes = Vec::new();
        let sizes = cdf::parse(name, &text(&format!("flow-sizes/{name}.txt")), &mut notes);
        assert_eq!(notes, [], "{name}");
        sizes.unwrap()
    };
    let mean = |name: &str| of(name).mean().round();
    assert_eq!(mean("websearch"), 1_711_250.0);
    assert_eq!(mean("datamining"), 12_658_199.0);
    assert_eq!(mean("hadoop"), 120_421.0);
    assert_eq!(of("websearch").quantile(0.5), Bytes::new(73_077));
    assert_eq!(of("datamining").quantile(0.5), Bytes::new(1_100));
    assert_eq!(of("hadoop").quantile(0.72), Bytes::new(30_000));
}

#[test]
fn generated_traces_are_those_the_generator_writes() {
    for (name, trace) in make_traces::traces().unwrap() {
        let shipped = text(&format!("mahimahi/{name}"));
        assert!(shipped == trace.to_text(), "{name}: run the example make_traces again");
        assert_eq!(mahimahi::parse(name, &shipped).as_ref(), Ok(&trace));
    }
    let saw = mahimahi::parse("s", &text("mahimahi/sawtooth-2-10mbps.down")).unwrap();
    assert_eq!((saw.mean_rate(), saw.period), (Rate::from_mbps(6), Duration::from_secs(10)));
    assert_eq!(saw.longest_gap(), Duration::from_millis(6));
}
