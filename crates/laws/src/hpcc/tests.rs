//! The header to the bit, algorithm 1 step by step, and flows that share a link.

use std::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::header::{HEADER_LEN, Passed, SpeedCode};
use super::{HopStamp, Hpcc, HpccHeader, HpccPort, HpccSink, HpccSource};
use crate::law::{
    Acked, Draw, FlowContext, HeaderFormat, Law, LinkContext, MAX_HEADER, Named, Port, PortQueue,
    Signal, Sink, Source,
};
use crate::options::Options;
use crate::reason::Bound;
use crate::testing::{FLOW, MSS, acked, congestion};

const TEN_GBIT: u64 = 10_000_000_000;

fn law(options: &[(&str, &str)]) -> Hpcc {
    let mut all = Options::defaults(Hpcc::INFO.options);
    for (name, value) in options {
        all.set(name, value).unwrap();
    }
    Hpcc::from_options(&all).unwrap()
}

fn port(bps: u64) -> HpccPort {
    let link =
        LinkContext { rate: Rate::from_bps(bps), delay: Duration::ZERO, id: 7, draw: Draw::new(0) };
    law(&[]).port(&link).unwrap()
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_micros(us)
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{a} and not {b}");
}

/// A stamp of a port of 10 Gbit/s, whose ticks are 2.5 ns.
fn stamp(tick: u64, tx_bytes: u64, queue: u64) -> HopStamp {
    HopStamp::new(SpeedCode::at_least(TEN_GBIT), tick, tx_bytes as f64, queue as f64)
}

fn header(stamps: &[HopStamp]) -> HpccHeader {
    let mut header = HpccHeader::default();
    for (id, stamp) in stamps.iter().enumerate() {
        header.push(*stamp, id as u32 + 1);
    }
    header
}

#[test]
fn the_header_to_the_bit() {
    let mut header = HpccHeader::default();
    header.push(HopStamp::new(SpeedCode::at_least(25_000_000_000), 1000, 384.0, 800.0), 0x123);
    let mut expected = [0; HEADER_LEN];
    expected[..10].copy_from_slice(&[0x11, 0x23, 0x80, 0x00, 0x3e, 0x80, 0x00, 0x03, 0x00, 0x0a]);
    assert_eq!(header.to_bytes(), expected);
    expected[0] |= 0x08;
    assert_eq!(header.returned().to_bytes(), expected);

    // All bits set, in fields at their maximum.
    let mut full = HpccHeader::default();
    for _ in 0..5 {
        full.push(
            HopStamp::new(SpeedCode::at_least(u64::MAX), u64::MAX, 128.0 * 1048575.0, 1e30),
            0,
        );
    }
    assert_eq!(full.to_bytes()[2..], [0xff; 40]);
}

#[test]
fn headers_survive_the_wire() {
    let law = law(&[]);
    let packet = Bytes::new(1500);
    let mut header = HpccHeader::default();
    let mut bytes = [0; MAX_HEADER];
    for hop in 0..17 {
        header.push(stamp(hop * 999_999, hop * 77_777, hop * 100_000), hop as u32 * 1717);
        for header in [header, header.returned()] {
            let len = law.encode(&header, packet, &mut bytes);
            assert_eq!(len as u64, law.length().get());
            assert_eq!(law.decode(&bytes[..len], packet), Ok(header));
            assert_eq!(law.quantise(header, packet), header);
        }
    }
    assert_eq!(header.hops(), 15);
    let error = law.decode(&bytes[..41], packet).unwrap_err();
    assert_eq!(error.message, "HPCC's header has 42 bytes, not 41");
}

#[test]
fn the_header_is_small_enough_to_travel_in_memory() {
    assert_eq!(size_of::<HpccHeader>(), 44);
    assert_eq!(align_of::<HpccHeader>(), 4);
    assert!(size_of::<crate::Header>() <= 48);
}

#[test]
fn fields_are_named() {
    let fields = law(&[]).fields(&header(&[stamp(4, 1280, 160)]));
    let shown: Vec<_> = fields.iter().map(std::string::ToString::to_string).collect();
    assert_eq!(shown[..3], ["nHop = 1", "pathID = 1", "returning = 0"]);
    assert_eq!(
        shown[3..],
        ["B = 10.0 Gbit/s", "TS = 0.0100 us", "txBytes = 1.28 KB", "qLen = 160 B"]
    );
}

#[test]
fn counters_wrap() {
    let passed = |from: HopStamp, to: HopStamp| to.since(from, 1e-6);
    let expected = Some(Passed { secs: 1e-6, busy: 1024.0 / 1250.0, queued: 800.0 / 1.25e9 });
    assert_eq!(passed(stamp(1000, 12_800, 800), stamp(1400, 13_824, 1600)), expected);
    let (tick, tx) = ((1 << 24) - 100, 128 * (1 << 20) - 512);
    assert_eq!(passed(stamp(tick, tx, 800), stamp(tick + 400, tx + 1024, 1600)), expected);
}

#[test]
fn stamps_that_cannot_be_compared() {
    let before = stamp(1000, 0, 0);
    assert_eq!(before.since(before, 1e-6), None, "no time has passed");
    assert_eq!(stamp(999, 0, 0).since(before, 1e-6), None, "the older one");
    let other = HopStamp::new(SpeedCode::at_least(1_000_000_000), 2000, 0.0, 0.0);
    assert_eq!(other.since(before, 1e-6), None, "the speed has changed");
    // At 10 Gbit/s TS wraps in 41.9 ms; at 400 Gbit/s txBytes wraps in 2.7 ms.
    let after = stamp(2000, 0, 0);
    assert!(after.since(before, 0.0209).is_some());
    assert_eq!(after.since(before, 0.0210), None);
    let fast = |tick| HopStamp::new(SpeedCode::at_least(400_000_000_000), tick, 0.0, 0.0);
    assert!(fast(2000).since(fast(1000), 0.00134).is_some());
    assert_eq!(fast(2000).since(fast(1000), 0.00135), None);
}

/// Use of a link that sends 100 packets of 1500 bytes back to back, by its port's stamps.
fn back_to_back(p: &mut HpccPort, start: Time, bps: u64) -> Passed {
    let queue = PortQueue { bytes: Bytes::new(15_000), packets: 10 };
    let every = 12_000.0 / bps as f64;
    let mut headers = (0..=100).map(|n| {
        let mut header = HpccHeader::default();
        let now = start + Duration::from_secs_f64(every * f64::from(n));
        p.on_departure(now, Bytes::new(1500), Some(&mut header), queue);
        header
    });
    let (first, last) = (headers.next().unwrap(), headers.last().unwrap());
    let (_, first) = first.stamps().next().unwrap();
    let (_, last) = last.stamps().next().unwrap();
    last.since(first, 100.0 * every).unwrap()
}

#[test]
fn a_link_of_any_rate_can_say_how_busy_it_is() {
    for bps in [33_600, 10_000_000, 20_000_000, 1_234_567_890, TEN_GBIT, 3_200_000_000_000] {
        let passed = back_to_back(&mut port(bps), us(0), bps);
        near(passed.busy, 1.0, 2e-3);
        near(passed.queued / (120_000.0 / bps as f64), 1.0, 1e-2);
        near(passed.secs / (1_200_000.0 / bps as f64), 1.0, 2e-3);
    }
    let mut p = port(1_000_000_000);
    back_to_back(&mut p, us(0), 1_000_000_000);
    p.on_rate_change(us(5000), Rate::from_mbps(300));
    near(back_to_back(&mut p, us(5000), 300_000_000).busy, 1.0, 2e-3);
    p.on_rate_change(us(50_000), Rate::ZERO);
    p.on_rate_change(us(60_000), Rate::from_mbps(2000));
    near(back_to_back(&mut p, us(60_000), 2_000_000_000).busy, 1.0, 2e-3);
}

#[test]
fn packets_of_other_laws_and_acknowledgements_are_counted_and_not_stamped() {
    let mut p = port(TEN_GBIT);
    let (mut first, mut second) = (HpccHeader::default(), HpccHeader::default());
    let mut returning = HpccHeader::default().returned();
    let none = PortQueue::default();
    p.on_departure(us(0), Bytes::new(1280), Some(&mut first), none);
    p.on_departure(us(1), Bytes::new(2560), None, none);
    p.on_departure(us(2), Bytes::new(3840), Some(&mut returning), none);
    p.on_departure(us(8), Bytes::new(1280), Some(&mut second), none);
    assert_eq!(returning, HpccHeader::default().returned());
    assert_eq!((first.hops(), first.path()), (1, 7));
    let (_, second) = second.stamps().next().unwrap();
    assert_eq!(second.tx_bytes(), 7680.0);
    near(second.ts(), 8e-6, 1e-12);
}

#[test]
fn receivers_return_the_newest_stamps_once() {
    let mut sink = HpccSink::default();
    assert_eq!(sink.on_ack(us(0)), None);
    sink.on_data(us(0), &header(&[stamp(1, 0, 0)]));
    sink.on_data(us(0), &header(&[stamp(2, 0, 0)]));
    assert_eq!(sink.on_ack(us(0)), Some(header(&[stamp(2, 0, 0)]).returned()));
    assert_eq!(sink.on_ack(us(0)), None);
}

/// A sender on a link of 10 Gbit/s with `T` = 10 us: `B_NIC T` is 12,500 bytes, `W_AI` 6.25.
fn hpcc(options: &[(&str, &str)]) -> HpccSource {
    let all: Vec<_> = [("base_rtt", "10 us")].iter().chain(options).copied().collect();
    law(&all).source(&FLOW)
}

/// The acknowledgement of the packet `n`, at that time; ten more are outstanding.
fn acknowledge(s: &mut HpccSource, at_us: u64, n: u64, stamps: &[HopStamp]) {
    let acked = Acked {
        now: us(at_us),
        cumulative: n * 1000,
        next: (n + 10) * 1000,
        rtt: Some(Duration::from_micros(10)),
        srtt: Duration::from_micros(10),
        ..acked()
    };
    s.on_ack(&acked, Some(&header(stamps).returned()));
}

#[test]
fn algorithm_1_step_by_step() {
    let mut s = hpcc(&[]);
    near(s.window, 12_500.0, 1e-12);
    near(s.pacing().unwrap().get(), 1.25e9, 1e-12);
    acknowledge(&mut s, 0, 1, &[stamp(0, 0, 0)]);
    near(s.window, 12_500.0, 1e-12);
    assert_eq!(s.used, 1.0, "nothing to compare yet");

    // 97 units of 128 bytes in 10 us, which is T. This is still the first round: Wc stays.
    acknowledge(&mut s, 10, 2, &[stamp(4000, 12_416, 1600)]);
    near(s.used, 0.99328, 1e-12);
    near(s.window, 12_500.0 / (0.99328 / 0.95) + 6.25, 1e-12);
    near(s.reference, 12_500.0, 1e-12);

    // 2.5 us later, 25 units and a queue of 1600 at both ends: u = 1.024 + 0.128, for a quarter of
    // T.
    acknowledge(&mut s, 12, 3, &[stamp(5000, 15_616, 2400)]);
    near(s.used, 0.75 * 0.99328 + 0.25 * 1.152, 1e-12);
    let window = 12_500.0 * 0.95 / s.used + 6.25;
    near(s.window, window, 1e-12);
    near(s.pacing().unwrap().get(), window / 10e-6, 1e-12);
    near(s.window().as_f64(), window / 1.04 + 999.5, 1e-3);

    // Packet 12 was sent after the first acknowledgement: a round is over.
    acknowledge(&mut s, 20, 12, &[stamp(8000, 15_616 + 9600, 0)]);
    near(s.window, 12_500.0 * 0.95 / s.used + 6.25, 1e-12);
    assert_eq!(s.reference, s.window);
}

#[test]
fn a_round_that_a_hole_holds_up_ends_with_the_round_trip() {
    for in_recovery in [false, true] {
        let mut s = hpcc(&[("after_loss", "ignore")]);
        let reference_after = |s: &mut HpccSource, at_us: u64| {
            let acked = Acked {
                now: us(at_us),
                cumulative: 1000,
                next: 11_000,
                rtt: None,
                srtt: Duration::from_micros(10),
                in_recovery,
                ..acked()
            };
            // A fully used link, and a queue of twice B T.
            let stamp = stamp(400 * at_us, 1_250 * at_us, 25_000);
            s.on_ack(&acked, Some(&header(&[stamp]).returned()));
            s.reference
        };
        let references: Vec<_> =
            [0, 9, 10, 15, 19, 20, 21].map(|at| reference_after(&mut s, at)).into();
        near(references[1], 12_500.0, 1e-9);
        if in_recovery {
            assert!(references[2] < 12_500.0 / 2.0, "{references:?}");
            assert_eq!(references[2..5], [references[2]; 3]);
            assert!(references[5] < references[4] / 2.0, "{references:?}");
            assert_eq!(references[5], references[6]);
        } else {
            assert_eq!(references, [references[0]; 7], "acknowledgements will get there");
        }
    }
}

#[test]
fn the_hop_that_is_used_most_counts() {
    let mut s = hpcc(&[]);
    acknowledge(&mut s, 0, 1, &[stamp(0, 0, 0), stamp(0, 0, 8000), stamp(0, 0, 0)]);
    acknowledge(
        &mut s,
        10,
        2,
        &[stamp(4000, 10_240, 0), stamp(4000, 9_600, 8000), stamp(4000, 11_520, 0)],
    );
    near(s.used, 9_600.0 / 12_500.0 + 6.4 / 10.0, 1e-12);
    assert_eq!(s.reason().bound, Bound::Hop(1));
    assert_eq!(s.reason().equation, "W = Wc / (U / eta) + W_AI");
}

#[test]
fn five_rounds_add_and_the_sixth_multiplies() {
    let mut s = hpcc(&[("initial_window", "1040 B")]);
    acknowledge(&mut s, 0, 1, &[stamp(0, 0, 0)]);
    let mut windows = Vec::new();
    for n in 1..=12 {
        // Half of the link is used, whatever this flow does.
        acknowledge(&mut s, 10 * n, 1 + 11 * n, &[stamp(4000 * n, 6_272 * n, 0)]);
        windows.push(s.window);
    }
    let mut expected = 1040.0;
    for (n, window) in windows.iter().enumerate() {
        if n % 6 == 5 {
            expected *= 0.95 / s.used;
        }
        expected += 6.25;
        near(*window, expected, 1e-12);
    }
}

#[test]
fn of_more_than_five_hops_the_last_five_count() {
    let stamps = |tick: u64, tx: u64| -> Vec<HopStamp> {
        // The first is busy, then each busier than the one before up to the sixth, then one idle.
        [9, 2, 3, 4, 5, 6, 1].iter().map(|n| stamp(tick, tx * n, 0)).collect()
    };
    let mut s = hpcc(&[]);
    acknowledge(&mut s, 0, 1, &stamps(0, 0));
    acknowledge(&mut s, 10, 2, &stamps(4000, 1280));
    near(s.used, 6.0 * 1280.0 / 12_500.0, 1e-12);
    assert_eq!(s.reason().bound, Bound::Hop(5));
    let numbers: Vec<usize> = header(&stamps(0, 0)).stamps().map(|(hop, _)| hop).collect();
    assert_eq!(numbers, [2, 3, 4, 5, 6]);
}

#[test]
fn another_path_or_a_long_pause_start_anew() {
    let mut s = hpcc(&[]);
    acknowledge(&mut s, 0, 1, &[stamp(0, 0, 0)]);
    acknowledge(&mut s, 10, 2, &[stamp(4000, 1280, 0), stamp(4000, 1280, 0)]);
    assert_eq!(s.used, 1.0);
    acknowledge(&mut s, 30_000, 3, &[stamp(8000, 2560, 0), stamp(8000, 2560, 0)]);
    assert_eq!(s.used, 1.0);
    acknowledge(&mut s, 30_010, 4, &[stamp(12_000, 3840, 0), stamp(12_000, 3840, 0)]);
    near(s.used, 0.1024, 1e-12);
}

#[test]
fn without_a_base_rtt_the_smallest_measured_is_taken() {
    let ack = |us: u64| Acked {
        rtt: Some(Duration::from_micros(us)),
        srtt: Duration::from_micros(us),
        ..acked()
    };
    let base = |s: &HpccSource| s.reason().figures.last().unwrap().value;
    let mut s = law(&[]).source(&FLOW);
    assert_eq!((s.window, base(&s)), (10_400.0, 0.0));
    s.on_opened(us(0), Some(Duration::from_micros(10)), None);
    near(s.window, 12_500.0, 1e-12);
    near(base(&s), 10e-6, 1e-12);
    // Data packets are longer; the fastest of them counts.
    for (us, expected) in [(30, 30e-6), (20, 20e-6), (25, 20e-6), (0, 20e-6)] {
        s.on_ack(&ack(us), None);
        near(base(&s), expected, 1e-12);
    }
    // A flow that was not opened learns it from its data.
    let mut s = law(&[]).source(&FLOW);
    s.on_ack(&ack(20), None);
    near(s.window, 25_000.0, 1e-12);
    let mut s = law(&[("initial_window", "4 packets")]).source(&FLOW);
    s.on_opened(us(0), Some(Duration::from_micros(10)), None);
    assert_eq!(s.window, 4160.0);
}

#[test]
fn losses_cap_the_rate_unless_they_are_ignored() {
    let mut s = hpcc(&[]);
    acknowledge(&mut s, 0, 1, &[stamp(0, 0, 0)]);
    s.on_congestion(&congestion(Signal::Loss, 10));
    near(s.pacing().unwrap().get(), 0.625e9, 1e-12);
    near(s.window().as_f64(), 6250.0 / 1.04 + 999.5, 1e-3);
    let mut s = hpcc(&[("after_loss", "ignore")]);
    s.on_congestion(&congestion(Signal::Loss, 10));
    near(s.pacing().unwrap().get(), 1.25e9, 1e-12);
}

#[test]
fn while_a_loss_holds_the_rate_the_window_takes_no_more() {
    let mut s = hpcc(&[("initial_window", "4 packets")]);
    acknowledge(&mut s, 0, 1, &[stamp(0, 0, 0)]);
    s.on_congestion(&congestion(Signal::Loss, 10));
    let before = s.window;
    // No packet passes: U is 0, and the window would grow each round trip.
    for i in 1..6 {
        acknowledge(&mut s, i * 10, 1, &[stamp(i * 1000, 0, 0)]);
    }
    assert!(s.window <= before, "{} after {before}", s.window);
}

/// Runs `n` flows on a link of `bps` with `T` in nanoseconds; all get stamps once an RTT, in step.
/// The first starts with a window of the whole link, the others with a packet. Returns the windows
/// at the end, `U` and the queue.
fn share(n: usize, flows: &str, bps: u64, base_ns: u64) -> (Vec<f64>, f64, f64) {
    let base = std::format!("{base_ns} ns");
    let law = law(&[("base_rtt", &base), ("flows", flows), ("initial_window", "1 packets")]);
    let context = FlowContext { line_rate: Rate::from_bps(bps), ..FLOW };
    let mut senders: Vec<HpccSource> = (0..n).map(|_| law.source(&context)).collect();
    let capacity = bps as f64 / 8.0 * base_ns as f64 * 1e-9;
    senders[0].reference = capacity;
    senders[0].window = capacity;
    let speed = SpeedCode::at_least(bps);
    let ticks = (base_ns as f64 * 1e-9 / speed.tick()) as u64;
    let (mut queue, mut sent) = (0.0, 0.0);
    for round in 0..4000 {
        let mut header = HpccHeader::default();
        header.push(HopStamp::new(speed, ticks * round, sent, queue), 1);
        for s in &mut senders {
            let now = Time::ZERO + Duration::from_nanos(base_ns * round);
            let (cumulative, next) = (1000 * round + 1, 1000 * round + 1000);
            s.on_ack(&Acked { now, cumulative, next, ..acked() }, Some(&header.returned()));
        }
        let offered = queue + senders.iter().map(|s| s.window).sum::<f64>();
        let passed = offered.min(capacity);
        sent += passed;
        queue = offered - passed;
    }
    let used = senders[0].used;
    (senders.iter().map(|s| s.window).collect(), used, queue)
}

#[test]
fn flows_end_with_equal_shares_the_predicted_utilisation_and_no_queue() {
    for n in [1, 2, 8] {
        let (windows, used, queue) = share(n, "20", TEN_GBIT, 1_000_000);
        let total: f64 = windows.iter().sum();
        let added = 1_250_000.0 * 0.05 / 20.0;
        near(used, 0.95 / (1.0 - n as f64 * added / total), 1e-3);
        near(total / 1_250_000.0, used, 1e-3);
        assert_eq!(queue, 0.0);
        for window in &windows {
            near(*window * n as f64 / total, 1.0, 0.05);
        }
    }
    // N flows, for which W_AI is set, just fill the link.
    let (_, used, _) = share(20, "20", TEN_GBIT, 1_000_000);
    near(used, 1.0, 2e-3);
}

#[test]
fn scaling_capacity_and_rates_leaves_the_windows_as_they_are() {
    assert_eq!(share(3, "50", 1_000_000_000, 1_000_000), share(3, "50", TEN_GBIT, 100_000));
}

#[test]
fn whatever_the_stamps_say_windows_stay_within_the_line() {
    let mut state = 1_u64;
    let mut s = hpcc(&[("max_stage", "0")]);
    for n in 0..20_000 {
        let mut bytes = [0; HEADER_LEN];
        for byte in &mut bytes {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *byte = (state >> 56) as u8;
        }
        // Pairs of headers of one path; every second path has one hop.
        bytes[0] = if n % 4 < 2 { 0x18 } else { 0x58 };
        bytes[1] = 0;
        let header = HpccHeader::from_bytes(&bytes).unwrap();
        s.on_ack(&Acked { now: us(n), cumulative: n, next: n, ..acked() }, Some(&header));
        assert!((1.0..=12_500.1).contains(&s.window), "{}", s.window);
        assert!(s.used.is_finite() && s.used >= 0.0, "{}", s.used);
        assert!(s.window() >= MSS && s.pacing().unwrap().get() <= 1.25e9 * (1.0 + 1e-12));
    }
}
