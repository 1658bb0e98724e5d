//! Hosts that lag behind the network.

use ratewire_laws::Header;
use ratewire_net::spec::{Contention, LinkId, LinkSpec, NodeId, Service};
use ratewire_net::{Address, Ecn, Network, Scheduler};
use ratewire_transport::{Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::bench::{Bench, link, ms, spec, us};

/// A chain of a host, two routers and a host, with links of equal delays.
const HOSTS: [NodeId; 2] = [NodeId(0), NodeId(3)];
const OF_A_HOST: LinkId = LinkId(0);
const OF_A_ROUTER: LinkId = LinkId(1);
const TO_A_HOST: LinkId = LinkId(2);

#[derive(Default)]
struct Noted(Vec<(Time, LinkId)>);

impl Scheduler for Noted {
    fn schedule(&mut self, at: Time, link: LinkId) {
        self.0.push((at, link));
    }
    fn schedule_release(&mut self, _: Time, _: LinkId) {}
}

fn lagging() -> Network {
    let millisecond = |from, to| LinkSpec { delay: Duration::from_millis(1), ..link(from, to) };
    let spec =
        spec(vec![millisecond(0, 1), millisecond(1, 2), millisecond(2, 3)], Contention::Backoff);
    let mut network = Network::new(&spec, &[], false, 1);
    let lag = network.host_lag().begin(&spec, |node| HOSTS.contains(&node));
    assert_eq!(lag, Some(Duration::from_millis(1)));
    network
}

fn segment() -> Segment {
    Segment {
        kind: SegmentKind::Open,
        offset: 0,
        payload: Bytes::ZERO,
        stamp: Stamp::NONE,
        header: Header::None,
    }
}

/// Sends a packet over one link; returns the events that this schedules.
fn send_sized(network: &mut Network, now: Time, link: LinkId, size: u32) -> Vec<(Time, LinkId)> {
    let route = network.add_route(&[link]);
    let address = Address {
        route,
        size,
        flow: 0,
        generation: 0,
        ecn: Ecn::NotCapable,
        class: 0,
        processing: Duration::ZERO,
    };
    let mut noted = Noted::default();
    network.send(now, &address, &segment(), &mut noted);
    noted.0
}

/// Sends a packet of 100 bytes over one link.
fn send(network: &mut Network, now: Time, link: LinkId) -> Vec<(Time, LinkId)> {
    send_sized(network, now, link, 100)
}

#[test]
fn hosts_and_routers_have_delay_lines_of_their_own_whoever_needs_one_first() {
    let arrives = us(1100);
    let lines = |order: [LinkId; 2]| {
        let mut network = lagging();
        let mut lines = order.map(|link| {
            let noted = send(&mut network, Time::ZERO, link);
            let [(at, line)] = noted[..] else { panic!("{noted:?}") };
            assert!(at == arrives && network.look_ahead().is_delay_line(line));
            (link, line)
        });
        lines.sort_by_key(|(link, _)| link.0);
        lines
    };
    let one = lines([OF_A_HOST, OF_A_ROUTER]);
    assert_eq!(one, lines([OF_A_ROUTER, OF_A_HOST]));
    assert_ne!(one[0].1, one[1].1);
}

#[test]
fn packets_to_hosts_have_no_event_until_hosts_stop_lagging() {
    let mut network = lagging();
    assert_eq!(network.host_lag().next_for_hosts(), Time::NEVER);
    for at in [0, 200, 400] {
        assert_eq!(send(&mut network, us(at), TO_A_HOST), []);
    }
    assert_eq!(network.host_lag().next_for_hosts(), us(1100));
    let mut taken = Vec::new();
    network.host_lag().take_for_hosts(us(1300), |label| taken.push(label));
    assert_eq!(taken.iter().map(|label| label.arrived()).collect::<Vec<_>>(), [us(1100)]);
    taken.iter().for_each(|label| network.remove(label));
    assert_eq!(
        network.host_lag().next_for_hosts(),
        us(1300),
        "what comes at that time is not taken"
    );
    let mut noted = Noted::default();
    network.host_lag().end(&mut noted);
    assert_eq!(network.host_lag().next_for_hosts(), Time::NEVER);
    let [(at, line)] = noted.0[..] else { panic!("{:?}", noted.0) };
    assert_eq!(at, us(1300));
    let mut next = Noted::default();
    let label = network.on_event(at, line, &mut next).expect("it has come");
    network.remove(&label);
    assert_eq!(next.0, [(us(1500), line)]);
    assert_eq!((network.in_flight(), network.unbalanced_link()), (1, None));
}

/// Links of hosts, with these delays in milliseconds, to one router.
fn own_links(delays: impl Iterator<Item = u64>) -> Bench {
    let router = NodeId(1000);
    let own = delays.enumerate().map(|(host, delay)| LinkSpec {
        delay: Duration::from_millis(delay),
        ..link(host as u32, router.0)
    });
    let spec = spec(own.collect(), Contention::Backoff);
    let mut b = Bench::with(&spec, 1);
    assert!(b.network.host_lag().begin(&spec, |node| node < router).is_some());
    b
}

/// Sends a number of packets of 100 bytes at one instant; returns the events that this schedules.
fn send_burst(network: &mut Network, now: Time, packets: u32, link: LinkId) -> Vec<(Time, LinkId)> {
    (0..packets).flat_map(|_| send(network, now, link)).collect()
}

#[test]
fn the_first_packets_that_hosts_send_at_once_have_delay_lines_by_their_place() {
    let mut b = own_links([5, 5].into_iter());
    for host in [0, 1, 0] {
        let at = b.now + Duration::from_millis(20);
        (0..6).for_each(|_| b.send(at, host, 100));
        b.run(at + Duration::from_millis(19));
    }
    assert_eq!(b.delayed, 3 * 4, "the first and three behind it");
    let sent = |round: u64| (1..7).map(move |n| (25_000 + 39_000 * round + 100 * n) as f64);
    assert_eq!(b.times_us(), (0..3).flat_map(sent).collect::<Vec<_>>());
    let mut network = lagging();
    let noted = send_burst(&mut network, us(0), 4, OF_A_HOST);
    let (times, lines): (Vec<_>, Vec<_>) = noted.into_iter().unzip();
    assert_eq!(times, [1100, 1200, 1300, 1400].map(us));
    assert!((1..4).all(|place| !lines[..place].contains(&lines[place])));
}

/// A host acts at 600 us. An earlier packet of the host, which arrives at 1500 us, may have been
/// taken off the host's link by then, or not: this depends on where a turn ended.
#[test]
fn which_packets_have_delay_lines_does_not_depend_on_how_far_hosts_lag() {
    for is_taken in [true, false] {
        let mut network = lagging();
        let noted = send_burst(&mut network, us(0), 5, OF_A_HOST);
        assert_eq!(noted.last(), Some(&(us(1500), OF_A_HOST)), "four have delay lines");
        network.host_lag().hosts_are_at(us(600));
        let take = |network: &mut Network, (at, link)| {
            let taken = network.on_event(at, link, &mut Noted::default());
            network.remove(&taken.expect("it has come"));
        };
        noted[..4].iter().for_each(|event| take(&mut network, *event));
        if is_taken {
            take(&mut network, noted[4]);
        }
        let again = send_burst(&mut network, us(600), 2, OF_A_HOST);
        if !is_taken {
            take(&mut network, noted[4]);
        }
        assert_eq!(network.unbalanced_link(), None);
        assert_eq!(again, [(us(1700), noted[0].1), (us(1800), noted[1].1)]);
    }
}

#[test]
fn routers_take_no_delay_lines_from_packets_that_hosts_send_at_once() {
    let mut network = lagging();
    for n in 0..20 {
        send_sized(&mut network, us(10_000 * n), OF_A_ROUTER, 100 + n as u32);
    }
    let noted = send_burst(&mut network, us(0), 4, OF_A_HOST);
    assert!(noted.iter().all(|(_, line)| network.look_ahead().is_delay_line(*line)), "{noted:?}");
}

#[test]
fn a_packet_that_is_early_waits_for_those_before_it() {
    let mut b = own_links([5].into_iter());
    (0..3).for_each(|_| b.send(us(0), 0, 1000));
    b.run(us(1500));
    let seen = b.observe(0);
    assert_eq!((seen.waiting_packets, seen.waiting_bytes.get(), seen.peak_packets), (1, 1000, 2));
    assert_eq!((seen.sent_packets, seen.sent_bytes.get()), (2, 1500));
    assert_eq!(seen.busy, Duration::from_micros(1500));
    assert_eq!(seen.area_packets, (1000 + 1500) * 1_000_000);
    // A packet of another size that is sent later does not belong to the burst.
    b.send(us(1600), 0, 500);
    b.send(us(1600), 0, 1000);
    b.run(ms(100));
    assert_eq!(b.times_us(), [6000.0, 7000.0, 8000.0, 8500.0, 9500.0]);
    assert_eq!(b.delayed, 3);
}

#[test]
fn a_packet_that_only_takes_as_long_as_one_of_a_burst_does_not_belong_to_it() {
    let mut b = own_links([5].into_iter());
    [(0, 100), (0, 100), (50, 75)].into_iter().for_each(|(at, size)| b.send(us(at), 0, size));
    b.run(us(60));
    // The third packet leaves 225 us after it came, which is three times its transmission time.
    let seen = b.observe(0);
    assert_eq!((seen.waiting_packets, seen.waiting_bytes.get()), (2, 175));
    b.run(ms(100));
    assert_eq!((b.times_us(), b.delayed), (vec![5100.0, 5200.0, 5275.0], 2));
}

#[test]
fn packets_of_other_sizes_that_take_as_long_do_not_belong_to_a_burst() {
    let fast = Service::Rate(Rate::from_bps(64_000_000_000_000));
    let link = LinkSpec { delay: Duration::from_millis(1), service: fast, ..link(0, 1) };
    let spec = spec(vec![link], Contention::Backoff);
    let mut b = Bench::with(&spec, 1);
    assert!(b.network.host_lag().begin(&spec, |node| node == NodeId(0)).is_some());
    // 1500 and 1497 bytes take 187 picoseconds.
    [1500, 1497, 1500].into_iter().for_each(|size| b.send(us(0), 0, size));
    b.run(us(0));
    assert_eq!(b.observe(0).waiting_bytes.get(), 1497 + 1500);
    b.run(us(1));
    let seen = b.observe(0);
    assert_eq!((seen.waiting_bytes.get(), seen.sent_bytes.get(), seen.sent_packets), (0, 4497, 3));
    b.run(ms(2));
    assert_eq!(b.packets(), [0, 1, 2]);
}

#[test]
fn links_whose_first_packets_take_equally_long_may_differ_in_those_behind() {
    let mut b = own_links([5, 4].into_iter());
    // The first packets of both links take 6 ms, the second ones 7 ms and 8 ms.
    for (round, (host, size)) in
        [(0, 1000), (1, 2000), (0, 1000), (1, 2000)].into_iter().enumerate()
    {
        (0..2).for_each(|_| b.send(ms(20 * round as u64), host, size));
    }
    b.run(ms(100));
    let sent = [6, 7, 26, 28, 46, 47, 66, 68].map(|ms| 1000.0 * f64::from(ms));
    assert_eq!((b.times_us(), b.delayed), (sent.to_vec(), 6));
}

#[test]
fn a_followed_packet_shows_the_backlog_before_it_and_when_it_left() {
    let mut network = lagging();
    let route = network.add_route(&[OF_A_HOST]);
    let address = Address {
        route,
        size: 100,
        flow: 0,
        generation: 0,
        ecn: Ecn::NotCapable,
        class: 0,
        processing: Duration::ZERO,
    };
    let mut hop_of_third_at = |first, at| {
        let mut noted = Noted::default();
        (0..2).for_each(|_| network.send(first, &address, &segment(), &mut noted));
        network.send_followed(at, &address, &segment(), &mut noted);
        let trail = network.tracer_mut().take_trail().expect("it is followed");
        let left_by = |now| trail.clone().until(now).there[0].left;
        assert_eq!(left_by(us(199)), None);
        (trail.there[0].queue.packets, trail.there[0].queue.bytes.get(), left_by(us(200)))
    };
    assert_eq!(hop_of_third_at(us(0), us(0)), (1, 100, Some(us(200))));
    assert_eq!(hop_of_third_at(us(1000), us(1150)), (0, 0, None), "it waits, not among others");
}

#[test]
fn packets_behind_the_first_leave_delay_lines_to_others() {
    let mut b = own_links(1..=20);
    for host in 0..20 {
        (0..4).for_each(|_| b.send(ms(100 * host), host as usize, 100));
    }
    b.run(ms(3000));
    assert!(!b.network.look_ahead().lacks_delay_lines());
    assert!((20 + 6..20 + 20).contains(&b.delayed), "{}", b.delayed);
    let sent = |host: u64| (1..5).map(move |n| (101_000 * host + 1000 + 100 * n) as f64);
    assert_eq!(b.times_us(), (0..20).flat_map(sent).collect::<Vec<_>>());
}

#[test]
fn a_packet_behind_one_on_a_delay_line_leaves_though_hosts_stop_lagging() {
    let mut b = own_links([5].into_iter());
    for at in [0, 6000] {
        b.send(us(at), 0, 1000);
        b.send(us(at), 0, 500);
    }
    b.run(us(6200));
    // The second packet arrives while the third is in transmission, on a delay line. The fourth
    // waits behind the third.
    b.end_lag();
    b.run(ms(100));
    assert_eq!(b.times_us(), [6000.0, 6500.0, 12_000.0, 12_500.0]);
    assert_eq!(b.delayed, 2);
}
