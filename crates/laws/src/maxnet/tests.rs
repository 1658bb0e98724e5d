//! The equilibrium, its stability, and the price of a newcomer.

use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::{Maxnet, MaxnetHeader};
use crate::feedback::rig::{FLOW, NO_QUEUE, PACKET, Rig, law, near, port, secs};
use crate::law::{FlowContext, HeaderFormat, Law, MAX_HEADER, Port, Source};
use crate::testing::acked;
use crate::trust::{Grant, Trust};

const LINK: Rate = Rate::from_mbps(100);
/// `mu C`, B/s.
const TARGET: f64 = 0.96 * 12.5e6;
const X_MAX: f64 = 1.25e11;
const RTT: Duration = Duration::from_millis(50);

fn pass(port: &mut super::MaxnetPort, mut header: MaxnetHeader) -> MaxnetHeader {
    port.on_arrival(Time::ZERO, PACKET, Some(&mut header), NO_QUEUE);
    port.on_departure(Time::ZERO, PACKET, Some(&mut header), NO_QUEUE);
    header
}

fn price(port: &mut super::MaxnetPort) -> f64 {
    pass(port, MaxnetHeader::new()).price
}

#[test]
fn the_price_integrates_the_surplus() {
    // mu C is 80 packets in 10 ms.
    let mut p = port::<Maxnet>(&[], LINK, 1);
    let floor = libm::log(X_MAX / TARGET);
    for _ in 0..120 {
        pass(&mut p, MaxnetHeader::new());
    }
    p.on_timer(secs(0.01), NO_QUEUE);
    near(price(&mut p) - floor, 4.0 * 0.01 * 0.5, 1e-9);
    p.on_timer(secs(0.02), NO_QUEUE);
    assert_eq!(price(&mut p), floor, "and never goes below one flow's");
    let mut p = port::<Maxnet>(&[("floor", "zero")], LINK, 1);
    assert_eq!(price(&mut p), 0.0);
}

#[test]
fn the_largest_price_of_the_way_is_kept() {
    let mut p = port::<Maxnet>(&[], LINK, 1);
    let own = price(&mut p);
    for (came, leaves) in [(own - 1.0, own), (own + 1.0, own + 1.0)] {
        let written = pass(&mut p, MaxnetHeader { returned: false, price: came });
        assert_eq!(written.price, leaves);
        let back = MaxnetHeader { returned: true, price: came };
        assert_eq!(pass(&mut p, back), back, "answers are left alone");
    }
}

#[test]
fn flows_share_mu_c_at_the_price_the_equations_say() {
    for n in [1_u32, 4, 20] {
        let mut rig = Rig::<Maxnet>::new(&[], &[LINK]);
        for i in 0..n {
            rig.start(&[0], Duration::from_millis(20 + u64::from(i) * 3));
        }
        rig.run_until(8.0);
        for rate in rig.rates() {
            near(rate, TARGET / f64::from(n), 0.02);
        }
        near(price(&mut rig.ports[0]), libm::log(f64::from(n) * X_MAX / TARGET), 0.001);
    }
}

/// Deviations of the price from its equilibrium for two flows, over time after one has joined the
/// other.
fn deviations(k: &str, rtt: f64) -> Vec<f64> {
    let mut rig = Rig::<Maxnet>::new(&[("k", k)], &[LINK]);
    let rtt_of = Duration::from_secs_f64(rtt);
    rig.start(&[0], rtt_of);
    rig.run_until(10.0 * rtt);
    rig.start(&[0], rtt_of);
    let equilibrium = libm::log(2.0 * X_MAX / TARGET);
    (1..=400)
        .map(|step| {
            rig.run_until((10.0 + 0.1 * f64::from(step)) * rtt);
            price(&mut rig.ports[0]) - equilibrium
        })
        .collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| value.abs().max(largest))
}

#[test]
fn stable_while_k_d_is_below_half_pi() {
    // d 0.5 s, so that the measuring interval (half of which adds to the delay) hardly counts.
    let monotone = deviations("0.7", 0.5);
    assert!(monotone.iter().all(|d| *d < 0.01), "k d 0.35 does not overshoot");
    let past_1_over_e = deviations("1.2", 0.5);
    assert!(past_1_over_e.iter().any(|d| *d > 0.01), "k d 0.6 does");
    let damped = deviations("2.4", 0.5);
    assert!(largest(&damped[100..200]) > 0.1, "k d 1.2 oscillates");
    assert!(largest(&damped[350..]) < largest(&damped[100..200]) / 2.0, "and comes to rest");
    let growing = deviations("4", 0.5);
    assert!(largest(&growing[350..]) > 0.5, "k d 2.0 does not");
}

#[test]
fn a_newcomer_costs_its_price_in_surplus_bytes() {
    // The price of two flows is higher by ln 2, which takes ln 2 mu C / k bytes beyond mu C.
    let mut rig = Rig::<Maxnet>::new(&[], &[LINK]);
    rig.start(&[0], RTT);
    rig.run_until(1.0);
    rig.start(&[0], RTT);
    let mut surplus = 0.0;
    let step = 0.001;
    for i in 1..=3000_u32 {
        rig.run_until(1.0 + f64::from(i) * step);
        // A flow does not send before its first answer.
        let sending = if i <= 50 { 1 } else { 2 };
        surplus += (rig.rates()[..sending].iter().sum::<f64>() - TARGET) * step;
    }
    near(surplus, core::f64::consts::LN_2 * TARGET / 4.0, 0.03);
}

#[test]
fn two_links_are_shared_max_min() {
    let mut rig = Rig::<Maxnet>::new(&[], &[Rate::from_mbps(80), LINK]);
    let long = rig.start(&[0, 1], RTT);
    let cross = rig.start(&[1], RTT);
    rig.run_until(4.0);
    near(rig.rates()[long], TARGET / 2.0, 0.02);
    near(rig.rates()[cross], TARGET / 2.0, 0.02);
    rig.stop(cross);
    rig.run_until(8.0);
    near(rig.rates()[long], 0.96 * 10e6, 0.02);
}

#[test]
fn speed_changes_nothing_but_the_scale() {
    // Capacity, demand, initial rate and packets ten times as large: the same trajectory.
    let run = |scale: u64| {
        let x_max = alloc::format!("{scale} Tbit/s");
        let initial = alloc::format!("{scale} Mbit/s");
        let options = [("x_max", &x_max[..]), ("initial_rate", &initial)];
        let mut rig = Rig::<Maxnet>::new(&options, &[Rate::from_mbps(100 * scale)]);
        let mut seen = Vec::new();
        for end in 1..20_u32 {
            if end % 5 == 1 {
                rig.start_as(&FlowContext { packet: PACKET * scale, ..FLOW }, &[0], RTT);
            }
            rig.run_until(f64::from(end) * 0.1);
            seen.push(rig.rates().iter().map(|r| r / scale as f64).collect::<Vec<_>>());
        }
        seen
    };
    for (one, ten) in run(1).iter().zip(run(10)) {
        for (a, b) in one.iter().zip(ten) {
            near(b, *a, 1e-6);
        }
    }
}

#[test]
fn a_link_without_capacity_keeps_its_price() {
    let mut p = port::<Maxnet>(&[], LINK, 1);
    let before = price(&mut p);
    p.on_rate_change(secs(0.001), Rate::ZERO);
    p.on_timer(secs(0.01), NO_QUEUE);
    assert_eq!(price(&mut p), before);
    p.on_rate_change(secs(0.011), Rate::from_mbps(10));
    p.on_timer(secs(0.02), NO_QUEUE);
    near(price(&mut p), before + core::f64::consts::LN_10, 1e-9);
}

#[test]
fn a_price_does_not_wind_up() {
    let mut p = port::<Maxnet>(&[("k", "1000")], Rate::from_bps(800), 1);
    for i in 1..100 {
        pass(&mut p, MaxnetHeader::new());
        p.on_timer(secs(0.01 * f64::from(i)), NO_QUEUE);
    }
    near(X_MAX * libm::exp(-price(&mut p)), 1000.0, 1e-9);
}

#[test]
fn the_header_is_laid_out_as_documented() {
    let maxnet = law::<Maxnet>(&[]);
    let header = MaxnetHeader { returned: true, price: 2.5 };
    let golden = [2, 0, 0, 0, 0x40, 0x20, 0, 0];
    let mut bytes = [0; MAX_HEADER];
    let len = maxnet.encode(&header, PACKET, &mut bytes);
    assert_eq!(bytes[..len], golden);
    assert_eq!(Bytes::new(len as u64), maxnet.length());
    assert_eq!(maxnet.decode(&golden, PACKET).unwrap(), header);
    assert_eq!(maxnet.quantise(MaxnetHeader::new(), PACKET), MaxnetHeader::new());
}

#[test]
fn bytes_that_are_no_header_are_refused() {
    let maxnet = law::<Maxnet>(&[]);
    let refused = |bytes: &[u8]| maxnet.decode(bytes, PACKET).unwrap_err().message;
    assert_eq!(refused(&[1; 7]), "7 bytes, where the header takes 8");
    assert_eq!(refused(&[9, 0, 0, 0, 0, 0, 0, 0]), "format 9, where there are 1 and 2");
    assert_eq!(refused(&[1, 0, 1, 0, 0, 0, 0, 0]), "bytes 1 to 3 are not zero");
    assert_eq!(refused(&[1, 0, 0, 0, 0x7F, 0xC0, 0, 0]), "price NaN, where -inf is the least");
}

#[test]
fn hostile_prices_keep_the_rate_usable() {
    let mut source = law::<Maxnet>(&[]).source(&FLOW);
    for price in [f64::NEG_INFINITY, -1e300, f64::NAN, 1e300, f64::INFINITY] {
        source.on_ack(&acked(), Some(&MaxnetHeader { returned: true, price }));
        let rate = source.pacing().unwrap().get();
        assert!((1500.0..=1.25e9).contains(&rate), "{rate} after {price}");
    }
}

#[test]
fn the_grant_of_a_price_is_what_its_source_makes_of_it() {
    let header = MaxnetHeader { price: 0.25, ..MaxnetHeader::new() };
    let grant = Grant::Rate(Throughput::new(125e9 * libm::exp(-0.25)));
    assert_eq!(law::<Maxnet>(&[]).grant(&header), Some(grant));
}
