//! Shares of accelerated packets, step by step; tokens; the two windows.

use std::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::meter::Meter;
use super::{Abc, AbcHeader, AbcPort, AbcSink, AbcSource};
use crate::law::{Acked, Draw, Law, LinkContext, Named, Port, PortQueue, Signal, Sink, Source};
use crate::options::Options;
use crate::testing::{MSS, acked, congestion, source};

const PACKET: Bytes = Bytes::new(1500);
const ACCELERATE: AbcHeader = AbcHeader::Data { accelerate: true };
const BRAKE: AbcHeader = AbcHeader::Data { accelerate: false };

/// A port of a link of 1000 packets a second.
fn port(options: &[(&str, &str)]) -> AbcPort {
    let mut all = Options::defaults(Abc::INFO.options);
    for (name, value) in options {
        all.set(name, value).unwrap();
    }
    let link =
        LinkContext { rate: Rate::from_mbps(12), delay: Duration::ZERO, id: 1, draw: Draw::new(0) };
    Abc::from_options(&all).unwrap().port(&link).unwrap()
}

fn queue(packets: f64) -> PortQueue {
    PortQueue { bytes: Bytes::new((packets * 1500.0) as u64), packets: packets as u32 }
}

/// Sends a packet each `every_us`, each with the queue `q` behind it. Returns which were
/// accelerated.
fn leave(p: &mut AbcPort, from_ms: u64, every_us: u64, packets: u64, q: PortQueue) -> Vec<bool> {
    let start = Time::ZERO + Duration::from_millis(from_ms);
    (0..packets)
        .map(|n| {
            let mut header = ACCELERATE;
            let now = start + Duration::from_micros(every_us) * n;
            p.on_departure(now, PACKET, Some(&mut header), q);
            header == ACCELERATE
        })
        .collect()
}

fn share(which: &[bool]) -> f64 {
    which.iter().filter(|accelerated| **accelerated).count() as f64 / which.len() as f64
}

#[test]
fn half_of_the_target_over_the_rate_of_departures_is_accelerated() {
    for (every_us, packets_waiting, expected) in [
        // At the link's rate, at a half, at a third of it: eta / 2 of 1, 2, 3.
        (1000, 0.0, 0.49),
        (2000, 0.0, 0.98),
        (3000, 0.0, 1.0),
        // A delay of 50 ms in the queue is allowed, the leaving packet included.
        (1000, 49.0, 0.49),
        // 133 ms more give a share of 0, and half of that half the share.
        (1000, 49.0 + 66.5, 0.24),
        (1000, 49.0 + 133.0, 0.0),
        (1000, 5000.0, 0.0),
    ] {
        let mut p = port(&[("capacity", "12 Mbit/s")]);
        leave(&mut p, 0, every_us, 1000, queue(packets_waiting));
        let which = leave(&mut p, every_us, every_us, 10_000, queue(packets_waiting));
        let found = share(&which);
        assert!((found - expected).abs() < 0.001, "{every_us} us, {packets_waiting}: {found}");
    }
}

#[test]
fn a_brake_stays_and_costs_nothing() {
    let mut p = port(&[("capacity", "12 Mbit/s")]);
    for n in 0..100 {
        let mut header = BRAKE;
        let now = Time::ZERO + Duration::from_millis(n);
        p.on_departure(now, PACKET, Some(&mut header), PortQueue::default());
        assert_eq!(header, BRAKE);
    }
    // Five tokens are saved; with a queue that allows none, four are spent: more than one is
    // needed.
    let which = leave(&mut p, 100, 1000, 100, queue(10_000.0));
    assert_eq!(which.iter().filter(|accelerated| **accelerated).count(), 4);
    assert_eq!(which[..5], [true, true, true, true, false]);
}

#[test]
fn acknowledgements_are_left_alone_and_strangers_count() {
    let mut p = port(&[("capacity", "12 Mbit/s")]);
    let mut echo = AbcHeader::Echo { accelerated: 7, braked: 9 };
    p.on_departure(Time::ZERO, PACKET, Some(&mut echo), queue(10_000.0));
    assert_eq!(echo, AbcHeader::Echo { accelerated: 7, braked: 9 });
    // Every second packet belongs to another law: the rate of departures counts all packets.
    let mut accelerated = 0;
    for n in 0..10_000 {
        let now = Time::ZERO + Duration::from_millis(n);
        let mut header = ACCELERATE;
        let own = (n % 2 == 0).then_some(&mut header);
        p.on_departure(now, PACKET, own, PortQueue::default());
        accelerated += u32::from(n % 2 == 0 && header == ACCELERATE);
    }
    assert!((f64::from(accelerated) / 5000.0 - 0.49).abs() < 0.01, "{accelerated}");
}

fn capacity(p: &AbcPort) -> f64 {
    p.reason().figures[0].value
}

#[test]
fn capacity_is_measured_while_packets_wait() {
    let mut p = port(&[]);
    assert_eq!(capacity(&p), 1.5e6, "the link's rate at first");
    leave(&mut p, 0, 4000, 50, PortQueue::default());
    assert_eq!(capacity(&p), 1.5e6, "packets that did not wait show nothing");
    leave(&mut p, 200, 500, 100, queue(1.0));
    assert!((capacity(&p) - 3e6).abs() < 1.0, "{}", capacity(&p));
    leave(&mut p, 250, 2000, 50, queue(1.0));
    assert!((capacity(&p) - 0.75e6).abs() < 1.0, "{}", capacity(&p));
    p.on_rate_change(Time::ZERO + Duration::from_millis(350), Rate::from_mbps(8));
    assert_eq!(capacity(&p), 1e6);
    leave(&mut p, 400, 4000, 50, PortQueue::default());
    assert_eq!(capacity(&p), 1e6);

    let mut set = port(&[("capacity", "1 Mbit/s")]);
    leave(&mut set, 0, 500, 100, queue(1.0));
    set.on_rate_change(Time::ZERO + Duration::from_millis(350), Rate::ZERO);
    assert_eq!(capacity(&set), 125_000.0);
}

#[test]
fn the_rate_of_departures_is_right_whatever_their_distance() {
    for every_us in [137, 500, 1250, 3700, 9000] {
        let mut meter = Meter::new(Duration::from_millis(20));
        let every = Duration::from_micros(every_us);
        let mut now = Time::ZERO;
        for _ in 0..1000 {
            now += every;
            meter.departs(now, PACKET, true);
        }
        let (bytes, secs) = meter.departed(now);
        let expected = 1500.0 / every.secs();
        assert!((bytes / secs / expected - 1.0).abs() < 1e-9, "{every_us} us: {}", bytes / secs);
        assert!((0.018..=0.031).contains(&secs), "{every_us} us: over {secs}");
        assert!((meter.capacity().unwrap() / expected - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_window_moves_on() {
    let mut meter = Meter::new(Duration::from_millis(16));
    let at = |ms| Time::ZERO + Duration::from_millis(ms);
    meter.departs(at(0), PACKET, true);
    meter.departs(at(1), PACKET, false);
    assert_eq!(meter.departed(at(1)), (3000.0, 0.015));
    assert_eq!(meter.capacity(), Some(1.5e6));
    meter.departs(at(16), PACKET, false);
    assert_eq!(meter.departed(at(16)), (3000.0, 0.016), "the first packet has dropped out");
    // A pause far longer than the window.
    meter.departs(at(100_000), PACKET, false);
    assert_eq!(meter.departed(at(100_000)), (1500.0, 0.032));
    assert_eq!(meter.capacity(), None);
}

#[test]
fn scaling_capacity_and_rates_leaves_the_marks_as_they_are() {
    let which = |scale: u64, capacity: &str| {
        let mut p = port(&[("window", "100 ms"), ("capacity", capacity)]);
        (0..5000)
            .map(|n| {
                let mut header = ACCELERATE;
                let waiting = n * 7 % 150 * 1500 * scale;
                let q = PortQueue { bytes: Bytes::new(waiting), packets: 1 };
                let now = Time::ZERO + Duration::from_micros(1300) * n;
                p.on_departure(now, PACKET * scale, Some(&mut header), q);
                header
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(which(1, "12 Mbit/s"), which(10, "120 Mbit/s"));
}

#[test]
fn receivers_say_how_many_accelerated_and_braked() {
    let mut sink = AbcSink::default();
    for header in [ACCELERATE, BRAKE, ACCELERATE, ACCELERATE] {
        sink.on_data(Time::ZERO, &header);
    }
    let echo = AbcHeader::Echo { accelerated: 3, braked: 1 };
    assert_eq!(sink.on_ack(Time::ZERO), Some(echo));
    let nothing = AbcHeader::Echo { accelerated: 0, braked: 0 };
    assert_eq!(sink.on_ack(Time::ZERO), Some(nothing));
}

fn abc(options: &[(&str, &str)]) -> AbcSource {
    source::<Abc>(options)
}

fn acknowledge(s: &mut AbcSource, accelerated: u32, braked: u32) {
    let echo = AbcHeader::Echo { accelerated, braked };
    s.on_ack(&Acked { was_in_flight: s.window(), ..acked() }, Some(&echo));
}

#[test]
fn a_packet_more_or_less_and_one_over_the_window() {
    let mut s = abc(&[]);
    assert_eq!(s.window(), MSS * 10);
    acknowledge(&mut s, 1, 0);
    assert_eq!(s.window, 11.1);
    acknowledge(&mut s, 0, 1);
    assert_eq!(s.window, 11.1 - 1.0 + 1.0 / 11.1);
    let before = s.window;
    acknowledge(&mut s, 1, 1);
    assert_eq!(s.window, before + 2.0 / before);
    acknowledge(&mut s, 0, 0);
    assert_eq!(s.window, before + 2.0 / before);
    for _ in 0..100 {
        acknowledge(&mut s, 0, 1);
    }
    assert_eq!(s.window(), MSS, "never below a packet");
}

/// Two flows of 400 and 40 packets at one bottleneck that holds them to 440 in all. Returns the
/// inequality at the end.
fn inequality(additive: f64) -> f64 {
    let additive_option = std::format!("{additive}");
    let mut flows = [400.0, 40.0].map(|window| {
        let mut s = abc(&[("additive", &additive_option), ("fallback", "none")]);
        s.window = window;
        s
    });
    let mut tokens = [0.0; 2];
    for _ in 0..1000 {
        let total = flows[0].window + flows[1].window;
        let share = (440.0 - 2.0 * additive) / (2.0 * total);
        for (s, token) in flows.iter_mut().zip(&mut tokens) {
            for _ in 0..s.window as u32 {
                *token += share;
                let accelerate = *token >= 1.0;
                *token -= f64::from(u8::from(accelerate));
                acknowledge(s, u32::from(accelerate), u32::from(!accelerate));
            }
        }
    }
    let [a, b] = flows.map(|s| s.window);
    assert!((a + b - 440.0).abs() < 22.0, "{a} + {b}");
    a.max(b) / a.min(b)
}

#[test]
fn shares_become_equal_by_what_is_added() {
    assert!(inequality(1.0) < 1.05, "{}", inequality(1.0));
    assert!(inequality(0.0) > 5.0, "{}", inequality(0.0));
}

#[test]
fn a_window_grows_to_twice_what_is_outstanding() {
    let mut s = abc(&[("fallback", "none")]);
    let echo = AbcHeader::Echo { accelerated: u32::MAX, braked: 0 };
    s.on_ack(&Acked { was_in_flight: MSS * 20, ..acked() }, Some(&echo));
    assert_eq!(s.window(), MSS * 40);
    s.on_ack(&Acked { was_in_flight: Bytes::ZERO, ..acked() }, Some(&echo));
    assert_eq!(s.window(), MSS * 10);
    s.on_ack(&Acked { was_in_flight: Bytes::MAX, ..acked() }, Some(&echo));
    assert!(s.window() > MSS * 1_000_000_000 && s.window() < Bytes::new(1 << 53));
}

#[test]
fn losses_are_answered_by_the_second_window() {
    for signal in [Signal::Loss, Signal::Mark] {
        let mut s = abc(&[]);
        s.on_congestion(&congestion(signal, 10));
        assert_eq!(s.window(), MSS * 7, "{signal:?}: CUBIC keeps 0.7");
        assert_eq!(s.reason().figures.last().unwrap().value, 10.0, "its own window is there still");
        let mut s = abc(&[("fallback", "none")]);
        s.on_congestion(&congestion(signal, 10));
        assert_eq!(s.window(), MSS * 10);
    }
}

#[test]
fn the_second_window_stays_near_the_first_and_out_of_its_way() {
    let mut s = abc(&[]);
    for _ in 0..5000 {
        acknowledge(&mut s, 1, 1);
    }
    let (own, cubic) = (s.window, s.cubic.as_ref().unwrap().window().as_f64() / MSS.as_f64());
    assert!((own..2.1 * own).contains(&cubic), "{own} and {cubic}");
    assert_eq!(s.window(), Bytes::new((own * 1000.0 + 0.5) as u64));
}
