//! Disciplines at a link, with senders that do not react to signals.

use std::sync::Arc;

use ratewire_net::spec::*;
use ratewire_units::{Bytes, Duration, Time};

use crate::bench::{Bench, discipline, link, ms, us};

fn codel(ecn: &str) -> LinkSpec {
    LinkSpec { discipline: discipline("codel", &[("ecn", ecn)]), ..link(0, 1) }
}

fn red(ecn: &str) -> LinkSpec {
    let options = [("min", "10 KB"), ("max", "30 KB"), ("weight", "0.02"), ("ecn", ecn)];
    LinkSpec { discipline: discipline("red", &options), ..link(0, 1) }
}

/// Sends `n` packets of a millisecond each, one every `gap` microseconds.
fn load(spec: LinkSpec, n: u64, gap: u64, ecn: bool) -> Bench {
    let mut b = Bench::new(vec![spec]);
    (0..n).for_each(|i| b.send_ecn(us(i * gap), 0, 1000, ecn));
    b.run(us(n * gap) + Duration::from_secs(100));
    b
}

#[test]
fn a_load_below_capacity_is_left_alone() {
    for spec in [codel("false"), red("false")] {
        let mut b = load(spec, 3000, 1001, false);
        assert_eq!((b.arrived.len(), b.stats(0).dropped_early), (3000, 0));
    }
}

#[test]
fn an_overload_is_dropped_or_marked() {
    for spec in [codel("true"), codel("false"), red("true")] {
        let mut b = load(spec.clone(), 3000, 900, true);
        let s = b.stats(0);
        let (name, marks) = (spec.discipline.info().name, spec.discipline.marks());
        assert_eq!(s.marked > 0, marks, "{name}");
        assert_eq!(s.marked, b.arrived.iter().filter(|a| a.marked).count() as u64);
        let left_out = 3000 - b.arrived.len() as u64;
        assert_eq!(s.dropped_early, left_out);
        // Marks do not slow these senders down, so RED's average exceeds twice `max`, where RED
        // drops.
        assert_eq!(left_out == 0, name == "codel" && marks, "{name}");
        assert!(b.packets().is_sorted());
    }
}

#[test]
fn packets_that_cannot_be_marked_are_dropped() {
    let mut b = load(codel("true"), 3000, 900, false);
    assert!(b.stats(0).dropped_early > 0 && b.stats(0).marked == 0);
}

#[test]
fn red_keeps_a_queue_of_bounded_length_under_overload() {
    let mut b = load(red("false"), 5000, 800, false);
    let s = b.stats(0);
    let mean = s.area_bytes as f64 / us(5000 * 800).ps() as f64;
    assert!((10_000.0..60_000.0).contains(&mean), "{mean}");
    assert!(s.peak_bytes_run.get() < 70_000, "{}", s.peak_bytes_run);
}

#[test]
fn drops_in_the_middle_of_the_fifo_leave_the_rest_in_order() {
    let slow = LinkSpec { delay: Duration::from_millis(30), ..codel("false") };
    let mut b = Bench::new(vec![slow]);
    for i in 0..2000 {
        b.send(us(i * 500), 0, 1000);
    }
    for at in (0..3000).step_by(7) {
        b.run(ms(at));
        assert_eq!(b.network.unbalanced_link(), None);
    }
    let s = b.stats(0);
    assert!(s.dropped_early > 20, "{}", s.dropped_early);
    assert_eq!(b.arrived.len() as u64 + s.dropped_early, 2000);
    assert!(b.packets().is_sorted());
    let gaps = b.times_us().windows(2).map(|w| w[1] - w[0]).fold(f64::MAX, f64::min);
    assert_eq!(gaps, 1000.0, "the link is never idle nor faster than its rate");
}

/// A link with FQ-CoDel and room for 20 packets. One flow sends twice the link's capacity, and a
/// thin flow sends a small packet every 10 ms. Returns the thin flow's packets, and when each was
/// sent.
fn flooded() -> (Bench, Vec<(u32, Time)>) {
    let fair = LinkSpec {
        discipline: discipline("fq-codel", &[]),
        limit: Limit::Packets(20),
        ..link(0, 1)
    };
    let mut b = Bench::new(vec![fair]);
    let thin = b.route(&[0]);
    (0..4000).for_each(|i| b.send(us(i * 500), 0, 1000));
    let sent = (0..200).map(|i| {
        let at = us(i * 10_000 + 3);
        b.send(at, thin, 100);
        (b.sent - 1, at)
    });
    let sent = sent.collect();
    (b, sent)
}

#[test]
fn a_thin_flow_passes_a_flood_by() {
    let (mut b, sent) = flooded();
    b.run(ms(10_000));
    for (packet, at) in sent {
        let arrived = b.arrived.iter().find(|a| a.packet == packet).expect("it is not dropped");
        // A packet waits at most for the packet in transmission and for a round of the flood, and
        // takes 0.1 ms itself.
        assert!(arrived.at.since(at) < Duration::from_micros(3_200), "{}", arrived.at.since(at));
    }
    let s = b.stats(0);
    assert!(s.dropped_full > 1000 && s.peak_packets_run <= 21, "{s:?}");
    assert_eq!(4200, b.arrived.len() as u64 + s.dropped_full + s.dropped_early);
    let flood = b.arrived.iter().filter(|a| a.route == 0);
    assert!(flood.map(|a| a.packet).is_sorted(), "a flow's packets keep their order");
}

#[test]
fn queues_of_a_link_that_goes_down_are_emptied() {
    let (mut b, _) = flooded();
    b.change(ms(1000), 0, Change::Up(false));
    b.change(ms(1500), 0, Change::Up(true));
    b.run(ms(1001));
    assert_eq!(b.stats(0).waiting_packets, 0);
    b.run(ms(10_000));
    let s = b.stats(0);
    // The backlog, and both flows' packets of half a second.
    assert_eq!(s.dropped_down, 20 + 1000 + 50);
    assert_eq!((s.waiting_packets, s.waiting_bytes.get(), b.network.in_flight()), (0, 0, 0));
}

#[test]
fn flows_share_a_medium_and_a_trace_in_turn() {
    let trace = Opportunities {
        at: (1..=10).map(Duration::from_millis).collect(),
        period: Duration::from_millis(10),
        bytes: Bytes::new(1500),
    };
    let fair = LinkSpec { discipline: discipline("fq-codel", &[("target", "1 s")]), ..link(0, 1) };
    let on_trace = LinkSpec { service: Service::Opportunities(Arc::new(trace)), ..fair.clone() };
    let on_medium = LinkSpec { medium: Some(MediumId(0)), ..fair };
    for link in [on_trace, on_medium] {
        let mut b = Bench::new(vec![link]);
        let second = b.route(&[0]);
        (0..100).for_each(|_| b.send(us(0), 0, 1000));
        (0..100).for_each(|_| b.send(us(0), second, 1000));
        b.run(ms(1000));
        let turns = b.turns();
        assert_eq!(turns.len(), 200);
        let of_first = |n: usize| turns[..n].iter().filter(|route| **route == 0).count();
        // The quantum of 1514 bytes is a packet and a half.
        assert!((10..200).step_by(10).all(|n| of_first(n).abs_diff(n / 2) <= 3), "{turns:?}");
    }
}

#[test]
fn scalable_packets_pass_the_classic_queue_by_and_are_marked() {
    let dual = LinkSpec {
        discipline: discipline("dualpi2", &[]),
        limit: Limit::Packets(50),
        ..link(0, 1)
    };
    let mut b = Bench::new(vec![dual]);
    let scalable = b.route(&[0]);
    // A flood of three times the link's capacity, whose packets cannot be marked.
    (0..9000).for_each(|i| b.send(us(i * 333), 0, 1000));
    let mut sent = Vec::new();
    for i in 0..300 {
        let at = us(i * 10_000 + 7);
        sent.push((b.sent, at));
        b.send_scalable(at, scalable, 1000);
    }
    b.run(ms(10_000));
    let of_scalable = |(packet, at): &(u32, Time)| {
        let arrived = b.arrived.iter().find(|a| a.packet == *packet)?;
        Some((arrived.at.since(*at), arrived.marked))
    };
    let arrived: Vec<(Duration, bool)> = sent.iter().filter_map(of_scalable).collect();
    // A packet waits at most for the packet in transmission and for one of the Classic queue, and
    // takes 1 ms itself.
    assert!(arrived.iter().all(|(wait, _)| *wait <= Duration::from_micros(3000)), "{arrived:?}");
    // Three times the capacity is overload: both queues drop packets, and in the end every scalable
    // packet that arrives is marked.
    assert!(arrived.len() < 300 && arrived.iter().rev().take(50).all(|(_, marked)| *marked));
    let s = b.stats(0);
    assert!(s.dropped_early > 1000, "{s:?}");
    assert_eq!(9300, b.arrived.len() as u64 + s.dropped_full + s.dropped_early);
    assert!(s.peak_packets_run <= 50);
}
