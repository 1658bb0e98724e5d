//! The equilibrium that EMKC's equations imply, and its stability.

use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::{Emkc, EmkcHeader};
use crate::feedback::rig::{FLOW, NO_QUEUE, PACKET, Rig, law, near, port, secs};
use crate::law::{HeaderFormat, Law, MAX_HEADER, Port, Signal, Source};
use crate::testing::{acked, congestion, sending};
use crate::trust::{Grant, Trust};

const RTT: Duration = Duration::from_millis(50);

fn pass(port: &mut super::EmkcPort, mut header: EmkcHeader) -> EmkcHeader {
    port.on_arrival(Time::ZERO, PACKET, Some(&mut header), NO_QUEUE);
    port.on_departure(Time::ZERO, PACKET, Some(&mut header), NO_QUEUE);
    header
}

fn rate(source: &super::EmkcSource) -> f64 {
    source.pacing().unwrap().get()
}

fn sent(source: &mut super::EmkcSource) -> EmkcHeader {
    source.on_send(&sending()).unwrap()
}

/// Answers of router 1, from an interval that has seen only this round.
fn answer(source: &mut super::EmkcSource, loss: f64) {
    let marker = sent(source).marker;
    for number in [0, 2] {
        let header = EmkcHeader { router: 1, number, loss, ..EmkcHeader::new(marker) };
        source.on_ack(&acked(), Some(&header));
    }
}

#[test]
fn the_price_is_the_share_of_the_load_beyond_gamma_c() {
    // gamma C 90 Mbit/s: 150 packets in 20 ms.
    let mut p = port::<Emkc>(&[], Rate::from_mbps(100), 7);
    let written = pass(&mut p, EmkcHeader::new(0));
    near(written.loss, -149.0, 1e-9);
    for _ in 0..199 {
        pass(&mut p, EmkcHeader::new(0));
    }
    p.on_timer(secs(0.02), NO_QUEUE);
    let written = pass(&mut p, EmkcHeader::new(0));
    near(written.loss, 0.25, 1e-9);
    assert_eq!((written.router, written.number), (7, 1));
    p.on_timer(secs(0.04), NO_QUEUE);
    near(pass(&mut p, EmkcHeader::new(0)).loss, -149.0, 1e-9);
}

#[test]
fn only_a_larger_price_overwrites() {
    let mut p = port::<Emkc>(&[("gamma", "1")], Rate::from_mbps(60), 7);
    for _ in 0..200 {
        pass(&mut p, EmkcHeader::new(0));
    }
    p.on_timer(secs(0.02), NO_QUEUE);
    for (loss, router) in [(0.4, 7), (0.5, 3), (0.6, 3)] {
        let upstream = EmkcHeader { router: 3, number: 9, loss, ..EmkcHeader::new(0) };
        let written = pass(&mut p, upstream);
        assert_eq!(written.router, router, "{loss}");
        let back = EmkcHeader { returned: true, ..upstream };
        assert_eq!(pass(&mut p, back), back, "answers are left alone");
    }
}

#[test]
fn a_source_acts_once_a_round_on_a_price_it_has_caused() {
    let mut source = law::<Emkc>(&[]).source(&FLOW);
    let start = 125_000.0;
    answer(&mut source, -1.0);
    let after = start + 25_000.0 + 0.5 * start;
    near(rate(&source), after, 1e-9);
    let fresh = EmkcHeader { router: 1, loss: -1.0, ..EmkcHeader::new(sent(&mut source).marker) };
    for (number, marker) in
        [(5, fresh.marker), (6, fresh.marker), (7, fresh.marker.wrapping_sub(1))]
    {
        source.on_ack(&acked(), Some(&EmkcHeader { number, marker, ..fresh }));
        assert_eq!(rate(&source), after, "{number}");
    }
    source.on_ack(&acked(), Some(&EmkcHeader { number: 7, ..fresh }));
    near(rate(&source), 1.5 * after + 25_000.0, 1e-9);
}

/// Rates and price of `n` flows once they have settled, in Mbit/s.
fn equilibrium(options: &[(&str, &str)], n: usize, end: f64) -> (Vec<f64>, f64) {
    let mut rig = Rig::<Emkc>::new(options, &[Rate::from_mbps(155)]);
    for i in 0..n {
        rig.run_until(0.0073 * i as f64);
        rig.start(&[0], RTT);
    }
    rig.run_until(end);
    let mut price = 0.0;
    let mut rates: Vec<f64> = alloc::vec![0.0; n];
    for step in 1..=100_u32 {
        rig.run_until(end + 0.02 * f64::from(step));
        price += pass(&mut rig.ports[0], EmkcHeader::new(0)).loss / 100.0;
        for (mean, rate) in rates.iter_mut().zip(rig.rates()) {
            *mean += rate * 8e-6 / 100.0;
        }
    }
    (rates, price)
}

#[test]
fn the_published_constants_settle_where_the_equations_say() {
    for (n, rate, price) in
        [(1, 155.4, 0.0026), (10, 15.9, 0.0252), (50, 3.5, 0.1143), (100, 1.95, 0.2051)]
    {
        // Differences shrink by 1 - beta p a round of some 90 ms: the end is after six time
        // constants.
        let end = (6.0_f64 * 0.09 / (0.5 * price)).min(45.0);
        let (rates, found) = equilibrium(&[("gamma", "1")], n, end);
        near(rates.iter().sum::<f64>() / n as f64, rate, 0.01);
        for found in rates {
            near(found, rate, 0.05);
        }
        // Means over 100 intervals, each of which counts whole packets.
        assert!((found - price).abs() < 0.003, "{found} for {price}");
    }
}

#[test]
fn with_virtual_capacity_the_link_is_not_full() {
    let (rates, _) = equilibrium(&[], 10, 4.0);
    let sum: f64 = rates.iter().sum();
    near(sum, 0.9 * 155.0 + 10.0 * 0.4, 0.01);
    assert!(sum < 155.0);
}

#[test]
fn the_sum_comes_exponentially_and_shares_slowly() {
    let mut rig = Rig::<Emkc>::new(&[], &[Rate::from_mbps(100)]);
    rig.start(&[0], RTT);
    rig.run_until(1.0);
    near(rig.rates()[0] * 8e-6, 90.4, 0.02);
    rig.start(&[0], RTT);
    rig.run_until(2.0);
    let [first, second] = rig.rates()[..] else { unreachable!() };
    near((first + second) * 8e-6, 90.8, 0.02);
    assert!(second < first / 5.0, "a second is far too short for equal shares: {first}, {second}");
    rig.run_until(150.0);
    for rate in rig.rates() {
        near(rate * 8e-6, 45.4, 0.05);
    }
}

#[test]
fn stable_below_beta_2_whatever_the_delay() {
    // Deviation of the sum from its equilibrium, worst over a second that begins at 5 s.
    let deviation = |beta: &str, rtt: Duration| {
        let mut rig = Rig::<Emkc>::new(&[("beta", beta)], &[Rate::from_mbps(100)]);
        rig.start(&[0], rtt);
        let equilibrium = 90e6 / 8.0 + 25_000.0 / beta.parse::<f64>().unwrap();
        let mut worst = 0.0_f64;
        for step in 0..100_u32 {
            rig.run_until(5.0 + 0.01 * f64::from(step));
            worst = worst.max((rig.rates()[0] / equilibrium - 1.0).abs());
        }
        worst
    };
    for rtt in [5, 50, 150] {
        let rtt = Duration::from_millis(rtt);
        assert!(deviation("0.5", rtt) < 0.02);
        assert!(deviation("1.5", rtt) < 0.05);
        assert!(deviation("2.5", rtt) > 0.2);
    }
}

#[test]
fn the_larger_loss_of_two_links_rules() {
    let mut rig = Rig::<Emkc>::new(&[], &[Rate::from_mbps(100), Rate::from_mbps(40)]);
    rig.start(&[0, 1], RTT);
    rig.start(&[0], RTT);
    rig.run_until(30.0);
    let [long, short] = rig.rates()[..] else { unreachable!() };
    near(long * 8e-6, 36.4, 0.05);
    near((long + short) * 8e-6, 90.4, 0.05);
}

#[test]
fn the_header_is_laid_out_as_documented() {
    let header =
        EmkcHeader { returned: false, marker: 9, number: 0x0102, router: 0x0304_0506, loss: -2.0 };
    let golden = [1, 9, 1, 2, 3, 4, 5, 6, 0xC0, 0, 0, 0];
    let emkc = law::<Emkc>(&[]);
    let mut bytes = [0; MAX_HEADER];
    let len = emkc.encode(&header, PACKET, &mut bytes);
    assert_eq!(bytes[..len], golden);
    assert_eq!(Bytes::new(len as u64), emkc.length());
    assert_eq!(emkc.decode(&golden, PACKET).unwrap(), header);
    assert_eq!(emkc.quantise(EmkcHeader::new(0), PACKET), EmkcHeader::new(0));
}

#[test]
fn bytes_that_are_no_header_are_refused() {
    let emkc = law::<Emkc>(&[]);
    let refused = |bytes: &[u8]| emkc.decode(bytes, PACKET).unwrap_err().message;
    assert_eq!(refused(&[1; 11]), "11 bytes, where the header takes 12");
    assert_eq!(refused(&[0; 12]), "format 0, where there are 1 and 2");
    assert_eq!(refused(&[1, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0]), "loss of more than everything");
    assert_eq!(
        refused(&[1, 0, 0, 0, 0, 0, 0, 0, 0x7F, 0xC0, 0, 0]),
        "loss NaN, where -inf is the least"
    );
}

#[test]
fn hostile_prices_keep_the_rate_usable() {
    let mut p = port::<Emkc>(&[], Rate::ZERO, 7);
    p.on_timer(secs(0.02), NO_QUEUE);
    assert_eq!(pass(&mut p, EmkcHeader::new(0)).loss, 1.0);
    let mut source = law::<Emkc>(&[]).source(&FLOW);
    for loss in [1.0, 1.0, -1e30, f64::NAN, 1.0, f64::NEG_INFINITY] {
        answer(&mut source, loss);
        let rate = source.pacing().unwrap().get();
        assert!((1500.0..=1.25e9).contains(&rate), "{rate} after {loss}");
    }
}

#[test]
fn while_a_loss_holds_the_rate_the_law_takes_no_more() {
    let mut s = law::<Emkc>(&[("initial_rate", "8 Mbit/s")]).source(&FLOW);
    answer(&mut s, 0.0);
    let before = rate(&s);
    s.on_congestion(&congestion(Signal::Loss, 10));
    let halved = rate(&s);
    near(halved, before / 2.0, 1e-9);
    // The link is half idle: without the cap each answer would grow x by half and more.
    for _ in 0..5 {
        answer(&mut s, -1.0);
    }
    let granted = s.reason().figures.iter().find(|f| f.name == "x").unwrap().value;
    assert!(granted <= before * (1.0 + 1e-9), "{granted} after {before}");
    assert!(rate(&s) > halved, "a packet an RTT more each RTT");
}

#[test]
fn the_grant_of_a_price_is_what_its_source_makes_of_it() {
    let header = EmkcHeader { loss: 0.25, ..EmkcHeader::new(0) };
    let grant = Grant::Step(1.0 - 0.5 * 0.25, Throughput::new(25_000.0));
    assert_eq!(law::<Emkc>(&[]).grant(&header), Some(grant));
}
