//! Setups at the edge of what makes sense, and their outcomes.

use ratewire_net::spec::*;
use ratewire_sim::setup::{Arrivals, Sizes};
use ratewire_transport::App;
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::net::*;

const LAWS: [&str; 4] = ["xcp", "newreno", "cubic", "fixed"];

fn any(name: &str) -> ratewire_laws::AnyLaw {
    let window: &[_] = if name == "fixed" { &[("window", "20 packets")] } else { &[] };
    law(name, window)
}

#[test]
fn nothing_at_all_ends_at_once() {
    let out = Net::new(any("xcp")).run();
    assert!(out.flows.is_empty() && out.links.is_empty() && out.events == 0);
    let mut net = Net::pair(any("xcp"), MBPS(10), MS(1));
    net.setup.sample_interval = Some(MS(100));
    let (out, log) = net.log();
    assert_eq!((out.packets.sent, log.links.len(), log.flows.len()), (0, 200, 0));
}

#[test]
fn over_a_link_of_rate_zero_nothing_arrives() {
    for name in LAWS {
        for handshake in [false, true] {
            let mut net = Net::pair(any(name), Rate::ZERO, MS(10));
            net.flow(0, 1, App::sized(packets(100))).transport.handshake = handshake;
            let out = net.run();
            assert_eq!((out.packets.delivered, out.flows[0].completed), (0, None), "{name}");
            assert!(out.flows[0].timeouts >= 2, "{name}");
            assert_eq!(out.links[0].busy, Duration::ZERO);
        }
    }
}

#[test]
fn a_rate_that_is_set_at_the_start_holds_for_the_first_packet() {
    let mut net = Net::pair(any("fixed"), MBPS(1), MS(1));
    net.flow(0, 1, App::sized(packets(1)));
    net.setup.changes = vec![(Time::ZERO, LinkId(0), Change::Rate(MBPS(12)))];
    assert_eq!(net.run().flows[0].completed, Some(Time::ZERO + MS(2)));
    net.setup.changes = vec![(Time::ZERO, LinkId(0), Change::Up(false))];
    assert_eq!(net.run().links[0].drops.down, 4, "the copies at 0, 1, 3 and 7 s");
}

#[test]
fn delays_of_zero_do_not_stop_time() {
    for name in LAWS {
        let mut net = Net::pair(any(name), MBPS(10), Duration::ZERO);
        net.nodes(1);
        net.cable(1, 2, MBPS(10), Duration::ZERO);
        net.flow(0, 2, App::unlimited());
        net.traffic(Arrivals::Poisson(10.0), Sizes::Fixed(Bytes::new(1)));
        net.link(0).limit = Limit::Packets(50);
        let out = net.seconds(2.0).run();
        let goodput = out.flows[0].delivered.as_f64() * 8.0 / 2.0 / 1e6;
        assert!(goodput > 8.5 && out.events < 60_000, "{name}: {goodput}, {}", out.events);
    }
}

#[test]
fn an_rtt_and_x_of_nearly_zero_reach_ports_and_do_no_harm() {
    // 8 Tbit/s: an RTT of a few nanoseconds, and packets that carry it.
    for rtt_zero in ["ignore", "count"] {
        for exact_wire in [false, true] {
            let law = law("xcp", &[("rtt_zero", rtt_zero)]);
            let mut net = Net::pair(law, Rate::from_mbps(8_000_000), Duration::ZERO);
            net.setup.exact_wire = exact_wire;
            net.flow(0, 1, App::sized(packets(1000)));
            let out = net.seconds(5.0).run();
            assert!(out.flows[0].completed.is_some(), "{rtt_zero} {exact_wire}");
        }
    }
}

#[test]
fn a_queue_smaller_than_a_packet_still_passes_packets_one_by_one() {
    for name in LAWS {
        let mut net = Net::pair(any(name), MBPS(10), MS(1));
        if name == "fixed" {
            // With a larger window, each retransmission of the window is cut to one packet, until
            // the timer is very slow.
            net.setup.laws = vec![law(name, &[("window", "2 packets")])];
        }
        net.link(0).limit = Limit::Bytes(Bytes::new(100));
        net.flow(0, 1, App::sized(packets(20)));
        let out = net.seconds(60.0).run();
        assert!(out.flows[0].completed.is_some(), "{name}");
        assert!(out.links[0].drops.full > 0 || name == "xcp", "{name}");
    }
}

#[test]
fn runs_shorter_than_an_rtt_and_of_no_length_end_with_packets_in_flight() {
    for name in LAWS {
        let mut net = Net::pair(any(name), MBPS(100), MS(50));
        net.flow(0, 1, App::sized(packets(10)));
        net = net.seconds(0.02);
        let out = net.run();
        assert!(out.packets.in_flight > 0 && out.packets.delivered == 0, "{name}");
        assert_eq!(out.flows[0].min_rtt, None);
        net = net.seconds(0.0);
        net.setup.sample_interval = Some(MS(1));
        let (out, log) = net.log();
        assert_eq!((out.flows[0].started, out.ended), (Some(Time::ZERO), Time::ZERO), "{name}");
        assert!(log.links.is_empty() && out.links[0].queue_packets_mean == 0.0);
    }
}

#[test]
fn one_bit_a_second_and_400_gbit_in_one_network() {
    for name in LAWS {
        let mut net = Net::pair(any(name), Rate::from_bps(1), MS(1));
        net.nodes(1);
        net.cable(1, 2, Rate::from_bps(400_000_000_000), Duration::from_micros(1));
        net.flow(0, 2, App::sized(packets(2)));
        net.flow(1, 2, App::sized(packets(1000)));
        let out = net.seconds(30.0).run();
        assert_eq!(out.flows[0].completed, None, "{name}: a packet takes 12,000 s");
        assert!(out.flows[1].completed.is_some_and(|t| t < secs(20.0)), "{name}");
        assert_eq!(out.links[0].packets, 1);
    }
}

#[test]
fn ten_seconds_of_round_trip_are_waited_for() {
    for name in LAWS {
        let mut net = Net::pair(any(name), MBPS(10), Duration::from_secs(5));
        net.flow(0, 1, App::sized(packets(50))).transport.handshake = true;
        let out = net.seconds(300.0).run();
        let f = &out.flows[0];
        assert_eq!(f.delivered, packets(50), "{name}");
        assert!(f.min_rtt.unwrap() >= Duration::from_secs(10), "{name}");
    }
}

/// The first round trip after the standstill is very long. A router's grants then make a window of
/// many times the bandwidth-delay product.
#[test]
fn a_link_that_stood_still_is_not_flooded_for_a_second() {
    for (name, still) in [("xcp", 1.0), ("xcp", 5.0), ("cubic", 1.0), ("cubic", 5.0)] {
        let mut net = Net::pair(any(name), MBPS(10), MS(22));
        net.link(0).limit = Limit::Packets(50);
        net.flow(0, 1, App::unlimited());
        let at = |s, rate| (secs(s), LinkId(0), Change::Rate(rate));
        net.setup.changes = vec![at(10.0, Rate::ZERO), at(10.0 + still, MBPS(10))];
        let out = net.seconds(30.0).run();
        let in_a_second = 10_000_000 / 8 / 1500;
        let drops = out.links[0].drops.total();
        assert!(drops < in_a_second, "{name} after {still} s: {drops}");
        let busy = out.links[0].busy;
        assert!(busy.secs() > 28.0 - still, "{name} after {still} s: {busy}");
    }
}

#[test]
fn ten_thousand_flows_share_a_link() {
    let mut net = Net::pair(any("newreno"), MBPS(1000), MS(5));
    net.link(0).limit = Limit::Packets(20_000);
    for _ in 0..10_000 {
        net.flow(0, 1, App::sized(packets(2)));
    }
    let out = net.seconds(20.0).run();
    assert!(out.flows.iter().all(|f| f.completed.is_some()));
    let delivered: Bytes = out.flows.iter().map(|f| f.delivered).sum();
    assert_eq!(delivered, packets(20_000));
    assert_eq!(out.links[0].drops.total(), 0);
}

#[test]
fn stray_packets_of_flows_that_are_over_are_counted_and_forgotten() {
    // The link back is slow and jammed, so the sender's timer fires and second copies are under way
    // when everything is acknowledged.
    let mut net = Net::pair(any("fixed"), MBPS(10), MS(1));
    net.link(1).service = Service::Rate(Rate::from_bps(8_000));
    net.traffic(Arrivals::Periodic(MS(300)), Sizes::Fixed(packets(10)));
    let out = net.seconds(60.0).run();
    let useful: u64 = out.flows.iter().map(|f| f.delivered.get() / 1460).sum();
    assert!(out.data_packets_delivered > useful, "{} {useful}", out.data_packets_delivered);
}
