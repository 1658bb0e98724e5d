//! RFC 5681's rules one by one, and the window they keep under regular loss.

use ratewire_units::{Bytes, Duration, Time};

use super::{NewReno, NewRenoSource};
use crate::law::{Acked, Sending, Signal, Source};
use crate::testing::{MSS, Pipe, acked, congestion, sending, source};

const RTT: Duration = Duration::from_millis(100);

fn newreno(options: &[(&str, &str)]) -> NewRenoSource {
    source::<NewReno>(options)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// Acknowledges `n` packets one by one.
fn acknowledge(s: &mut NewRenoSource, n: u64) {
    for _ in 0..n {
        s.on_ack(&acked(), None);
    }
}

#[test]
fn slow_start_doubles_each_round_with_and_without_delayed_acknowledgements() {
    for ack_every in [1, 2] {
        let mut pipe = Pipe::new(newreno(&[]), RTT);
        pipe.ack_every = ack_every;
        let mut windows = alloc::vec![pipe.packets()];
        for _ in 0..5 {
            pipe.round();
            windows.push(pipe.packets());
        }
        assert_eq!(windows, [10.0, 20.0, 40.0, 80.0, 160.0, 320.0], "every {ack_every}");
    }
}

#[test]
fn an_acknowledgement_adds_no_more_than_the_limit() {
    let stretch = Acked { bytes: MSS * 5, ..acked() };
    for (abc, window) in [("1", 11), ("2", 12), ("inf", 15)] {
        let mut s = newreno(&[("abc", abc)]);
        s.on_ack(&stretch, None);
        assert_eq!(s.window(), MSS * window, "abc {abc}");
    }
    for (pacing, window) in [("false", 18), ("true", 20)] {
        let mut s = newreno(&[("hystart", "true"), ("pacing", pacing)]);
        s.on_ack(&Acked { bytes: MSS * 10, ..acked() }, None);
        assert_eq!(s.window(), MSS * window, "pacing {pacing}");
    }
}

#[test]
fn above_the_threshold_the_window_grows_by_one_packet_a_round() {
    let mut s = newreno(&[("initial_ssthresh", "12 packets")]);
    acknowledge(&mut s, 2);
    assert_eq!(s.window(), MSS * 12);
    acknowledge(&mut s, 11);
    assert_eq!(s.window(), MSS * 12);
    acknowledge(&mut s, 1);
    assert_eq!(s.window(), MSS * 13);
    acknowledge(&mut s, 13);
    assert_eq!(s.window(), MSS * 14);

    let mut pipe = Pipe::new(newreno(&[("initial_ssthresh", "10 packets")]), RTT);
    pipe.ack_every = 2;
    for packets in 11..30 {
        pipe.round();
        assert!((pipe.packets() - f64::from(packets)).abs() <= 1.0, "{}", pipe.packets());
    }
}

/// AIMD(a, b) with a of a quarter of a packet a round, and b of 0.2.
#[test]
fn the_window_grows_and_falls_by_the_constants_of_aimd() {
    let options = [("initial_ssthresh", "20 packets"), ("increase", "0.25"), ("beta", "0.8")];
    let mut pipe = Pipe::new(newreno(&options), RTT);
    (0..2).for_each(|_| pipe.round());
    let before = pipe.packets();
    (0..16).for_each(|_| pipe.round());
    assert!((pipe.packets() - before - 4.0).abs() <= 0.25, "{} after {before}", pipe.packets());
    let mut s = newreno(&options);
    s.on_congestion(&congestion(Signal::Loss, 10));
    assert_eq!(s.window(), MSS * 8);
}

/// With delayed acknowledgements that count as a packet each, a packet more takes two rounds.
#[test]
fn counting_acknowledgements_grows_half_as_fast_when_they_are_delayed() {
    let options = [("initial_ssthresh", "10 packets"), ("count", "acks")];
    let mut pipe = Pipe::new(newreno(&options), RTT);
    pipe.ack_every = 2;
    for round in 1..40 {
        pipe.round();
        let expected = 10.0 + 0.5 * f64::from(round);
        assert!((pipe.packets() - expected).abs() <= 1.5, "{} and not {expected}", pipe.packets());
    }
    pipe.ack_every = 1;
    let before = pipe.packets();
    (0..10).for_each(|_| pipe.round());
    assert!((pipe.packets() - before - 10.0).abs() <= 1.0, "each is acknowledged");
}

#[test]
fn what_slow_start_leaves_over_counts_for_avoidance() {
    let mut s = newreno(&[("initial_ssthresh", "11 packets"), ("abc", "inf")]);
    s.on_ack(&Acked { bytes: MSS * 12, ..acked() }, None);
    assert_eq!(s.window(), MSS * 12);
}

#[test]
fn losses_and_marks_halve_what_was_outstanding() {
    for signal in [Signal::Loss, Signal::Mark] {
        for (flight, window) in [(10, 5), (9, 4), (6, 3), (3, 2), (0, 2), (500, 5)] {
            let mut s = newreno(&[]);
            s.on_congestion(&congestion(signal, flight));
            let half = if flight == 9 { Bytes::new(4500) } else { MSS * window };
            assert_eq!(s.window(), half, "{signal:?} with {flight} packets outstanding");
            assert_eq!(s.window.ssthresh(), half.as_f64());
        }
    }
}

#[test]
fn the_window_rests_while_a_loss_is_repaired() {
    let mut s = newreno(&[]);
    s.on_congestion(&congestion(Signal::Loss, 10));
    for _ in 0..100 {
        s.on_ack(&Acked { in_recovery: true, ..acked() }, None);
    }
    assert_eq!(s.window(), MSS * 5);
    // A mark on a packet of the same window is no new event.
    s.on_congestion(&congestion(Signal::Mark, 5));
    assert_eq!(s.window(), MSS * 5);
    s.on_recovered(at(200));
    acknowledge(&mut s, 5);
    assert_eq!(s.window(), MSS * 6);
}

#[test]
fn the_window_rests_for_one_rtt_after_a_mark() {
    let mut s = newreno(&[]);
    s.on_congestion(&congestion(Signal::Mark, 10));
    for _ in 0..100 {
        s.on_ack(&Acked { now: at(199), ..acked() }, None);
    }
    s.on_congestion(&crate::Congestion { now: at(199), ..congestion(Signal::Loss, 5) });
    assert_eq!(s.window(), MSS * 5);
    s.on_recovered(at(200));
    for _ in 0..5 {
        s.on_ack(&Acked { now: at(200), ..acked() }, None);
    }
    assert_eq!(s.window(), MSS * 6);
    s.on_congestion(&crate::Congestion { now: at(300), ..congestion(Signal::Loss, 6) });
    assert_eq!(s.window(), MSS * 3);
}

#[test]
fn a_timeout_starts_again_from_one_packet_up_to_half_of_what_was_outstanding() {
    let mut s = newreno(&[]);
    s.on_congestion(&congestion(Signal::Timeout, 10));
    assert_eq!((s.window(), s.window.ssthresh()), (MSS, 5000.0));
    // The same packet times out again: the threshold does not change.
    s.on_congestion(&congestion(Signal::Timeout, 1));
    assert_eq!((s.window(), s.window.ssthresh()), (MSS, 5000.0));
    // L is 1, and the transport's flag does not matter: there is no window to repair within.
    for window in 2..=5 {
        s.on_ack(&Acked { bytes: MSS * 3, in_recovery: true, ..acked() }, None);
        assert_eq!(s.window(), MSS * window);
    }
    acknowledge(&mut s, 5);
    assert_eq!(s.window(), MSS * 6);
    s.on_congestion(&congestion(Signal::Timeout, 6));
    assert_eq!((s.window(), s.window.ssthresh()), (MSS, 3000.0));
}

#[test]
fn a_timeout_within_a_repair_does_not_cut_twice() {
    let mut s = newreno(&[]);
    s.on_congestion(&congestion(Signal::Loss, 10));
    s.on_congestion(&congestion(Signal::Timeout, 10));
    assert_eq!((s.window(), s.window.ssthresh()), (MSS, 5000.0));
}

#[test]
fn a_loss_never_raises_the_window() {
    let mut s = newreno(&[]);
    s.on_congestion(&congestion(Signal::Timeout, 10));
    s.on_congestion(&congestion(Signal::Loss, 10));
    assert_eq!((s.window(), s.window.ssthresh()), (MSS, 2000.0));
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    for ssthresh in ["none", "10 packets"] {
        let mut s = newreno(&[("initial_ssthresh", ssthresh)]);
        for _ in 0..100 {
            s.on_ack(&Acked { limited: true, ..acked() }, None);
        }
        assert_eq!(s.window(), MSS * 10);
    }
}

#[test]
fn idling_for_longer_than_the_timeout_brings_slow_start_back() {
    for (option, idle_ms, window) in [
        ("initial", 1001, 10),
        ("initial", 1000, 50),
        ("keep", 9999, 50),
        ("halve", 1000, 50),
        ("halve", 1001, 25),
        ("halve", 2000, 25),
        ("halve", 9999, 10),
    ] {
        let mut s = newreno(&[("idle_restart", option)]);
        acknowledge(&mut s, 40);
        s.on_send(&Sending { now: at(500), ..sending() });
        s.on_send(&Sending { now: at(500 + idle_ms), ..sending() });
        assert_eq!(s.window(), MSS * window, "idle for {idle_ms} ms");
    }
    // Slow start then ends at three quarters of the window.
    let mut s = newreno(&[("idle_restart", "halve"), ("initial_ssthresh", "20 packets")]);
    acknowledge(&mut s, 4000);
    let before = s.window().as_f64();
    s.on_send(&Sending { now: at(500), ..sending() });
    s.on_send(&Sending { now: at(1600), ..sending() });
    assert!((s.window().as_f64() - before / 2.0).abs() < 1.0);
    assert!((s.window.ssthresh() - 0.75 * before).abs() < 1.0);
    // Waiting for an acknowledgement is not idling, and there is no restart before the first RTT
    // sample.
    let mut s = newreno(&[]);
    acknowledge(&mut s, 40);
    s.on_send(&Sending { now: at(500), ..sending() });
    s.on_send(&Sending { now: at(9000), in_flight: MSS * 3, ..sending() });
    s.on_send(&Sending { now: at(19_000), rto: Duration::ZERO, ..sending() });
    assert_eq!(s.window(), MSS * 50);
}

#[test]
fn pacing_leaves_room_for_growth_and_counts_headers() {
    assert_eq!(newreno(&[]).pacing(), None);
    let mut s = newreno(&[("pacing", "true"), ("initial_ssthresh", "24 packets")]);
    assert_eq!(s.pacing(), None);
    s.on_ack(&Acked { bytes: Bytes::ZERO, ..acked() }, None);
    // 10 packets of 1040 bytes in 100 ms, twice as fast.
    assert!((s.pacing().unwrap().get() - 208_000.0).abs() < 1.0);
    acknowledge(&mut s, 10);
    assert!((s.pacing().unwrap().get() - 1.2 * 208_000.0).abs() < 1.0);
}

#[test]
fn the_mean_window_is_1_22_over_the_root_of_the_loss_rate() {
    for (lose_every, ssthresh) in
        [(100, "8 packets"), (1000, "30 packets"), (100_000, "300 packets")]
    {
        for marks in [false, true] {
            let mut pipe = Pipe::new(newreno(&[("initial_ssthresh", ssthresh)]), RTT);
            pipe.lose_every = lose_every;
            pipe.marks = marks;
            let expected = 1.2247 * libm::sqrt(lose_every as f64);
            // The mean is less than expected, because the window does not grow in rounds of repair.
            let mean = pipe.mean_window(5, 25);
            assert!((mean / expected - 1.0).abs() < 0.15, "{mean} and not {expected}");
        }
    }
}
