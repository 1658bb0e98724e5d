//! The router's step, the sender's ramp, and the bounds of stability on both sides.

use std::format;

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::{PiRule, PiqiRcp};
use crate::law::{
    Acked, Draw, HeaderFormat, Law, LinkContext, MAX_HEADER, Named, Port, PortQueue, Source,
};
use crate::options::Options;
use crate::rcp::fluid::{arrivals, swing};
use crate::rcp::{RcpHeader, RcpRule, RcpSource, Variant};
use crate::testing::{acked, source};

const RTT: Duration = Duration::from_millis(100);

fn law<L: Named>(options: &[(&str, &str)]) -> L {
    let mut all = Options::defaults(L::INFO.options);
    for (name, value) in options {
        all.set(name, value).unwrap();
    }
    L::from_options(&all).unwrap()
}

/// `R` at the ends of two slots of 10 ms in which so many bytes arrive. `R` is 100,000 B/s before
/// them. The link has 1.25e6 B/s, and the mean RTT is 100 ms.
fn two_slots(bytes: [u64; 2], waiting: u64) -> [f64; 2] {
    let options = [
        ("integral", "0.5"),
        ("proportional", "0.5"),
        ("gamma", "0.95"),
        ("initial_rtt", "100 ms"),
        ("initial_rate", "0.08"),
    ];
    let link =
        LinkContext { rate: Rate::from_mbps(10), delay: Duration::ZERO, id: 1, draw: Draw::new(0) };
    let mut port = law::<PiqiRcp>(&options).port(&link).unwrap();
    let queue = PortQueue { bytes: Bytes::new(waiting), packets: 1 };
    bytes.map(|bytes| {
        let end = port.next_timer();
        for _ in 0..100 {
            port.on_arrival(end - Duration::from_millis(10), Bytes::new(bytes / 100), None, queue);
        }
        port.on_timer(end, queue);
        let mut header = RcpHeader::request(1e9, RTT);
        port.on_departure(end, Bytes::new(1000), Some(&mut header), queue);
        header.rate.get()
    })
}

fn near(found: f64, wanted: f64, relative: f64) {
    assert!((found - wanted).abs() <= wanted.abs() * relative, "{found} for {wanted}");
}

#[test]
fn the_router_answers_the_error_and_the_change_and_no_queue() {
    let capacity = 0.95 * 1.25e6;
    let step = |y: f64, last: f64| 1.0 + (0.05 * (capacity - y) - 0.5 * (y - last)) / capacity;
    let [first, second] = two_slots([5_000, 15_000], 0);
    near(first, 100_000.0 * step(0.5e6, 0.0), 1e-9);
    near(second, first * step(1.5e6, 0.5e6), 1e-9);
    assert_eq!(two_slots([5_000, 15_000], 1_000_000), [first, second]);
}

fn offer(rate: f64) -> RcpHeader {
    RcpHeader::reply(&RcpHeader::request(rate, RTT))
}

/// A flow that was opened 100 ms ago and is offered 10 MB/s every millisecond. Also returns its
/// rate after this time.
fn climbing(options: &[(&str, &str)], milliseconds: u64) -> (RcpSource, f64) {
    let mut s = source::<PiqiRcp>(options);
    s.on_opened(Time::ZERO, Some(RTT), Some(&offer(1e7)));
    for ms in 1..=milliseconds {
        let now = Time::ZERO + Duration::from_millis(ms);
        s.on_ack(&Acked { now, srtt: RTT, ..acked() }, Some(&offer(1e7)));
    }
    let pace = s.pacing().unwrap().get();
    (s, pace)
}

#[test]
fn a_sender_climbs_its_ramp_in_its_own_round_trips() {
    // 1 - e^-0.5 of the way, and 1 - e^-1.
    near(climbing(&[], 100).1, 1e7 * 0.3935, 0.03);
    near(climbing(&[], 200).1, 1e7 * 0.6321, 0.02);
    assert_eq!(climbing(&[("ramp", "0")], 0).1, 1e7);
}

#[test]
fn its_first_packet_goes_as_the_ramp_from_nothing_would_send_it() {
    // sqrt(ramp R packet / (2 RTT)): a slope of 5e7 B/s^2 sends 1040 bytes in 6.45 ms.
    near(climbing(&[], 0).1, 1040.0 / 0.006_450, 1e-3);
}

#[test]
fn it_falls_at_once_or_by_the_ramp() {
    for option in ["at-once", "ramp"] {
        let (mut s, _) = climbing(&[("fall", option)], 100);
        let mut pace_after = |ms| {
            let now = Time::ZERO + Duration::from_millis(ms);
            s.on_ack(&Acked { now, srtt: RTT, ..acked() }, Some(&offer(1e6)));
            s.pacing().unwrap().get()
        };
        let (at_once, later) = (pace_after(100), pace_after(110));
        let wanted = if option == "at-once" { 1e6 } else { at_once + 0.05 * (1e6 - at_once) };
        near(later, wanted, 1e-9);
        assert_eq!(at_once == 1e6, option == "at-once");
    }
}

#[test]
fn after_a_pause_it_climbs_no_more_than_a_round_trip_does() {
    let (mut s, before) = climbing(&[], 100);
    let now = Time::ZERO + Duration::from_secs(60);
    s.on_ack(&Acked { now, srtt: RTT, ..acked() }, None);
    near(s.pacing().unwrap().get(), before + 0.5 * (1e7 - before), 1e-9);
}

#[test]
fn its_headers_are_not_taken_for_rcps() {
    let mut bytes = [0; MAX_HEADER];
    let header = RcpHeader::request(64e6, Duration::from_millis(500));
    let len = PiRule::FORMATS.encode(&header, Bytes::new(1000), &mut bytes);
    assert_eq!(bytes[..4], [6, 20, 0x35, 0]);
    assert_eq!(PiRule::FORMATS.decode(&bytes[..len], Bytes::new(1000)), Ok(header));
    let refused = RcpRule::FORMATS.decode(&bytes[..len], Bytes::new(1000)).unwrap_err();
    assert_eq!(refused.message, "Format: found 5, allowed 3 or 4");
}

#[test]
fn it_settles_within_the_bound_and_swings_beyond() {
    let swings = |proportional: f64, ramp: f64, integral: f64| {
        let [p, k, i] = [proportional, ramp, integral].map(|gain| format!("{gain}"));
        let options = [("integral", &*i), ("proportional", &p), ("ramp", &k), ("fall", "ramp")];
        let shares = arrivals::<PiRule>(&options, 150);
        (swing(&shares[..shares.len() / 2]), swing(&shares))
    };
    for (proportional, ramp, bound) in [
        (0.0, 0.0, 1.571),
        (0.25, 0.0, 1.766),
        (0.44, 0.0, 1.820),
        (0.5, 0.0, 1.814),
        (0.75, 0.0, 1.600),
        (0.0, 0.25, 1.040),
        (0.0, 0.5, 1.075),
        (0.0, 0.6, 1.088),
        (0.0, 1.0, 1.135),
        (0.0, 2.0, 1.223),
        (0.25, 0.5, 1.300),
        (0.5, 0.5, 1.504),
        (0.75, 0.25, 1.716),
    ] {
        let gains = format!("proportional {proportional}, ramp {ramp}");
        let (early, late) = swings(proportional, ramp, 0.95 * bound);
        assert!(late < 0.5 * early && late < 0.25, "{gains} within: {early}, then {late}");
        let (early, late) = swings(proportional, ramp, 1.05 * bound);
        assert!(late > 0.7 * early && late > 0.35, "{gains} beyond: {early}, then {late}");
    }
}

#[test]
fn the_defaults_settle_where_gamma_says() {
    let shares = arrivals::<PiRule>(&[], 100);
    assert!(swing(&shares) < 1e-3);
    near(*shares.last().unwrap(), 0.95, 1e-3);
}
