//! The receiver's window.

use ratewire_units::{Bytes, Duration, Time};

use crate::testing::{DELAY, Fate, MSS, Pipe, RTT, at, config, fixed, ms, newreno, packets};
use crate::{App, Reader, ReceiveWindow, Stamp, TransportConfig};

fn window(receive_window: ReceiveWindow) -> TransportConfig {
    TransportConfig { receive_window, ..config() }
}

fn fixed_window(size: Bytes) -> TransportConfig {
    window(ReceiveWindow::Fixed(size))
}

/// Reads a packet every 20 ms.
fn slow(n: u64) -> App {
    App { reader: Reader::Slow(ms(20)), ..App::sized(packets(n)) }
}

#[test]
fn a_fixed_window_limits_what_is_outstanding() {
    let config = fixed_window(packets(5) + Bytes::new(700));
    let mut pipe = Pipe::new(&fixed(50), &config, &App::sized(packets(50)));
    pipe.run();
    // Five packets a round trip: a part of a packet is not sent.
    assert_eq!(pipe.now, Time::ZERO + RTT * 10);
    assert!(pipe.sent().all(|(_, s, _)| s.payload == packets(1)));
}

/// The receiver tells of room for packets of the first size. A sender of larger ones must use it.
#[test]
fn packets_that_have_grown_are_cut_at_the_window() {
    let config = fixed_window(packets(5));
    let app = App { frame: Some(packets(20)), ..App::sized(packets(20)) };
    let mut pipe = Pipe::new(&fixed(50), &config, &app);
    pipe.sender.set_payload(packets(4));
    pipe.run();
    assert_eq!(pipe.now, Time::ZERO + RTT * 4);
    let payloads: Vec<u64> = pipe.sent().map(|(_, s, _)| s.payload.get() / MSS).collect();
    assert_eq!(payloads, [4, 1, 4, 1, 4, 1, 4, 1]);
}

/// A packet of the whole window would have to be acknowledged before the next one leaves.
#[test]
fn packets_that_have_grown_take_half_of_the_laws_window() {
    for (window, payload) in [(1, 1), (2, 1), (4, 2), (8, 4), (40, 4)] {
        let app = App { frame: Some(packets(40)), ..App::sized(packets(40)) };
        let mut pipe = Pipe::new(&fixed(window), &config(), &app);
        pipe.sender.set_payload(packets(4));
        pipe.run();
        assert!(pipe.sent().all(|(_, s, _)| s.payload == packets(payload)), "{window}");
        assert_eq!(pipe.now, Time::ZERO + RTT * (40 / window), "{window}");
    }
}

#[test]
fn a_window_smaller_than_a_packet_lets_one_pass() {
    for size in [0, 1, 700, MSS] {
        let mut pipe =
            Pipe::new(&fixed(50), &fixed_window(Bytes::new(size)), &App::sized(packets(5)));
        pipe.run();
        assert_eq!(pipe.now, Time::ZERO + RTT * 5);
    }
}

#[test]
fn a_window_that_opens_by_itself() {
    let (initial, max) = (packets(2), packets(20));
    let config = window(ReceiveWindow::Auto { initial, max, packets_per_ack: 2 });
    let mut pipe = Pipe::new(&fixed(100), &config, &App::sized(packets(200)));
    pipe.run();
    let windows: Vec<u64> = pipe.answers().map(|(_, ack)| ack.window.get() / MSS).collect();
    assert_eq!(windows[..9], [4, 6, 8, 10, 12, 14, 16, 18, 20]);
    assert!(windows[9..].iter().all(|window| *window == 20));
    // 2, then with each packet two more: 2 + 2 * 2 = 6, 6 + 2 * 6 = 18, 20.
    let at_round = |n: u64| pipe.sent().filter(|sent| sent.0 == at(100 * n)).count();
    assert_eq!([0, 1, 2, 3].map(at_round), [2, 6, 18, 20]);
}

#[test]
fn duplicates_do_not_open_it() {
    let (initial, max) = (packets(2), packets(20));
    let config = window(ReceiveWindow::Auto { initial, max, packets_per_ack: 1 });
    let mut pipe = Pipe::new(&fixed(100), &config, &App::sized(packets(2)));
    pipe.data.insert(0, Fate::Twice(ms(5)));
    pipe.run();
    assert_eq!(pipe.answers().last().unwrap().1.window, packets(4));
}

#[test]
fn a_slow_reader_sets_the_speed() {
    let mut pipe = Pipe::new(&newreno(), &fixed_window(packets(10)), &slow(50));
    pipe.run();
    // The first packet arrives after 50 ms. The reader is always busy from then on, and at most a
    // window is unread when the last packet arrives.
    let last = Time::ZERO + DELAY + ms(20) * 50;
    assert!(pipe.last_arrival() <= last && pipe.last_arrival() >= last - ms(20) * 11);
    assert_eq!((pipe.resent(), pipe.sender.stats().timeouts), (vec![], 0));
    assert!(pipe.answers().any(|(_, ack)| ack.window == Bytes::ZERO), "the window closes");
}

#[test]
fn an_update_opens_a_closed_window() {
    let mut pipe = Pipe::new(&fixed(10), &fixed_window(packets(1)), &slow(3));
    pipe.run();
    // Arrival and window 0 at 50 ms, window 1 at 70 ms, which arrives at 120 ms.
    let sent: Vec<Time> = pipe.sent().map(|sent| sent.0).collect();
    assert_eq!(sent, [0, 120, 240].map(at));
}

#[test]
fn a_lost_update_is_asked_for() {
    let mut pipe = Pipe::new(&fixed(10), &fixed_window(packets(1)), &slow(3));
    pipe.acks.insert(1, Fate::Lost);
    pipe.run();
    let sent: Vec<(Time, u64)> = pipe.sent().map(|(at, s, _)| (at, s.payload.get())).collect();
    // One sample of 100 ms: the timeout is 300 ms after the acknowledgement at 100 ms.
    assert_eq!(sent[..3], [(at(0), MSS), (at(400), 0), (at(500), MSS)]);
    assert_eq!((pipe.resent(), pipe.sender.stats().timeouts), (vec![], 0));
}

#[test]
fn a_window_closed_for_long_is_probed_less_and_less_and_is_no_congestion() {
    let app = App { reader: Reader::Slow(Duration::from_secs(10)), ..App::sized(packets(12)) };
    let mut pipe = Pipe::new(&newreno(), &fixed_window(packets(4)), &app);
    let before = pipe.window();
    pipe.run();
    let probes: Vec<Time> =
        pipe.sent().filter(|(_, s, _)| s.payload == Bytes::ZERO).map(|sent| sent.0).collect();
    let gaps: Vec<Duration> = probes.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert_eq!(gaps[1], gaps[0] * 2);
    assert_eq!(gaps[2], gaps[0] * 4);
    assert_eq!((pipe.resent(), pipe.sender.stats().timeouts), (vec![], 0));
    assert!(pipe.window() >= before);
    assert!(pipe.now < at(83_000), "{}", pipe.now);
}

#[test]
fn a_window_that_closes_again_is_probed_as_soon() {
    let app = App { reader: Reader::Slow(ms(2000)), ..App::sized(packets(3)) };
    let mut pipe = Pipe::new(&fixed(10), &fixed_window(packets(1)), &app);
    pipe.run();
    let sent: Vec<(Time, Bytes)> = pipe.sent().map(|(at, s, _)| (at, s.payload)).collect();
    let first_probes: Vec<Duration> = sent
        .windows(2)
        .filter(|pair| pair[0].1 > Bytes::ZERO)
        .map(|pair| pair[1].0.since(pair[0].0 + RTT))
        .collect();
    // The timeout, after one sample and after two.
    assert_eq!(first_probes, [ms(300), ms(250)]);
}

#[test]
fn data_after_a_probe_has_its_own_timer() {
    // The update comes just before the timer that would have sent a second probe.
    let app = App { reader: Reader::Slow(ms(950)), ..App::sized(packets(3)) };
    let mut pipe = Pipe::new(&fixed(10), &fixed_window(packets(1)), &app);
    pipe.run();
    assert_eq!((pipe.resent(), pipe.sender.stats().timeouts), (vec![], 0));
}

#[test]
fn a_packet_without_room_is_answered_and_not_taken() {
    let mut pipe = Pipe::new(&fixed(10), &fixed_window(packets(1)), &slow(1));
    let header = ratewire_laws::Header::None;
    let reply = pipe.receiver.on_data(at(0), MSS, packets(1), &header, false, Stamp::NONE);
    assert_eq!(reply, crate::Reply::Now);
    assert!(pipe.receiver.acknowledge(at(0)).sack.is_empty());
    let reply = pipe.receiver.on_data(at(0), u64::MAX, packets(1), &header, false, Stamp::NONE);
    assert_eq!((reply, pipe.receiver.delivered()), (crate::Reply::Now, Bytes::ZERO));
}

#[test]
fn frames_larger_than_the_buffer_are_read_in_pieces() {
    for buffer in [1, 2, 3] {
        let frame = Some(packets(10) + Bytes::new(100));
        let app = App { frame, ..slow(40) };
        let mut pipe = Pipe::new(&fixed(10), &fixed_window(packets(buffer)), &app);
        pipe.run();
        assert_eq!(pipe.sender.stats().timeouts, 0);
    }
}

#[test]
fn readers_as_fast_and_as_slow_as_can_be() {
    for (pause, all) in [(Duration::ZERO, true), (Duration::MAX, false)] {
        let app = App { reader: Reader::Slow(pause), ..App::sized(packets(9)) };
        let mut pipe = Pipe::new(&fixed(10), &fixed_window(packets(4)), &app);
        pipe.run_to(at(100_000));
        assert_eq!(pipe.sender.is_done(), all);
        assert!(pipe.receiver.delivered() >= packets(4));
    }
}

#[test]
fn a_window_that_moves_with_losses_never_shrinks() {
    let mut pipe = Pipe::new(&fixed(20), &fixed_window(packets(8)), &slow(60)).losing([3, 9, 17]);
    pipe.run();
    let edges: Vec<u64> =
        pipe.answers().map(|(_, ack)| ack.cumulative + ack.window.get()).collect();
    assert!(edges.is_sorted());
    // Packet 17 is a retransmission, and there is no room for anything later that could show it.
    assert_eq!(pipe.sender.stats().timeouts, 1);
}
