//! Acknowledgements: their times and content.

use proptest::collection::vec;
use proptest::prelude::*;
use ratewire_laws::Header;
use ratewire_units::{Bytes, Time};

use crate::testing::{Fate, MSS, Pipe, at, config, fixed, ms, packets};
use crate::{Ack, AckRules, App, Receiver, Reply, SackBlocks, Stamp, TransportConfig};

fn delayed() -> TransportConfig {
    TransportConfig { delayed_ack: Some(ms(40)), ..config() }
}

#[test]
fn every_second_packet_is_acknowledged_and_the_last_when_time_is_up() {
    let mut pipe = Pipe::new(&fixed(5), &delayed(), &App::sized(packets(5)));
    pipe.run();
    let answers: Vec<(Time, u64)> = pipe.answers().map(|(t, a)| (t, a.cumulative / MSS)).collect();
    assert_eq!(answers, [(at(50), 2), (at(50), 4), (at(90), 5)]);
}

/// The payload that the receiver began with is a full packet; later ones may be larger.
#[test]
fn a_packet_with_the_data_of_two_is_acknowledged_at_once() {
    let mut receiver = Receiver::new(None, &delayed(), packets(1), &App::sized(packets(100)));
    let mut offset = 0;
    let mut reply = |payload: u64| {
        let (from, payload) = (offset, Bytes::new(payload));
        offset += payload.get();
        receiver.on_data(at(0), from, payload, &Header::None, false, Stamp::NONE)
    };
    assert_eq!(reply(2 * MSS), Reply::Now);
    assert_eq!([reply(2 * MSS - 1), reply(1)], [Reply::Later, Reply::Now]);
    assert_eq!([reply(MSS), reply(2 * MSS)], [Reply::Later, Reply::Now]);
}

#[test]
fn out_of_order_and_marked_packets_are_acknowledged_at_once() {
    let mut pipe = Pipe::new(&fixed(5), &delayed(), &App::sized(packets(5)));
    pipe.data.insert(1, Fate::Late(ms(3)));
    pipe.data.insert(4, Fate::Late(ms(4)));
    pipe.run();
    let answers: Vec<(Time, u64)> = pipe.answers().map(|(t, a)| (t, a.cumulative / MSS)).collect();
    // 0 waits; 2 and 3 are beyond a hole; 1 fills it; 4 waits.
    assert_eq!(answers, [(50, 1), (50, 1), (53, 4), (94, 5)].map(|(t, n)| (at(t), n)));

    let mut pipe = Pipe::new(&fixed(5), &delayed(), &App::sized(packets(1)));
    pipe.data.insert(0, Fate::Marked);
    pipe.run();
    assert_eq!(pipe.answers().map(|(t, ack)| (t, ack.marked)).next(), Some((at(50), true)));
    // A window probe is answered at once too.
    let reply = pipe.receiver.on_data(at(60), MSS, Bytes::ZERO, &Header::None, false, Stamp::NONE);
    assert_eq!(reply, Reply::Now);
}

/// Which of these packets a receiver with the rules of Linux acknowledges at once (`1`). Those in
/// `pushed` end what their sender sent at once.
fn acknowledged(packets_in: impl Iterator<Item = u64>, pushed: &[u64]) -> String {
    let config = TransportConfig { ack_rules: AckRules::Linux, ..delayed() };
    let mut receiver = Receiver::new(None, &config, packets(1), &App::sized(packets(100)));
    let replies = packets_in.map(|n| {
        let stamp = Stamp { pushed: pushed.contains(&n), ..Stamp::NONE };
        let reply = receiver.on_data(at(0), n * MSS, packets(1), &Header::None, false, stamp);
        if reply == Reply::Now {
            receiver.acknowledge(at(0));
        }
        if reply == Reply::Now { '1' } else { '0' }
    });
    replies.collect()
}

/// Six packets of 1,460 bytes open Linux's first window, beside the sixteen.
const AT_THE_START: usize = 6 + 16;

#[test]
fn packets_at_the_start_are_acknowledged_each_and_after_a_hole_as_ever() {
    let holes = (0..25).chain([26, 27, 25]).chain(28..34);
    let expected = format!("{}{}{}{}", "1".repeat(AT_THE_START), "010", "111", "010101");
    assert_eq!(acknowledged(holes, &[]), expected);
}

/// A capture of Linux 6.18: "2p 2p 1p 2p" packets an acknowledgement, the last with PSH.
#[test]
fn what_ends_a_bundle_is_acknowledged_at_once() {
    let start = "1".repeat(AT_THE_START);
    assert_eq!(acknowledged(0..30, &[23, 24, 26, 29]), format!("{start}01101011"));
}

#[test]
fn after_a_packet_that_had_arrived_sixteen_are_acknowledged_each() {
    let again = (0..27).chain([3]).chain(27..46);
    let expected = format!("{}{}1{}0101", "1".repeat(AT_THE_START), "01010", "1".repeat(15));
    assert_eq!(acknowledged(again, &[]), expected);
}

struct Receiving {
    receiver: Receiver,
}

impl Receiving {
    fn new() -> Receiving {
        let receiver = Receiver::new(None, &config(), packets(1), &App::sized(packets(100)));
        Receiving { receiver }
    }
    /// This packet arrives.
    fn take(&mut self, n: u64) -> Ack {
        let reply =
            self.receiver.on_data(at(0), n * MSS, packets(1), &Header::None, false, Stamp::NONE);
        assert_eq!(reply, Reply::Now);
        self.receiver.acknowledge(at(0))
    }
}

fn blocks(ack: &Ack) -> Vec<(u64, u64)> {
    ack.sack.iter(ack.cumulative).map(|(start, end)| (start / MSS, end / MSS)).collect()
}

#[test]
fn the_newest_three_ranges_newest_first() {
    let mut r = Receiving::new();
    assert_eq!(blocks(&r.take(0)), []);
    assert_eq!(blocks(&r.take(2)), [(2, 3)]);
    assert_eq!(blocks(&r.take(4)), [(4, 5), (2, 3)]);
    assert_eq!(blocks(&r.take(6)), [(6, 7), (4, 5), (2, 3)]);
    assert_eq!(blocks(&r.take(8)), [(8, 9), (6, 7), (4, 5)]);
    assert_eq!(blocks(&r.take(3)), [(2, 5), (8, 9), (6, 7)], "joins two");
    assert_eq!(blocks(&r.take(6)), [(6, 7), (2, 5), (8, 9)], "a duplicate is news");
    let ack = r.take(1);
    assert_eq!((ack.cumulative, blocks(&ack)), (5 * MSS, vec![(6, 7), (8, 9)]));
    let ack = r.take(5);
    assert_eq!((ack.cumulative, blocks(&ack)), (7 * MSS, vec![(8, 9)]));
    let ack = r.take(7);
    assert_eq!((ack.cumulative, blocks(&ack)), (9 * MSS, vec![]));
    assert_eq!(blocks(&r.take(3)), [], "a duplicate of what was delivered");
}

/// Ranges beyond a hole, the last to arrive first.
fn newest_ranges(arrived: &[u64], cumulative: u64) -> Vec<(u64, u64)> {
    let has = |n: &u64| *n >= cumulative && arrived.contains(n);
    let mut ranges = Vec::new();
    for n in arrived.iter().rev().filter(|n| has(n)) {
        let start = (0..=*n).rev().take_while(has).last();
        let end = (*n..).take_while(has).last();
        let range = (start.expect("it has arrived"), end.expect("it has arrived") + 1);
        if !ranges.contains(&range) {
            ranges.push(range);
        }
    }
    ranges.truncate(SackBlocks::MAX);
    ranges
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // With this many packets at most six ranges are beyond a hole, and the receiver remembers when
    // they grew. Of more it forgets those that grew first, and may report fewer once others join.
    #[test]
    fn the_newest_ranges_whatever_the_order_of_arrival(order in vec(0..13_u64, 1..60)) {
        let mut receiving = Receiving::new();
        let mut arrived = Vec::new();
        for n in order {
            let ack = receiving.take(n);
            arrived.push(n);
            let cumulative = (0..).take_while(|n| arrived.contains(n)).count() as u64;
            prop_assert_eq!(ack.cumulative, cumulative * MSS);
            prop_assert_eq!(blocks(&ack), newest_ranges(&arrived, cumulative));
        }
    }
}

#[test]
fn packets_that_overlap_are_delivered_once() {
    let mut r = Receiving::new();
    let mut take = |offset: u64, payload: u64| {
        r.receiver.on_data(at(0), offset, Bytes::new(payload), &Header::None, false, Stamp::NONE);
        let ack = r.receiver.acknowledge(at(0));
        (ack.cumulative, ack.sack.iter(ack.cumulative).collect::<Vec<_>>())
    };
    assert_eq!(take(100, 50), (0, vec![(100, 150)]));
    assert_eq!(take(140, 60), (0, vec![(100, 200)]));
    assert_eq!(take(0, 120), (200, vec![]));
    assert_eq!(take(150, 100), (250, vec![]));
    assert_eq!(take(250, 0), (250, vec![]));
}

#[test]
fn ranges_too_far_or_too_many_are_left_out() {
    let mut sack = SackBlocks::default();
    sack.push(10, 5, 20);
    sack.push(0, 1 << 32, (1 << 32) + 1);
    assert!(sack.is_empty());
    for n in 1..6 {
        sack.push(0, 2 * n, 2 * n + 1);
    }
    assert_eq!(sack.iter(0).collect::<Vec<_>>(), [(2, 3), (4, 5), (6, 7)]);
    assert_eq!(sack.iter(u64::MAX).next(), Some((u64::MAX, u64::MAX)));
}

#[test]
fn a_timer_called_too_early_does_nothing() {
    let mut receiver = Receiver::new(None, &delayed(), packets(1), &App::unlimited());
    assert!(!receiver.on_timer(at(0)));
    assert_eq!(receiver.deadline(), Time::NEVER);
    assert_eq!(
        receiver.on_data(at(5), 0, packets(1), &Header::None, false, Stamp::NONE),
        Reply::Later
    );
    assert_eq!((receiver.deadline(), receiver.on_timer(at(44))), (at(45), false));
    assert!(receiver.on_timer(at(45)));
    receiver.acknowledge(at(45));
    assert!(!receiver.on_timer(at(45)));
}
