//! Losses that only the retransmission timer finds.

use ratewire_units::{Bytes, Duration, Time};

use crate::testing::{Fate, Pipe, RTT, at, config, fixed, ms, newreno, packets};
use crate::{App, TransportConfig};

#[test]
fn losing_all_before_any_sample_waits_a_second() {
    let mut pipe = Pipe::sized(&newreno(), 10).losing(0..10);
    pipe.run();
    assert_eq!(pipe.resent()[0], (at(1000), 0));
    assert_eq!(pipe.sender.stats().timeouts, 1);
    // One packet, then two, four, eight: slow start.
    assert_eq!(pipe.now, at(1000) + RTT * 4);
}

#[test]
fn each_timeout_waits_twice_as_long() {
    let mut pipe = Pipe::sized(&newreno(), 10).losing(0..14);
    pipe.run();
    let when: Vec<Time> = pipe.resent().iter().take(5).map(|sent| sent.0).collect();
    assert_eq!(when, [1000, 3000, 7000, 15_000, 31_000].map(at));
    // Karn: everything was sent twice, so there is no sample, and the timeout stays long.
    assert_eq!((pipe.sender.stats().timeouts, pipe.sender.stats().rtt_samples), (5, 0));
    assert_eq!(pipe.sender.rtt().rto(), Duration::from_secs(32));
}

#[test]
fn a_timeout_waits_no_longer_than_is_set() {
    let config = TransportConfig { max_rto: ms(2500), ..config() };
    let mut pipe = Pipe::new(&newreno(), &config, &App::sized(packets(10))).losing(0..14);
    pipe.run();
    let when: Vec<Time> = pipe.resent().iter().take(5).map(|sent| sent.0).collect();
    assert_eq!(when, [1000, 3000, 5500, 8000, 10_500].map(at));
}

#[test]
fn a_sample_ends_the_backing_off() {
    let mut pipe = Pipe::sized(&newreno(), 12).losing(0..12);
    pipe.run();
    assert_eq!(pipe.sender.stats().timeouts, 3);
    assert_eq!(pipe.sender.stats().rtt_samples, 2, "packets 10 and 11, sent once");
    assert_eq!(pipe.sender.rtt().rto(), ms(250));
}

#[test]
fn a_copy_that_is_answered_ends_the_backing_off() {
    let config = TransportConfig { tail_loss_probe: false, ..config() };
    // The last round is lost, its first packet four times more, and a copy after that.
    let lost = (20..30).chain(30..34).chain([36]);
    let mut pipe = Pipe::new(&newreno(), &config, &App::sized(packets(30))).losing(lost);
    pipe.run_while(|pipe| pipe.sender.stats().timeouts < 5);
    let base = pipe.sender.rtt().rto() / 32;
    pipe.run_while(|pipe| pipe.receiver.delivered() < packets(22));
    assert_eq!(pipe.sender.rtt().rto(), base * 32, "the first answer may be to the first copy");
    let samples = pipe.sender.stats().rtt_samples;
    pipe.run();
    assert_eq!(pipe.sender.stats().rtt_samples, samples);
    assert_eq!(pipe.sender.rtt().rto(), base);
}

#[test]
fn the_timer_starts_anew_with_what_arrives() {
    let config = TransportConfig { tail_loss_probe: false, ..config() };
    let mut pipe = Pipe::new(&fixed(4), &config, &App::sized(packets(40))).losing([36, 37, 38, 39]);
    pipe.run();
    // Nine samples of 100 ms: the variation is 50 ms * 0.75^8... per packet; the floor is 200 ms.
    assert_eq!(pipe.resent()[0].0, at(900) + ms(200));
}

#[test]
fn half_of_what_was_outstanding_is_the_threshold() {
    let config = TransportConfig { tail_loss_probe: false, ..config() };
    // 40 packets of the third round, all lost.
    let app = App::sized(packets(300));
    let mut pipe = Pipe::new(&newreno(), &config, &app).losing(30..70);
    pipe.run_while(|pipe| pipe.sender.stats().timeouts == 0);
    let start = pipe.now;
    pipe.run_while(|pipe| pipe.receiver.delivered() < packets(70));
    // 1, 2, 4, 8, 16 and then no more than 20 and one more each RTT.
    pipe.run_to(start + RTT * 6);
    assert!((18.0..=22.5).contains(&pipe.window()), "{}", pipe.window());
    pipe.run();
    assert_eq!(pipe.sender.stats().timeouts, 1);
}

#[test]
fn each_timeout_brings_the_window_down() {
    let config = TransportConfig { tail_loss_probe: false, ..config() };
    let app = App::sized(packets(300));
    // The first window, the first retransmission, and packets sent two rounds later.
    let mut pipe = Pipe::new(&newreno(), &config, &app).losing((0..10).chain(13..40));
    pipe.run_while(|pipe| pipe.sender.stats().timeouts < 2);
    assert_eq!(pipe.window(), 1.0);
    pipe.run();
}

#[test]
fn a_path_longer_than_the_first_timeout_does_not_collapse() {
    for law in [newreno(), fixed(10)] {
        let mut pipe = Pipe::sized(&law, 100);
        pipe.delay = Duration::from_secs(5);
        pipe.run();
        assert!(pipe.sender.rtt().srtt() >= Duration::from_secs(10));
        let resent = pipe.sender.stats().retransmitted;
        assert!(resent <= packets(40), "{resent}");
        assert!(pipe.now <= Time::ZERO + Duration::from_secs(250), "{}", pipe.now);
    }
}

#[test]
fn a_timeout_too_early_repeats_little() {
    let config = TransportConfig { tail_loss_probe: false, ..config() };
    let mut pipe = Pipe::new(&fixed(10), &config, &App::sized(packets(60)));
    // A round that takes a second longer.
    pipe.data = (20..30).map(|n| (n, Fate::Late(ms(1000)))).collect();
    pipe.run();
    assert!(pipe.sender.stats().timeouts >= 1);
    assert!(pipe.sender.stats().retransmitted <= packets(30));
}

#[test]
fn data_that_the_receiver_threw_away_is_sent_again() {
    let mut pipe = Pipe::sized(&fixed(4), 4);
    pipe.pump();
    let mut ack = pipe.receiver.acknowledge(at(0));
    ack.sack.push(0, 0, packets(3).get());
    pipe.sender.on_ack(at(1), &ack);
    assert_eq!(pipe.sender.in_flight(), packets(1));
    // The path stays silent until the timer fires.
    let mut silent = pipe;
    silent.lose_all();
    silent.run();
    assert_eq!(silent.sender.in_flight(), Bytes::ZERO);
}
