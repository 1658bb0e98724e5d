//! Changes of rates, delays and states while packets are under way.

use ratewire_net::spec::*;
use ratewire_units::{Bytes, Duration, Rate};

use crate::bench::{Bench, link, ms, us};

fn mbps(n: u64) -> Rate {
    Rate::from_mbps(n)
}

#[test]
fn a_packet_in_service_goes_on_at_the_new_rate() {
    let mut b = Bench::new(vec![link(0, 1)]);
    b.send(us(0), 0, 1000);
    b.send(us(0), 0, 1000);
    b.rate(us(250), 0, mbps(16));
    b.rate(us(500), 0, mbps(4));
    b.run(us(300));
    assert_eq!(b.stats(0).busy, Duration::from_micros(300));
    b.run(ms(100));
    // 250 bytes, 500 bytes at twice the rate, 250 at half; then 1000 at half.
    assert_eq!(b.times_us(), [1000.0, 3000.0]);
    assert_eq!(b.stats(0).busy, Duration::from_micros(3000));
}

#[test]
fn at_rate_zero_a_packet_stands_still_however_often_the_rate_changes() {
    let mut b = Bench::new(vec![LinkSpec { delay: Duration::from_millis(1), ..link(0, 1) }]);
    (0..3).for_each(|_| b.send(us(0), 0, 1000));
    for (at, rate) in
        [(400, Rate::ZERO), (600, Rate::ZERO), (1000, mbps(8)), (1100, Rate::ZERO), (5000, mbps(4))]
    {
        b.rate(us(at), 0, rate);
    }
    b.run(us(900));
    let seen = b.observe(0);
    assert_eq!(seen.busy, Duration::from_micros(400), "standing still is not sending");
    assert_eq!(seen.waiting_packets, 2);
    b.run(us(3000));
    assert_eq!(b.stats(0).busy, Duration::from_micros(500));
    b.run(ms(100));
    // 400 bytes, 100 bytes, and the rest of 500 from 5 ms on at 2 us a byte.
    assert_eq!(b.times_us(), [7000.0, 9000.0, 11_000.0]);
    assert_eq!(b.stats(0).busy, Duration::from_micros(500 + 1000 + 4000));
}

#[test]
fn a_packet_that_stood_still_does_not_overtake_those_on_the_way() {
    let mut b = Bench::new(vec![LinkSpec { delay: Duration::from_millis(50), ..link(0, 1) }]);
    (0..3).for_each(|_| b.send(us(0), 0, 1000));
    b.rate(us(1500), 0, Rate::ZERO);
    b.change(us(1600), 0, Change::Delay(Duration::ZERO));
    b.rate(us(2000), 0, mbps(8));
    b.run(ms(100));
    assert_eq!(b.packets(), [0, 1, 2]);
    assert_eq!(b.times_us(), [51_000.0; 3]);
}

#[test]
fn packets_do_not_overtake_each_other_when_the_delay_shortens() {
    let mut b = Bench::new(vec![LinkSpec { delay: Duration::from_millis(10), ..link(0, 1) }]);
    (0..4).for_each(|i| b.send(ms(i), 0, 1000));
    b.send(ms(20), 0, 1000);
    b.change(us(1500), 0, Change::Delay(Duration::from_millis(1)));
    b.change(ms(15), 0, Change::Delay(Duration::from_millis(20)));
    b.run(ms(100));
    assert_eq!(b.packets(), [0, 1, 2, 3, 4]);
    assert_eq!(b.times_us(), [11_000.0, 12_000.0, 12_000.0, 12_000.0, 41_000.0]);
}

#[test]
fn a_link_that_goes_down_drops_all_packets_but_the_one_in_transmission() {
    let mut b = Bench::new(vec![link(0, 1)]);
    (0..3).for_each(|_| b.send(us(0), 0, 1000));
    b.send(us(700), 0, 1000);
    b.send(us(1500), 0, 1000);
    b.send(us(2000), 0, 1000);
    b.change(us(500), 0, Change::Up(false));
    b.change(us(1600), 0, Change::Up(true));
    b.run(us(1000));
    assert_eq!(b.observe(0).waiting_packets, 0);
    b.run(ms(100));
    assert_eq!(b.packets(), [0, 5]);
    let s = b.stats(0);
    assert_eq!((s.dropped_down, s.sent_packets), (4, 2));
    assert_eq!(s.area_packets, 2 * 500_000_000);
    assert_eq!(s.area_bytes, 2000 * 500_000_000);
}

#[test]
fn a_link_that_comes_up_before_its_packet_has_left_lets_others_wait() {
    let mut b = Bench::new(vec![link(0, 1)]);
    b.send(us(0), 0, 1000);
    b.change(us(100), 0, Change::Up(false));
    b.change(us(200), 0, Change::Up(true));
    b.send(us(300), 0, 1000);
    b.run(ms(10));
    assert_eq!(b.times_us(), [1000.0, 2000.0]);
}

#[test]
fn changes_while_idle_take_nothing_from_the_next_packet() {
    let mut b = Bench::new(vec![link(0, 1)]);
    b.send(us(0), 0, 1000);
    b.rate(us(1000), 0, Rate::ZERO);
    b.rate(us(2000), 0, mbps(16));
    b.change(us(2000), 0, Change::Up(false));
    b.change(us(3000), 0, Change::Up(true));
    b.send(us(4000), 0, 1000);
    b.run(ms(10));
    assert_eq!(b.times_us(), [1000.0, 4500.0]);
    assert_eq!(b.stats(0).busy, Duration::from_micros(1500));
    assert_eq!(b.stats(0).sent_bytes, Bytes::new(2000));
}

#[test]
fn losses_begin_and_end_at_their_changes() {
    let mut b = Bench::new(vec![LinkSpec { delay: Duration::from_millis(3), ..link(0, 1) }]);
    // A packet of a byte each 10 us: the changes come between packets 99 and 100, 199 and 200.
    (0..300u32).for_each(|i| b.send(us(u64::from(i) * 10), 0, 1));
    b.change(us(995), 0, Change::Loss(Loss::Random(1.0)));
    b.change(us(1995), 0, Change::Loss(Loss::Every(2)));
    b.change(us(2495), 0, Change::Loss(Loss::None));
    b.run(ms(100));
    let odd = (200..250).step_by(2);
    let expected: Vec<u32> = (0..100).chain(odd).chain(250..300).collect();
    assert_eq!(b.packets(), expected);
    assert_eq!((b.stats(0).lost, b.stats(0).drops()), (125, 125));
    assert_eq!(b.network.in_flight(), 0);
}

#[test]
fn a_smaller_queue_keeps_what_waits_and_a_larger_one_takes_more() {
    let mut b = Bench::new(vec![LinkSpec { limit: Limit::Packets(3), ..link(0, 1) }]);
    // One is sent, three wait, two find no room.
    (0..6).for_each(|_| b.send(us(0), 0, 1000));
    b.change(us(500), 0, Change::Limit(Limit::Packets(1)));
    // Three wait, then two, then one: none has room until 3 ms, when none waits.
    [600, 1600, 2600, 3600].into_iter().for_each(|at| b.send(us(at), 0, 1000));
    b.change(us(3700), 0, Change::Limit(Limit::Bytes(Bytes::new(2500))));
    (0..3).for_each(|_| b.send(us(3800), 0, 1000));
    b.change(us(3900), 0, Change::Limit(Limit::Unlimited));
    (0..5).for_each(|_| b.send(us(3950), 0, 1000));
    b.run(ms(100));
    // Of those of 3.8 ms one has room beside the one that waits.
    assert_eq!(b.packets(), [0, 1, 2, 3, 9, 10, 13, 14, 15, 16, 17]);
    assert_eq!(b.stats(0).dropped_full, 2 + 3 + 2);
}

#[test]
fn outages_are_counted_and_timed() {
    let mut b = Bench::new(vec![link(0, 1)]);
    for (at, up) in [(1, false), (2, false), (5, true), (6, true), (8, false)] {
        b.change(ms(at), 0, Change::Up(up));
    }
    for (at, outages, down) in [(0, 0, 0), (3, 1, 2), (7, 1, 4), (10, 2, 6)] {
        b.run(ms(at));
        let seen = b.stats(0);
        assert_eq!((seen.outages, seen.down), (outages, Duration::from_millis(down)), "{at} ms");
    }
}
