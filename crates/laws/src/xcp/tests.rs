//! The published step vectors, the thesis's Example 11, and invariants: the feedback handed out
//! sums to F, and the sum of X counts flows.

use std::vec;
use std::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};
use ratewire_wire::xcp::{Format, XcpHeader};

use super::Xcp;
use crate::law::{Draw, FlowContext, Law, LinkContext, Named, Port, PortQueue, Sink};
use crate::options::Options;
use crate::trust::{Hand, Lie, Trust};

pub(super) const PACKET: Bytes = Bytes::new(1500);
pub(super) const NO_QUEUE: PortQueue = PortQueue { bytes: Bytes::ZERO, packets: 0 };

pub(super) fn law(options: &[(&str, &str)]) -> Xcp {
    let mut all = Options::defaults(Xcp::INFO.options);
    for (key, value) in options {
        all.set(key, value).unwrap();
    }
    Xcp::from_options(&all).unwrap()
}

pub(super) fn secs(s: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(s)
}

pub(super) fn header(x: f64, rtt: f64, wish: f64) -> XcpHeader {
    XcpHeader {
        protocol: 6,
        format: Format::Standard,
        rtt: Duration::from_secs_f64(rtt),
        x: Duration::from_secs_f64(x),
        reverse_feedback: Throughput::ZERO,
        delta_throughput: Throughput::new(wish),
    }
}

pub(super) fn port(
    options: &[(&str, &str)],
    bytes_per_second: u64,
    interval: f64,
) -> super::XcpPort {
    let link = LinkContext {
        rate: Rate::from_bps(bytes_per_second * 8),
        delay: Duration::ZERO,
        id: 1,
        draw: Draw::new(0),
    };
    let mut port = law(options).port(&link).unwrap();
    port.set_interval(interval);
    port
}

pub(super) fn arrive(port: &mut super::XcpPort, mut header: XcpHeader) {
    port.on_arrival(Time::ZERO, PACKET, Some(&mut header), NO_QUEUE);
}

pub(super) fn depart(port: &mut super::XcpPort, mut header: XcpHeader) -> f64 {
    port.on_departure(Time::ZERO, PACKET, Some(&mut header), NO_QUEUE);
    header.delta_throughput.get()
}

pub(super) fn near(found: f64, wanted: f64, relative: f64) {
    assert!((found - wanted).abs() <= wanted.abs() * relative, "{found} for {wanted}");
}

#[test]
fn one_flow_below_capacity() {
    // C 1.25e6 B/s, T 0.5 s, 100 packets of 1500 B, X 5 ms, RTT 0.5 s, no queue.
    let mut p = port(&[], 1_250_000, 0.5);
    for _ in 0..100 {
        arrive(&mut p, header(0.005, 0.5, 1e9));
    }
    near(p.sum_x() * 1e-12, 0.5, 1e-9);
    p.on_timer(secs(0.5), NO_QUEUE);
    near(p.coefficients().0 * 1e12, 760_000.0, 1e-9);
    assert_eq!(p.residues(), (380_000.0, 0.0));
    let per_packet = depart(&mut p, header(0.005, 0.5, 1e9));
    near(per_packet, 3_800.0, 1e-9);
    // 100 such packets take the window from 150,000 to 340,000 bytes.
    near(150_000.0 + 100.0 * per_packet * 0.5, 340_000.0, 1e-9);
}

#[test]
fn no_packet_is_given_more_than_its_interval_had() {
    // A link that stood still sends a packet whose X is a second.
    let mut p = port(&[], 1_250_000, 0.05);
    arrive(&mut p, header(0.01, 0.05, 1e9));
    p.on_timer(secs(0.05), NO_QUEUE);
    let (all, none) = p.residues();
    assert!(all > 0.0 && none == 0.0, "{all}, {none}");
    assert_eq!(depart(&mut p, header(1.0, 1.0, 1e9)), all);
    assert_eq!(depart(&mut p, header(1.0, 1.0, 1e9)), 0.0);
}

#[test]
fn a_flow_whose_packets_are_seen_in_every_other_interval_is_given_something() {
    let mut p = port(&[], 1_250_000, 1.0);
    p.on_timer(secs(1.0), NO_QUEUE);
    assert_eq!(depart(&mut p, header(0.02, 1.0, 1e9)), 0.0, "its next packet is seen in time");
    // F = 0.4 * 1.25e6; the next interval is of 50 ms again.
    near(depart(&mut p, header(0.02, 1.001, 1e9)), 500_000.0 * 0.02 / 0.05, 1e-9);
    near(depart(&mut p, header(10.0, 10.0, 1e9)), 500_000.0, 1e-9);
    assert_eq!(depart(&mut p, header(10.0, 10.0, 1e9)), 0.0, "all is given");
}

#[test]
fn two_flows_at_capacity_move_towards_each_other_and_the_sum_is_f() {
    // 0.75 s holds whole packets of both flows.
    let mut p = port(&[("beta", "0.226")], 1_250_000, 0.75);
    p.set_queue(15_000.0);
    let flows = [1.0e6, 0.25e6];
    let packets = flows.map(|rate| rate * 0.75 / 1500.0);
    let x = flows.map(|rate| 1500.0 / rate);
    for (n, x) in packets.iter().zip(x) {
        for _ in 0..(n + 0.5) as u32 {
            arrive(&mut p, header(x, 0.5, 1e9));
        }
    }
    p.on_timer(secs(0.75), NO_QUEUE);
    let mut change = [0.0; 2];
    for i in 0..2 {
        for _ in 0..(packets[i] + 0.5) as u32 {
            change[i] += depart(&mut p, header(x[i], 0.5, 1e9));
        }
    }
    near(change[0], -40_890.0, 1e-3);
    near(change[1], 34_110.0, 1e-3);
    near(change[0] + change[1], -6_780.0, 1e-3);
}

/// The check of the thesis's unit bug 2, which gave 4e5: nothing is spare and nothing waits.
#[test]
fn a_full_link_without_a_queue_gives_what_it_takes() {
    let mut p = port(&[], 1_000_000, 0.5);
    let packets = vec![header(0.003, 0.5, 1e9); 1_000_000 / 2 / 1500];
    packets.iter().for_each(|h| arrive(&mut p, *h));
    // The last third of a packet is another law's, from which nothing is taken.
    p.on_arrival(Time::ZERO, Bytes::new(500), None, NO_QUEUE);
    p.on_timer(secs(0.5), NO_QUEUE);
    assert_eq!(p.residues(), (100_000.0, 100_000.0), "shuffled, and F is 0");
    let change: f64 = packets.iter().map(|h| depart(&mut p, *h)).sum();
    near(change, 100_000.0 * 500.0 / 500_000.0, 1e-6);
}

#[test]
fn an_idle_interval_keeps_the_mean_rtt_and_gives_nothing() {
    let mut p = port(&[], 1_250_000, 0.5);
    for _ in 0..10 {
        arrive(&mut p, header(0.05, 0.4, 1e9));
    }
    p.on_timer(secs(0.5), NO_QUEUE);
    let next = p.next_timer();
    assert_eq!(next, secs(0.9));
    p.on_timer(next, NO_QUEUE);
    assert_eq!(p.coefficients(), (0.0, 0.0));
    assert_eq!(p.next_timer(), secs(1.3), "the interval is still the last mean RTT");
    assert_eq!(depart(&mut p, header(0.05, 0.4, 1e9)), 0.0);
}

#[test]
fn what_was_refused_upstream_is_kept_for_others() {
    let mut p = port(&[], 1_250_000, 0.5);
    for _ in 0..100 {
        arrive(&mut p, header(0.005, 0.5, 0.0));
    }
    p.on_timer(secs(0.5), NO_QUEUE);
    let before = p.residues().0;
    assert_eq!(depart(&mut p, header(0.005, 0.5, 0.0)), 0.0, "a wish of nothing stays nothing");
    assert_eq!(p.residues().0, before, "and takes nothing from the residue");
    assert_eq!(depart(&mut p, header(0.005, 0.5, -500.0)), -500.0);
    // Negative feedback upstream makes room here.
    near(p.residues().0, before + 500.0, 1e-9);
}

#[test]
fn packets_that_know_no_rtt() {
    let mean_interval = |option: &str| {
        let mut p = port(&[("rtt_zero", option)], 1_250_000, 0.5);
        for _ in 0..50 {
            arrive(&mut p, header(0.005, 0.4, 1e9));
            arrive(&mut p, header(0.005, 0.0, 1e9));
        }
        p.on_timer(secs(0.5), NO_QUEUE);
        let granted = depart(&mut p, header(0.005, 0.0, 1e9));
        (p.next_timer().since(secs(0.5)).secs(), granted > 0.0)
    };
    assert_eq!(mean_interval("separate"), (0.4, true));
    assert_eq!(mean_interval("count"), (0.2, true));
    assert_eq!(mean_interval("ignore"), (0.4, false));
}

#[test]
fn routers_leave_the_minimal_format_alone() {
    let mut p = port(&[], 1_250_000, 0.5);
    let mut h = XcpHeader::minimal(6, Throughput::new(77.0));
    arrive(&mut p, h);
    assert_eq!(p.sum_x(), 0.0);
    p.on_timer(secs(0.5), NO_QUEUE);
    p.on_departure(secs(0.5), PACKET, Some(&mut h), NO_QUEUE);
    assert_eq!(h, XcpHeader::minimal(6, Throughput::new(77.0)));
}

#[test]
fn scaling_capacity_and_rates_scales_the_feedback() {
    let feedback = |scale: f64| {
        let mut p = port(&[], (1.25e6 * scale) as u64, 0.5);
        // The same number of packets, each scaled in size by way of repeated arrivals.
        for _ in 0..(100.0 * scale) as u32 {
            arrive(&mut p, header(0.005 / scale, 0.5, 1e12));
        }
        p.on_timer(secs(0.5), NO_QUEUE);
        (0..(100.0 * scale) as u32)
            .map(|_| depart(&mut p, header(0.005 / scale, 0.5, 1e12)))
            .sum::<f64>()
    };
    near(feedback(10.0), 10.0 * feedback(1.0), 1e-6);
}

#[test]
fn the_receiver_returns_the_sum_since_the_last_acknowledgement() {
    let flow = FlowContext {
        mss: PACKET,
        packet: PACKET,
        line_rate: Rate::from_mbps(80),
        back_pressured: false,
        draw: Draw::new(0),
    };
    let mut sink = law(&[]).sink(&flow).unwrap();
    sink.on_data(Time::ZERO, &header(0.1, 0.1, 1000.0));
    sink.on_data(Time::ZERO, &header(0.1, 0.1, -300.0));
    let ack = sink.on_ack(Time::ZERO).unwrap();
    assert_eq!(ack, XcpHeader::minimal(6, Throughput::new(700.0)));
    assert_eq!(sink.on_ack(Time::ZERO), None, "no header came since");
}

/// Capacity that a port measures, if it first assumes 1.25e6 B/s, after an interval of packets with
/// this spacing and this many packets behind each.
fn measured(spacing: f64, waiting: u32, packets: u32) -> f64 {
    let mut port = port(&[("measure_capacity", "true")], 1_250_000, 0.5);
    for i in 0..packets {
        arrive(&mut port, header(0.005, 0.5, 0.0));
        let queue = PortQueue { bytes: PACKET * u64::from(waiting), packets: waiting };
        port.on_departure(secs(f64::from(i) * spacing), PACKET, None, queue);
    }
    port.on_timer(secs(0.5), NO_QUEUE);
    port.capacity()
}

#[test]
fn a_port_that_measures_believes_what_leaves_while_others_wait() {
    // Half of the first assumption, over the whole interval (except for the last packet, still
    // leaving).
    near(measured(0.0024, 5, 209), 625_000.0, 0.01);
    // No packet waited, and half of the capacity arrived: no evidence.
    assert_eq!(measured(0.0024, 0, 209), 1_250_000.0);
    // Arrivals reached the assumed capacity, and no packet waited.
    near(measured(0.0012, 0, 417), 1.05 * 1_250_000.0, 1e-9);
    // Evidence of a fifth of the interval counts for a fifth.
    near(measured(0.0024, 5, 43), 1_250_000.0 - 0.2 * 625_000.0, 0.01);
}

#[test]
fn lies_change_what_they_are_about() {
    let law = law(&[]);
    let honest = header(0.01, 0.1, 1000.0);
    let falsified = |lie: Lie, hand: Hand, header: XcpHeader| {
        let mut header = header;
        law.falsify(&mut header, &lie, hand);
        header
    };
    let lie = Lie { rtt: 10.0, throughput: 0.25, ignore_feedback: true, inflate: 2.0 };
    let sent = falsified(lie, Hand::Sending, honest);
    assert_eq!((sent.rtt, sent.x), (Duration::from_secs(1), Duration::from_millis(40)));
    let back = |feedback| XcpHeader::minimal(6, Throughput::new(feedback));
    assert_eq!(falsified(lie, Hand::Returning, back(100.0)), back(200.0));
    assert_eq!(falsified(lie, Hand::Returning, back(-100.0)), back(-50.0));
    assert_eq!(falsified(lie, Hand::Reading, back(-100.0)), back(0.0));
    assert_eq!(falsified(lie, Hand::Reading, back(100.0)), back(100.0));
    for hand in [Hand::Sending, Hand::Returning, Hand::Reading] {
        assert_eq!(falsified(Lie::default(), hand, back(-100.0)), back(-100.0));
        assert_eq!(falsified(Lie::default(), hand, honest), honest);
    }
    assert_eq!((law.claim(&back(1.0)), law.grant(&back(1.0))), (None, None));
}

/// ns-2's XCPQueue::do_before_packet_departure: both parts are cut to the residues before they are
/// subtracted.
#[test]
fn with_the_limit_of_the_residue_a_packet_gets_what_is_left() {
    let granted = |limit: &str| {
        let mut port = port(&[("packet_limit", limit), ("gamma", "0")], 125_000, 1.0);
        arrive(&mut port, header(0.1, 0.1, 0.0));
        port.on_timer(Time::ZERO + Duration::from_secs(1), NO_QUEUE);
        let (left, _) = port.residues();
        let wishes = [(0.08, 1e9), (0.08, 1e9)].map(|(x, wish)| header(x, 0.1, wish));
        wishes.map(|header| depart(&mut port, header) / left)
    };
    let [first, second] = granted("interval");
    near(first, 0.8, 1e-9);
    near(second, 0.8, 1e-9);
    let [first, second] = granted("residue");
    near(first, 0.8, 1e-9);
    near(second, 0.2, 1e-9);
}

#[test]
fn what_is_taken_is_limited_by_the_residue_too() {
    let taken = |limit: &str| {
        // 1250 B/s over a capacity of 0: all of it is to be taken, from the bytes that came.
        let mut port = port(&[("packet_limit", limit), ("gamma", "0")], 1, 1.0);
        arrive(&mut port, header(0.1, 0.1, 0.0));
        port.on_timer(Time::ZERO + Duration::from_secs(1), NO_QUEUE);
        let (_, left) = port.residues();
        [(); 2].map(|()| depart(&mut port, header(0.1, 0.1, 1e9)) / left)
    };
    assert_eq!(taken("residue"), [-1.0, 0.0]);
    assert_eq!(taken("interval")[0], -1.0);
}

/// ns-2's XCPQueue::Te_timeout takes 1.0 for a sum of 0.
#[test]
fn after_an_interval_without_x_ns2_divides_by_one_second() {
    let cp = |without_x: &str| {
        let mut port = port(&[("without_x", without_x)], 125_000, 0.1);
        port.on_timer(Time::ZERO + Duration::from_millis(100), NO_QUEUE);
        (port.coefficients().0 * 1e12, port.residues().0)
    };
    assert_eq!(cp("zero").0, 0.0);
    let (cp, left) = cp("second");
    assert_eq!(left, 0.4 * 125_000.0);
    near(cp, left, 1e-9);
}

/// ModelNet's Te_timeout computes nothing after an interval in which no packet stated an RTT.
#[test]
fn after_an_interval_without_x_modelnet_keeps_what_was_left() {
    let after = |without_x: &str| {
        let mut port = port(&[("without_x", without_x), ("feedback_scale", "1.1")], 125_000, 0.1);
        arrive(&mut port, header(0.02, 0.2, 0.0));
        port.on_timer(secs(0.1), NO_QUEUE);
        depart(&mut port, header(0.005, 0.2, 1e9));
        let before = (port.coefficients(), port.residues());
        port.on_timer(secs(0.3), NO_QUEUE);
        assert_eq!(port.next_timer(), secs(0.5), "the mean RTT stays that of the last packets");
        (before, (port.coefficients(), port.residues()))
    };
    let (before, kept) = after("keep");
    assert_eq!(before, kept);
    let (((cp, cn), (give, take)), zero) = after("zero");
    // 1500 B in 0.1 s of 125 kB/s, of which X = 5 ms of 20 has taken a quarter, times 1.1.
    let f = 0.4 * 110_000.0;
    near(cp * 1e12, 1.1 * f / 0.02, 1e-9);
    near(give, f * (1.0 - 1.1 / 4.0), 1e-9);
    assert_eq!((cn, take), (0.0, 0.0), "F is more than what would be shuffled");
    assert_eq!(zero, ((0.0, 0.0), (0.4 * 125_000.0, 0.0)));
}

/// ModelNet's xcp_alloc_pipe: min(half the queue, alpha C Te), by a factor of 1 KB/s a second.
#[test]
fn before_the_first_x_a_port_gives_by_the_initial_cp_out_of_half_a_queue() {
    let modelnet = |queue: &str| {
        let options = [("without_x", "keep"), ("initial_cp", "1000"), ("queue_cap", queue)];
        let mut port = port(&options, 125_000, 0.05);
        port.on_timer(secs(0.05), NO_QUEUE);
        let (left, _) = port.residues();
        (left, depart(&mut port, header(0.05, 0.05, 1e9)))
    };
    let half = 1500.0 / 0.05;
    assert_eq!(modelnet("2 packets"), (half, 50.0));
    assert_eq!(modelnet("none").0, 0.4 * 125_000.0);
    assert_eq!(port(&[], 125_000, 0.05).residues(), (0.0, 0.0), "the draft's gives nothing");
}

#[test]
fn first_timers_spread_about_the_initial_interval_as_drawn() {
    let first = |draw: u64, spread: &str| {
        let rate = Rate::from_mbps(10);
        let link = LinkContext { rate, delay: Duration::ZERO, id: 1, draw: Draw::new(draw) };
        law(&[("initial_spread", spread)]).port(&link).unwrap().first_timers()
    };
    assert_eq!(first(7, "0"), [0.05; 2], "as in ns-2 but for the chance");
    // The finaliser of SplitMix64 stands for the network's draws.
    let mix = |n: u64| {
        let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ (n >> 31)
    };
    let draws: Vec<[f64; 2]> = (1..=10_000_u64)
        .map(|n| first(mix(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)), "0.2"))
        .collect();
    for which in 0..2 {
        let mean = draws.iter().map(|d| d[which]).sum::<f64>() / 1e4;
        let square = draws.iter().map(|d| (d[which] - mean).powi(2)).sum::<f64>() / 1e4;
        near(mean, 0.05, 0.01);
        near(square.sqrt(), 0.01, 0.03);
    }
    let both = draws.iter().map(|d| (d[0] - 0.05) * (d[1] - 0.05)).sum::<f64>() / 1e4 / 1e-4;
    assert!(both.abs() < 0.04, "the two are independent: {both}");
    let least = (1..=1000).map(|n| first(mix(n), "1")[0]).fold(1.0, f64::min);
    assert_eq!(least, 0.004);
}
