//! Transfers over a path without loss, with or without reordering.

use ratewire_units::{Bytes, Duration, Time};

use crate::testing::{DELAY, Fate, MSS, Pipe, RTT, at, config, fixed, ms, newreno, packets};
use crate::{Ack, App};

#[test]
fn a_window_a_round_trip() {
    let mut pipe = Pipe::sized(&fixed(10), 35);
    pipe.run();
    // 10 packets each at 0, 1 and 2 RTTs, 5 at 3 RTTs.
    assert_eq!(pipe.last_arrival(), Time::ZERO + RTT * 3 + DELAY);
    assert_eq!(pipe.now, Time::ZERO + RTT * 4);
    assert_eq!(pipe.sent().count(), 35);
    assert_eq!((pipe.sender.rtt().srtt(), pipe.sender.stats().rtt_samples), (RTT, 35));
}

#[test]
fn slow_start_doubles() {
    let mut pipe = Pipe::sized(&newreno(), 10 + 20 + 40 + 1);
    pipe.run();
    assert_eq!(pipe.now, Time::ZERO + RTT * 4);
    assert_eq!(pipe.sender.stats().timeouts, 0);
}

#[test]
fn nothing_to_send_is_done_at_once() {
    let mut pipe = Pipe::sized(&fixed(10), 0);
    pipe.run();
    assert!(pipe.log.is_empty());
    assert_eq!(pipe.sender.deadline(), Time::NEVER);
}

#[test]
fn one_byte_arrives() {
    let mut pipe = Pipe::new(&newreno(), &config(), &App::sized(Bytes::new(1)));
    pipe.run();
    assert_eq!((pipe.sent().count(), pipe.now), (1, at(100)));
}

#[test]
fn the_last_packet_holds_what_is_left() {
    let mut pipe = Pipe::new(&fixed(10), &config(), &App::sized(Bytes::new(2 * MSS + 7)));
    pipe.run();
    let payloads: Vec<u64> = pipe.sent().map(|(_, s, _)| s.payload.get()).collect();
    assert_eq!(payloads, [MSS, MSS, 7]);
}

#[test]
fn duplicates_are_answered_and_change_nothing() {
    let mut pipe = Pipe::sized(&newreno(), 40);
    pipe.data = (0..40).map(|n| (n, Fate::Twice(ms(3)))).collect();
    pipe.acks = (0..40).map(|n| (n, Fate::Twice(ms(1)))).collect();
    pipe.run();
    assert_eq!((pipe.sent().count(), pipe.answers().count()), (40, 80));
    assert_eq!(pipe.sender.rtt().srtt(), RTT);
}

#[test]
fn a_little_reordering_is_no_loss() {
    let mut pipe = Pipe::sized(&newreno(), 60);
    // Two packets of the first round pass it, and one of the second.
    pipe.data = [(7, Fate::Late(ms(20))), (28, Fate::Late(ms(20)))].into();
    pipe.run();
    assert_eq!(pipe.resent(), []);
}

#[test]
fn much_reordering_costs_packets_and_no_more() {
    let mut pipe = Pipe::sized(&newreno(), 200);
    pipe.data = (0..200).map(|n| (n, Fate::Late(ms(n as u64 * 37 % 90)))).collect();
    pipe.run();
    assert!(!pipe.resent().is_empty());
    assert_eq!(pipe.sender.stats().timeouts, 0);
}

#[test]
fn one_acknowledgement_covers_for_those_lost() {
    let mut pipe = Pipe::sized(&fixed(10), 100);
    pipe.acks = (0..100).filter(|n| n % 10 != 9).map(|n| (n, Fate::Lost)).collect();
    pipe.run();
    assert_eq!((pipe.resent(), pipe.now), (vec![], Time::ZERO + RTT * 10));
}

#[test]
fn calling_too_often_is_harmless() {
    let mut calm = Pipe::sized(&newreno(), 100).losing([5, 30, 99]);
    calm.run();
    let mut nervous = Pipe::sized(&newreno(), 100).losing([5, 30, 99]);
    nervous.pump();
    while !nervous.sender.is_done() {
        let end = nervous.now + Duration::from_micros(731);
        nervous.run_to(end);
        if nervous.sender.deadline() > end {
            assert_eq!(nervous.sender.on_timer(end), None);
        }
        if nervous.receiver.deadline() > end {
            assert!(!nervous.receiver.on_timer(end));
        }
        assert_eq!(nervous.sender.poll_transmit(end), None);
    }
    assert_eq!(calm.log, nervous.log);
}

#[test]
fn acknowledgements_of_what_was_never_sent_are_ignored() {
    let mut pipe = Pipe::sized(&fixed(4), 8);
    pipe.pump();
    let mut ack = Ack { header: ratewire_laws::Header::None, ..Ack::plain(5 * MSS, packets(100)) };
    pipe.sender.on_ack(at(1), &ack);
    assert_eq!(pipe.sender.in_flight(), packets(4));
    ack.cumulative = 0;
    ack.sack.push(0, 3 * MSS, 5 * MSS);
    ack.sack.push(0, 2 * MSS, MSS);
    ack.sack.push(MSS, 0, 4 * MSS);
    pipe.sender.on_ack(at(2), &ack);
    assert_eq!(pipe.sender.in_flight(), packets(4));
    pipe.run();
}
