use ratewire_units::Bytes;

use super::*;
use crate::{LinkInfo, Topology};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn flow_sample(tick: u64, flow: u32, mbps: f64) -> FlowRow {
    FlowRow {
        at: Time::ZERO + MS(10 * tick),
        interval: MS(10),
        flow,
        goodput: Throughput::new(mbps * 1e6 / 8.0),
        cwnd: Bytes::MAX,
        receive_window: Bytes::new(65_535),
        ..FlowRow::default()
    }
}

#[test]
fn flows_beyond_the_limit_count_in_the_total() {
    let limits = Limits { flows: 2, ..Limits::default() };
    let mut collector = Collector::with_limits(&RunInfo::default(), limits);
    for tick in 1..=3 {
        for flow in 0..10 {
            collector.flow(&flow_sample(tick, flow, 1.0));
        }
    }
    let kept = collector.finish();
    assert_eq!((kept.flows.len(), kept.flows_total), (2, 10));
    for total in kept.all_flows.get("total").unwrap().values() {
        assert!((total - 10e6).abs() < 1.0, "{total}");
    }
    // A law without a window has no series of windows.
    assert!(kept.flows[0].tracks.get("cwnd").unwrap().is_empty());
    assert_eq!(kept.flows[0].tracks.get("rwnd").unwrap().peak(), Some(65_535.0));
}

#[test]
fn flows_that_arrive_count_in_the_total() {
    let mut collector = Collector::new(&RunInfo::default());
    for tick in 1..=3 {
        collector.flow(&flow_sample(tick, 0, 1.0));
        collector.add(Time::ZERO + MS(10 * tick), MS(10), Throughput::new(2e6 / 8.0));
    }
    let kept = collector.finish();
    for total in kept.all_flows.get("total").unwrap().values() {
        assert!((total - 3e6).abs() < 1.0, "{total}");
    }
    assert_eq!(kept.flows_total, 1);
}

#[test]
fn flows_are_chosen_evenly_from_the_list() {
    let chosen = |listed: usize, most: usize| {
        let info =
            RunInfo { flows: vec![crate::FlowInfo::default(); listed], ..RunInfo::default() };
        let limits = Limits { flows: most, ..Limits::default() };
        let mut collector = Collector::with_limits(&info, limits);
        for flow in 0..listed as u32 {
            collector.flow(&flow_sample(1, flow, 1.0));
            collector.answer(Answer { flow, ..Answer::default() });
        }
        let kept = collector.finish();
        let drawn: Vec<u32> = kept.flows.iter().map(|flow| flow.flow).collect();
        assert_eq!(drawn, kept.answers.iter().map(|answer| answer.flow).collect::<Vec<_>>());
        drawn
    };
    assert_eq!(chosen(3, 4), [0, 1, 2]);
    assert_eq!(chosen(4, 4), [0, 1, 2, 3]);
    assert_eq!(chosen(10, 4), [0, 2, 5, 7]);
    assert_eq!(chosen(1000, 40).len(), 40);
}

#[test]
fn flows_sampled_in_turn_add_up() {
    let mut collector = Collector::new(&RunInfo::default());
    for tick in 1..=100 {
        for flow in 0..2 {
            let mut sample = flow_sample(tick, flow, 3.0);
            sample.at += MS(5 * u64::from(flow));
            collector.flow(&sample);
        }
    }
    let total: Vec<f64> = collector.finish().all_flows.get("total").unwrap().values().collect();
    assert!(total[1..99].iter().all(|t| (t - 6e6).abs() < 1e-3), "{total:?}");
}

#[test]
fn series_of_a_run_end_on_one_grid() {
    let limits = Limits { points: 8, ..Limits::default() };
    let mut collector = Collector::with_limits(&RunInfo::default(), limits);
    collector.flow(&flow_sample(1, 0, 1.0));
    for tick in 1..=100 {
        collector.flow(&flow_sample(tick, 1, 1.0));
    }
    let kept = collector.finish();
    assert_eq!(kept.flows[0].tracks.get("goodput").unwrap().interval(), MS(160));
    assert_eq!(kept.flows[1].tracks.get("goodput").unwrap().interval(), MS(160));
    assert_eq!(kept.all_flows.get("total").unwrap().interval(), MS(160));
}

#[test]
fn a_flow_that_starts_between_two_samples_keeps_its_series_together() {
    let info = RunInfo { sampling: MS(10), ..RunInfo::default() };
    let mut collector = Collector::new(&info);
    let first = FlowRow { at: Time::ZERO + MS(10), interval: MS(3), ..FlowRow::default() };
    collector.flow(&first);
    for tick in 2..=50 {
        collector.flow(&FlowRow { srtt: MS(20), ..flow_sample(tick, 0, 1.0) });
    }
    let kept = collector.finish();
    // The round-trip time has one sample less, but the same grid.
    assert_eq!(kept.flows[0].tracks.get("goodput").unwrap().interval(), MS(10));
    assert_eq!(kept.flows[0].tracks.get("rtt").unwrap().interval(), MS(10));
    assert_eq!(kept.flows[0].tracks.get("rtt").unwrap().len(), 50);
}

#[test]
fn bottlenecks_are_kept_when_there_are_too_many_links() {
    let mut links = vec![LinkInfo::default(); 20];
    (links[17].slowest, links[18].bottleneck) = (true, true);
    let info = RunInfo { topology: Topology { nodes: vec![], links }, ..RunInfo::default() };
    let limits = Limits { links: 3, ..Limits::default() };
    let mut collector = Collector::with_limits(&info, limits);
    for link in 0..20 {
        collector.link(&LinkRow { at: Time::ZERO + MS(1), link, ..LinkRow::default() });
    }
    let kept: Vec<u32> = collector.finish().links.iter().map(|l| l.link).collect();
    assert_eq!(kept, [0, 17, 18]);
}

#[test]
fn drops_become_a_rate() {
    let mut collector = Collector::new(&RunInfo::default());
    for tick in 1..=2 {
        let at = Time::ZERO + MS(10 * tick);
        collector.link(&LinkRow { at, interval: MS(10), drops: 3, ..LinkRow::default() });
    }
    assert_eq!(
        collector.finish().links[0].tracks.get("drops").unwrap().values().collect::<Vec<_>>(),
        [300.0; 2]
    );
}

#[test]
fn completions_keep_every_kth() {
    let limits = Limits { completions: 10, ..Limits::default() };
    let mut collector = Collector::with_limits(&RunInfo::default(), limits);
    for flow in 0..100 {
        let (took, ideal) = (MS(2 + flow), Some(MS(1)));
        collector.completion(Completion { flow, took, ideal, ..Completion::default() });
    }
    let kept = collector.finish();
    assert_eq!((kept.completions_total, kept.completions_stride), (100, 16));
    let ids: Vec<u64> = kept.completions.iter().map(|c| c.flow).collect();
    assert_eq!(ids, [0, 16, 32, 48, 64, 80, 96]);
    let summary = kept.completion_summary.unwrap();
    // Of all completed flows, not only of those kept for drawing.
    assert_eq!((summary.median_s, summary.p99_s), (0.051, 0.1));
    assert_eq!(
        (summary.slowdown_median, summary.slowdown_p99),
        (Some(0.051 / 0.001), Some(0.1 / 0.001))
    );
}

#[test]
fn of_too_many_completions_it_is_said_that_percentiles_are_rough() {
    let summary = |exact_completions| {
        let limits = Limits { exact_completions, ..Limits::default() };
        let mut collector = Collector::with_limits(&RunInfo::default(), limits);
        for flow in 0..100 {
            let (took, ideal) = (MS(2 + flow), Some(MS(1)));
            collector.completion(Completion { flow, took, ideal, ..Completion::default() });
        }
        collector.finish().completion_summary.expect("completions")
    };
    let (exact, rough) = (summary(100), summary(99));
    assert!(exact.percentiles_exact && !rough.percentiles_exact);
    assert_eq!(exact.p99_s, 0.1);
    assert!(rough.p99_s != 0.1 && (rough.p99_s / 0.1 - 1.0).abs() < 0.0101, "{rough:?}");
    assert_eq!((rough.flows, rough.mean_s), (exact.flows, exact.mean_s));
}

#[test]
fn slowdowns_are_kept_by_size() {
    let mut collector = Collector::new(&RunInfo::default());
    let mut complete = |bytes: u64, slowdown: u64| {
        let (size, took) = (Bytes::new(bytes), MS(10 * slowdown));
        collector.completion(Completion { size, took, ideal: Some(MS(10)), ..Default::default() });
    };
    (0..2).for_each(|_| complete(9_999, 2));
    complete(10_000, 4);
    (0..99).for_each(|_| complete(99_999, 8));
    (0..100).for_each(|_| complete(20_000_000, 16));
    let by_size = collector.finish().completion_summary.expect("completions").by_size;
    let bounds: Vec<_> = by_size.iter().map(|s| (s.from_bytes, s.below_bytes, s.flows)).collect();
    assert_eq!(
        bounds,
        [(0, Some(10_000), 2), (10_000, Some(100_000), 100), (10_000_000, None, 100)]
    );
    assert_eq!(by_size[0].slowdown_median, Some(2.0));
    assert_eq!(by_size[1].slowdown_median, Some(8.0));
    assert_eq!(by_size[2].slowdown_p99, Some(16.0));
}
