//! Pacing.

use ratewire_laws::AnyLaw;
use ratewire_units::{Duration, Time};

use crate::testing::{Pipe, at, config, fixed, ms, newreno, paced, packets};
use crate::{App, PauseAfter, Reader, ReceiveWindow, TransportConfig, Writer};

fn times(pipe: &Pipe) -> Vec<Time> {
    pipe.sent().map(|sent| sent.0).collect()
}

#[test]
fn packets_are_spaced_exactly() {
    // 1500 bytes at 12 Mbit/s: 1 ms.
    let mut pipe = Pipe::sized(&paced("12 Mbit/s"), 300);
    pipe.run();
    assert_eq!(times(&pipe), (0..300).map(at).collect::<Vec<_>>());
}

/// As Linux: `tcp_update_skb_after_send`.
#[test]
fn a_host_with_small_queues_does_not_pace_a_flows_first_ten_packets() {
    let mut pipe = Pipe::sized(&paced("12 Mbit/s"), 30);
    pipe.sender.keep_queue_small();
    pipe.run();
    let expected = [at(0); 9].into_iter().chain((0..21).map(at));
    assert_eq!(times(&pipe), expected.collect::<Vec<_>>());
}

/// The last of a bundle says so to receivers that heed it, and so does the last of the stream.
#[test]
fn what_leaves_at_once_ends_with_a_push() {
    let linux = TransportConfig {
        delayed_ack: Some(ms(40)),
        handshake: false,
        ..TransportConfig::default()
    };
    let pushed = |law: &AnyLaw, config: &TransportConfig| {
        let mut pipe = Pipe::new(law, config, &App::sized(packets(8)));
        pipe.run();
        let one = |pushed: bool| if pushed { 'p' } else { '.' };
        pipe.sent().map(|(_, segment, _)| one(segment.stamp.pushed)).collect::<String>()
    };
    // Without a round trip known, bundles are of two packets.
    assert_eq!(pushed(&fixed(5), &linux), ".p.p..pp");
    assert_eq!(pushed(&fixed(1), &linux), ".......p", "single packets are no bundles");
    assert_eq!(pushed(&paced("12 Mbit/s"), &linux), ".......p", "nor are paced ones");
    assert_eq!(pushed(&fixed(5), &config()), "........", "nobody heeds it");
}

#[test]
fn retransmissions_are_paced_too() {
    let mut pipe = Pipe::sized(&paced("12 Mbit/s"), 300).losing([20, 21, 50]);
    pipe.run();
    assert_eq!(times(&pipe), (0..303).map(at).collect::<Vec<_>>());
}

#[test]
fn small_packets_take_less_time() {
    let frame = Some(ratewire_units::Bytes::new(335));
    let app = App { frame, ..App::sized(packets(10)) };
    let mut pipe = Pipe::new(&paced("12 Mbit/s"), &config(), &app);
    pipe.run();
    // 335 + 40 bytes: a quarter of a millisecond.
    let gap = Duration::from_micros(250);
    assert!(times(&pipe).windows(2).all(|pair| pair[1].since(pair[0]) == gap));
}

#[test]
fn a_late_timer_loses_no_rate() {
    for late in [300, 2500] {
        let mut pipe = Pipe::sized(&paced("12 Mbit/s"), 1000);
        pipe.lateness = Duration::from_micros(late);
        pipe.run();
        let last = times(&pipe)[999];
        assert!(last >= at(999) && last <= at(999) + ms(3), "{late} us late: {last}");
    }
}

#[test]
fn a_pace_that_rises_is_felt_at_once() {
    let options = [("pacing", "true"), ("initial_window", "2 packets")];
    let law = ratewire_laws::AnyLaw::new("newreno", &options).unwrap();
    let mut pipe = Pipe::sized(&law, 20);
    pipe.data.insert(1, crate::testing::Fate::Late(ms(1)));
    pipe.run();
    // At 100 ms twice the window of 3 packets an RTT: one each 16.7 ms. At 101 ms twice 4: 12.5 ms.
    let micros: Vec<u64> = times(&pipe).iter().map(|t| (t.ps() + 500_000) / 1_000_000).collect();
    assert_eq!(micros[2], 100_000);
    assert!((113_500..113_600).contains(&micros[3]), "{}", micros[3]);
}

#[test]
fn waiting_for_data_earns_no_burst() {
    let (burst, pause) = (packets(3), ms(500));
    let writer = Writer::OnOff {
        burst: burst.into(),
        pause: pause.into(),
        pause_after: PauseAfter::Sent,
        count: Some(3),
    };
    let app = App { writer, ..App::unlimited() };
    let mut pipe = Pipe::new(&paced("12 Mbit/s"), &config(), &app);
    pipe.run();
    assert_eq!(times(&pipe), [0, 1, 2, 502, 503, 504, 1004, 1005, 1006].map(at));
}

#[test]
fn a_pace_with_a_closed_window_does_not_spin() {
    let receive_window = ReceiveWindow::Fixed(packets(2) + ratewire_units::Bytes::new(730));
    let config = TransportConfig { receive_window, ..config() };
    let app = App { reader: Reader::Slow(ms(30)), ..App::sized(packets(20)) };
    let mut pipe = Pipe::new(&paced("12 Mbit/s"), &config, &app);
    pipe.run();
    assert_eq!(pipe.resent(), []);
}

#[test]
fn a_law_that_paces_by_its_window() {
    let law = ratewire_laws::AnyLaw::new("newreno", &[("pacing", "true")]).unwrap();
    let mut pipe = Pipe::sized(&law, 300).losing([77]);
    pipe.run();
    // The first window goes at once: there is no RTT to pace it over. Later ones do not.
    let together = |t: Time| pipe.sent().filter(|sent| sent.0 == t).count();
    assert_eq!(together(at(0)), 10);
    assert!(pipe.sent().filter(|sent| sent.0 > at(0)).all(|sent| together(sent.0) <= 2));
    let mut unpaced = Pipe::sized(&newreno(), 300).losing([77]);
    unpaced.run();
    assert!(pipe.now <= unpaced.now + ms(200), "{} against {}", pipe.now, unpaced.now);
}
