//! Links that send at delivery opportunities.

use std::sync::Arc;

use ratewire_net::spec::*;
use ratewire_units::{Bytes, Duration, Rate};

use crate::bench::{Bench, link, ms, ps};

fn trace(at_ms: &[u64], period_ms: u64) -> LinkSpec {
    let service = Service::Opportunities(Arc::new(Opportunities {
        at: at_ms.iter().map(|t| Duration::from_millis(*t)).collect(),
        period: Duration::from_millis(period_ms),
        bytes: Bytes::new(1500),
    }));
    LinkSpec { service, delay: Duration::from_millis(2), ..link(0, 1) }
}

#[test]
fn a_backlog_leaves_at_the_opportunities_and_at_no_other_time() {
    let mut b = Bench::new(vec![trace(&[0, 1, 1, 7], 10)]);
    (0..11).for_each(|_| b.send(ms(0), 0, 1500));
    b.run(ms(100));
    let expected = [0, 1, 1, 7, 10, 11, 11, 17, 20, 21, 21].map(|t| f64::from(t + 2) * 1000.0);
    assert_eq!(b.times_us(), expected);
    let s = b.stats(0);
    assert_eq!(s.busy, Duration::from_millis(25) + Duration::from_micros(2500), "11 of 4 in 10 ms");
}

#[test]
fn a_packet_that_comes_at_an_opportunity_takes_it_and_later_waits() {
    let mut b = Bench::new(vec![trace(&[5], 10)]);
    b.send(ms(5), 0, 1500);
    b.send(ps(15_000_000_001), 0, 1500);
    b.run(ms(100));
    assert_eq!(b.times_us(), [7000.0, 27_000.0]);
}

#[test]
fn busy_time_never_falls_over_a_long_outage() {
    let mut b = Bench::new(vec![trace(&[1, 2, 3, 4, 5, 900], 1000)]);
    (0..7).for_each(|_| b.send(ms(0), 0, 1500));
    let mut before = Duration::ZERO;
    for t in (1..2000).step_by(3) {
        b.run(ms(t));
        let busy = b.stats(0).busy;
        assert!(busy >= before, "{busy} after {before} at {t} ms");
        before = busy;
    }
    assert_eq!(b.arrived.len(), 7);
    assert!((before.secs() - 7.0 / 6.0).abs() < 1e-9, "{before}");
}

#[test]
fn a_trace_without_opportunities_sends_nothing_and_a_set_rate_changes_no_trace() {
    for none in [trace(&[], 10), trace(&[1], 0)] {
        assert_eq!(none.service.mean_rate(), Rate::ZERO);
        let mut b = Bench::new(vec![none]);
        b.send(ms(1), 0, 1500);
        b.run(ms(1000));
        assert_eq!(b.observe(0).waiting_packets, 1);
    }
    let mut b = Bench::new(vec![trace(&[5], 10)]);
    (0..3).for_each(|_| b.send(ms(0), 0, 1500));
    b.rate(ms(1), 0, Rate::from_mbps(800));
    b.rate(ms(2), 0, Rate::ZERO);
    b.run(ms(100));
    assert_eq!(b.times_us(), [7000.0, 17_000.0, 27_000.0]);
    assert_eq!(trace(&[1, 2], 10).service.mean_rate(), Rate::from_bps(2_400_000));
}
