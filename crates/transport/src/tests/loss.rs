//! Losses that are repaired without a timeout.

use ratewire_units::Time;

use crate::testing::{Fate, Pipe, RTT, at, config, fixed, ms, newreno, packets};
use crate::{App, TransportConfig};

#[test]
fn one_loss_is_one_retransmission_at_once() {
    let mut pipe = Pipe::sized(&newreno(), 60).losing([4]);
    pipe.run();
    // The acknowledgements of packets 5, 6 and 7 come back after one RTT.
    assert_eq!(pipe.resent(), [(at(100), 4)]);
    assert_eq!(pipe.sender.stats().timeouts, 0);
    assert_eq!(pipe.sender.stats().retransmitted, packets(1));
}

#[test]
fn the_window_is_halved_once_whatever_the_number_lost() {
    // 20 of the 40 packets of the third round, lost in a row.
    let mut pipe = Pipe::sized(&newreno(), 400).losing(35..55);
    pipe.run_while(|pipe| pipe.sender.stats().retransmitted < packets(1));
    assert!(pipe.window() >= 20.0, "{}: half of what was outstanding", pipe.window());
    assert!(pipe.window() <= 27.5, "{}", pipe.window());
    let halved = pipe.window();
    pipe.run_while(|pipe| pipe.sender.stats().retransmitted < packets(20));
    assert_eq!(pipe.window(), halved);
    pipe.run();
    let mut again: Vec<u64> = pipe.resent().iter().map(|sent| sent.1).collect();
    again.sort_unstable();
    assert_eq!(again, (35..55).collect::<Vec<_>>());
    assert_eq!(pipe.sender.stats().timeouts, 0);
}

#[test]
fn a_retransmission_lost_again_is_found_without_a_timeout() {
    let mut pipe = Pipe::sized(&fixed(10), 100).losing([4]);
    pipe.run();
    let again = pipe.numbers_resent();
    let mut pipe = Pipe::sized(&fixed(10), 100).losing([4]).losing(again);
    pipe.run();
    // Packets sent at 200 ms are a quarter of an RTT later, and are known to have arrived at 300
    // ms.
    assert_eq!(pipe.resent(), [(at(100), 4), (at(300), 4)]);
    assert_eq!(pipe.sender.stats().timeouts, 0);
}

#[test]
fn all_retransmissions_lost_again_are_found_together() {
    let mut pipe = Pipe::sized(&fixed(40), 200).losing(4..24);
    pipe.run();
    let again = pipe.numbers_resent();
    assert_eq!(again.len(), 20);
    let mut pipe = Pipe::sized(&fixed(40), 200).losing(4..24).losing(again);
    pipe.run();
    assert_eq!((pipe.resent().len(), pipe.sender.stats().timeouts), (40, 0));
    assert_eq!((pipe.resent()[20].0, pipe.resent()[39].0), (at(300), at(300)));
}

#[test]
fn losses_of_what_recovery_sends_begin_another() {
    let mut pipe = Pipe::sized(&newreno(), 600).losing([100]);
    pipe.run_while(|pipe| pipe.resent().is_empty());
    let (halved, next) = (pipe.window(), pipe.sent().count());
    // The retransmission and the packet after it are lost. Both losses are found while the first is
    // under repair, and the second belongs to the data sent after the window was halved.
    let mut pipe = Pipe::sized(&newreno(), 600).losing([100, next - 1, next]);
    pipe.run_while(|pipe| pipe.resent().len() < 3);
    assert_eq!(pipe.window(), halved, "still repairing");
    let repaired = pipe.now + RTT;
    pipe.run_to(repaired);
    assert!(pipe.window() < halved, "{} after {halved}", pipe.window());
    pipe.run();
    assert_eq!((pipe.resent().len(), pipe.sender.stats().timeouts), (3, 0));
}

#[test]
fn the_last_packet_lost_is_found_by_a_probe() {
    let mut pipe = Pipe::sized(&newreno(), 40).losing([39]);
    pipe.run();
    // Packet 39 is sent at 200 ms. It is sent again two RTTs and a bit after the last
    // acknowledgement, or at the timeout if that is sooner.
    assert_eq!((pipe.resent(), pipe.sender.stats().timeouts), (vec![(at(500), 39)], 0));
}

#[test]
fn a_probe_that_hides_a_loss_is_told() {
    let mut pipe = Pipe::new(&newreno(), &config(), &on_off()).losing([19]);
    pipe.run_to(at(990));
    let before = pipe.window();
    assert_eq!((pipe.resent().len(), pipe.receiver.delivered()), (1, packets(20)));
    pipe.run_to(at(1120));
    assert!(pipe.window() < before, "{} then {}", before, pipe.window());

    let mut late = Pipe::new(&newreno(), &config(), &on_off());
    late.data.insert(19, Fate::Late(ms(250)));
    late.run_to(at(990));
    let before = late.window();
    assert_eq!(late.resent().len(), 1);
    late.run_to(at(1120));
    assert!(late.window() >= before, "both copies have arrived: nothing was lost");
}

/// 20 packets at 0 s and at 1 s.
fn on_off() -> App {
    let (burst, pause) = (packets(20), ms(1000));
    let pause_after = crate::PauseAfter::Written;
    let writer = crate::Writer::OnOff {
        burst: burst.into(),
        pause: pause.into(),
        pause_after,
        count: Some(2),
    };
    App { writer, ..App::unlimited() }
}

#[test]
fn the_last_packets_lost_are_found_by_a_probe() {
    for lost in [28..30, 27..30, 22..30] {
        let mut pipe = Pipe::sized(&fixed(10), 30).losing(lost.clone());
        pipe.run();
        assert_eq!(pipe.sender.stats().timeouts, 0, "{lost:?}");
        assert_eq!(pipe.resent().len(), lost.len(), "{lost:?}");
        let probe = pipe.resent()[0];
        assert_eq!(probe.1, 29, "the last packet");
        assert!(pipe.resent()[1..].iter().all(|sent| sent.0 == probe.0 + RTT), "{lost:?}");
    }
}

#[test]
fn too_few_packets_after_a_hole_have_a_quarter_of_an_rtt() {
    for lost in [1, 2, 3] {
        let mut pipe = Pipe::sized(&fixed(10), 14).losing([9 + lost]);
        pipe.run();
        assert_eq!(pipe.sender.stats().timeouts, 0);
        assert_eq!(pipe.resent().len(), 1);
        let resent = pipe.resent()[0].0;
        // The burst of 100 ms is answered at 200 ms.
        let expected = if lost == 1 { at(200) } else { at(225) };
        assert_eq!((lost, resent), (lost, expected));
    }
}

#[test]
fn without_probes_the_last_packet_waits_for_the_timer() {
    let config = TransportConfig { tail_loss_probe: false, ..config() };
    let mut pipe = Pipe::new(&fixed(10), &config, &App::sized(packets(20))).losing([19]);
    pipe.run();
    assert_eq!((pipe.sender.stats().timeouts, pipe.resent().len()), (1, 1));
}

#[test]
fn a_probe_sends_new_data_where_there_is_some() {
    // The whole window is lost, and more data waits.
    let mut pipe = Pipe::sized(&fixed(10), 40).losing(20..30);
    pipe.run();
    assert_eq!(pipe.sender.stats().timeouts, 0);
    let mut again: Vec<u64> = pipe.resent().iter().map(|sent| sent.1).collect();
    again.sort_unstable();
    assert_eq!(again, (20..30).collect::<Vec<_>>());
}

#[test]
fn a_probe_waits_for_delayed_acknowledgements() {
    let config = TransportConfig { delayed_ack: Some(ms(40)), ..config() };
    let mut pipe = Pipe::new(&fixed(10), &config, &App::sized(packets(21)));
    pipe.delay = ms(1);
    pipe.run();
    assert_eq!((pipe.resent(), pipe.sender.stats().timeouts), (vec![], 0));
}

#[test]
fn losing_every_acknowledgement_of_a_round_costs_a_probe() {
    let mut pipe = Pipe::sized(&fixed(10), 30);
    pipe.acks = (10..20).map(|n| (n, Fate::Lost)).collect();
    pipe.run();
    assert_eq!(pipe.sender.stats().timeouts, 0);
    assert!(pipe.now < Time::ZERO + RTT * 6, "{}", pipe.now);
}

#[test]
fn an_original_that_comes_after_its_probe_says_nothing_of_others() {
    let mut pipe = Pipe::sized(&fixed(10), 20);
    pipe.data = [(18, Fate::Late(ms(220))), (19, Fate::Late(ms(210)))].into();
    pipe.run();
    // Packet 19 is sent again at 400 ms. At 410 ms it is the first copy that is acknowledged:
    // packet 18, sent with it, is not late by that.
    assert_eq!(pipe.resent(), [(at(400), 19)]);
}

#[test]
fn one_probe_at_a_time() {
    let mut pipe = Pipe::sized(&fixed(10), 20).losing([19, 20]);
    pipe.data.insert(18, Fate::Late(ms(220)));
    pipe.run();
    // The probe is lost as well, and the timer starts anew when packet 18 is acknowledged.
    assert_eq!(pipe.resent()[0], (at(400), 19));
    assert_eq!((pipe.resent().len(), pipe.sender.stats().timeouts), (2, 1));
}
