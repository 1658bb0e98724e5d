//! Back-pressure from a switch through a host to its sockets.

use ratewire_backpressure::headroom::{PausedLink, reaction};
use ratewire_net::spec::*;
use ratewire_sim::outcome::Outcome;
use ratewire_transport::{App, Reader, ReceiveWindow};
use ratewire_units::{Bytes, Duration};

use crate::net::*;

/// Adds a buffer that pauses link `link`, with the computed headroom. Frames go over the cable's
/// other link.
pub fn pause(net: &mut Net, link: u32, xoff: Bytes, arrangement: Arrangement) {
    let (own, back) = (net.link(link).clone(), net.link(link ^ 1).clone());
    let rate = own.service.mean_rate();
    let hop = PausedLink {
        rate,
        delay: own.delay,
        back_rate: back.service.mean_rate(),
        back_delay: back.delay,
        packet: Bytes::new(1500),
        reaction: reaction(rate),
        frames: 2,
    };
    net.link(link).pause = Some(PauseSpec {
        back: LinkId(link ^ 1),
        arrangement,
        by_class: false,
        buffer: xoff + hop.headroom(),
        xoff,
        xon: Bytes::new(xoff.get() / 2),
        quanta: Quanta::MAX,
        reaction: hop.reaction,
        hop_round_trip: hop.latency() * 2,
        intake: Duration::ZERO,
    });
}

/// The paper's test bed: hosts 0 to `n - 1` with gigabit links to a switch, 100 Mbit/s and 12 ms to
/// a receiver. Links `2 i` lead from host `i` to the switch; the last cable is the bottleneck.
fn test_bed(law_name: &str, n: u32, paused: bool) -> Net {
    let mut net = Net::new(law(law_name, &[]));
    net.nodes(n + 2);
    for i in 0..n {
        let link = net.cable(i, n, MBPS(1000), Duration::from_micros(1));
        net.link(link).limit = Limit::Packets(1000);
        net.link(link).driver.sockets = Sockets::InTurn;
    }
    let bottleneck = net.cable(n, n + 1, MBPS(100), MS(12));
    net.link(bottleneck).limit = Limit::Packets(60);
    if paused {
        for i in 0..n {
            pause(&mut net, 2 * i, Bytes::new(30_000), Arrangement::Virtual);
        }
    }
    net
}

fn send(net: &mut Net, from: u32, to: u32) {
    let flow = net.flow(from, to, App::unlimited());
    flow.transport.receive_window = ReceiveWindow::Fixed(Bytes::new(1_000_000));
}

fn shares(outcome: &Outcome) -> Vec<f64> {
    let all: f64 = outcome.flows.iter().map(|f| f.delivered.as_f64()).sum();
    outcome.flows.iter().map(|f| f.delivered.as_f64() / all).collect()
}

/// Payload delivered, with headers, as a share of what the bottleneck carries in the time less a
/// round trip.
fn used(outcome: &Outcome, seconds: f64) -> f64 {
    let delivered: f64 = outcome.flows.iter().map(|f| f.delivered.as_f64()).sum();
    delivered * 1500.0 / 1460.0 / (12.5e6 * (seconds - 0.024))
}

#[test]
fn a_paused_sender_fills_the_link_and_loses_nothing() {
    for name in ["newreno", "cubic", "noq"] {
        let mut net = test_bed(name, 1, true).seconds(5.0);
        send(&mut net, 0, 2);
        let outcome = net.run();
        assert_eq!(outcome.packets.dropped, 0, "{name}");
        assert!(used(&outcome, 5.0) > 0.97, "{name}: {}", used(&outcome, 5.0));
        let link = &outcome.links[0].pausing;
        // The link sends for a tenth of the time, and is paused for most of the rest.
        let paused = link.paused.secs() / 5.0;
        assert!((0.85..0.91).contains(&paused) && link.overflowed == 0, "{name}: {link:?}");
        assert!(outcome.links[1].pausing.frames > 2 * link.pauses - 2);
    }
}

#[test]
fn capturing_pauses_does_not_change_the_outcome() {
    let mut net = test_bed("noq", 2, true).seconds(1.0);
    (0..2).for_each(|host| send(&mut net, host, 3));
    let plain = net.run();
    net.setup.captured_links = (0..6).map(LinkId).collect();
    assert_eq!(format!("{plain:?}"), format!("{:?}", net.run()));
    assert_eq!(net.setup.frame_links(), [1, 3].map(LinkId).into());
    net.setup.captured_links = vec![LinkId(2), LinkId(4)];
    assert_eq!(net.setup.frame_links(), [LinkId(3)].into());
}

/// Acknowledgements take another path, so that no packet comes over the captured link.
#[test]
fn frames_are_reported_without_waiting_for_packets() {
    let mut net = test_bed("noq", 1, true).seconds(5.0);
    net.nodes(1);
    net.cable(1, 3, MBPS(1000), Duration::from_micros(1));
    net.cable(3, 0, MBPS(1000), Duration::from_micros(1));
    net.setup.paths.push([2, 1, 3, 0].map(NodeId).to_vec());
    send(&mut net, 0, 2);
    net.setup.captured_links = vec![LinkId(1)];
    let (outcome, log) = net.log();
    assert!(outcome.events > 3 << 16 && log.frames > 1000, "{} frames", log.frames);
    assert_eq!(log.packets, 0);
    net.setup.captured_links = Vec::new();
    net.setup.watched_links = vec![LinkId(0)];
    let (_, log) = net.log();
    assert!(log.packets > 1000 && log.frames == 0, "a watched link's frames are of no use");
}

/// If its own link is not paused, NoQ in safe mode equals NewReno, to the packet.
#[test]
fn safe_mode_is_newreno_on_other_paths() {
    let run = |name| {
        let mut net = test_bed(name, 1, false).seconds(5.0);
        send(&mut net, 0, 2);
        let outcome = net.run();
        assert!(outcome.packets.dropped > 0);
        (outcome.flows[0].delivered, outcome.packets)
    };
    assert_eq!(run("noq"), run("newreno"));
}

#[test]
fn hosts_share_by_ports_whatever_their_flows() {
    let mut net = test_bed("noq", 3, true).seconds(5.0);
    for (host, flows) in [(0, 1), (1, 5), (2, 2)] {
        (0..flows).for_each(|_| send(&mut net, host, 4));
    }
    let outcome = net.run();
    let by_flow = shares(&outcome);
    for of_host in [&by_flow[..1], &by_flow[1..6], &by_flow[6..]] {
        let share: f64 = of_host.iter().sum();
        assert!((share - 1.0 / 3.0).abs() < 0.005, "{by_flow:?}");
    }
    assert_eq!(outcome.packets.dropped, 0);
}

#[test]
fn sockets_share_their_host_as_it_chooses() {
    let run = |sockets| {
        let mut net = test_bed("noq", 1, true).seconds(5.0);
        net.link(0).driver.sockets = sockets;
        (0..3).for_each(|_| send(&mut net, 0, 2));
        let outcome = net.run();
        assert_eq!(outcome.packets.dropped, 0, "{sockets:?}");
        assert!(used(&outcome, 5.0) > 0.97, "{sockets:?}");
        assert!(
            outcome.links[0].queue_packets_max >= 1000,
            "{sockets:?}: the driver's queue fills"
        );
        shares(&outcome)
    };
    for share in run(Sockets::InTurn) {
        assert!((share - 1.0 / 3.0).abs() < 0.01);
    }
    for share in run(Sockets::AtRandom) {
        assert!((share - 1.0 / 3.0).abs() < 0.05);
    }
    assert!(run(Sockets::OnAck).iter().all(|share| *share > 0.0));
}

#[test]
fn a_host_that_does_not_make_its_sockets_wait_drops() {
    let mut net = test_bed("newreno", 1, true).seconds(5.0);
    net.link(0).driver.sockets = Sockets::Drop;
    net.link(0).limit = Limit::Packets(100);
    send(&mut net, 0, 2);
    let outcome = net.run();
    assert!(
        outcome.links[0].drops.full > 0,
        "the driver's queue overflows in place of the switch's"
    );
    assert_eq!(outcome.links[0].pausing.overflowed, 0);
}

/// The receiver takes in a packet in 200 us, or 60 Mbit/s, and pauses the switch before it. After a
/// resume, it takes 24 ms until the first packet comes: 180 KB must wait below the lower threshold.
#[test]
fn a_slow_receiver_holds_the_sender_back_hop_by_hop() {
    let mut net = test_bed("noq", 1, true).seconds(5.0);
    pause(&mut net, 2, Bytes::new(400_000), Arrangement::Virtual);
    net.link(2).pause.as_mut().unwrap().intake = Duration::from_micros(200);
    send(&mut net, 0, 2);
    let outcome = net.run();
    let rate = outcome.flows[0].delivered.as_f64() * 8.0 * 1500.0 / 1460.0 / 5.0;
    assert!((rate / 60e6 - 1.0).abs() < 0.02, "{rate}");
    assert_eq!(outcome.packets.dropped, 0);
    assert!(outcome.links[2].pausing.pauses > 0 && outcome.links[0].pausing.pauses > 0);
}

#[test]
fn an_application_that_reads_slowly_holds_back_by_its_window() {
    let mut net = test_bed("noq", 1, true).seconds(5.0);
    send(&mut net, 0, 2);
    net.setup.flows[0].app.reader = Reader::Slow(Duration::from_millis(1));
    let outcome = net.run();
    let read = outcome.flows[0].delivered.as_f64();
    assert!(read < 1460.0 * 5000.0 + 1e6, "a frame a millisecond, and a buffer: {read}");
    assert_eq!(outcome.packets.dropped, 0);
}

/// Bursts overflow a queue that smooth sending does not overflow. A buffer that pauses does not
/// overflow either way.
#[test]
fn bursts_hurt_where_nothing_is_paused() {
    let run = |paused, bursts| {
        let mut net = test_bed("newreno", 1, paused).seconds(10.0);
        net.link(2).limit = Limit::Packets(30);
        net.link(0).driver.bursts = bursts;
        send(&mut net, 0, 2);
        net.run()
    };
    let bursts = Some(Bursts { packets: 35, every: MS(4) });
    let (smooth, rough) = (run(false, None), run(false, bursts));
    assert!(rough.flows[0].delivered.as_f64() < 0.8 * smooth.flows[0].delivered.as_f64());
    let held = run(true, bursts);
    assert_eq!(held.packets.dropped, 0);
    assert!(used(&held, 10.0) > 0.97);
}

/// Four switches in a ring, each with a flow over the three that follow.
#[test]
fn a_ring_of_paused_switches_is_found() {
    let mut net = Net::new(law("noq", &[]));
    net.nodes(8);
    let mut links = Vec::new();
    for i in 0..4 {
        links.push(net.cable(i, (i + 1) % 4, MBPS(100), Duration::from_micros(10)));
    }
    for i in 0..4 {
        links.push(net.cable(4 + i, i, MBPS(100), Duration::from_micros(10)));
    }
    for link in links {
        pause(&mut net, link, Bytes::new(15_000), Arrangement::Fifo);
        net.link(link + 1).limit = Limit::Unlimited;
    }
    for i in 0..4u32 {
        let way = [4 + i, i, (i + 1) % 4, (i + 2) % 4, (i + 3) % 4, 4 + (i + 3) % 4];
        net.setup.paths.push(way.iter().map(|n| NodeId(*n)).collect());
        send(&mut net, 4 + i, 4 + (i + 3) % 4);
    }
    let outcome = net.seconds(2.0).run();
    let found = outcome.deadlock.expect("a deadlock");
    assert_eq!(found.ring, [0, 2, 4, 6].map(LinkId), "{found:?}");
    assert_eq!(outcome.packets.dropped, 0);
}
