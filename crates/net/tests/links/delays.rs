//! Packets on the delay lines that links share.

use ratewire_net::spec::{LinkId, LinkSpec};
use ratewire_units::{Duration, Rate};

use crate::bench::{Bench, link, ms, us};

fn mbps(n: u64) -> Rate {
    Rate::from_mbps(n)
}

fn delayed(by: u64) -> LinkSpec {
    LinkSpec { delay: Duration::from_micros(by), ..link(0, 1) }
}

/// A network whose links share delay lines.
fn sharing(links: Vec<LinkSpec>) -> Bench {
    let mut b = Bench::new(links);
    b.network.use_delay_lines(|_| false);
    b
}

/// Numbers of the packets that arrived, with their times in microseconds.
fn arrived(b: &Bench) -> Vec<(u32, f64)> {
    b.packets().into_iter().zip(b.times_us()).collect()
}

#[test]
fn packets_of_links_that_take_equally_long_arrive_each_in_its_time() {
    let mut b = sharing(vec![delayed(500), delayed(500), delayed(700)]);
    b.send(us(0), 0, 100);
    b.send(us(10), 1, 100);
    b.send(us(20), 1, 50);
    b.send(us(30), 2, 100);
    b.send(us(200), 0, 100);
    b.run(ms(10));
    // The third packet waits until the second has been sent.
    assert_eq!(arrived(&b), [(0, 600.0), (1, 610.0), (2, 660.0), (4, 800.0), (3, 830.0)]);
    assert_eq!(b.delayed, 4, "all but the one that waited");
}

#[test]
fn a_packet_behind_one_on_a_delay_line_leaves_when_that_has_left() {
    let mut b = sharing(vec![delayed(10_000)]);
    (0..3).for_each(|_| b.send(us(0), 0, 1000));
    b.run(us(1500));
    let seen = b.observe(0);
    assert_eq!((seen.waiting_packets, seen.sent_packets), (1, 2));
    assert_eq!(seen.busy, Duration::from_micros(1500));
    b.send(us(20_000), 0, 1000);
    b.run(ms(100));
    assert_eq!(arrived(&b), [(0, 11_000.0), (1, 12_000.0), (2, 13_000.0), (3, 31_000.0)]);
    assert_eq!(b.observe(0).sent_packets, 4);
}

#[test]
fn a_link_that_may_change_has_no_delay_line() {
    let mut b = Bench::new(vec![delayed(0), delayed(0)]);
    b.network.use_delay_lines(|id| id == LinkId(1));
    b.send(us(0), 0, 1000);
    b.send(us(100), 1, 1000);
    b.rate(us(600), 1, mbps(4));
    b.run(ms(10));
    assert_eq!(arrived(&b), [(0, 1000.0), (1, 1600.0)], "half of it is sent at half the rate");
    assert_eq!(b.delayed, 1);
}

#[test]
fn links_of_more_delays_than_there_are_delay_lines_work_as_others_do() {
    let count = 100;
    let mut b = sharing((0..count).map(|i| delayed(1000 + 10 * i)).collect());
    for round in 0..3 {
        (0..count).for_each(|i| b.send(ms(10 * round), i as usize, 100));
    }
    b.run(ms(100));
    assert_eq!(b.network.look_ahead().links_without_delay_line(), 36, "none is left for them");
    let expected = (0..3 * count).map(|n| (n / count * 10_000 + 1100 + n % count * 10) as f64);
    assert_eq!(b.times_us(), expected.collect::<Vec<_>>());
    assert_eq!(b.packets(), (0..3 * count as u32).collect::<Vec<_>>());
}

#[test]
fn a_watched_link_shares_a_delay_line_and_shows_its_own_packets() {
    let run = |watched: bool| {
        let mut b = sharing(vec![delayed(500), delayed(500)]);
        if watched {
            b.network.watch(LinkId(1));
        }
        let both = b.route(&[0, 1]);
        (0..20).for_each(|i| b.send(us(70 * i), [0, 1, both][i as usize % 3], 100));
        b.run(ms(100));
        b
    };
    let mut watched = run(true);
    assert_eq!(watched.arrived, run(false).arrived);
    assert_eq!(watched.delayed, run(false).delayed);
    assert!(watched.delayed > 0);
    let seen = watched.network.news().take_captured();
    let on_the_other = watched.turns().iter().filter(|route| **route == 0).count();
    assert_eq!(seen.len(), 20 - on_the_other);
    assert!(seen.iter().all(|s| s.link == LinkId(1)));
    let theirs = watched.arrived.iter().filter(|a| a.route != 0);
    assert!(theirs.map(|a| (a.at, a.packet)).eq(seen.iter().map(|s| (s.at, s.label.flow))));
}
