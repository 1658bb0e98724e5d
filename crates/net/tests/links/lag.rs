//! Hosts that lag behind the network.

use ratewire_laws::Header;
use ratewire_net::spec::{Contention, LinkId, LinkSpec, NodeId};
use ratewire_net::{Address, Network, Scheduler};
use ratewire_transport::{Segment, SegmentKind};
use ratewire_units::{Bytes, Duration, Time};

use crate::bench::{link, spec, us};

/// A host, two routers and a host in a row, all links equally long.
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
}

fn lagging() -> Network {
    let millisecond = |from, to| LinkSpec { delay: Duration::from_millis(1), ..link(from, to) };
    let spec =
        spec(vec![millisecond(0, 1), millisecond(1, 2), millisecond(2, 3)], Contention::Backoff);
    let mut network = Network::new(&spec, &[], false, 1);
    let lag = network.let_hosts_lag(&spec, |node| HOSTS.contains(&node));
    assert_eq!(lag, Some(Duration::from_millis(1)));
    network
}

/// Sends a packet of 100 bytes on a link alone; returns what that has noted.
fn send(network: &mut Network, now: Time, link: LinkId) -> Vec<(Time, LinkId)> {
    let route = network.add_route(&[link]);
    let address = Address { route, size: 100, flow: 0, generation: 0, ecn: false, class: 0 };
    let segment =
        Segment { kind: SegmentKind::Open, offset: 0, payload: Bytes::ZERO, header: Header::None };
    let mut noted = Noted::default();
    network.send(now, &address, &segment, &mut noted);
    noted.0
}

#[test]
fn hosts_and_routers_have_delay_lines_of_their_own_whoever_needs_one_first() {
    let arrives = us(1100);
    let lines = |order: [LinkId; 2]| {
        let mut network = lagging();
        let mut lines = order.map(|link| {
            let noted = send(&mut network, Time::ZERO, link);
            let [(at, line)] = noted[..] else { panic!("{noted:?}") };
            assert!(at == arrives && network.is_delay_line(line));
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
fn no_event_tells_of_packets_to_hosts_until_hosts_do_not_lag_any_more() {
    let mut network = lagging();
    assert_eq!(network.next_for_hosts(), Time::NEVER);
    for at in [0, 200, 400] {
        assert_eq!(send(&mut network, us(at), TO_A_HOST), []);
    }
    assert_eq!(network.next_for_hosts(), us(1100));
    let mut taken = Vec::new();
    network.take_for_hosts(us(1300), |label| taken.push(label));
    assert_eq!(taken.iter().map(|label| label.arrived()).collect::<Vec<_>>(), [us(1100)]);
    taken.iter().for_each(|label| network.remove(label));
    assert_eq!(network.next_for_hosts(), us(1300), "what comes at that time is not taken");
    let mut noted = Noted::default();
    network.end_lag(&mut noted);
    assert_eq!(network.next_for_hosts(), Time::NEVER);
    let [(at, line)] = noted.0[..] else { panic!("{:?}", noted.0) };
    assert_eq!(at, us(1300));
    let mut next = Noted::default();
    let label = network.on_event(at, line, &mut next).expect("it has come");
    network.remove(&label);
    assert_eq!(next.0, [(us(1500), line)]);
    assert_eq!((network.in_flight(), network.unbalanced_link()), (1, None));
}
