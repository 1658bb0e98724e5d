//! Packets lost on the way.

use ratewire_net::spec::*;

use ratewire_units::Duration;

use crate::bench::{Arrived, Bench, link, us};

/// Which of `n` packets are lost.
fn lost(loss: Loss, n: u32) -> Vec<bool> {
    let mut b = Bench::new(vec![LinkSpec { loss, ..link(0, 1) }]);
    (0..n).for_each(|i| b.send(us(u64::from(i) * 2), 0, 1));
    b.run(us(u64::from(n) * 2 + 10));
    let mut lost = vec![true; n as usize];
    b.arrived.iter().for_each(|a| lost[a.packet as usize] = false);
    assert_eq!(b.stats(0).lost, lost.iter().filter(|l| **l).count() as u64);
    assert_eq!(b.network.in_flight(), 0);
    lost
}

fn share(lost: &[bool]) -> f64 {
    lost.iter().filter(|l| **l).count() as f64 / lost.len() as f64
}

/// Mean length of the runs of lost packets.
fn mean_burst(lost: &[bool]) -> f64 {
    let starts = lost.windows(2).filter(|w| !w[0] && w[1]).count() + usize::from(lost[0]);
    share(lost) * lost.len() as f64 / starts as f64
}

#[test]
fn random_loss_has_its_rate_and_no_memory() {
    for (p, tolerance) in [(0.0, 0.0), (0.01, 0.0015), (0.3, 0.007), (1.0, 0.0)] {
        let lost = lost(Loss::Random(p), 50_000);
        assert!((share(&lost) - p).abs() <= tolerance, "{} for {p}", share(&lost));
        if p == 0.3 {
            // A run goes on with probability p.
            assert!((mean_burst(&lost) - 1.0 / 0.7).abs() < 0.03, "{}", mean_burst(&lost));
        }
    }
}

#[test]
fn bursts_have_the_share_and_length_of_the_bad_state() {
    let loss = Loss::Burst { turn_bad: 0.02, turn_good: 0.2, loss_bad: 1.0, loss_good: 0.0 };
    let lost = lost(loss, 400_000);
    let expected = 0.02 / 0.22;
    assert!((share(&lost) / expected - 1.0).abs() < 0.04, "{} and not {expected}", share(&lost));
    assert!((mean_burst(&lost) / 5.0 - 1.0).abs() < 0.04, "{}", mean_burst(&lost));
}

#[test]
fn burst_states_lose_at_their_own_rates() {
    let loss = Loss::Burst { turn_bad: 0.1, turn_good: 0.3, loss_bad: 0.5, loss_good: 0.1 };
    let expected = 0.25 * 0.5 + 0.75 * 0.1;
    let found = share(&lost(loss, 100_000));
    assert!((found / expected - 1.0).abs() < 0.04, "{found} and not {expected}");
}

#[test]
fn regular_loss_takes_each_nth_packet() {
    let lost = lost(Loss::Every(4), 12);
    let expected: Vec<bool> = (1..=12).map(|i| i % 4 == 0).collect();
    assert_eq!(lost, expected);
    assert_eq!(share(&self::lost(Loss::Every(0), 100)), 0.0);
    assert_eq!(share(&self::lost(Loss::Every(1), 100)), 1.0);
}

#[test]
fn a_late_packet_is_overtaken_by_those_within_its_delay() {
    let reorder = Some(Reorder { share: 0.1, delay: Duration::from_micros(10) });
    let mut b = Bench::new(vec![LinkSpec { reorder, ..link(0, 1) }]);
    // A packet of one byte every 2 us: a late one arrives after the five behind it.
    (0..10_000u32).for_each(|i| b.send(us(u64::from(i) * 2), 0, 1));
    b.run(us(30_000));
    assert_eq!(b.arrived.len(), 10_000);
    assert_eq!(b.network.in_flight(), 0);
    let late = |a: &&Arrived| a.at != us(u64::from(a.packet) * 2 + 1);
    let share = b.arrived.iter().filter(late).count() as f64 / 10_000.0;
    assert!((share - 0.1).abs() < 0.01, "{share}");
    for a in b.arrived.iter().filter(late) {
        assert_eq!(a.at, us(u64::from(a.packet) * 2 + 11));
    }
}
