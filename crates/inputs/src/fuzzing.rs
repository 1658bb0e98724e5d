//! Entry points for the fuzz targets: any bytes in, every reader run, what they promise checked.

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::{
    arrivals, brite, cdf, cooked, delays, detect, gml, graphml, mahimahi, node_link, rocketfuel,
    sndlib_native, sndlib_xml, topology, trace,
};

/// Reads `data` as every kind of trace and table.
///
/// # Panics
/// When a reader panics or breaks a promise.
pub fn traces(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(trace) = mahimahi::parse("fuzz", &text) {
        assert_eq!(mahimahi::parse("fuzz", &trace.to_text()).as_ref(), Ok(&trace));
        assert!(!trace.period.is_zero() && trace.longest_gap() <= trace.period);
        assert!(trace.opportunity(0) <= trace.opportunity(u64::MAX));
        let _ = trace.mean_rate();
    }
    let mut notes = Vec::new();
    if let Ok(trace) = cooked::parse("fuzz", &text, &mut notes) {
        let last = trace.steps[trace.steps.len() - 1];
        assert!(trace.steps[0].0.is_zero() && last.0 < trace.period);
        assert_eq!(trace.rate_at(Time::ZERO), trace.steps[0].1);
        assert_eq!(trace.rate_at(Time::ZERO + last.0), last.1);
        let largest = trace.steps.iter().map(|step| step.1).max();
        assert!(Some(trace.mean_rate()) <= largest);
    }
    let _ = trace::parse("fuzz", &text, &mut notes);
    if let Ok(trace) = delays::parse("fuzz", &text, &mut notes) {
        let last = trace.steps[trace.steps.len() - 1];
        assert!(trace.steps[0].0.is_zero() && last.0 < trace.period);
        let largest = trace.steps.iter().map(|step| step.1).max();
        assert!(Some(trace.mean_delay()) <= largest);
    }
    if let Ok(sizes) = cdf::parse("fuzz", &text, &mut notes) {
        assert!(sizes.mean() >= 0.0 && sizes.points[sizes.points.len() - 1].1 == 1.0);
        let mut before = Bytes::new(1);
        for i in 0..=64 {
            let size = sizes.quantile(f64::from(i) / 64.0);
            assert!(size >= before);
            before = size;
        }
    }
    if let Ok(list) = arrivals::parse("fuzz", &text, &mut notes) {
        let flows = list.flows;
        assert!(flows.windows(2).all(|pair| pair[0].start <= pair[1].start));
        assert!(flows.iter().all(|flow| flow.from != flow.to && flow.size > Bytes::ZERO));
        let is_number = |host: &str| host.parse::<u64>().is_ok();
        let are_numbers = flows.iter().all(|flow| is_number(&flow.from) && is_number(&flow.to));
        assert!(are_numbers || !list.are_numbered);
    }
    let lines = text.lines().count();
    for note in notes {
        assert!(note.line.is_none_or(|line| (1..=lines).contains(&line)), "{note}");
        assert!(!note.text.is_empty() && !note.help.is_empty());
    }
}

/// Reads `data` as every kind of topology.
///
/// # Panics
/// When a reader panics or breaks a promise.
pub fn topologies(data: &[u8]) {
    // The two encodings take different ways to text.
    let Ok(text) = crate::decode("fuzz", data.to_vec()) else { return };
    let readers = [
        graphml::parse,
        gml::parse,
        node_link::parse,
        sndlib_xml::parse,
        sndlib_native::parse,
        brite::parse,
        rocketfuel::parse,
        detect::topology,
    ];
    for read in readers {
        let Ok(topology) = read("fuzz", &text) else { continue };
        let count = topology.nodes.len();
        assert!(topology.edges.iter().all(|e| e.a < count && e.b < count && e.a != e.b));
        assert!(topology.demands.iter().all(|d| d.from < count && d.to < count));
        assert_eq!(topology.components().iter().map(Vec::len).sum::<usize>(), count);
        let mut names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for km in topology.edges.iter().filter_map(|edge| edge.length_km) {
            assert!(km >= 0.0 && topology::propagation_delay(km) >= Duration::ZERO);
        }
        for node in &topology.nodes {
            assert_eq!(node.longitude.is_some(), node.latitude.is_some());
        }
        assert!(topology.edges.iter().all(|edge| edge.rate != Some(Rate::ZERO)));
        let lines = text.lines().count().max(1);
        for note in &topology.notes {
            assert!(!note.text.is_empty() && !note.help.is_empty() && note.text.len() < 4_000);
            assert!(note.line.is_none_or(|line| (1..=lines).contains(&line)));
        }
    }
}
