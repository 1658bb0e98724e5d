//! Store and forward, limits, and the areas under the queue.

use ratewire_net::spec::*;
use ratewire_units::{Bytes, Duration, Rate};

use crate::bench::{Bench, link, ms, ps, us};

#[test]
fn one_packet_over_two_links_arrives_to_the_picosecond() {
    let service = |bps| Service::Rate(Rate::from_bps(bps));
    let first = LinkSpec {
        service: service(7_000_000),
        delay: Duration::from_millis(5),
        overhead: Bytes::new(38),
        ..link(0, 1)
    };
    let second =
        LinkSpec { service: service(3_000_000), delay: Duration::from_ps(1), ..link(1, 2) };
    let mut b = Bench::new(vec![first, second]);
    let both = b.route(&[0, 1]);
    b.send(ps(17), both, 1500);
    b.run(ms(100));
    // 1538 * 8 / 7e6 s = 1757714285.7 ps, 1500 * 8 / 3e6 s = 4 ms; parts of a picosecond are
    // dropped.
    assert_eq!(b.arrived[0].at, ps(17 + 1_757_714_285 + 5_000_000_000 + 4_000_000_000 + 1));
    assert_eq!(b.stats(0).busy, Duration::from_ps(1_757_714_285));
    assert_eq!(b.stats(0).sent_bytes.get(), 1500, "network-layer bytes, without the link's own");
}

#[test]
fn packets_wait_for_each_other_and_a_packet_in_service_takes_no_room() {
    for (limit, sizes, arrive) in [
        (Limit::Packets(3), vec![1000; 10], vec![0, 1, 2, 3]),
        (Limit::Packets(0), vec![1000; 3], vec![0]),
        (Limit::Bytes(Bytes::new(2500)), vec![1000, 1000, 1000, 1000, 500, 1], vec![0, 1, 2, 4]),
        // The limit is smaller than a packet: such a packet passes only if it finds the link idle.
        (Limit::Bytes(Bytes::new(999)), vec![1000, 1000, 999, 1], vec![0, 2]),
        (Limit::Bytes(Bytes::ZERO), vec![1000, 1], vec![0]),
        (Limit::Unlimited, vec![1000; 10], (0..10).collect()),
    ] {
        let mut b = Bench::new(vec![LinkSpec { limit, ..link(0, 1) }]);
        sizes.iter().for_each(|s| b.send(ms(0), 0, *s));
        b.run(ms(100));
        assert_eq!(b.packets(), arrive, "{limit:?}");
        let dropped = (sizes.len() - arrive.len()) as u64;
        assert_eq!(b.stats(0).dropped_full, dropped, "{limit:?}");
        assert_eq!(b.network.in_flight(), 0);
    }
}

#[test]
fn a_packet_that_comes_as_another_leaves_finds_its_room() {
    let mut b = Bench::new(vec![LinkSpec { limit: Limit::Packets(1), ..link(0, 1) }]);
    b.send(us(0), 0, 1000);
    b.send(us(0), 0, 1000);
    b.send(ps(999_999_999), 0, 1000);
    b.send(us(1000), 0, 1000);
    b.run(ms(10));
    assert_eq!(b.packets(), [0, 1, 3]);
    assert_eq!(b.times_us(), [1000.0, 2000.0, 3000.0]);
}

#[test]
fn areas_are_the_sums_of_the_waiting_times() {
    let mut b = Bench::new(vec![link(0, 1)]);
    for at in [0, 100, 200, 5000, 5900] {
        b.send(us(at), 0, 1000);
    }
    b.run(us(150));
    let seen = b.observe(0);
    assert_eq!((seen.waiting_packets, seen.area_packets), (1, 50_000_000));
    assert_eq!(seen.busy, Duration::from_micros(150), "what is sent of the first packet");
    b.run(us(10_000));
    let s = b.stats(0);
    // 100 to 1000, 200 to 2000, 5900 to 6000.
    assert_eq!(s.area_packets, (900 + 1800 + 100) * 1_000_000);
    assert_eq!(s.area_bytes, 1000 * s.area_packets);
    assert_eq!(s.busy, Duration::from_millis(5));
    assert_eq!((s.peak_packets_run, s.peak_bytes_run.get()), (2, 2000));
}

#[test]
fn peaks_start_anew_with_each_sample_and_the_runs_does_not() {
    let mut b = Bench::new(vec![link(0, 1)]);
    (0..5).for_each(|_| b.send(us(0), 0, 1000));
    b.run(us(2500));
    assert_eq!(b.stats(0).peak_packets, 4);
    b.run(us(9000));
    let s = b.stats(0);
    assert_eq!((s.peak_packets, s.peak_packets_run), (2, 4), "two wait at the sample before");
    assert_eq!(b.stats(0).peak_packets, 0);
}

#[test]
fn a_link_of_rate_zero_keeps_what_comes() {
    let still =
        LinkSpec { service: Service::Rate(Rate::ZERO), limit: Limit::Packets(2), ..link(0, 1) };
    let mut b = Bench::new(vec![still]);
    (0..5).for_each(|i| b.send(us(i), 0, 1000));
    b.run(ms(50));
    let seen = b.observe(0);
    assert_eq!((seen.waiting_packets, seen.dropped_full, seen.sent_packets), (2, 3, 0));
    assert_eq!(seen.busy, Duration::ZERO);
    b.rate(ms(60), 0, Rate::from_mbps(8));
    b.run(ms(100));
    assert_eq!(b.times_us(), [61_000.0, 62_000.0]);
}

#[test]
fn links_of_one_bit_a_second_and_of_400_gbit_share_a_route() {
    let rate = |bps| LinkSpec { service: Service::Rate(Rate::from_bps(bps)), ..link(0, 1) };
    let mut b = Bench::new(vec![rate(1), rate(400_000_000_000)]);
    let both = b.route(&[0, 1]);
    (0..3).for_each(|_| b.send(us(0), both, 1500));
    b.run(ms(40_000_000));
    let seconds = |n: u64| ps(n * 1_000_000_000_000 + 30_000);
    let times: Vec<_> = b.arrived.iter().map(|a| a.at).collect();
    assert_eq!(times, [seconds(12_000), seconds(24_000), seconds(36_000)]);
}
