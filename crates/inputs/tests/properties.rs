//! Properties that hold for any input.

use proptest::collection::vec;
use proptest::prelude::*;
use ratewire_inputs::mahimahi::LinkTrace;
use ratewire_inputs::{arrivals, cdf, cooked, fuzzing, mahimahi, read};

/// Text that looks enough like a table to get past the first checks.
fn table() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        4 => "[0-9]{1,4}",
        2 => "[0-9]{1,3}\\.[0-9]{1,3}",
        1 => Just("100".to_string()),
        1 => Just("1".to_string()),
        1 => "[-+e.#,\"nainf0-9]{1,6}",
        1 => "\\PC{0,4}",
        1 => "(time|rate|size|cdf|src|dst)_(s|ms|kbps|MBps|KB)",
        1 => proptest::sample::select(WORDS).prop_map(str::to_string),
    ];
    let separator = prop_oneof![Just(" "), Just(","), Just("\t"), Just(", ")];
    let line = (vec(field, 0..7), separator).prop_map(|(fields, between)| fields.join(between));
    vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

/// Words of flow lists and headings.
const WORDS: &[&str] = &[
    "Nodes",
    "Connections",
    "1->0",
    "start",
    "size",
    "id",
    "trigger",
    "prio",
    "# time_s rate_kbps",
];

/// Rows of a trace as `row` writes them: times in ms from `first` on, rates in kbit/s.
fn trace(first: u64, steps: &[(u64, u32)], row: impl Fn(u64, u32) -> String) -> cooked::RateTrace {
    let mut at = first;
    let mut text = String::new();
    for (length, kbps) in steps {
        text += &row(at, *kbps);
        text.push('\n');
        at += length;
    }
    cooked::parse("p", &text, &mut Vec::new()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A topology file with a piece of it cut out and another put in.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let load = |name: &str| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        read(&folder.join("../../fuzz/corpus/topologies").join(name)).unwrap().into_bytes()
    };
    let files: Vec<Vec<u8>> = [
        "small.graphml",
        "nested.graphml",
        "yed.graphml",
        "triangle.xml",
        "small.json",
        "places.json",
        "latencies.intra",
        "small.gml",
        "small.brite",
        "native.txt",
    ]
    .map(load)
    .into();
    let pieces = [
        "</node>",
        "{\"id\": 0}",
        "node [ id 0 ]",
        "<graph>",
        "]",
        ")",
        "( 1 2 )",
        "\"capacity\": 1e99",
        "null",
        "-1",
        "&#1114112;",
    ];
    let piece =
        prop_oneof!["\\PC{0,8}", proptest::sample::select(pieces.to_vec()).prop_map(String::from)];
    (proptest::sample::select(files), any::<prop::sample::Index>(), 0..40_usize, piece).prop_map(
        |(mut file, start, length, piece)| {
            let start = start.index(file.len());
            let end = (start + length).min(file.len());
            file.splice(start..end, piece.into_bytes());
            file
        },
    )
}

proptest! {
    #[test]
    fn no_reader_panics_on_text(text in "\\PC{0,200}") {
        fuzzing::traces(text.as_bytes());
        fuzzing::topologies(text.as_bytes());
    }

    #[test]
    fn no_reader_panics_on_bytes(bytes in vec(any::<u8>(), 0..200)) {
        fuzzing::traces(&bytes);
        fuzzing::topologies(&bytes);
    }

    #[test]
    fn no_reader_panics_on_tables(text in table()) {
        fuzzing::traces(text.as_bytes());
    }

    #[test]
    fn no_reader_panics_on_damaged_topologies(bytes in damaged()) {
        fuzzing::topologies(&bytes);
    }

    #[test]
    fn quantiles_are_monotone_and_within_the_sizes(
        mut sizes in vec(0.0..1e9_f64, 2..12),
        mut shares in vec(0.0..1.0_f64, 12),
        p in 0.0..1.0_f64,
        q in 0.0..1.0_f64,
    ) {
        sizes.sort_by(f64::total_cmp);
        shares.truncate(sizes.len() - 1);
        shares.sort_by(f64::total_cmp);
        shares.push(1.0);
        let rows = sizes.iter().zip(&shares).map(|(size, share)| format!("{size} {share}\n"));
        let cdf = cdf::parse("p", &rows.collect::<String>(), &mut Vec::new()).unwrap();
        let (low, high) = (cdf.quantile(p.min(q)), cdf.quantile(p.max(q)));
        prop_assert!(low <= high);
        prop_assert!(low.as_f64() >= sizes[0] - 0.5);
        prop_assert!(high.as_f64() <= (sizes[sizes.len() - 1] + 0.5).max(1.0));
        prop_assert!(cdf.mean() >= sizes[0] * 0.999_999);
        prop_assert!(cdf.mean() <= sizes[sizes.len() - 1] * 1.000_001);
    }

    #[test]
    fn link_traces_survive_writing_and_reading(
        mut stamps in vec(0..100_000_u64, 0..50),
        last in 100_000..10_000_000_000_u64,
    ) {
        stamps.push(last);
        stamps.sort_unstable();
        let trace = LinkTrace::new("p", stamps).unwrap();
        prop_assert_eq!(mahimahi::parse("p", &trace.to_text()), Ok(trace));
    }

    #[test]
    fn a_trace_is_the_same_however_it_is_written(
        steps in vec((1..100_000_u64, 0..100_000_000_u32), 1..20),
        unix in 0..4_000_000_000_000_u64,
    ) {
        let seconds = |ms: u64| format!("{}.{:03}", ms / 1000, ms % 1000);
        let mbps = |kbps: u32| format!("{}.{:03}", kbps / 1000, kbps % 1000);
        let plain = trace(0, &steps, |ms, kbps| format!("{} {}", seconds(ms), mbps(kbps)));
        let comma = trace(0, &steps, |ms, kbps| format!("{},{}", seconds(ms), mbps(kbps)));
        let epoch = trace(unix, &steps, |ms, kbps| format!("{}\t{}", seconds(ms), mbps(kbps)));
        let heading = std::cell::Cell::new("rate_kbps,lat,time_ms\n");
        let headed = trace(unix, &steps, |ms, kbps| format!("{}{kbps}e0,7,{ms}.0", heading.take()));
        prop_assert_eq!(&comma, &plain);
        prop_assert_eq!(&epoch, &plain);
        prop_assert_eq!(&headed, &plain);
    }

    #[test]
    fn flows_are_the_same_in_every_format(
        flows in vec((0..9_u64, 1..9_u64, 1..1_u64 << 50, 0..9_000_000_000_u64), 1..20),
    ) {
        let (mut own, mut hpcc, mut htsim) = (String::new(), String::new(), String::new());
        hpcc += &format!("{}\n", flows.len());
        htsim += &format!("Nodes 18\nConnections {}\n", flows.len());
        for (from, further, size, ns) in &flows {
            let (to, s, nano) = (from + further, ns / 1_000_000_000, ns % 1_000_000_000);
            own += &format!("{s}.{nano:09},{from},{to},{size}\n");
            hpcc += &format!("{from} {to} 3 100 {size}.0 {s}.{nano:09}\n");
            htsim += &format!("{from}->{to} size {size} start {ns}000\n");
        }
        let of = |text: &str| arrivals::parse("p", text, &mut Vec::new()).unwrap();
        let told = |list: arrivals::FlowList| -> Vec<_> {
            list.flows.into_iter().map(|f| (f.start, f.from, f.to, f.size)).collect()
        };
        prop_assert!(!of(&own).are_numbered && of(&hpcc).are_numbered);
        prop_assert_eq!(of(&htsim).hosts, Some(18));
        prop_assert_eq!(told(of(&hpcc)), told(of(&own)));
        prop_assert_eq!(told(of(&htsim)), told(of(&own)));
    }
}
