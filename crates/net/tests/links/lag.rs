//! Hosts that lag behind the network.

use ratewire_laws::Header;
use ratewire_net::spec::{Contention, LinkId, LinkSpec, NodeId};
use ratewire_net::{Address, Ecn, Network, Scheduler};
use ratewire_transport::{Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Duration, Time};

use crate::bench::{Bench, link, ms, spec, us};

/// A chain of a host, two routers and a host, with links of equal delays.
const HOSTS: [NodeId; 2] = [NodeId(0), NodeId(3)];
const OF_A_HOST: LinkId = LinkId(0);
const OF_A_ROUTER: LinkId = LinkId(1);
const TO_A_HOST: LinkId = LinkId(2);

#[derive(Default)]
pub struct Noted(Vec<(Time, LinkId)>);

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
    network.use_delay_lines(|_| false);
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

/// A host acts at 600 us. An earlier packet of the host, which arrives at 1200 us, may have been
/// taken off the host's link by then, or not: this depends on where a turn ended.
#[test]
fn which_packets_have_delay_lines_does_not_depend_on_how_far_hosts_lag() {
    for is_taken in [true, false] {
        let mut network = lagging();
        network.book_departures(|_| false);
        let mut send_one = || send(&mut network, us(0), OF_A_HOST)[0];
        let (first, second) = (send_one(), send_one());
        assert_eq!(second, (us(1200), OF_A_HOST), "the first alone has a delay line");
        network.host_lag().hosts_are_at(us(600));
        let take = |network: &mut Network, (at, link)| {
            let taken = network.on_event(at, link, &mut Noted::default());
            network.remove(&taken.expect("it has come"));
        };
        take(&mut network, first);
        if is_taken {
            take(&mut network, second);
        }
        let again = send(&mut network, us(600), OF_A_HOST);
        if !is_taken {
            take(&mut network, second);
        }
        assert_eq!(network.unbalanced_link(), None);
        assert_eq!(again, [(us(1700), first.1)]);
    }
}

#[test]
fn a_packet_behind_one_on_a_delay_line_leaves_though_hosts_stop_lagging() {
    let own = LinkSpec { delay: Duration::from_millis(5), ..link(0, 1) };
    let spec = spec(vec![own], Contention::Backoff);
    let mut b = Bench::with(&spec, 1);
    b.network.use_delay_lines(|_| false);
    assert!(b.network.host_lag().begin(&spec, |node| node == NodeId(0)).is_some());
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
