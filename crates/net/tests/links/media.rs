//! Half-duplex media: several links, one at a time.

use ratewire_net::spec::*;
use ratewire_units::Rate;

use crate::bench::{Bench, discipline, link, ms, spec, us};

fn shared(from: u32, to: u32) -> LinkSpec {
    LinkSpec { medium: Some(MediumId(0)), ..link(from, to) }
}

/// Two directions with `n` packets of a millisecond each waiting from the start.
fn both_ways(contention: Contention, n: u32) -> Bench {
    let mut b = Bench::with(&spec(vec![shared(0, 1), shared(1, 0)], contention), 3);
    for _ in 0..n {
        b.send(us(0), 0, 1000);
        b.send(us(0), 1, 1000);
    }
    b
}

/// Mean length of the runs of one direction.
fn mean_run(turns: &[u32]) -> f64 {
    let changes = turns.windows(2).filter(|w| w[0] != w[1]).count();
    turns.len() as f64 / (changes + 1) as f64
}

#[test]
fn taking_turns_alternates_from_the_first_packet_on() {
    let mut b = both_ways(Contention::Alternate, 10);
    b.run(ms(100));
    let expected: Vec<u32> = (0..20).map(|i| i % 2).collect();
    assert_eq!(b.turns(), expected);
    let times: Vec<f64> = (1..=20).map(|t| f64::from(t) * 1000.0).collect();
    assert_eq!(b.times_us(), times, "one medium has one rate for both");
}

#[test]
fn turns_go_round_among_three_links_and_skip_those_without_packets() {
    let links = vec![shared(0, 1), shared(1, 0), shared(2, 0)];
    let mut b = Bench::with(&spec(links, Contention::Alternate), 1);
    for route in [0, 0, 0, 1, 2, 2] {
        b.send(us(0), route, 1000);
    }
    b.run(ms(100));
    assert_eq!(b.turns(), [0, 1, 2, 0, 2, 0]);
}

#[test]
fn random_contention_is_fair_and_loses_no_time() {
    let mut b = both_ways(Contention::Random, 5000);
    b.run(ms(5000));
    let first = b.turns().iter().filter(|r| **r == 0).count();
    assert!(b.arrived.len() == 5000 && first.abs_diff(2500) < 110, "{first}");
    let run = mean_run(&b.turns());
    assert!((1.9..2.1).contains(&run), "{run}: as with a coin");
}

#[test]
fn backoff_loses_time_to_collisions_and_lets_a_winner_win_again() {
    let mut b = both_ways(Contention::Backoff, 5000);
    b.run(ms(4000));
    let run = mean_run(&b.turns());
    assert!(run > 3.0, "the capture effect: {run} packets in a row");
    let total = b.arrived.len();
    // Backoffs mostly end while the other link sends, so little time is lost.
    assert!((3800..4000).contains(&total), "{total} of 4000");
    let first = b.turns().iter().filter(|r| **r == 0).count();
    assert!(first > total / 4 && first < total * 3 / 4, "{first} of {total}");
    let busy = b.stats(0).busy + b.stats(1).busy;
    assert!(busy.secs() < 4.0 && busy.secs() >= total as f64 / 1000.0);
}

#[test]
fn nobody_backs_off_alone() {
    let links = vec![shared(0, 1), shared(1, 0)];
    let mut b = Bench::with(&spec(links, Contention::Backoff), 3);
    (0..5).for_each(|_| b.send(us(0), 0, 1000));
    b.run(ms(100));
    assert_eq!(b.times_us(), [1000.0, 2000.0, 3000.0, 4000.0, 5000.0]);
}

#[test]
fn a_medium_has_the_rate_of_its_sender() {
    let fast = LinkSpec { service: Service::Rate(Rate::from_mbps(80)), ..shared(1, 0) };
    let mut b = Bench::with(&spec(vec![shared(0, 1), fast], Contention::Alternate), 1);
    for _ in 0..2 {
        b.send(us(0), 0, 1000);
        b.send(us(0), 1, 1000);
    }
    b.run(ms(10));
    assert_eq!(b.times_us(), [1000.0, 1100.0, 2100.0, 2200.0]);
}

#[test]
fn a_packet_that_finds_the_medium_free_needs_no_room() {
    let none = |from, to| LinkSpec { limit: Limit::Packets(0), ..shared(from, to) };
    let mut b = Bench::with(&spec(vec![none(0, 1), none(1, 0)], Contention::Alternate), 1);
    b.send(us(0), 0, 1000);
    b.send(us(10), 1, 1000);
    b.send(us(1000), 1, 1000);
    b.run(ms(10));
    assert_eq!(b.packets(), [0, 2]);
    assert_eq!(b.stats(1).dropped_full, 1);
}

#[test]
fn a_rate_that_changes_in_mid_packet_moves_the_next_turn() {
    let mut b = both_ways(Contention::Alternate, 2);
    b.rate(us(500), 0, Rate::from_mbps(4));
    b.run(ms(100));
    assert_eq!(b.times_us(), [1500.0, 2500.0, 4500.0, 5500.0]);
    let mut b = both_ways(Contention::Alternate, 2);
    b.rate(us(500), 0, Rate::from_mbps(80));
    b.run(ms(100));
    assert_eq!(b.times_us(), [550.0, 1550.0, 1650.0, 2650.0]);
}

#[test]
fn a_packet_that_stands_still_holds_the_medium_until_its_rate_is_back() {
    let mut b = both_ways(Contention::Alternate, 2);
    b.rate(us(500), 0, Rate::ZERO);
    b.run(ms(50));
    assert_eq!(b.arrived.len(), 0);
    b.rate(ms(60), 0, Rate::from_mbps(8));
    b.run(ms(100));
    assert_eq!(b.times_us(), [60_500.0, 61_500.0, 62_500.0, 63_500.0]);
}

#[test]
fn a_link_of_rate_zero_leaves_the_medium_to_others_and_joins_in_when_it_can() {
    let still = LinkSpec { service: Service::Rate(Rate::ZERO), ..shared(0, 1) };
    let mut b = Bench::with(&spec(vec![still, shared(1, 0)], Contention::Alternate), 1);
    b.send(us(0), 0, 1000);
    b.send(us(0), 1, 1000);
    b.send(us(5500), 1, 1000);
    b.rate(ms(3), 0, Rate::from_mbps(8));
    b.run(ms(100));
    assert_eq!(b.turns(), [1, 0, 1]);
    assert_eq!(b.times_us(), [1000.0, 4000.0, 6500.0]);
}

#[test]
fn a_link_that_goes_down_leaves_the_medium_to_others() {
    let mut b = both_ways(Contention::Alternate, 3);
    b.change(us(500), 0, Change::Up(false));
    b.send(us(700), 0, 1000);
    b.change(us(3000), 0, Change::Up(true));
    b.send(us(3000), 0, 1000);
    b.run(ms(100));
    assert_eq!(b.turns(), [0, 1, 1, 0, 1]);
    assert_eq!(b.times_us(), [1000.0, 2000.0, 3000.0, 4000.0, 5000.0]);
    assert_eq!(b.stats(0).dropped_down, 3);
}

#[test]
fn a_winner_that_went_down_during_the_collision_passes_its_turn_on() {
    for seed in 0..20 {
        let links = vec![shared(0, 1), shared(1, 0)];
        let mut b = Bench::with(&spec(links, Contention::Backoff), seed);
        // Both links wait while the first packet is sent, and then collide.
        for route in [0, 1, 0, 1] {
            b.send(us(0), route, 1000);
        }
        b.change(us(1010), 0, Change::Up(false));
        b.run(ms(100));
        assert_eq!(b.arrived.len(), 3, "seed {seed}");
        assert_eq!(b.turns(), [0, 1, 1], "seed {seed}");
    }
}

#[test]
fn other_links_send_where_codel_drops_the_whole_backlog() {
    let codel = discipline("codel", &[("target", "1 us"), ("interval", "1 us")]);
    let aqm = |from, to| LinkSpec { discipline: codel.clone(), ..shared(from, to) };
    let mut b = Bench::with(&spec(vec![aqm(0, 1), aqm(1, 0)], Contention::Alternate), 1);
    for i in 0..200 {
        b.send(us(i * 300), (i % 2) as usize, 1000);
        b.send(us(i * 300), (i % 2) as usize, 10);
    }
    b.run(ms(1000));
    let dropped = b.stats(0).dropped_early + b.stats(1).dropped_early;
    assert!(dropped > 50, "{dropped}");
    assert_eq!(b.arrived.len() as u64 + dropped, 400, "nobody is left waiting");
    assert_eq!(b.network.in_flight(), 0);
}
