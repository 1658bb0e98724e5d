//! Entry points for the fuzz targets: any bytes in, every reader run, what they promise checked.

use ratewire_units::{Bytes, Duration, Time};

use crate::{
    arrivals, cdf, cooked, delays, detect, graphml, mahimahi, sndlib_xml, topohub, topology,
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
    if let Ok(trace) = cooked::parse("fuzz", &text) {
        let last = trace.steps[trace.steps.len() - 1];
        assert!(trace.steps[0].0.is_zero() && last.0 < trace.period);
        assert_eq!(trace.rate_at(Time::ZERO), trace.steps[0].1);
        assert_eq!(trace.rate_at(Time::ZERO + last.0), last.1);
        let largest = trace.steps.iter().map(|step| step.1).max();
        assert!(Some(trace.mean_rate()) <= largest);
    }
    if let Ok(trace) = delays::parse("fuzz", &text) {
        let last = trace.steps[trace.steps.len() - 1];
        assert!(trace.steps[0].0.is_zero() && last.0 < trace.period);
        let largest = trace.steps.iter().map(|step| step.1).max();
        assert!(Some(trace.mean_delay()) <= largest);
    }
    if let Ok(sizes) = cdf::parse("fuzz", &text) {
        assert!(sizes.mean() >= 0.0 && sizes.points[sizes.points.len() - 1].1 == 1.0);
        let mut before = Bytes::new(1);
        for i in 0..=64 {
            let size = sizes.quantile(f64::from(i) / 64.0);
            assert!(size >= before);
            before = size;
        }
    }
    if let Ok(flows) = arrivals::parse("fuzz", &text) {
        assert!(flows.windows(2).all(|pair| pair[0].start <= pair[1].start));
        assert!(flows.iter().all(|flow| flow.from != flow.to && flow.size > Bytes::ZERO));
    }
}

/// Reads `data` as every kind of topology.
///
/// # Panics
/// When a reader panics or breaks a promise.
pub fn topologies(data: &[u8]) {
    // The two encodings take different ways to text.
    let Ok(text) = crate::decode("fuzz", data.to_vec()) else { return };
    let readers = [graphml::parse, sndlib_xml::parse, topohub::parse, detect::topology];
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
    }
}
