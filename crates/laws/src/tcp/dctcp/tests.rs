//! RFC 8257's rules one by one. The closed forms of the paper are held by
//! scenarios/laws/dctcp-*.toml.

use ratewire_units::{Bytes, Duration, Time};

use super::{Dctcp, DctcpPort, DctcpSource};
use crate::law::{Acked, Congestion, Port, PortQueue, Signal, Source};
use crate::options::Size;
use crate::tcp::newreno::NewReno;
use crate::testing::{MSS, Pipe, acked, congestion, source};

fn dctcp(options: &[(&str, &str)]) -> DctcpSource {
    source::<Dctcp>(options)
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} and not {b}");
}

/// Acknowledges a window of data, packet by packet, the first `marked` of `packets` marked.
fn window_of_data(s: &mut DctcpSource, start: u64, packets: u64, marked: u64) -> u64 {
    let end = start + packets * MSS.get();
    for n in 1..=packets {
        let cumulative = start + n * MSS.get();
        s.on_ack(&Acked { cumulative, next: end, marked: n <= marked, ..acked() }, None);
    }
    end
}

#[test]
fn alpha_is_the_moving_mean_of_the_marked_share_of_each_window() {
    let mut s = dctcp(&[]);
    near(s.alpha, 1.0);
    // The first acknowledgement ends a window of its own: nothing was counted before.
    s.on_ack(&Acked { cumulative: 1000, next: 11_000, ..acked() }, None);
    near(s.alpha, 15.0 / 16.0);
    let mut end = 11_000;
    let mut expected = 15.0 / 16.0;
    for marked in [0, 5, 10, 10, 1] {
        // Ten packets up to the end of the window, and one beyond it that ends it.
        window_of_data(&mut s, end - 10_000, 10, marked);
        near(s.alpha, expected);
        s.on_ack(&Acked { cumulative: end + 1000, next: end + 11_000, ..acked() }, None);
        end += 11_000;
        expected += (marked as f64 / 11.0 - expected) / 16.0;
        near(s.alpha, expected);
    }
}

#[test]
fn marks_are_counted_in_bytes() {
    let mut s = dctcp(&[("g", "1"), ("initial_alpha", "0")]);
    s.on_ack(&Acked { cumulative: 1000, next: 5000, ..acked() }, None);
    let four = Acked { cumulative: 4000, next: 9000, bytes: MSS * 3, marked: true, ..acked() };
    s.on_ack(&four, None);
    s.on_ack(&Acked { cumulative: 6000, next: 9000, bytes: MSS, ..acked() }, None);
    near(s.alpha, 0.75);
}

#[test]
fn an_acknowledgement_of_nothing_changes_nothing() {
    let mut s = dctcp(&[]);
    s.on_ack(&Acked { cumulative: 1000, next: 11_000, bytes: Bytes::ZERO, ..acked() }, None);
    near(s.alpha, 1.0);
}

#[test]
fn a_mark_cuts_by_half_of_alpha() {
    for (alpha, packets) in [("1", 5.0), ("0.5", 7.5), ("0.1", 9.5), ("0", 10.0)] {
        let mut s = dctcp(&[("initial_alpha", alpha)]);
        // The amount of outstanding data does not matter.
        s.on_congestion(&congestion(Signal::Mark, 3));
        near(s.window().as_f64(), packets * MSS.as_f64());
    }
    let mut s = dctcp(&[("initial_window", "3 packets")]);
    s.on_congestion(&congestion(Signal::Mark, 3));
    assert_eq!(s.window(), MSS * 2, "never below two");
}

#[test]
fn in_linux_the_window_rests_for_one_rtt_after_a_mark() {
    let mut s = dctcp(&[("initial_alpha", "0.2"), ("profile", "linux")]);
    s.on_congestion(&congestion(Signal::Mark, 10));
    let at = |ms| Time::ZERO + Duration::from_millis(ms);
    for _ in 0..100 {
        s.on_ack(&Acked { now: at(199), marked: true, ..acked() }, None);
    }
    assert_eq!(s.window(), MSS * 9);
    for _ in 0..9 {
        s.on_ack(&Acked { now: at(200), ..acked() }, None);
    }
    assert_eq!(s.window(), MSS * 10);
}

/// RFC 8257, 3.4: congestion avoidance goes on in the round trip after a mark, with what is
/// acknowledged unmarked, and goes on from what it has counted.
#[test]
fn the_window_grows_in_the_rtt_after_a_mark() {
    let mut s = dctcp(&[("initial_alpha", "0.2"), ("initial_ssthresh", "10 packets")]);
    s.window_end = u64::MAX;
    let acknowledge = |s: &mut DctcpSource, packets, marked| {
        (0..packets).for_each(|_| s.on_ack(&Acked { marked, ..acked() }, None));
    };
    acknowledge(&mut s, 5, false);
    s.on_congestion(&congestion(Signal::Mark, 10));
    assert_eq!(s.window(), MSS * 9);
    acknowledge(&mut s, 100, true);
    acknowledge(&mut s, 3, false);
    assert_eq!(s.window(), MSS * 9);
    acknowledge(&mut s, 1, false);
    assert_eq!(s.window(), MSS * 10);
}

/// Linux counts alpha in 1/1024, by whole steps, and the window in packets.
#[test]
fn in_linux_alpha_and_the_window_are_whole_numbers() {
    for (alpha, marked, next) in [
        // Of 1024 steps a 16th; of 64 steps as many as the share of marks, rounded down.
        (1024, 0, 960),
        (1024, 100, 1024),
        (512, 10, 480 + 6),
        (31, 1, 30),
        // Less than 16 steps are all taken.
        (15, 0, 0),
        (15, 10, 6),
    ] {
        let alpha = alloc::format!("{}", f64::from(alpha) / 1024.0);
        let mut s = dctcp(&[("initial_alpha", &alpha), ("profile", "linux")]);
        s.window_end = 99_500;
        window_of_data(&mut s, 0, 100, marked);
        near(s.alpha * 1024.0, f64::from(next));
    }
    for (alpha, packets) in [("1", 5), ("0.5", 8), ("0.19", 10), ("0.2", 9)] {
        let mut s = dctcp(&[("initial_alpha", alpha), ("profile", "linux")]);
        s.on_congestion(&congestion(Signal::Mark, 10));
        assert_eq!(s.window(), MSS * packets, "alpha {alpha}");
    }
}

/// The mean number of packets in a round trip of 21 ms under random marks, of four seeds.
fn mean_window(profile: &str, chance: f64, skipped: u64, measured: u64) -> f64 {
    let means = (1..=4).map(|seed| {
        let mut pipe = Pipe::new(dctcp(&[("profile", profile)]), Duration::from_millis(21));
        (pipe.chance, pipe.dice, pipe.marks) = (chance, seed, true);
        // Room for 420 packets an RTT, so that acknowledgements come one by one.
        pipe.serial = Duration::from_micros(50);
        pipe.mean_window_for(Duration::from_secs(skipped));
        pipe.mean_window_for(Duration::from_secs(measured))
    });
    means.sum::<f64>() / 4.0
}

/// A model of RFC 8257's rules, with a fluid window: a third more than 2 / p, as random marks leave
/// some windows alone.
#[test]
fn random_marks_leave_what_a_model_of_the_rfc_has() {
    for (chance, packets) in [(0.0144, 186.0), (0.0412, 63.0), (0.1, 24.0)] {
        let mean = mean_window("rfc", chance, 10, 30);
        assert!((mean / packets - 1.0).abs() < 0.1, "{mean} and not {packets} at {chance}");
    }
}

/// Measured on Linux 6.12: RTT 21 ms, netem with random marks, no segmentation offload. At the
/// first of these probabilities the window rises for as long as the flow lasts; here it lasts 30 s.
#[test]
fn in_linux_random_marks_leave_what_was_measured() {
    for (chance, packets) in [(0.0144, 151.0), (0.0412, 40.0), (0.1, 17.0)] {
        let mean = mean_window("linux", chance, 0, 30);
        assert!((mean / packets - 1.0).abs() < 0.1, "{mean} and not {packets} at {chance}");
    }
}

/// RFC 9332's equation for scalable senders, whose marks are evenly spaced.
#[test]
fn even_marks_leave_two_over_their_probability() {
    for mark_every in [15, 24, 70, 150] {
        let mut pipe = Pipe::new(dctcp(&[]), Duration::from_millis(21));
        (pipe.lose_every, pipe.marks) = (mark_every, true);
        pipe.mean_window_for(Duration::from_secs(20));
        let mean = pipe.mean_window_for(Duration::from_secs(20));
        let expected = 2.0 * mark_every as f64;
        assert!((mean / expected - 1.0).abs() < 0.1, "{mean} and not {expected}");
    }
}

#[test]
fn losses_halve_whatever_alpha_is_and_also_after_a_mark() {
    for signals in [&[Signal::Loss][..], &[Signal::Mark, Signal::Loss]] {
        let mut s = dctcp(&[("initial_alpha", "0.2")]);
        for signal in signals {
            s.on_congestion(&congestion(*signal, 10));
        }
        assert_eq!(s.window(), MSS * 5, "{signals:?}");
    }
    let mut s = dctcp(&[("initial_alpha", "0.2")]);
    s.on_congestion(&congestion(Signal::Mark, 10));
    s.on_congestion(&congestion(Signal::Timeout, 9));
    assert_eq!(s.window(), MSS);
    assert_eq!(s.reno.window.ssthresh(), 5000.0);
    // A second loss of the same window is answered already.
    let mut s = dctcp(&[]);
    s.on_congestion(&congestion(Signal::Loss, 10));
    s.on_congestion(&Congestion { in_flight: MSS * 5, ..congestion(Signal::Loss, 5) });
    assert_eq!(s.window(), MSS * 5);
}

#[test]
fn without_marks_it_is_newreno() {
    let rtt = Duration::from_millis(10);
    let mut newreno = Pipe::new(source::<NewReno>(&[]), rtt);
    let mut dctcp = Pipe::new(dctcp(&[]), rtt);
    newreno.lose_every = 300;
    dctcp.lose_every = 300;
    for _ in 0..200 {
        newreno.round();
        dctcp.round();
        assert_eq!(dctcp.packets(), newreno.packets());
    }
    assert!(dctcp.events > 5);
}

#[test]
fn packets_that_find_more_than_the_threshold_waiting_are_marked() {
    let marked = |threshold: Size, bytes: u64, packets: u32| {
        let queue = PortQueue { bytes: Bytes::new(bytes), packets };
        DctcpPort::new(threshold).mark(Time::ZERO, MSS, queue)
    };
    assert!(!marked(Size::Packets(65.0), 1 << 40, 65));
    assert!(marked(Size::Packets(65.0), 0, 66));
    assert!(!marked(Size::Bytes(Bytes::new(30_000)), 30_000, 9999));
    assert!(marked(Size::Bytes(Bytes::new(30_000)), 30_001, 0));
    assert!(!marked(Size::Packets(0.0), 0, 0), "a packet that need not wait is never marked");
    assert!(marked(Size::Packets(0.0), 40, 1));
}
