//! TCP Small Queues: senders that wait for their own host.

use ratewire_laws::AnyLaw;
use ratewire_units::Time;

use crate::testing::{Pipe, at, config, newreno, paced};
use crate::{App, KeptBy};

fn pipe(law: &AnyLaw) -> Pipe {
    let mut pipe = Pipe::new(law, &config(), &App::unlimited());
    pipe.sender.keep_queue_small();
    pipe
}

#[test]
fn a_sender_waits_for_its_host_and_wants_to_be_called_then() {
    let Pipe { mut sender, .. } = pipe(&newreno());
    for leaves in [4, 5] {
        assert!(sender.poll_transmit(Time::ZERO).is_some());
        sender.on_queued(at(leaves));
    }
    assert!(sender.poll_transmit(Time::ZERO).is_none());
    assert_eq!((sender.deadline(), sender.kept_by()), (at(5), KeptBy::Host));
    assert!(sender.poll_transmit(at(4)).is_some(), "one has left");
    while sender.poll_transmit(at(5)).is_some() {}
    assert_eq!(sender.kept_by(), KeptBy::Law, "the window is full");
    assert!(sender.deadline() > at(6), "nothing is awaited but acknowledgements");
}

#[test]
fn a_sender_waits_by_what_its_host_sees_in_the_queue() {
    let Pipe { mut sender, .. } = pipe(&newreno());
    sender.on_queue_seen(Time::ZERO, 2, at(3));
    assert!(sender.poll_transmit(Time::ZERO).is_none());
    assert_eq!((sender.deadline(), sender.kept_by()), (at(3), KeptBy::Host));
    sender.on_queue_seen(at(1), 1, at(3));
    assert!(sender.poll_transmit(at(1)).is_some());
}

/// The link of its host has changed.
#[test]
fn what_a_host_sees_in_the_queue_counts_and_not_what_it_foretold() {
    let foretold = || {
        let Pipe { mut sender, .. } = pipe(&newreno());
        for leaves in [4, 9] {
            assert!(sender.poll_transmit(Time::ZERO).is_some());
            sender.on_queued(at(leaves));
        }
        sender
    };
    let mut sender = foretold();
    sender.on_queue_seen(at(1), 0, at(1));
    assert!(sender.poll_transmit(at(1)).is_some(), "the link has become faster");
    let mut sender = foretold();
    sender.on_queue_seen(at(5), 2, at(8));
    assert!(sender.poll_transmit(at(5)).is_none(), "it has become slower");
}

/// By `tcp_small_queue_check` and `tcp_update_pacing_rate` of Linux 6.12: twice the window a round
/// trip in slow start, for 1/1024 s.
#[test]
fn a_small_queue_is_a_millisecond_of_the_pace_and_two_packets_at_least() {
    let mut pipe = pipe(&newreno());
    assert_eq!(pipe.sender.most_queued(), 2);
    pipe.run_to(at(950));
    // 10 packets double nine times in as many round trips of 100 ms: 2 x 5,120 / 0.1 s / 1,024.
    assert_eq!((pipe.window(), pipe.sender.most_queued()), (5120.0, 100));
}

#[test]
fn a_paced_senders_small_queue_is_of_its_pace() {
    // 1.2 Gbit/s are 97.6 packets of 1,500 bytes in 1/1024 s; 4 MiB are 2,796.
    for (rate, packets) in [("1 Mbit/s", 2), ("1200 Mbit/s", 97), ("1000 Gbit/s", 2796)] {
        assert_eq!(pipe(&paced(rate)).sender.most_queued(), packets, "{rate}");
    }
}

/// A host that takes a packet every 50 ms, half a round trip.
fn held_back(law: &AnyLaw) -> Pipe {
    let mut pipe = pipe(law);
    for half in 0..60 {
        pipe.sender.on_queue_seen(pipe.now, 0, pipe.now);
        if let Some(segment) = pipe.sender.poll_transmit(pipe.now) {
            pipe.send(segment);
        }
        pipe.sender.on_queue_seen(pipe.now, usize::MAX, at(half * 50 + 51));
        pipe.run_to(at(half * 50 + 50));
    }
    pipe
}

#[test]
fn a_window_that_the_host_leaves_unused_does_not_grow() {
    let pipe = held_back(&newreno());
    assert_eq!(pipe.sender.kept_by(), KeptBy::Host);
    assert_eq!(pipe.window(), 10.0);
}

/// As `tcp_is_cwnd_limited`: in slow start the window may reach twice what is in flight.
#[test]
fn slow_start_goes_on_until_the_window_is_twice_what_is_in_flight() {
    let law = AnyLaw::new("newreno", &[("initial_window", "2 packets")]).unwrap();
    let pipe = held_back(&law);
    assert!((4.0..=6.0).contains(&pipe.window()), "{}", pipe.window());
}
