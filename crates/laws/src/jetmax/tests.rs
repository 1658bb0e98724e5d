//! Step vectors, `(1 - tau)^n`, equilibria with one bottleneck and two, and invalid answers of
//! routers.

use alloc::vec;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::{Jetmax, JetmaxHeader};
use crate::feedback::rig::{FLOW, NO_QUEUE, PACKET, Rig, law, near, port, secs};
use crate::law::{Acked, FlowContext, HeaderFormat, Law, MAX_HEADER, Port, Sending, Source};
use crate::testing::{acked, sending};
use crate::trust::{Grant, Hand, Lie, Trust};

const LINK: Rate = Rate::from_mbps(100);
/// `gamma C`, B/s.
const TARGET: f64 = 0.95 * 12.5e6;
const RTT: Duration = Duration::from_millis(50);

/// Header of a packet of a flow bound by `bottleneck`.
fn packet(bottleneck: u32, gap: f64) -> JetmaxHeader {
    JetmaxHeader::new(bottleneck, 0, gap)
}

fn pass(port: &mut super::JetmaxPort, mut header: JetmaxHeader) -> JetmaxHeader {
    port.on_arrival(Time::ZERO, PACKET, Some(&mut header), NO_QUEUE);
    port.on_departure(Time::ZERO, PACKET, Some(&mut header), NO_QUEUE);
    header
}

fn rate(source: &super::JetmaxSource) -> f64 {
    source.pacing().unwrap().get()
}

fn sent(source: &mut super::JetmaxSource) -> JetmaxHeader {
    source.on_send(&sending()).unwrap()
}

fn acknowledge(source: &mut super::JetmaxSource, header: &JetmaxHeader) {
    source.on_ack(&acked(), Some(header));
}

fn figure(port: &super::JetmaxPort, name: &str) -> f64 {
    port.reason().figures.iter().find(|f| f.name == name).unwrap().value
}

/// A source that router 1 has just bound: it acts on that router's next answer.
fn settled(options: &[(&str, &str)]) -> (super::JetmaxSource, u8) {
    let mut source = law::<Jetmax>(options).source(&FLOW);
    acknowledge(&mut source, &JetmaxHeader { proposed: 1, ..packet(0, 0.0) });
    let marker = sent(&mut source).marker;
    acknowledge(&mut source, &JetmaxHeader { marker, fair: 0.0, number: 0, ..packet(1, 0.0) });
    (source, marker)
}

/// Answers of a router that gives this rate, one a round trip.
fn answer(source: &mut super::JetmaxSource, fair: f64) {
    let marker = sent(source).marker;
    acknowledge(source, &JetmaxHeader { marker, fair, number: 2, ..packet(1, 0.0) });
}

#[test]
fn a_source_that_is_held_back_takes_less_and_no_more() {
    for (fair, expected) in [(2e6, 1.0), (0.5e6, 0.7)] {
        let (mut source, _) = settled(&[]);
        answer(&mut source, 1e6);
        let before = rate(&source);
        let fair = before * fair / 1e6;
        let marker = sent(&mut source).marker;
        let header = JetmaxHeader { marker, fair, number: 2, ..packet(1, 0.0) };
        source.on_ack(&Acked { limited: true, ..acked() }, Some(&header));
        near(rate(&source), expected * before, 1e-9);
    }
}

#[test]
fn a_port_counts_flows_and_shares_what_others_leave() {
    // 50 ms: two flows of 100 packets, gaps of 0.5 ms, and 50 packets of others.
    let mut p = port::<Jetmax>(&[], LINK, 7);
    for _ in 0..200 {
        pass(&mut p, packet(7, 0.0005));
    }
    for _ in 0..50 {
        p.on_arrival(Time::ZERO, PACKET, None, NO_QUEUE);
    }
    p.on_timer(secs(0.05), NO_QUEUE);
    let written = pass(&mut p, packet(7, 0.0005));
    let others = 50.0 * 1500.0 / 0.05;
    // The gap travels as binary32.
    near(written.fair, (TARGET - others) / 2.0, 1e-7);
    assert_eq!((written.number, written.proposed), (1, 0));
    let proposed = pass(&mut p, packet(3, 0.0005));
    assert_eq!((proposed.proposed, proposed.fair), (7, f64::INFINITY));
    near(f64::from(proposed.loss), 1.0 - TARGET / (250.0 * 1500.0 / 0.05), 1e-7);
    assert_eq!(proposed.proposed_fair, written.fair);
}

#[test]
fn the_router_with_the_largest_loss_proposes_itself() {
    let slow = port::<Jetmax>(&[], Rate::from_mbps(50), 1);
    let fast = port::<Jetmax>(&[], Rate::from_mbps(100), 2);
    for mut way in [[slow.clone(), fast.clone()], [fast, slow]] {
        let [first, second] = &mut way;
        let written = pass(second, pass(first, packet(0, 0.01)));
        assert_eq!(written.proposed, 1, "the rates of idle links distinguish them");
        near(written.proposed_fair, 0.95 * 6.25e6, 1e-9);
    }
}

#[test]
fn a_port_that_binds_no_flow_offers_all_or_nothing() {
    let mut p = port::<Jetmax>(&[], LINK, 7);
    let offer = |p: &mut super::JetmaxPort, packets: u32, end: f64| {
        for _ in 0..packets {
            pass(p, packet(3, 0.001));
        }
        p.on_timer(secs(end), NO_QUEUE);
        pass(p, packet(7, 0.001)).fair
    };
    // gamma C is 396 packets in 50 ms.
    assert_eq!(offer(&mut p, 398, 0.05), TARGET);
    let mut p = port::<Jetmax>(&[], LINK, 7);
    assert_eq!(offer(&mut p, 420, 0.05), 0.0);
}

#[test]
fn answers_on_their_way_back_are_traffic_and_no_more() {
    let mut p = port::<Jetmax>(&[], LINK, 7);
    let back = JetmaxHeader { returned: true, ..packet(7, 0.01) };
    assert_eq!(pass(&mut p, back), back);
    p.on_timer(secs(0.05), NO_QUEUE);
    assert_eq!((figure(&p, "N"), figure(&p, "u")), (0.0, 1500.0 / 0.05));
}

#[test]
fn the_error_shrinks_by_one_minus_tau_each_round() {
    for (tau, rounds) in
        [(0.1, 44), (0.3, 13), (0.5, 7), (0.6, 6), (0.75, 4), (0.9, 2), (1.5, 7), (1.9, 44)]
    {
        let (mut source, _) = settled(&[("tau", &alloc::format!("{tau}"))]);
        let error = |source: &super::JetmaxSource| (rate(source) / 1e8 - 1.0).abs();
        let start = error(&source);
        for n in 1..=rounds {
            let before = error(&source);
            answer(&mut source, 1e8);
            near(error(&source), (1.0_f64 - tau).abs() * before, 1e-6);
            assert_eq!(
                error(&source) <= 0.01 * start * (1.0 + 1e-9),
                n == rounds,
                "tau {tau}, {n}"
            );
        }
    }
}

#[test]
fn beyond_tau_2_the_error_grows() {
    let (mut source, _) = settled(&[("tau", "2.1")]);
    let mut error = rate(&source) - 2e5;
    for _ in 0..3 {
        answer(&mut source, 2e5);
        error *= 1.0 - 2.1;
        near(rate(&source), 2e5 + error, 1e-9);
    }
}

#[test]
fn a_round_acts_once_and_only_on_what_it_has_caused() {
    let (mut source, marker) = settled(&[]);
    let before = rate(&source);
    let returned = JetmaxHeader { marker, fair: 1e6, number: 2, ..packet(1, 0.0) };
    acknowledge(&mut source, &returned);
    let after = rate(&source);
    near(after, before + 0.6 * (1e6 - before), 1e-9);
    acknowledge(&mut source, &returned);
    assert_eq!(rate(&source), after);
}

#[test]
fn a_newcomer_waits_until_it_is_counted() {
    let (mut source, marker) = settled(&[]);
    let before = rate(&source);
    acknowledge(&mut source, &JetmaxHeader { marker, fair: 1e6, number: 1, ..packet(1, 0.0) });
    assert_eq!(rate(&source), before);
}

#[test]
fn a_switch_is_approved_where_the_other_router_gives_less() {
    for (offer, bottleneck) in [(0.985e6, 1), (0.97e6, 2), (0.0, 2)] {
        let (mut source, marker) = settled(&[("tau", "1")]);
        acknowledge(
            &mut source,
            &JetmaxHeader {
                marker,
                fair: 1e6,
                number: 2,
                proposed: 2,
                loss: 0.1,
                proposed_fair: offer,
                ..packet(1, 0.0)
            },
        );
        assert_eq!(sent(&mut source).bottleneck, bottleneck, "{offer}");
        // A step towards the offer, if it is above 0.
        let goal = if bottleneck == 2 && offer > 0.0 { offer } else { 1e6 };
        assert_eq!(rate(&source), goal);
    }
}

#[test]
fn a_bottleneck_that_is_no_longer_on_the_way_is_left() {
    let (mut source, marker) = settled(&[]);
    let gone =
        JetmaxHeader { marker, proposed: 4, loss: -0.5, proposed_fair: 1e6, ..packet(1, 0.0) };
    acknowledge(&mut source, &gone);
    assert_eq!(sent(&mut source).bottleneck, 4);
}

#[test]
fn equal_flows_share_gamma_c_and_newcomers_do_not_overshoot() {
    let mut rig = Rig::<Jetmax>::new(&[], &[LINK]);
    for n in 1..=4_u32 {
        rig.start(&[0], RTT);
        let began = f64::from(n - 1) * 2.0;
        let mut end = began;
        while end < began + 2.0 {
            end += 0.01;
            rig.run_until(end);
            let sum: f64 = rig.rates().iter().sum();
            // A count is off by a gap per flow and interval: 2 % for the initial rate alone.
            assert!(sum < 1.04 * TARGET, "{sum} at {end}");
        }
        for rate in rig.rates() {
            near(rate, TARGET / f64::from(n), 0.02);
        }
    }
}

#[test]
fn stable_up_to_tau_2_whatever_the_delay() {
    for (tau, stable) in [("0.3", true), ("1", true), ("1.5", true), ("1.8", true), ("2.2", false)]
    {
        for rtt in [20, 50, 300] {
            let mut rig = Rig::<Jetmax>::new(&[("tau", tau)], &[LINK]);
            rig.start(&[0], Duration::from_millis(rtt));
            let mut worst = 0.0_f64;
            for step in 0..100_u32 {
                rig.run_until(20.0 + 0.02 * f64::from(step));
                worst = worst.max((rig.rates()[0] / TARGET - 1.0).abs());
            }
            if stable {
                assert!(worst < 0.05, "tau {tau}, {rtt} ms: {worst}");
            } else {
                assert!(worst > 0.5, "tau {tau}, {rtt} ms: {worst}");
            }
        }
    }
}

#[test]
fn a_source_short_of_data_counts_for_what_it_uses() {
    let mut source = law::<Jetmax>(&[]).source(&FLOW);
    // 1 Mbit/s: 12 ms a packet.
    for (now, gap) in [(0.0, 0.012), (0.012, 0.012), (0.017, 0.005), (0.1, 0.012)] {
        let sending = Sending { now: secs(now), packet: PACKET, ..sending() };
        near(f64::from(source.on_send(&sending).unwrap().gap), gap, 1e-7);
    }
}

#[test]
fn flows_of_other_laws_are_left_room() {
    let mut rig = Rig::<Jetmax>::new(&[], &[LINK]);
    rig.start(&[0], RTT);
    rig.start(&[0], RTT.scale(3.0));
    // u: a packet each 0.4 ms, 30 Mbit/s.
    for i in 0..7500_u32 {
        rig.run_until(f64::from(i) * 0.0004);
        rig.ports[0].on_arrival(rig.now, PACKET, None, NO_QUEUE);
    }
    for rate in rig.rates() {
        near(rate, (TARGET - 3.75e6) / 2.0, 0.02);
    }
}

#[test]
fn two_bottlenecks_are_shared_max_min() {
    // One flow over 80 and 100 Mbit/s; from 2 s to 4 s another over the second link only.
    let mut rig = Rig::<Jetmax>::new(&[], &[Rate::from_mbps(80), LINK]);
    let long = rig.start(&[0, 1], RTT);
    rig.run_until(2.0);
    assert_eq!(sent(&mut rig.flows[long].source).bottleneck, 1);
    near(rig.rates()[long], 0.95 * 10e6, 0.02);
    let cross = rig.start(&[1], RTT);
    rig.run_until(4.0);
    assert_eq!(sent(&mut rig.flows[long].source).bottleneck, 2);
    near(rig.rates()[long], TARGET / 2.0, 0.02);
    near(rig.rates()[cross], TARGET / 2.0, 0.02);
    rig.stop(cross);
    rig.run_until(6.0);
    assert_eq!(sent(&mut rig.flows[long].source).bottleneck, 1);
    near(rig.rates()[long], 0.95 * 10e6, 0.02);
}

#[test]
fn speed_changes_nothing_but_the_scale() {
    // Capacity, initial rate and packets ten times as large: the same trajectory.
    let run = |scale: u64| {
        let initial = alloc::format!("{scale} Mbit/s");
        let mut rig =
            Rig::<Jetmax>::new(&[("initial_rate", &initial)], &[Rate::from_mbps(100 * scale)]);
        let mut seen = vec![];
        for end in 1..20_u32 {
            if end % 5 == 1 {
                rig.start_as(&FlowContext { packet: PACKET * scale, ..FLOW }, &[0], RTT);
            }
            rig.run_until(f64::from(end) * 0.1);
            seen.push(rig.rates().iter().map(|r| r / scale as f64).collect::<vec::Vec<_>>());
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
fn the_header_is_laid_out_as_documented() {
    let header = JetmaxHeader {
        returned: true,
        marker: 0xAB,
        number: 0x0102,
        bottleneck: 3,
        proposed: 0x0405_0607,
        gap: 0.5,
        loss: -1.0,
        fair: 1.0,
        proposed_fair: f64::INFINITY,
    };
    let golden = [
        2, 0xAB, 1, 2, 0, 0, 0, 3, 4, 5, 6, 7, 0x3F, 0, 0, 0, 0xBF, 0x80, 0, 0, 0x3F, 0x80, 0, 0,
        0x7F, 0x80, 0, 0,
    ];
    let jetmax = law::<Jetmax>(&[]);
    let mut bytes = [0; MAX_HEADER];
    let len = jetmax.encode(&header, PACKET, &mut bytes);
    assert_eq!(bytes[..len], golden);
    assert_eq!(Bytes::new(len as u64), jetmax.length());
    assert_eq!(jetmax.decode(&golden, PACKET).unwrap(), header);
    let fresh = packet(0, 0.25);
    assert_eq!(jetmax.quantise(fresh, PACKET), fresh);
}

#[test]
fn bytes_that_are_no_header_are_refused() {
    let jetmax = law::<Jetmax>(&[]);
    let mut good = [0; MAX_HEADER];
    jetmax.encode(&packet(0, 0.25), PACKET, &mut good);
    let refused = |at: usize, bytes: [u8; 4]| {
        let mut bad = good;
        bad[at..at + 4].copy_from_slice(&bytes);
        jetmax.decode(&bad, PACKET).unwrap_err().message
    };
    let nan = [0x7F, 0xC0, 0, 0];
    assert_eq!(
        jetmax.decode(&good[..27], PACKET).unwrap_err().message,
        "27 bytes, where the header takes 28"
    );
    assert_eq!(refused(0, [3, 0, 0, 0]), "format 3, where there are 1 and 2");
    assert_eq!(refused(12, [0xBF, 0x80, 0, 0]), "gap -1, where 0 is the least");
    assert_eq!(refused(16, nan), "loss NaN, where -inf is the least");
    assert_eq!(refused(20, nan), "fair NaN, where 0 is the least");
    assert_eq!(refused(24, nan), "proposed_fair NaN, where 0 is the least");
}

#[test]
fn hostile_figures_do_no_lasting_harm() {
    let mut p = port::<Jetmax>(&[], Rate::ZERO, 7);
    for gap in [f64::NAN, f64::INFINITY, 1e300] {
        pass(&mut p, packet(7, gap));
    }
    p.on_timer(secs(0.05), NO_QUEUE);
    assert_eq!(pass(&mut p, packet(7, 0.1)).fair, 0.0);
    near(figure(&p, "N"), 3.0 / 0.05, 1e-7);

    let (mut source, _) = settled(&[]);
    for fair in [0.0, 1e300, f64::NAN, 0.0, 0.0, 0.0] {
        answer(&mut source, fair);
        let rate = rate(&source);
        assert!((1500.0..=1.25e9).contains(&rate), "{rate} after {fair}");
    }
}

#[test]
fn who_names_no_bottleneck_is_granted_what_is_proposed_to_it() {
    let law = law::<Jetmax>(&[]);
    let mut header = packet(7, 0.001);
    let lie = Lie { ignore_feedback: true, ..Lie::default() };
    law.falsify(&mut header, &lie, Hand::Sending);
    assert_eq!((header.bottleneck, header.fair), (0, f64::INFINITY));
    header.proposed_fair = 1e6;
    assert_eq!(law.grant(&header), Some(Grant::Rate(Throughput::new(1e6))));
    law.correct(&mut header, Duration::from_millis(3));
    let spacing = law.claim(&header).and_then(|claim| claim.spacing);
    assert_eq!(spacing.map(|spacing| spacing.ps() / 1_000_000), Some(3_000));
}
