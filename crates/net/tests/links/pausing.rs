//! Links that are paused by the buffers that they fill.

use proptest::prelude::*;
use ratewire_backpressure::headroom::PausedLink;
use ratewire_net::spec::*;
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::bench::{Bench, link, ms, us};

/// A buffer that pauses its link above 2,500 bytes and resumes it at 1,000. Frames go over link
/// `back`, and are obeyed after 5 us.
fn pause(back: u32) -> PauseSpec {
    PauseSpec {
        back: LinkId(back),
        arrangement: Arrangement::Virtual,
        by_class: false,
        buffer: Bytes::new(10_000),
        xoff: Bytes::new(2500),
        xon: Bytes::new(1000),
        quanta: Quanta::MAX,
        reaction: Duration::from_micros(5),
        hop_round_trip: Duration::from_millis(1),
        intake: Duration::ZERO,
    }
}

fn slow(from: u32, to: u32) -> LinkSpec {
    LinkSpec { service: Service::Rate(Rate::from_bps(3_200_000)), ..link(from, to) }
}

/// A link from node 0 to 1 at 1 us a byte, paused by node 1's buffer. A link on to node 2 takes 2.5
/// us a byte.
fn chain(pause: PauseSpec) -> Bench {
    let mut b =
        Bench::new(vec![LinkSpec { pause: Some(pause), ..link(0, 1) }, link(1, 0), slow(1, 2)]);
    b.route(&[0, 2]);
    b
}

const OVER: usize = 3;

/// Packet 4 arrives at 5 ms. By then packet 0 has left, packet 1 is in transmission, and packets 2
/// to 4 wait: 3,000 bytes. The frame takes 84 us and is obeyed 5 us later, while packet 5 is in
/// transmission. At 11 ms packet 4 leaves the queue, only packet 5 stays, and the next frame is
/// sent. Packet 6 starts at 11.089 ms.
#[test]
fn a_link_pauses_and_resumes_to_the_microsecond() {
    let mut b = chain(pause(1));
    (0..7).for_each(|_| b.send(us(0), OVER, 1000));
    b.run(us(12_088));
    assert_eq!(b.stats(2).waiting_packets, 1, "packet 5; packet 6 is on its way until 12.089 ms");
    b.run(us(12_089));
    assert_eq!(b.stats(2).waiting_packets, 2);
    b.run(ms(100));
    assert_eq!(b.times_us(), (0..7).map(|i| 3500.0 + 2500.0 * f64::from(i)).collect::<Vec<_>>());
    let paused = b.stats(0);
    assert_eq!((paused.pauses, paused.overflowed), (1, 0));
    assert_eq!(paused.paused, Duration::from_micros(6000));
    let back = b.stats(1);
    assert_eq!((back.control_frames, back.busy), (2, Duration::from_micros(168)));
    assert_eq!(back.sent_bytes, Bytes::ZERO, "control frames are not network-layer bytes");
}

/// On the link back, the frame waits for the packet in transmission and goes before those that
/// wait.
#[test]
fn a_frame_goes_before_waiting_packets_and_after_the_one_in_transmission() {
    let mut b = chain(pause(1));
    (0..7).for_each(|_| b.send(us(0), OVER, 1000));
    for _ in 0..3 {
        b.send(us(4500), 1, 1000);
    }
    b.run(ms(100));
    let back: Vec<f64> =
        b.arrived.iter().filter(|a| a.route == 1).map(|a| a.at.ps() as f64 / 1e6).collect();
    assert_eq!(back, [5500.0, 6584.0, 7584.0]);
    // The frame is obeyed at 5.589 ms instead of 5.089 ms.
    assert_eq!(b.stats(0).paused, Duration::from_micros(5500));
}

/// A quantum is 64 us here: a pause of ten quanta is renewed each 320 us, from 5 ms until 11 ms.
#[test]
fn a_pause_is_renewed_before_it_expires() {
    let mut b = chain(PauseSpec { quanta: Quanta(10), ..pause(1) });
    (0..7).for_each(|_| b.send(us(0), OVER, 1000));
    b.run(ms(100));
    assert_eq!(b.stats(1).control_frames, 1 + 18 + 1);
    assert_eq!((b.stats(0).pauses, b.stats(0).paused), (1, Duration::from_micros(6000)));
}

/// Frames are lost from 5.1 ms on: the last pause expires at 5.089 + 0.64 ms.
#[test]
fn a_pause_that_is_not_renewed_expires() {
    let mut b = chain(PauseSpec { quanta: Quanta(10), buffer: Bytes::new(4000), ..pause(1) });
    (0..10).for_each(|_| b.send(us(0), OVER, 1000));
    b.change(us(5100), 1, Change::Up(false));
    b.run(ms(100));
    assert_eq!(b.stats(0).paused, Duration::from_micros(640));
    // Nothing holds the rest back. Packets that find no room are dropped, and both links count
    // them.
    assert!(b.stats(0).overflowed > 0);
    assert_eq!(b.stats(0).overflowed, b.stats(2).dropped_full);
}

/// A link from node 0 to 1, which node 1's buffer pauses, and two links on: a slow one to node 2
/// and a fast one to node 3.
fn fork(arrangement: Arrangement) -> Bench {
    let paused = PauseSpec { arrangement, ..pause(1) };
    let mut b = Bench::new(vec![
        LinkSpec { pause: Some(paused), ..link(0, 1) },
        link(1, 0),
        slow(1, 2),
        link(1, 3),
    ]);
    b.route(&[0, 2]);
    b.route(&[0, 3]);
    b
}

#[test]
fn the_head_of_the_line_blocks_a_fifo_and_no_virtual_output_queues() {
    for (arrangement, at) in [(Arrangement::Fifo, 7000.0), (Arrangement::Virtual, 4000.0)] {
        let mut b = fork(arrangement);
        b.send(us(0), 4, 1000);
        b.send(us(0), 4, 1000);
        b.send(us(0), 5, 1000);
        b.run(ms(100));
        let free = b.arrived.iter().find(|a| a.route == 5).unwrap();
        // The packet arrives at 3 ms, behind one that starts on the slow link at 3.5 ms.
        let expected = if arrangement == Arrangement::Fifo { 4500.0 } else { at };
        assert_eq!(free.at.ps() as f64 / 1e6, expected, "{arrangement:?}");
    }
}

/// Two flows share a link, after which one has a slower path. Only queues by flow do not hold up
/// the other flow.
#[test]
fn a_flow_is_paused_alone_only_with_a_queue_of_its_own() {
    let last = |arrangement| {
        let mut b = fork(arrangement);
        for _ in 0..20 {
            b.send(us(0), 4, 1000);
            b.send(us(0), 5, 1000);
        }
        b.run(ms(200));
        assert_eq!(b.arrived.len(), 40);
        assert_eq!((b.stats(0).overflowed, b.stats(2).dropped_full), (0, 0));
        b.arrived.iter().rfind(|a| a.route == 5).unwrap().at
    };
    let virtual_output = last(Arrangement::Virtual);
    let by_flow = last(Arrangement::ByFlow(8));
    // The slow flow takes 50 ms, and holds up the other but for the packets in the buffer. With its
    // own queue, the other needs 33.3 ms: the slow flow leaves it three fifths of the link.
    assert!(virtual_output > ms(42), "{virtual_output}");
    assert!(by_flow > ms(33) && by_flow < ms(36), "{by_flow}");
}

#[test]
fn inputs_take_turns_however_much_each_brings() {
    let mut b = Bench::new(vec![
        LinkSpec { pause: Some(pause(1)), ..link(0, 2) },
        link(2, 0),
        LinkSpec { pause: Some(pause(3)), ..link(1, 2) },
        link(2, 1),
        slow(2, 3),
    ]);
    let (one, other) = (b.route(&[0, 4]), b.route(&[2, 4]));
    (0..60).for_each(|_| b.send(us(0), one, 1000));
    // The other input has fewer packets of the same size.
    (0..20).for_each(|_| b.send(us(0), other, 1000));
    b.run(ms(300));
    let turns = b.turns();
    let of_other = turns[..40].iter().filter(|r| **r == other as u32).count();
    assert!((19..=20).contains(&of_other), "{turns:?}");
}

#[test]
fn classes_are_paused_one_by_one() {
    let mut b = chain(PauseSpec { by_class: true, ..pause(1) });
    (0..12).for_each(|_| b.send_as(us(0), OVER, 1000, false, 3));
    (0..4).for_each(|_| b.send_as(us(5500), 0, 1000, false, 5));
    b.run(ms(100));
    let free: Vec<f64> =
        b.arrived.iter().filter(|a| a.route == 0).map(|a| a.at.ps() as f64 / 1e6).collect();
    // These packets leave one after the other while class 3 is paused, from the end of packet 5.
    assert_eq!(free, [7000.0, 8000.0, 9000.0, 10_000.0]);
    assert_eq!(b.arrived.len(), 16);
}

/// The far end takes in a packet in 3 ms, and the link sends it in 1 ms. The buffer pauses the
/// link, and no packet is lost.
#[test]
fn a_host_that_takes_packets_in_slowly_pauses_its_link() {
    let slow = PauseSpec { intake: Duration::from_micros(3000), ..pause(1) };
    let mut b = Bench::new(vec![LinkSpec { pause: Some(slow), ..link(0, 1) }, link(1, 0)]);
    (0..10).for_each(|_| b.send(us(0), 0, 1000));
    b.run(us(9000));
    assert!(b.network.in_flight() > 0);
    b.run(ms(100));
    assert_eq!(b.times_us(), (0..10).map(|i| 4000.0 + 3000.0 * f64::from(i)).collect::<Vec<_>>());
    assert!(b.stats(0).pauses >= 1 && b.stats(0).overflowed == 0);
}

/// Four nodes in a ring, with packets over three hops each. Of three packets on a link, two go on
/// to the next link, which takes only one of them for each packet of its own node.
fn ring(packets: u32) -> Bench {
    let mut links = Vec::new();
    for i in 0..4u32 {
        let paused = PauseSpec { arrangement: Arrangement::Fifo, ..pause(4 + i) };
        links.push(LinkSpec { pause: Some(paused), ..link(i, (i + 1) % 4) });
    }
    for i in 0..4u32 {
        links.push(link((i + 1) % 4, i));
    }
    let mut b = Bench::new(links);
    for i in 0..4u32 {
        let route = b.route(&[i, (i + 1) % 4, (i + 2) % 4]);
        (0..packets).for_each(|_| b.send(us(0), route, 1000));
    }
    b
}

#[test]
fn a_ring_of_links_that_wait_for_each_other_is_found() {
    let mut b = ring(40);
    b.run(Time::ZERO + Duration::from_secs(20));
    let found = b.network.deadlock().expect("a ring of four");
    assert_eq!(found.ring, [0, 1, 2, 3].map(LinkId));
    assert!(b.network.in_flight() > 0 && b.arrived.len() < 160);
    let mut b = ring(2);
    b.run(Time::ZERO + Duration::from_secs(20));
    assert_eq!((b.network.deadlock(), b.arrived.len()), (None, 8));
}

#[test]
fn a_burst_is_released_when_it_is_full_or_old() {
    let bursts = Some(Bursts { packets: 3, every: Duration::from_micros(50_000) });
    let driver = DriverSpec { bursts, ..DriverSpec::default() };
    let mut b = Bench::new(vec![LinkSpec { driver, ..link(0, 1) }]);
    for at in [0, 10_000, 20_000, 30_000] {
        b.send(us(at), 0, 1000);
    }
    b.run(ms(200));
    assert_eq!(b.times_us(), [21_000.0, 22_000.0, 23_000.0, 81_000.0]);
}

prop_compose! {
    /// A tree, in which each node has a cable to an earlier one, or a ring.
    fn cables()(
        tree in prop::collection::vec((any::<u32>(), 1u64..40, 0u64..300, 1u64..40, 1u64..4000), 3..7),
        arrangement in prop_oneof![
            Just(Arrangement::Fifo), Just(Arrangement::Virtual), Just(Arrangement::ByFlow(4)),
        ],
        by_class in any::<bool>(),
        closed in any::<bool>(),
    ) -> (Vec<LinkSpec>, Vec<(u32, u32)>, bool) {
        // Queues by flow have no classes.
        let by_flow = matches!(arrangement, Arrangement::ByFlow(_));
        let by_class = by_class && !by_flow;
        let frames = if by_flow { 2 } else { 1 };
        let count = tree.len() as u32;
        let tie = |(i, cable): (usize, &(u32, u64, u64, u64, u64))| match closed {
            true => (i as u32, (i as u32 + 1) % count),
            false => (i as u32 + 1, cable.0 % (i as u32 + 1)),
        };
        let ends: Vec<(u32, u32)> = tree.iter().enumerate().map(tie).collect();
        let mut links = Vec::new();
        for (i, (a, b)) in ends.iter().enumerate() {
            let (_, mbps, delay, back, xoff) = tree[i % tree.len()];
            let of = |rate: u64| Rate::from_mbps(rate);
            for (from, to, rate, other) in [(*a, *b, mbps, back), (*b, *a, back, mbps)] {
                let mut new = link(from, to);
                new.service = Service::Rate(of(rate));
                new.delay = Duration::from_micros(delay);
                new.overhead = Bytes::new(38);
                let hop = PausedLink {
                    rate: of(rate),
                    delay: new.delay,
                    back_rate: of(other),
                    back_delay: new.delay,
                    packet: Bytes::new(1538),
                    reaction: Duration::from_micros(5),
                    frames,
                };
                let xoff = Bytes::new(xoff);
                let buffer = xoff + hop.headroom();
                let xon = Bytes::new(xoff.get() / 2);
                let back = LinkId(links.len() as u32 ^ 1);
                new.pause = Some(PauseSpec {
                    back, arrangement, by_class, buffer, xoff, xon,
                    ..pause(0)
                });
                links.push(new);
            }
        }
        (links, ends, closed)
    }
}

/// The links of a path over these cables from one node to another, through no node twice; with
/// `forward`, only in the direction of a ring.
fn way(ends: &[(u32, u32)], forward: bool, from: u32, to: u32) -> Vec<u32> {
    let mut ways = vec![(from, vec![])];
    let mut seen = vec![from];
    while !ways.is_empty() {
        let (at, links) = ways.remove(0);
        if at == to {
            return links;
        }
        for (i, (a, b)) in ends.iter().enumerate() {
            for (start, end, link) in [(*a, *b, 2 * i), (*b, *a, 2 * i + 1)] {
                if start == at && !seen.contains(&end) && (link % 2 == 0 || !forward) {
                    seen.push(end);
                    ways.push((end, [links.clone(), vec![link as u32]].concat()));
                }
            }
        }
    }
    Vec::new()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// With the computed headroom, no packet is ever dropped, whatever is sent. In the end all
    /// packets have arrived, or a ring of links that wait for each other is found.
    #[test]
    fn nothing_is_dropped_for_space(
        (links, ends, is_ring) in cables(),
        flows in prop::collection::vec((any::<u32>(), any::<u32>(), 0u64..20_000, 1u32..60, 40u32..1500, 0u8..8), 1..8),
    ) {
        let mut b = Bench::new(links.clone());
        let nodes = ends.iter().map(|(a, b)| a.max(b)).max().unwrap() + 1;
        for (from, to, at, packets, size, class) in flows {
            let way = way(&ends, is_ring, from % nodes, to % nodes);
            if way.is_empty() {
                continue;
            }
            let route = b.route(&way);
            (0..packets).for_each(|_| b.send_as(us(at), route, size, false, class));
        }
        b.run(Time::ZERO + Duration::from_secs(60));
        b.network.look_for_deadlocks(b.now);
        for i in 0..links.len() as u32 {
            let seen = b.stats(i);
            prop_assert_eq!((seen.dropped_full, seen.overflowed), (0, 0), "link {}", i);
        }
        let arrived = b.arrived.len() as u64;
        prop_assert_eq!(arrived + b.network.in_flight(), u64::from(b.sent));
        let stands_still = b.network.in_flight() > 0;
        prop_assert_eq!(stands_still, b.network.deadlock().is_some());
    }
}
