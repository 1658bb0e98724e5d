//! Policers and shapers with token buckets.

use ratewire_net::spec::*;
use ratewire_units::{Bytes, Duration, Rate};

use crate::bench::{Bench, link, ms, us};

/// A link of 80 Mbit/s, which is 10 bytes a microsecond.
fn fast() -> LinkSpec {
    LinkSpec { service: Service::Rate(Rate::from_mbps(80)), ..link(0, 1) }
}

/// Tokens for a byte a microsecond.
fn bucket(burst: u64) -> Option<TokenBucket> {
    Some(TokenBucket { rate: Rate::from_mbps(8), burst: Bytes::new(burst) })
}

fn policed(burst: u64) -> LinkSpec {
    let variation = Variation { policer: bucket(burst), ..Variation::default() };
    LinkSpec { variation: variation.boxed(), ..fast() }
}

fn shaped(burst: u64) -> LinkSpec {
    let variation = Variation { shaper: bucket(burst), ..Variation::default() };
    LinkSpec { variation: variation.boxed(), ..fast() }
}

#[test]
fn a_policer_passes_its_burst_at_the_line_rate_and_then_its_rate() {
    let mut b = Bench::new(vec![policed(64_000)]);
    // A packet of 1000 bytes each 100 us: ten times the policer's rate, for 100 ms.
    (0..1000).for_each(|i| b.send(us(100 * i), 0, 1000));
    b.run(ms(200));
    let passed = b.packets();
    // The bucket gains 100 bytes a packet: 64 + 0.1 n >= n until the 71st. Then each tenth passes.
    assert_eq!(passed[..71], (0..71).collect::<Vec<u32>>());
    assert!(passed[71..].windows(2).all(|pair| pair[1] - pair[0] == 10), "{passed:?}");
    // (64 + 99.9) packets are granted in all.
    assert_eq!(passed.len(), 163);
    let times = b.times_us();
    assert!((0..71).all(|i| times[i] == 100.0 * (i as f64 + 1.0)), "at once, at the line rate");
    let seen = b.stats(0);
    assert_eq!((seen.dropped_exceeding, seen.drops()), (1000 - 163, 1000 - 163));
    assert_eq!(seen.dropped_policed + seen.dropped_full, 0);
    assert_eq!(seen.peak_packets_run, 0, "a policer queues nothing");
}

#[test]
fn a_shaper_sends_its_burst_at_the_line_rate_and_then_its_rate() {
    let mut b = Bench::new(vec![shaped(10_000)]);
    (0..50).for_each(|_| b.send(us(0), 0, 1000));
    b.run(us(10_000));
    let seen = b.observe(0);
    // The burst and 10 ms of tokens are good for 20 packets, the last of which starts now.
    assert_eq!(seen.waiting_packets, 50 - 20);
    b.run(ms(200));
    assert_eq!(b.arrived.len(), 50, "a shaper drops nothing");
    let times = b.times_us();
    // Tokens for packet n, from 0, are there after n + 1 - 10 ms; packets take 0.1 ms each.
    let expected: Vec<f64> = (0..50u32)
        .map(|n| (f64::from(n) * 100.0).max(f64::from(n + 1) * 1000.0 - 10_000.0) + 100.0)
        .collect();
    assert_eq!(times, expected);
    assert_eq!(b.stats(0).busy, Duration::from_micros(50 * 100), "waiting is not sending");
}

#[test]
fn a_shaped_packet_that_has_not_begun_waits_on_at_a_new_rate() {
    let mut b = Bench::new(vec![shaped(1000)]);
    (0..3).for_each(|_| b.send(us(0), 0, 1000));
    // The second packet waits for its tokens until 1 ms, the third until 2 ms.
    b.rate(us(500), 0, Rate::ZERO);
    b.rate(us(600), 0, Rate::from_mbps(16));
    b.run(us(700));
    assert_eq!(b.observe(0).busy, Duration::from_micros(100));
    b.rate(us(1250), 0, Rate::ZERO);
    b.rate(us(1750), 0, Rate::from_mbps(80));
    b.run(ms(10));
    // At 16 Mbit/s a packet takes 500 us: half of the second is sent by 1.25 ms, the rest of it at
    // 80 Mbit/s from 1.75 ms on.
    assert_eq!(b.times_us(), [100.0, 1800.0, 2100.0]);
    assert_eq!(b.stats(0).busy, Duration::from_micros(100 + 250 + 50 + 100));
}

#[test]
fn what_a_bucket_counts_has_the_overhead_of_the_link() {
    let overhead = Bytes::new(1000);
    let mut b = Bench::new(vec![
        LinkSpec { overhead, ..policed(4000) },
        LinkSpec { overhead, ..shaped(4000) },
    ]);
    for route in [0, 1] {
        (0..3).for_each(|_| b.send(us(0), route, 1000));
    }
    b.run(ms(100));
    assert_eq!(b.turns().iter().filter(|route| **route == 0).count(), 2);
    // 2000 bytes on the wire take 200 us; the third packet's tokens come at 2 ms.
    assert_eq!(b.times_us().last(), Some(&2200.0));
}

#[test]
fn a_link_that_is_down_drops_before_its_policer() {
    let mut b = Bench::new(vec![policed(1000)]);
    b.change(us(0), 0, Change::Up(false));
    b.change(us(10), 0, Change::Up(true));
    (1..4).for_each(|at| b.send(us(at), 0, 1000));
    b.send(us(20), 0, 1000);
    b.send(us(21), 0, 1000);
    b.run(ms(1));
    let seen = b.stats(0);
    assert_eq!((seen.dropped_down, seen.dropped_exceeding, b.arrived.len()), (3, 1, 1));
}
