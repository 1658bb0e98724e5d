//! Packets that arrive twice.

use ratewire_net::spec::*;
use ratewire_units::Duration;

use crate::bench::{Bench, link, ms, spec, us};

const N: u32 = 50_000;

fn doubling(duplicate: f64) -> LinkSpec {
    let variation = Variation { duplicate, ..Variation::default() }.boxed();
    LinkSpec { delay: Duration::from_millis(1), variation, ..link(0, 1) }
}

/// How often each of `N` packets arrives.
fn arrivals(duplicate: f64, seed: u64) -> Vec<u32> {
    let mut b = Bench::with(&spec(vec![doubling(duplicate)], Contention::Alternate), seed);
    (0..N).for_each(|i| b.send(us(u64::from(i) * 2), 0, 1));
    b.run(ms(1000));
    assert!(b.packets().is_sorted(), "a copy arrives right behind its original");
    assert!((0..b.arrived.len()).all(|i| {
        let arrived = b.arrived[i];
        arrived.at == us(u64::from(arrived.packet) * 2 + 1001)
    }));
    let mut times = vec![0; N as usize];
    b.arrived.iter().for_each(|a| times[a.packet as usize] += 1);
    let seen = b.stats(0);
    assert_eq!(seen.duplicated, u64::from(times.iter().sum::<u32>() - N));
    assert_eq!(
        (seen.sent_packets, seen.sent_bytes.get()),
        (N.into(), N.into()),
        "copies take no time"
    );
    assert_eq!((seen.drops(), b.network.in_flight()), (0, 0));
    times
}

#[test]
fn a_share_of_the_packets_arrives_twice() {
    for share in [0.0, 0.01, 0.3, 1.0] {
        let times = arrivals(share, 1);
        assert!(times.iter().all(|times| (1..=2).contains(times)));
        let twice = times.iter().filter(|times| **times == 2).count() as f64 / f64::from(N);
        // Four standard deviations of a binomial distribution.
        let tolerance = 4.0 * (share * (1.0 - share) / f64::from(N)).sqrt();
        assert!((twice - share).abs() <= tolerance, "{twice} for {share}");
    }
    assert_ne!(arrivals(0.01, 1), arrivals(0.01, 2));
}

#[test]
fn copies_go_on_and_are_copied_again_where_links_do_so() {
    let mut b = Bench::new(vec![
        doubling(1.0),
        LinkSpec { limit: Limit::Packets(2), variation: doubling(1.0).variation, ..link(1, 2) },
        link(2, 3),
    ]);
    let along = b.route(&[0, 1, 2]);
    (0..4).for_each(|_| b.send(us(0), along, 100));
    b.run(ms(100));
    // All eight come to the second link, which takes three and then one a packet time; two packets
    // come at each packet time.
    let at_second = b.stats(1);
    assert_eq!(b.stats(0).duplicated, 4);
    assert_eq!(at_second.sent_packets + at_second.dropped_full, 8);
    assert!(at_second.dropped_full > 0);
    assert_eq!(at_second.duplicated, at_second.sent_packets);
    assert_eq!(b.arrived.len() as u64, 2 * at_second.sent_packets);
    assert_eq!(b.network.in_flight(), 0);
}

#[test]
fn a_lost_packet_has_no_copy_and_a_late_one_a_late_copy() {
    let reorder = Some(Reorder { share: 1.0, delay: Duration::from_millis(5) });
    let mut b = Bench::new(vec![
        LinkSpec { loss: Loss::Every(2), ..doubling(1.0) },
        LinkSpec { reorder, ..doubling(1.0) },
    ]);
    for route in [0, 1] {
        (0..2).for_each(|i| b.send(ms(i), route, 1000));
    }
    b.run(ms(100));
    let times = b.times_us();
    let of = |route: u32| -> Vec<f64> {
        b.arrived.iter().zip(&times).filter(|(a, _)| a.route == route).map(|(_, at)| *at).collect()
    };
    assert_eq!(of(0), [2000.0, 2000.0]);
    assert_eq!(of(1), [7000.0, 7000.0, 8000.0, 8000.0]);
    assert_eq!(b.stats(0).lost, 1);
}
