//! Step vectors of equation 1, measurements, the header's bytes, hosts with and without a rate, and
//! the stability bound.

use std::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::fluid::{arrivals, swing};
use super::{RatePort, Rcp, RcpHeader, RcpKind, RcpSource};
use super::{RcpRule, Variant};
use crate::law::{
    Acked, Draw, HeaderFormat, Law, LinkContext, MAX_HEADER, Named, Port, PortQueue, Signal, Sink,
    Source,
};
use crate::options::Options;
use crate::testing::{MSS, acked, congestion, sending, source};

const PACKET: Bytes = Bytes::new(1250);
const RTT: Duration = Duration::from_millis(100);

fn law(options: &[(&str, &str)]) -> Rcp {
    let mut all = Options::defaults(Rcp::INFO.options);
    for (name, value) in options {
        all.set(name, value).unwrap();
    }
    Rcp::from_options(&all).unwrap()
}

/// A link of 10 Mbit/s whose port has `R` at 100,000 B/s and knows an RTT of 100 ms.
fn port(options: &[(&str, &str)]) -> RatePort<super::RcpRule> {
    let before = [("initial_rtt", "100 ms"), ("initial_rate", "0.08")];
    let all: Vec<_> = before.iter().chain(options).copied().collect();
    let link =
        LinkContext { rate: Rate::from_mbps(10), delay: Duration::ZERO, id: 1, draw: Draw::new(0) };
    law(&all).port(&link).unwrap()
}

fn millis(ms: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(ms / 1000.0)
}

fn queue(bytes: u64) -> PortQueue {
    PortQueue { bytes: Bytes::new(bytes), packets: 1 }
}

fn arrive(port: &mut impl Port<Header = RcpHeader>, at: Time, size: Bytes, rtt: Duration) {
    port.on_arrival(at, size, Some(&mut RcpHeader::request(1e9, rtt)), queue(0));
}

/// Rate of a departing packet that asks for an unlimited rate.
fn rate(port: &mut impl Port<Header = RcpHeader>) -> f64 {
    let mut header = RcpHeader::request(1e9, RTT);
    port.on_departure(Time::ZERO, PACKET, Some(&mut header), queue(0));
    header.rate.get()
}

fn figure(port: &impl Port, name: &str) -> f64 {
    port.reason().figures.iter().find(|f| f.name == name).unwrap().value
}

fn near(found: f64, wanted: f64, relative: f64) {
    assert!((found - wanted).abs() <= wanted.abs() * relative, "{found} for {wanted}");
}

#[test]
fn the_step_vectors_of_equation_1() {
    for (input, waiting, wanted) in [
        (625_000, 0, 102_000.0),
        (625_000, 62_500, 100_870.0),
        (1_250_000, 0, 100_000.0),
        (1_500_000, 25_000, 98_748.0),
    ] {
        let mut p = port(&[]);
        for _ in 0..50 {
            arrive(&mut p, Time::ZERO, Bytes::new(input / 5_000), Duration::ZERO);
        }
        assert_eq!(p.next_timer(), millis(10.0));
        p.on_timer(millis(10.0), queue(waiting));
        near(rate(&mut p), wanted, 1e-9);
    }
}

#[test]
fn the_rate_stays_between_its_limits() {
    let mut p = port(&[("gamma", "0.9")]);
    for i in 1..=200 {
        p.on_timer(millis(10.0 * f64::from(i)), queue(0));
    }
    near(rate(&mut p), 0.9 * 1.25e6, 1e-9);
    for i in 201..=400 {
        p.on_timer(millis(10.0 * f64::from(i)), queue(10_000_000));
    }
    near(rate(&mut p), 0.01 * 1000.0 / 0.1, 1e-9);
}

#[test]
fn a_packet_across_the_end_of_a_slot_counts_in_both() {
    let mut p = port(&[]);
    // Its transmission takes 1 ms.
    arrive(&mut p, millis(9.25), PACKET, Duration::ZERO);
    p.on_timer(millis(10.0), queue(0));
    near(figure(&p, "y"), 0.75 * 1250.0 / 0.01, 1e-9);
    p.on_timer(millis(20.0), queue(0));
    near(figure(&p, "y"), 0.25 * 1250.0 / 0.01, 1e-9);
}

#[test]
fn the_mean_rtt_is_weighted_by_bytes_rises_fast_and_falls_slowly() {
    let mut p = port(&[]);
    arrive(&mut p, Time::ZERO, Bytes::new(3000), Duration::from_millis(200));
    arrive(&mut p, Time::ZERO, Bytes::new(1000), Duration::from_millis(160));
    arrive(&mut p, Time::ZERO, Bytes::new(9000), Duration::ZERO);
    p.on_timer(millis(10.0), queue(0));
    // 190 ms with gain 10/100.
    near(figure(&p, "d0"), 0.109, 1e-9);

    let mut p = port(&[]);
    arrive(&mut p, Time::ZERO, PACKET, Duration::from_millis(50));
    p.on_timer(millis(10.0), queue(0));
    // With gain 0.08 (50/100) (10/100).
    let once = 0.1 - 0.08 * 0.5 * 0.1 * 0.05;
    near(figure(&p, "d0"), once, 1e-9);
    p.on_timer(millis(20.0), queue(0));
    assert!(figure(&p, "d0") < once, "a slot without packets repeats the last");
}

#[test]
fn a_slot_is_no_longer_than_the_mean_rtt() {
    let mut p = port(&[("initial_rtt", "4 ms")]);
    assert_eq!(p.next_timer(), millis(4.0));
    p.on_timer(millis(4.0), queue(0));
    assert_eq!(p.next_timer(), millis(8.0));
}

#[test]
fn other_traffic_counts_and_replies_pass_untouched() {
    let mut p = port(&[]);
    p.on_arrival(Time::ZERO, PACKET, None, queue(0));
    let mut reply = RcpHeader::reply(&RcpHeader::request(5e6, RTT));
    let before = reply;
    p.on_arrival(Time::ZERO, PACKET, Some(&mut reply), queue(0));
    p.on_departure(Time::ZERO, PACKET, Some(&mut reply), queue(0));
    assert_eq!(reply, before);
    p.on_timer(millis(10.0), queue(0));
    near(figure(&p, "y"), 250_000.0, 1e-9);
    assert_eq!(figure(&p, "d0"), 0.1);
}

#[test]
fn a_packet_leaves_with_the_lesser_rate() {
    let mut p = port(&[]);
    for (came, leaves) in [(30_000.0, 30_000.0), (f64::INFINITY, 100_000.0), (0.0, 0.0)] {
        let mut header = RcpHeader::request(came, RTT);
        p.on_departure(Time::ZERO, PACKET, Some(&mut header), queue(0));
        assert_eq!(header.rate.get(), leaves);
    }
}

#[test]
fn a_link_that_is_down_keeps_its_rate() {
    let mut p = port(&[]);
    p.on_rate_change(Time::ZERO, Rate::ZERO);
    arrive(&mut p, Time::ZERO, PACKET, RTT);
    p.on_timer(millis(10.0), queue(1_000_000));
    assert_eq!(rate(&mut p), 100_000.0);
    p.on_rate_change(millis(15.0), Rate::from_mbps(1));
    p.on_timer(millis(20.0), queue(0));
    assert!(rate(&mut p) <= 125_000.0);
}

#[test]
fn wild_round_trips_and_queues_leave_a_rate_that_can_be_used() {
    let mut p = port(&[]);
    for i in 1..=100_u64 {
        let now = p.next_timer();
        let rtt = [Duration::MAX, Duration::from_ps(1), RTT][i as usize % 3];
        arrive(&mut p, now, Bytes::new(u64::MAX >> (i % 64)), rtt);
        p.on_timer(now, queue(u64::MAX >> (i * 7 % 64)));
        let rate = rate(&mut p);
        assert!(rate.is_finite() && rate > 0.0, "{rate} after {i}");
        assert!(p.next_timer() >= now + Duration::from_micros(1));
    }
}

#[test]
fn scaling_capacity_and_rates_scales_the_rate() {
    let trajectory = |scale: u64| {
        let mut p = law(&[]).port(&LinkContext {
            rate: Rate::from_mbps(10 * scale),
            delay: Duration::ZERO,
            id: 1,
            draw: Draw::new(0),
        });
        let p = p.as_mut().unwrap();
        for i in 0..100 {
            let now = p.next_timer();
            let input = if i < 50 { 5_000 } else { 14_000 };
            (0..scale).for_each(|_| arrive(p, now, Bytes::new(input), RTT));
            p.on_timer(now, queue(if i < 50 { 0 } else { 3_000 * scale }));
        }
        rate(p) / scale as f64
    };
    near(trajectory(100), trajectory(1), 1e-9);
}

#[test]
fn headers_as_bytes() {
    let law = RcpRule::FORMATS;
    let request = RcpHeader::request(125_000.0, Duration::from_millis(40));
    let reply = RcpHeader::reply(&request);
    for (header, golden) in [
        (request, "06143300000007a100a3d70a0000000000000000"),
        (reply, "061434000000000000000000000007a100000000"),
    ] {
        let mut bytes = [0xaa; MAX_HEADER];
        assert_eq!(law.encode(&header, PACKET, &mut bytes), 20);
        let hex: std::string::String =
            bytes[..20].iter().map(|b| std::format!("{b:02x}")).collect();
        assert_eq!(hex, golden);
        // 125,000 B/s are 1953.125 units.
        let arrived = law.decode(&bytes[..20], PACKET).unwrap();
        assert_eq!(arrived.kind, header.kind);
        near(arrived.rate.get(), header.rate.get(), 1e-4);
        near(arrived.reverse_rate.get(), header.reverse_rate.get(), 1e-4);
        assert_eq!(law.quantise(arrived, PACKET), arrived, "rounded twice");
    }
}

#[test]
fn rates_a_header_cannot_hold() {
    let law = RcpRule::FORMATS;
    let most = f64::from(u32::MAX) * 64.0;
    for (rate, arrives) in [
        (0.0, 0.0),
        (-1e9, 0.0),
        (f64::NAN, 0.0),
        (1e-9, 64.0),
        (95.9, 64.0),
        (96.0, 128.0),
        (1e300, most),
        (f64::INFINITY, most),
    ] {
        let header = law.quantise(RcpHeader::request(rate, RTT), PACKET);
        assert_eq!(header.rate.get(), arrives, "{rate}");
    }
}

#[test]
fn bytes_that_are_no_header_are_refused_with_their_field() {
    let law = RcpRule::FORMATS;
    let mut good = [0; MAX_HEADER];
    law.encode(&RcpHeader::request(1e6, RTT), PACKET, &mut good);
    for (at, value, message) in [
        (1, 40, "Length: found 40, allowed 20"),
        (2, 0x23, "Version: found 2, allowed 3"),
        (2, 0x35, "Format: found 5, allowed 3 or 4"),
        (3, 1, "unused bits: found 1, allowed 0"),
        (19, 7, "unused bits: found 7, allowed 0"),
    ] {
        let mut bytes = good;
        bytes[at] = value;
        assert_eq!(law.decode(&bytes, PACKET).unwrap_err().message, message);
    }
    let short = law.decode(&good[..19], PACKET).unwrap_err();
    assert_eq!(short.message, "bytes: found 19, allowed 20 or more");
}

#[test]
fn the_receiver_returns_the_last_rate() {
    let mut sink = super::RcpSink::default();
    assert_eq!(sink.on_ack(Time::ZERO), None);
    for rate in [5e6, 3e6, 4e6] {
        sink.on_data(Time::ZERO, &RcpHeader::request(rate, RTT));
    }
    let reply = sink.on_ack(Time::ZERO).unwrap();
    assert_eq!((reply.kind, reply.reverse_rate.get()), (RcpKind::Reply, 4e6));
    sink.on_data(Time::ZERO, &reply);
    assert_eq!(sink.on_ack(Time::ZERO), Some(reply), "a reply asks for nothing");
}

fn offer(rate: f64) -> RcpHeader {
    RcpHeader::reply(&RcpHeader::request(rate, RTT))
}

#[test]
fn a_flow_that_was_opened_sends_at_the_rate_it_was_given() {
    let mut s: RcpSource = source::<Rcp>(&[]);
    let wish = s.on_open(Time::ZERO).unwrap();
    assert_eq!((wish.rate.get(), wish.rtt), (1.25e9, Duration::ZERO), "the rate of its own link");
    s.on_opened(Time::ZERO + RTT, Some(RTT), Some(&offer(1.04e6)));
    assert_eq!(s.pacing(), Some(Throughput::new(1.04e6)));
    assert_eq!(s.window(), MSS * 2000, "twenty times what the rate sends in a round trip");
    s.on_ack(&acked(), Some(&offer(2.08e6)));
    assert_eq!(s.pacing(), Some(Throughput::new(2.08e6)));
    assert_eq!(s.on_send(&sending()).unwrap().rtt, RTT);
}

#[test]
fn a_flow_without_a_rate_has_one_packet_outstanding() {
    let mut s: RcpSource = source::<Rcp>(&[]);
    let alone = |s: &RcpSource| s.window() == MSS && s.pacing().is_none();
    assert!(alone(&s), "never opened");
    s.on_opened(Time::ZERO + RTT, Some(RTT), None);
    assert!(alone(&s), "the answer had no header");
    s.on_ack(&acked(), None);
    assert!(alone(&s), "nor the acknowledgement");
    s.on_ack(&acked(), Some(&offer(1.04e6)));
    assert_eq!(s.pacing(), Some(Throughput::new(1.04e6)));
}

#[test]
fn however_low_the_rate_packets_leave_to_get_offers_of_a_higher_one() {
    let mut s: RcpSource = source::<Rcp>(&[("probe", "0.25 s")]);
    s.on_opened(Time::ZERO, Some(RTT), Some(&offer(0.0)));
    assert_eq!(s.pacing(), Some(Throughput::new(4.0 * 1040.0)));
    s.on_ack(&acked(), Some(&offer(1e6)));
    assert_eq!(s.pacing(), Some(Throughput::new(1e6)));
}

#[test]
fn rates_that_are_none_change_nothing_and_none_is_above_the_wish() {
    let mut s: RcpSource = source::<Rcp>(&[("desired", "16 Mbit/s")]);
    s.on_opened(Time::ZERO, Some(RTT), Some(&offer(1e6)));
    for (rate, sends) in [(f64::NAN, 1e6), (-5.0, 1e6), (f64::INFINITY, 2e6), (1e300, 2e6)] {
        s.on_ack(&acked(), Some(&offer(rate)));
        assert_eq!(s.pacing(), Some(Throughput::new(sends)), "{rate}");
    }
}

#[test]
fn a_loss_halves_the_rate_unless_it_is_ignored() {
    for (option, sends) in [("halve", 0.5e6), ("ignore", 1e6)] {
        let mut s: RcpSource = source::<Rcp>(&[("after_loss", option)]);
        s.on_opened(Time::ZERO, Some(RTT), Some(&offer(1e6)));
        s.on_congestion(&congestion(Signal::Loss, 10));
        s.on_ack(&Acked { in_recovery: true, ..acked() }, Some(&offer(1e6)));
        assert_eq!(s.pacing(), Some(Throughput::new(sends)), "{option}");
    }
}

/// Of two losses in a round trip the first was answered: it is not undone with the second.
#[test]
fn the_answer_to_a_loss_that_was_none_is_undone() {
    for (losses, sends) in [(1, 1e6), (2, 0.5e6)] {
        let mut s: RcpSource = source::<Rcp>(&[]);
        s.on_opened(Time::ZERO, Some(RTT), Some(&offer(1e6)));
        (0..losses).for_each(|_| s.on_congestion(&congestion(Signal::Loss, 10)));
        s.on_spurious(congestion(Signal::Loss, 10).now);
        assert_eq!(s.pacing(), Some(Throughput::new(sends)), "{losses}");
    }
}

#[test]
fn values_that_cannot_be_used_are_refused() {
    for (name, value) in
        [("slot", "0 s"), ("initial_rtt", "0 s"), ("probe", "0 s"), ("desired", "0 bit/s")]
    {
        let mut all = Options::defaults(Rcp::INFO.options);
        all.set(name, value).unwrap();
        assert_eq!(Rcp::from_options(&all).unwrap_err().option, name);
    }
}

/// A port that assumes 10 % too much capacity keeps a queue at rest, `alpha (C - y) = beta q/d`.
/// The queue can then move both ways, as the linear theory assumes.
#[test]
fn gains_with_a_phase_margin_settle_and_others_swing() {
    let swings = |alpha, beta| {
        let options = [("alpha", alpha), ("beta", beta), ("capacity", "88 Mbit/s")];
        swing(&arrivals::<RcpRule>(&options, 200))
    };
    // Margins of 12.6, 15.4 and 31.8 degrees; then -5.1, -7.2, -33.0, -37.0 and -51.7.
    for (alpha, beta) in [("0.4", "0.226"), ("0.5", "0.25"), ("0.2", "0.05")] {
        let swing = swings(alpha, beta);
        assert!(swing < 1e-4, "{alpha}, {beta} settles: {swing}");
    }
    for (alpha, beta) in [("0.4", "0.4"), ("0.5", "0.5"), ("0.5", "1"), ("0.4", "1"), ("0.1", "1")]
    {
        let swing = swings(alpha, beta);
        assert!(swing > 0.03, "{alpha}, {beta} swings: {swing}");
    }
}

#[test]
fn without_a_queue_term_the_bound_is_half_pi() {
    let swings = |alpha| swing(&arrivals::<RcpRule>(&[("alpha", alpha), ("beta", "0")], 200));
    let within = swings("1.45");
    assert!(within < 0.02, "0.92 of the bound settles: {within}");
    let beyond = swings("1.65");
    assert!(beyond > 0.2, "1.05 of the bound swings: {beyond}");
}
