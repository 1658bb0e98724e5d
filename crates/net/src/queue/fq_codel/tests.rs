//! Tests of RFC 8290's scheduler (section 4), and of how it shares the link.

use ratewire_laws::options::Options;
use ratewire_units::{Bytes, Duration, Time};

use super::*;
use crate::packet::Label;
use crate::queue::Backlog;
use crate::queue::sorted::Sorted;

fn fq(given: &[(&str, &str)]) -> FqCoDel {
    let mut options = Options::defaults(OPTIONS);
    given.iter().for_each(|(key, value)| options.set(key, value).unwrap());
    FqCoDel::from_options(&options, Bytes::new(1500)).unwrap()
}

/// A link's queues under FQ-CoDel, without the link.
struct Bench {
    fq: FqCoDel,
    sorted: Sorted,
    now: Time,
}

impl Bench {
    fn new(given: &[(&str, &str)]) -> Bench {
        Bench { fq: fq(given), sorted: Sorted::default(), now: Time::ZERO }
    }

    fn arrive(&mut self, flow: u32, size: u32) {
        let arrival = Arrival {
            now: self.now,
            size: Bytes::new(u64::from(size)),
            flow,
            ecn: Ecn::NotCapable,
            packet_time: None,
            backlog: Backlog::default(),
        };
        let queue = self.fq.place(&arrival, &mut || 0.5);
        self.sorted.push(queue, self.now, Label { size, flow, ..Label::NONE });
    }

    /// The flow whose packet leaves next.
    fn depart(&mut self) -> Option<u32> {
        loop {
            if (0..self.sorted.queues().count()).all(|q| self.sorted.queues().head(q).is_none()) {
                return None;
            }
            let queue = self.fq.choose(self.now, self.sorted.queues());
            let label = self.sorted.pop(queue)?;
            let treatment = self.fq.on_departure(&Departure {
                now: self.now,
                queue,
                size: Bytes::new(u64::from(label.size)),
                ecn: Ecn::NotCapable,
                sojourn: self.now.since(label.time),
                backlog: self.sorted.queues().backlog(queue),
                link_bytes: self.sorted.queues().bytes(),
                next: self.sorted.queues().head(queue),
            });
            if treatment == Treatment::Pass {
                return Some(label.flow);
            }
        }
    }

    fn departures(&mut self, count: usize) -> Vec<u32> {
        (0..count).map_while(|_| self.depart()).collect()
    }
}

/// Section 5.2.
#[test]
fn the_defaults_are_the_rfc_s() {
    let fq = fq(&[]);
    assert_eq!((fq.most, fq.quantum, fq.limit, fq.batch), (1024, 1514, 10_240, 64));
    let ms = Duration::from_millis;
    let codel = CoDel::new(ms(5), ms(100), true);
    assert_eq!(format!("{:?}", fq.codel), format!("{codel:?}"));
}

/// Section 4.2: flows of equal packets take turns, in whatever order and number these came.
#[test]
fn flows_take_turns() {
    let mut bench = Bench::new(&[]);
    (0..6).for_each(|_| bench.arrive(1, 1500));
    (0..3).for_each(|_| bench.arrive(2, 1500));
    // A quantum of 1514 lets a packet of 1500 pass with 14 left, which is enough for another.
    assert_eq!(bench.departures(9), [1, 1, 2, 2, 1, 2, 1, 1, 1]);
    let mut bench = Bench::new(&[("quantum", "1500 B")]);
    (0..6).for_each(|_| bench.arrive(1, 1500));
    (0..3).for_each(|_| bench.arrive(2, 1500));
    assert_eq!(bench.departures(9), [1, 2, 1, 2, 1, 2, 1, 1, 1]);
}

/// Section 4.2: the credit is in bytes, so that small packets get as much as large ones.
#[test]
fn the_share_of_a_flow_is_in_bytes() {
    let mut bench = Bench::new(&[]);
    (0..200).for_each(|_| bench.arrive(1, 1500));
    (0..2000).for_each(|_| bench.arrive(2, 150));
    let sent = bench.departures(1100);
    let of = |flow| sent.iter().filter(|other| **other == flow).count();
    assert_eq!(of(1) + of(2), 1100);
    let (large, small) = (of(1) as i64 * 1500, of(2) as i64 * 150);
    assert!((large - small).abs() <= 2 * 1514, "{large} and {small} bytes");
}

/// Section 4.2: a new flow goes before old ones, once. Only a flow that sends less than its share
/// is new with each packet.
#[test]
fn new_flows_go_first_and_busy_ones_are_not_new_again() {
    let mut bench = Bench::new(&[("quantum", "1500 B")]);
    (0..10).for_each(|_| [1, 3].iter().for_each(|flow| bench.arrive(*flow, 1500)));
    assert_eq!(bench.departures(2), [1, 3]);
    bench.arrive(2, 100);
    assert_eq!(bench.departures(2), [2, 1], "before those that came earlier");
    // Flow 2's queue was found empty, and became old.
    bench.arrive(2, 1500);
    assert_eq!(bench.departures(3), [3, 2, 1]);
}

/// Section 4.2: an old queue leaves the list when it is found empty.
#[test]
fn empty_queues_leave_the_list() {
    let mut bench = Bench::new(&[]);
    (1..=5).for_each(|flow| bench.arrive(flow, 500));
    assert_eq!(bench.departures(9), [1, 2, 3, 4, 5]);
    (0..5).for_each(|_| bench.arrive(9, 500));
    assert_eq!(
        bench.departures(5),
        [9; 5],
        "a quantum and a little more, and all others looked at"
    );
    let listed = bench.fq.flows.iter().filter(|flow| flow.is_listed).count();
    assert_eq!((listed, bench.fq.new.len() + bench.fq.old.len()), (1, 1), "the last one only");
}

/// Section 4.1: the longest queue in bytes loses half of its packets, 64 at most.
#[test]
fn too_many_packets_are_dropped_from_the_longest_queue() {
    let mut bench = Bench::new(&[("limit", "300")]);
    (0..260).for_each(|_| bench.arrive(1, 100));
    (0..40).for_each(|_| bench.arrive(2, 1500));
    assert_eq!(bench.fq.shed(bench.sorted.queues(), false), None);
    bench.arrive(1, 100);
    // 40 packets of 1500 bytes are longer than 261 of 100.
    assert_eq!(bench.fq.shed(bench.sorted.queues(), false), Some((1, 20)));
    (0..800).for_each(|_| bench.arrive(1, 100));
    assert_eq!(bench.fq.shed(bench.sorted.queues(), false), Some((0, 64)));
    let mut bench = Bench::new(&[]);
    bench.arrive(1, 100);
    assert_eq!(bench.fq.shed(bench.sorted.queues(), true), Some((0, 1)), "the link has no room");
}

/// CoDel acts on each queue by its own sojourn times: a standing queue loses packets, and a flow
/// beside it that does not wait loses none.
#[test]
fn codel_acts_on_each_queue_by_itself() {
    let mut bench = Bench::new(&[]);
    (0..400).for_each(|_| bench.arrive(1, 1500));
    let mut sent = [0; 3];
    for step in 0..300u64 {
        bench.now = Time::ZERO + Duration::from_millis(step);
        bench.arrive(2, 100);
        for flow in bench.departures(2) {
            sent[flow as usize] += 1;
        }
    }
    assert_eq!(sent[2], 300, "one a millisecond, and none dropped");
    let left = bench.sorted.queues().backlog(0).packets as usize;
    assert_eq!(sent[1], 300);
    // RFC 8289's control law: after 100 ms, then 100, 71, ... later.
    assert_eq!(400 - sent[1] - left, 3, "at 105, 205 and 276 ms");
}

/// RFC 8289, 4.4: a flow with one packet at a time waits too long because of the others, and may
/// lose that packet, although nothing waits behind it in its own queue.
#[test]
fn codel_takes_the_backlog_of_all_queues() {
    let mut bench = Bench::new(&[]);
    (0..20).for_each(|flow| bench.arrive(flow, 1500));
    for step in 0..1000u64 {
        bench.now = Time::ZERO + Duration::from_millis(step);
        for flow in bench.departures(1) {
            bench.arrive(flow, 1500);
        }
    }
    let left = bench.sorted.queues().bytes().get() / 1500;
    assert_eq!(left, 4, "among five flows, a packet waits 5 ms, the target");
}

/// Section 4.1: the salt decides which flows share a queue.
#[test]
fn flows_spread_over_the_queues_by_a_salted_hash() {
    let queue = |flow, salt| (hash(flow, salt) % 1024) as usize;
    for salt in [0, 1, 1 << 52] {
        let mut taken = vec![0; 1024];
        (0..10_240).for_each(|flow| taken[queue(flow, salt)] += 1);
        // Poisson of mean 10.
        assert!(taken.iter().all(|n| *n < 30), "{:?}", taken.iter().max());
        assert!(taken.iter().filter(|n| **n == 0).count() < 5);
    }
    let moved = (0..1000).filter(|flow| queue(*flow, 0) != queue(*flow, 1)).count();
    assert!(moved > 990);
}

#[test]
fn options_that_stop_time_are_refused() {
    for (key, value, message) in [
        ("interval", "0 s", "the interval of FQ-CoDel must be above 0"),
        ("quantum", "63 B", "`quantum` of FQ-CoDel must be 64 B or more"),
    ] {
        let mut options = Options::defaults(OPTIONS);
        options.set(key, value).unwrap();
        let e = FqCoDel::from_options(&options, Bytes::new(1500)).unwrap_err();
        assert_eq!(e.message, message);
    }
}
