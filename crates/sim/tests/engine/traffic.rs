//! Arriving flows and applications of every kind, starts and stops.

use std::sync::Arc;

use ratewire_inputs::cdf;
use ratewire_net::spec::*;
use ratewire_sim::record::FlowSample;
use ratewire_sim::setup::*;
use ratewire_sim::{RunError, SetupError};
use ratewire_transport::{
    AckRules, App, PauseAfter, Phase, Reader, ReceiveWindow, Spread, Varying, Writer,
};
use ratewire_units::{Bytes, Rate, Time};

use crate::net::*;

fn wide() -> Net {
    Net::pair(law("fixed", &[]), MBPS(1000), MS(1))
}

#[test]
fn poisson_arrivals_offer_the_load_they_are_set_to() {
    let text = "1000 0\n2000 0.5\n30000 1\n";
    let cdf = Arc::new(cdf::parse("sizes.txt", text, &mut Vec::new()).unwrap());
    let mean = cdf.mean();
    for (sizes, mean) in [
        (Sizes::Fixed(Bytes::new(10_000)), 10_000.0),
        (Sizes::Pareto { shape: 2.5, mean: 20_000.0 }, 20_000.0),
        (Sizes::LogNormal { mean: 20_000.0, sigma: 0.8 }, 20_000.0),
        (Sizes::Empirical(cdf.clone()), mean),
    ] {
        let mut net = wide();
        net.traffic(Arrivals::Poisson(200.0), sizes.clone());
        let out = net.seconds(20.0).run();
        let payload: Bytes = out.flows.iter().map(|f| f.delivered).sum();
        let offered = payload.as_f64() / 20.0 / 200.0;
        assert!((offered / mean - 1.0).abs() < 0.08, "{sizes:?}: {offered} for {mean}");
        assert!((out.flows.len() as f64 / 4000.0 - 1.0).abs() < 0.05);
        assert_eq!(out.flows[0].name, "t0.1");
    }
}

#[test]
fn deliveries_of_arriving_flows_are_sampled_together_as_they_arrive() {
    let mut net = Net::pair(law("newreno", &[]), MBPS(8), MS(1));
    net.flow(0, 1, App::sized(Bytes::new(70_000)));
    net.traffic(Arrivals::Periodic(MS(700)), Sizes::Fixed(Bytes::new(500_000)));
    net.setup.sample_interval = Some(MS(10));
    net.setup.sampled_flows = 1;
    let (out, log) = net.seconds(2.0).log();
    let told: Bytes = log.arriving.iter().map(|sample| sample.delivered).sum();
    let of_traffic = out.flows.iter().filter(|flow| flow.traffic.is_some());
    assert_eq!(told, of_traffic.map(|flow| flow.delivered).sum());
    // The second flow has the link to itself: 10 KB in 10 ms with headers, give or take a packet.
    let alone = log.arriving.iter().filter(|s| s.at > secs(0.9) && s.at <= secs(1.1));
    assert_eq!(alone.clone().count(), 20);
    for sample in alone {
        assert!((8_000..=11_000).contains(&sample.delivered.get()), "{sample:?}");
    }
    let mut net = wide();
    net.setup.sample_interval = Some(MS(10));
    assert!(net.seconds(1.0).log().1.arriving.is_empty(), "where nothing arrives");
}

#[test]
fn periodic_arrivals_keep_their_period_and_their_time() {
    let mut net = wide();
    let t = net.traffic(Arrivals::Periodic(MS(100)), Sizes::Fixed(Bytes::new(1)));
    t.start = secs(1.0);
    t.stop = secs(2.0);
    let (out, log) = net.log();
    let times: Vec<Time> = (0..10).map(|i| secs(1.0) + MS(100) * i).collect();
    assert_eq!(log.started.iter().map(|s| s.1).collect::<Vec<_>>(), times);
    assert_eq!(out.flows.iter().filter(|f| f.completed.is_some()).count(), 10);
    assert!(out.flows.iter().all(|f| f.traffic == Some(0)));
}

#[test]
fn listed_arrivals_come_in_order_of_time_within_the_classs_time() {
    let at = |s, size| ListedArrival {
        start: secs(s),
        from: NodeId(1),
        to: NodeId(0),
        size: Bytes::new(size),
    };
    let list = vec![at(3.0, 30), at(1.0, 10), at(1.0, 11), at(9.0, 90), at(0.5, 5)];
    let mut net = wide();
    let t = net.traffic(Arrivals::Listed(list), Sizes::Fixed(Bytes::new(1)));
    t.pairs.clear();
    t.start = secs(1.0);
    t.stop = secs(9.0);
    let (out, log) = net.log();
    let sizes: Vec<u64> = out.flows.iter().map(|f| f.delivered.get()).collect();
    assert_eq!(sizes, [10, 11, 30]);
    assert!(out.flows.iter().all(|f| f.from == NodeId(1)));
    assert_eq!(log.started.len(), 3);
}

#[test]
fn listed_arrivals_without_a_way_are_refused_before_the_run() {
    let mut net = wide();
    net.nodes(1);
    let lost =
        ListedArrival { start: secs(5.0), from: NodeId(0), to: NodeId(2), size: Bytes::new(1) };
    net.traffic(Arrivals::Listed(vec![lost]), Sizes::Fixed(Bytes::new(1)));
    let mut log = Log::default();
    let found = ratewire_sim::run(&net.setup, &mut log).unwrap_err();
    assert_eq!(found, RunError::Setup(SetupError::NoRoute(NodeId(0), NodeId(2))));
    assert!(log.started.is_empty());
}

#[test]
fn pairs_are_drawn_by_their_weights() {
    let mut net = wide();
    net.nodes(1);
    net.cable(1, 2, MBPS(1000), MS(1));
    let t = net.traffic(Arrivals::Poisson(500.0), Sizes::Fixed(Bytes::new(1)));
    t.pairs = vec![(NodeId(0), NodeId(1), 1.0), (NodeId(2), NodeId(0), 4.0)];
    let out = net.run();
    let first = out.flows.iter().filter(|f| f.from == NodeId(0)).count() as f64;
    let share = first / out.flows.len() as f64;
    assert!((share - 0.2).abs() < 0.02, "{share}");
}

#[test]
fn a_second_class_does_not_change_the_first() {
    let mut net = wide();
    net.traffic(Arrivals::Poisson(50.0), Sizes::Pareto { shape: 1.5, mean: 1e4 });
    let alone = net.run();
    net.traffic(Arrivals::Poisson(50.0), Sizes::Fixed(Bytes::new(1)));
    let both = net.run();
    let of_first = |flows: &[ratewire_sim::outcome::FlowOutcome]| {
        let first = flows.iter().filter(|f| f.traffic == Some(0));
        first.map(|f| (f.started, f.name.clone())).collect::<Vec<_>>()
    };
    assert_eq!(of_first(&alone.flows), of_first(&both.flows));
}

fn app(writer: Writer) -> App {
    App { writer, ..App::unlimited() }
}

#[test]
fn writers_write_what_they_say() {
    let burst = |pause_after, count| {
        app(Writer::OnOff { burst: packets(10).into(), pause: MS(100).into(), pause_after, count })
    };
    let mut net = Net::pair(law("fixed", &[("window", "1000 packets")]), MBPS(12), MS(10));
    for app in [
        burst(PauseAfter::Written, Some(4)),
        burst(PauseAfter::Sent, Some(4)),
        burst(PauseAfter::Acknowledged, Some(4)),
        app(Writer::Constant { rate: Rate::from_bps(1460 * 8 * 100) }),
    ] {
        net.setup.flows.clear();
        net.flow(0, 1, app.clone());
        let out = net.run();
        let f = &out.flows[0];
        match app.writer {
            Writer::OnOff { pause_after, .. } => {
                assert_eq!(f.delivered, packets(40), "{pause_after:?}");
                // The last burst starts after three pauses, and three RTTs if each is waited for;
                // it arrives ten transmissions and a delay later.
                let waited = match pause_after {
                    PauseAfter::Acknowledged => 3.0 * (0.030 + 0.000_026_67),
                    _ => 0.0,
                };
                let expected = 0.3 + waited + 0.020;
                let took = f.completed.unwrap().secs();
                assert!((took - expected).abs() < 0.0005, "{pause_after:?}: {took}, {expected}");
            }
            _ => {
                assert_eq!(f.completed, None);
                let frames = f.delivered.get() / 1460;
                assert!((999..=1000).contains(&frames), "{frames}");
            }
        }
    }
}

/// A last phase with an end ends the flow, at its end if nothing is outstanding then.
#[test]
fn phases_follow_each_other_on_one_connection() {
    // A packet every 11.68 ms.
    let trickle = Writer::Constant { rate: MBPS(1) };
    let silent = Writer::Constant { rate: Rate::ZERO };
    let phase = |writer, lasts| Phase { writer, lasts };
    let mut net = Net::pair(law("fixed", &[("window", "1000 packets")]), MBPS(12), MS(10));
    let bulk = Writer::Sized(packets(500));
    let parts = vec![phase(trickle, MS(1_000)), phase(bulk, MS(2_000)), phase(silent, MS(500))];
    let flow = net.flow(0, 1, app(Writer::Phases(parts)));
    flow.start = secs(1.0);
    net.setup.sample_interval = Some(MS(100));
    let (out, log) = net.seconds(10.0).log();
    let of = |from: f64, to: f64| -> Bytes {
        let within = |s: &&FlowSample| s.at > secs(from) && s.at <= secs(to);
        log.flows.iter().filter(within).map(|sample| sample.delivered).sum()
    };
    assert_eq!(out.flows[0].delivered, packets(86 + 500));
    let trickled = of(1.0, 2.0).get() / 1460;
    assert!((84..=86).contains(&trickled), "{trickled}");
    // Five hundred packets of a millisecond each.
    let bulk = of(2.0, 2.6).get() / 1460;
    assert!((500..=502).contains(&bulk), "{bulk}");
    assert_eq!(of(2.6, 10.0), Bytes::ZERO);
    assert_eq!(out.flows[0].completed, Some(secs(4.5)));
}

#[test]
fn random_bursts_depend_on_the_seed_and_the_flows_name() {
    let delivered = |seed: u64, name: &str| {
        let spread = Spread::Exponential;
        let writer = Writer::OnOff {
            burst: Varying { mean: packets(100), spread },
            pause: Varying { mean: MS(50), spread },
            pause_after: PauseAfter::Sent,
            count: Some(5),
        };
        let mut net = Net::pair(law("newreno", &[]), MBPS(12), MS(10));
        net.flow(0, 1, app(writer)).name = name.to_string();
        net.setup.seed = seed;
        let flow = &net.seconds(60.0).run().flows[0];
        (flow.delivered, flow.completed.expect("it ends"))
    };
    assert_eq!(delivered(1, "a"), delivered(1, "a"));
    assert_ne!(delivered(1, "a"), delivered(2, "a"));
    assert_ne!(delivered(1, "a"), delivered(1, "b"));
}

#[test]
fn a_slow_reader_holds_a_paced_sender_back() {
    // The window is no whole number of packets, and the pace is far above the reader's rate.
    let mut net = Net::pair(law("fixed", &[("rate", "50 Mbit/s")]), MBPS(100), MS(5));
    let flow = net.flow(0, 1, App { reader: Reader::Slow(MS(2)), ..App::unlimited() });
    flow.transport.receive_window = ReceiveWindow::Fixed(Bytes::new(50_000));
    let out = net.run();
    let read = out.flows[0].delivered.get() / 1460;
    assert!((4800..5040).contains(&read), "{read} frames in 10 s at 2 ms each");
    assert!(out.events < 200_000, "{} events", out.events);
}

#[test]
fn a_window_that_is_no_whole_number_of_packets_does_not_stop_time() {
    for law in [law("fixed", &[("rate", "50 Mbit/s")]), law("xcp", &[])] {
        let mut net = Net::pair(law, MBPS(100), MS(5));
        net.flow(0, 1, App::unlimited()).transport.receive_window =
            ReceiveWindow::Fixed(Bytes::new(10_000));
        let out = net.run();
        assert!(out.flows[0].delivered.get() > 1460 * 1000);
        assert!(out.events < 200_000, "{} events", out.events);
    }
}

#[test]
fn delayed_acknowledgements_halve_them_and_lose_nothing() {
    for exact_wire in [false, true] {
        let mut net = Net::pair(law("xcp", &[]), MBPS(10), MS(10));
        net.setup.exact_wire = exact_wire;
        let transport = &mut net.flow(0, 1, App::sized(packets(1001))).transport;
        (transport.delayed_ack, transport.ack_rules) = (Some(MS(40)), AckRules::Rfc);
        let out = net.run();
        assert_eq!(out.flows[0].delivered, Bytes::new(packets(1001).get()));
        assert!(out.flows[0].completed.is_some() && out.flows[0].retransmitted == Bytes::ZERO);
        let acks = out.packets.sent - out.data_packets_delivered;
        assert!((490..620).contains(&acks), "{acks}");
    }
}

#[test]
fn starts_and_stops_at_the_edges() {
    let mut net = Net::pair(law("fixed", &[("rate", "1 Mbit/s")]), MBPS(10), MS(10));
    let unlimited = App::unlimited;
    net.flow(0, 1, unlimited()).stop = Some(secs(1.0));
    let f = net.flow(0, 1, unlimited());
    (f.start, f.stop) = (secs(2.0), Some(secs(1.0)));
    let f = net.flow(0, 1, unlimited());
    (f.start, f.stop) = (secs(2.0), Some(secs(2.0)));
    net.flow(0, 1, unlimited()).start = secs(10.0);
    net.flow(0, 1, unlimited()).start = secs(10.5);
    net.flow(0, 1, App::sized(Bytes::ZERO)).start = secs(3.0);
    let bursts = Writer::OnOff {
        burst: packets(1).into(),
        pause: MS(100_000).into(),
        pause_after: PauseAfter::Written,
        count: None,
    };
    net.flow(0, 1, app(bursts)).stop = Some(secs(4.0));
    let (out, log) = net.log();
    let [stopped, before, at_once, at_end, after, empty, idle] = &out.flows[..] else { panic!() };
    let took = stopped.completed.unwrap();
    assert!(took > secs(1.0) && took < secs(1.03), "what was sent still arrives: {took}");
    assert!((83..=86).contains(&(stopped.delivered.get() / 1460)));
    for never in [before, at_once, after] {
        assert_eq!((never.started, never.completed, never.delivered), (None, None, Bytes::ZERO));
    }
    assert_eq!((at_end.started, at_end.delivered), (Some(secs(10.0)), Bytes::ZERO));
    assert_eq!((empty.started, empty.completed), (Some(secs(3.0)), Some(secs(3.0))));
    assert_eq!((idle.completed, idle.delivered), (Some(secs(4.0)), packets(1)));
    assert_eq!(log.completed.len(), 3);
    assert!(out.packets.in_flight > 0, "the flow that starts at the end has sent");
}

#[test]
fn writers_that_write_before_the_flow_is_open_do_not_stop_time() {
    let burst = Writer::OnOff {
        burst: packets(3).into(),
        pause: MS(1).into(),
        pause_after: PauseAfter::Written,
        count: Some(5),
    };
    let constant = Writer::Constant { rate: MBPS(1) };
    // Without a handshake too: the pause after the last burst ends before it is acknowledged.
    for (writer, handshake) in [(burst.clone(), true), (burst, false), (constant, true)] {
        let mut net = Net::pair(law("newreno", &[]), MBPS(10), MS(50));
        net.flow(0, 1, app(writer)).transport.handshake = handshake;
        let out = net.run();
        assert!(out.flows[0].delivered >= packets(15));
        assert!(out.events < 20_000, "{} events", out.events);
    }
}
