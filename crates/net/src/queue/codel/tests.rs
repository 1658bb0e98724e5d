//! Tests of RFC 8289's control law, and of queues that are no standing queue.

use ratewire_laws::options::Options;
use ratewire_units::{Bytes, Duration, Time};

use super::*;
use crate::packet::Ecn;
use crate::queue::Backlog;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn codel() -> CoDel {
    CoDel::from_options(&Options::defaults(OPTIONS), Bytes::new(1500)).unwrap()
}

fn depart(codel: &mut CoDel, at: u64, sojourn: u64, left: u64, size: u64) -> Treatment {
    codel.on_departure(&Departure {
        now: Time::ZERO + ms(at),
        queue: 0,
        size: Bytes::new(size),
        ecn: Ecn::Capable,
        sojourn: ms(sojourn),
        backlog: Backlog { packets: left.div_ceil(1500) as u32, bytes: Bytes::new(left) },
        link_bytes: Bytes::new(left),
        next: None,
    })
}

#[test]
fn codel_drops_only_after_an_interval_above_target_and_then_faster() {
    let mut codel = codel();
    let dropped = |at: &u64| depart(&mut codel, *at, 20, 30_000, 1500) == Treatment::Drop;
    let drops: Vec<u64> = (0..1000).filter(dropped).collect();
    assert_eq!(&drops[..4], &[100, 200, 271, 329], "interval / sqrt(count) apart");
    let last = depart(&mut codel, 1000, 1, 30_000, 1500);
    assert_eq!(last, Treatment::Pass, "below target it stops");
    assert!(!codel.dropping);
}

#[test]
fn codel_leaves_a_queue_of_one_large_packet_alone() {
    let mut codel = codel();
    depart(&mut codel, 0, 20, 3000, 1500);
    for i in 0..1000 {
        assert_eq!(depart(&mut codel, i, 20, 1500, 40), Treatment::Pass);
    }
}

#[test]
fn codel_counts_its_interval_anew_after_the_queue_was_empty() {
    let mut codel = codel();
    for i in 0..90 {
        assert_eq!(depart(&mut codel, i, 20, 30_000, 1500), Treatment::Pass);
    }
    codel.on_empty(Time::ZERO + ms(90));
    let dropped = |at: &u64| depart(&mut codel, *at, 20, 30_000, 1500) == Treatment::Drop;
    assert_eq!((91..300).find(dropped), Some(191));
}
