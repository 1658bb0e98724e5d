//! Random delays in order.

use ratewire_net::spec::*;
use ratewire_units::{Duration, Rate};

use crate::bench::{Bench, link, ms, spec, us};

const N: u32 = 20_000;

/// A link of 10 ms with this jitter, at a byte a microsecond.
fn jittery(jitter: LinkJitter) -> LinkSpec {
    let variation = Variation { jitter: Some(jitter), ..Variation::default() };
    LinkSpec { delay: Duration::from_millis(10), variation: variation.boxed(), ..link(0, 1) }
}

/// Delays in milliseconds, beyond the 10 ms of the link, of packets that cannot meet.
fn delays(jitter: LinkJitter, seed: u64) -> Vec<f64> {
    let mut b = Bench::with(&spec(vec![jittery(jitter)], Contention::Alternate), seed);
    (0..N).for_each(|i| b.send(ms(u64::from(i) * 100), 0, 1000));
    b.run(ms(u64::from(N + 1) * 100));
    assert_eq!(b.packets(), (0..N).collect::<Vec<u32>>());
    let delay = |(i, arrived): (u32, f64)| arrived / 1000.0 - f64::from(i) * 100.0 - 11.0;
    (0..N).zip(b.times_us()).map(delay).collect()
}

fn mean(of: impl Iterator<Item = f64>) -> f64 {
    of.sum::<f64>() / f64::from(N)
}

/// Share of the delays below a limit.
fn below(delays: &[f64], limit: f64) -> f64 {
    mean(delays.iter().map(|delay| f64::from(u8::from(*delay < limit))))
}

#[test]
fn uniform_delays_fill_their_range_evenly() {
    let delays = delays(LinkJitter::Uniform(Duration::from_millis(5)), 1);
    assert!(delays.iter().all(|delay| (0.0..5.0).contains(delay)));
    // Four standard deviations of each figure, of 20,000 draws.
    let deviation = 5.0 / f64::sqrt(12.0);
    let found = mean(delays.iter().copied());
    assert!((found - 2.5).abs() < 4.0 * deviation / f64::from(N).sqrt(), "{found}");
    for tenth in 1..10 {
        let (share, p) = (below(&delays, 0.5 * f64::from(tenth)), 0.1 * f64::from(tenth));
        assert!(
            (share - p).abs() < 4.0 * (p * (1.0 - p) / f64::from(N)).sqrt(),
            "{tenth}: {share}"
        );
    }
    // Draws do not depend on each other.
    let together = delays.windows(2).map(|pair| (pair[0] - 2.5) * (pair[1] - 2.5));
    let correlation = mean(together) / (deviation * deviation);
    assert!(correlation.abs() < 4.0 / f64::from(N).sqrt(), "{correlation}");
}

#[test]
fn normal_delays_have_their_mean_and_deviation() {
    let ms = Duration::from_millis;
    let delays = delays(LinkJitter::Normal { mean: ms(8), deviation: ms(2) }, 1);
    let found = mean(delays.iter().copied());
    assert!((found - 8.0).abs() < 4.0 * 2.0 / f64::from(N).sqrt(), "{found}");
    let deviation = mean(delays.iter().map(|delay| (delay - found).powi(2))).sqrt();
    assert!((deviation - 2.0).abs() < 4.0 * 2.0 / (2.0 * f64::from(N)).sqrt(), "{deviation}");
    for (limit, p) in [(4.0, 0.0228), (6.0, 0.1587), (8.0, 0.5), (10.0, 0.8413), (12.0, 0.9772)] {
        let share = below(&delays, limit);
        assert!(
            (share - p).abs() < 4.0 * (p * (1.0 - p) / f64::from(N)).sqrt(),
            "{limit}: {share}"
        );
    }
}

#[test]
fn normal_delays_are_cut_at_zero() {
    let deviation = Duration::from_millis(2);
    let delays = delays(LinkJitter::Normal { mean: Duration::ZERO, deviation }, 1);
    assert!(delays.iter().all(|delay| *delay >= 0.0));
    let none = below(&delays, 1e-9);
    assert!((none - 0.5).abs() < 4.0 * 0.5 / f64::from(N).sqrt(), "{none}");
    // The mean of the positive half of a normal distribution.
    let found = mean(delays.iter().copied());
    assert!((found / (2.0 / f64::sqrt(core::f64::consts::TAU)) - 1.0).abs() < 0.05, "{found}");
}

#[test]
fn packets_close_together_keep_their_order() {
    let most = Duration::from_millis(5);
    let mut b = Bench::new(vec![jittery(LinkJitter::Uniform(most))]);
    (0..N).for_each(|i| b.send(us(u64::from(i) * 20), 0, 10));
    b.run(ms(u64::from(N)));
    assert_eq!(b.packets(), (0..N).collect::<Vec<u32>>());
    let times = b.times_us();
    assert!(times.is_sorted());
    let delay = |i: usize| times[i] / 1000.0 - i as f64 * 0.02 - 10.01;
    assert!((0..N as usize).all(|i| delay(i) > -1e-9 && delay(i) < 5.0));
    // Of some hundred draws within 5 ms, the largest counts.
    let found = mean((0..N as usize).map(delay));
    assert!(found > 4.5, "{found}");
}

#[test]
fn seeds_and_links_draw_delays_of_their_own() {
    let jitter = LinkJitter::Uniform(Duration::from_millis(5));
    let links = vec![jittery(jitter), jittery(jitter)];
    let of = |seed| {
        let mut b = Bench::with(&spec(links.clone(), Contention::Alternate), seed);
        [0, 1].into_iter().for_each(|route| b.send(us(0), route, 1000));
        b.run(ms(100));
        b.times_us()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    assert_ne!(of(1)[0], of(1)[1]);
}

#[test]
fn a_change_of_rate_leaves_a_packet_its_delay() {
    let arrives = |rate| {
        let mut b = Bench::new(vec![jittery(LinkJitter::Uniform(Duration::from_millis(5)))]);
        b.send(us(0), 0, 1000);
        b.rate(us(500), 0, rate);
        b.run(ms(100));
        b.times_us()[0]
    };
    let unchanged = arrives(Rate::from_mbps(8));
    assert!(unchanged > 11_000.0);
    assert_eq!(arrives(Rate::from_mbps(4)), unchanged + 500.0);
}
