//! Links that work out departures as packets arrive.

use ratewire_laws::Header;
use ratewire_net::spec::{Change, LinkId, LinkSpec, Service};
use ratewire_net::{Address, Ecn};
use ratewire_transport::{Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Duration, Rate};

use crate::bench::{Bench, link, ms, us};

fn booking(links: Vec<LinkSpec>) -> Bench {
    let mut b = Bench::new(links);
    b.network.book_departures(|_| false);
    b
}

/// A link of a millisecond a packet of 1,000 bytes, and 5 ms of delay.
fn long() -> LinkSpec {
    LinkSpec { delay: Duration::from_millis(5), ..link(0, 1) }
}

#[test]
fn a_packet_counts_as_waiting_until_its_transmission_starts() {
    let mut b = booking(vec![long()]);
    (0..3).for_each(|_| b.send(us(0), 0, 1000));
    b.run(us(1500));
    let seen = b.observe(0);
    assert_eq!((seen.waiting_packets, seen.waiting_bytes.get(), seen.peak_packets), (1, 1000, 2));
    assert_eq!((seen.sent_packets, seen.sent_bytes.get()), (2, 1500));
    assert_eq!(seen.busy, Duration::from_micros(1500));
    assert_eq!(seen.area_packets, (1000 + 1500) * 1_000_000);
    b.send(us(1600), 0, 500);
    b.send(us(1600), 0, 1000);
    b.run(us(3100));
    let seen = b.observe(0);
    assert_eq!((seen.sent_packets, seen.sent_bytes.get()), (4, 3100), "the packet of 500 bytes");
    b.run(ms(100));
    assert_eq!(b.times_us(), [6000.0, 7000.0, 8000.0, 8500.0, 9500.0]);
}

#[test]
fn packets_that_take_less_than_a_picosecond_a_byte_are_told_apart() {
    let fast = Service::Rate(Rate::from_bps(64_000_000_000_000));
    let mut b = booking(vec![LinkSpec { service: fast, ..long() }]);
    // 1500 and 1497 bytes take 187 picoseconds.
    [1500, 1497, 1500].into_iter().for_each(|size| b.send(us(0), 0, size));
    b.run(us(0));
    assert_eq!(b.observe(0).waiting_bytes.get(), 1497 + 1500);
    b.run(us(1));
    let seen = b.observe(0);
    assert_eq!((seen.waiting_bytes.get(), seen.sent_bytes.get(), seen.sent_packets), (0, 4497, 3));
    b.run(ms(6));
    assert_eq!(b.packets(), [0, 1, 2]);
}

#[test]
fn a_link_that_may_change_books_nothing() {
    let mut b = Bench::new(vec![long(), long()]);
    b.network.book_departures(|id| id == LinkId(0));
    for link in [0, 1] {
        (0..3).for_each(|_| b.send(us(0), link, 1000));
    }
    // The second packet is half sent, and the third has not begun.
    b.change(us(1500), 0, Change::Rate(Rate::from_mbps(4)));
    b.run(ms(100));
    let times = |route| b.arrived.iter().filter(move |a| a.route == route).map(|a| a.at);
    assert_eq!(times(0).collect::<Vec<_>>(), [6000, 7500, 9500].map(us));
    assert_eq!(times(1).collect::<Vec<_>>(), [6000, 7000, 8000].map(us));
}

#[test]
fn a_followed_packet_shows_the_backlog_before_it_and_when_it_left() {
    let mut network = booking(vec![link(0, 1)]).network;
    let route = network.add_route(&[LinkId(0)]);
    let address = Address {
        route,
        size: 100,
        flow: 0,
        generation: 0,
        ecn: Ecn::NotCapable,
        class: 0,
        processing: Duration::ZERO,
    };
    let segment = Segment {
        kind: SegmentKind::Open,
        offset: 0,
        payload: Bytes::ZERO,
        stamp: Stamp::NONE,
        header: Header::None,
    };
    let mut hop_of_third_at = |first, at| {
        let mut noted = crate::lag::Noted::default();
        (0..2).for_each(|_| network.send(first, &address, &segment, &mut noted));
        network.send_followed(at, &address, &segment, &mut noted);
        let trail = network.tracer_mut().take_trail().expect("it is followed");
        let left_by = |now| trail.clone().until(now).there[0].left;
        assert_eq!(left_by(us(199)), None);
        (trail.there[0].queue.packets, trail.there[0].queue.bytes.get(), left_by(us(200)))
    };
    assert_eq!(hop_of_third_at(us(0), us(0)), (1, 100, Some(us(200))));
    assert_eq!(hop_of_third_at(us(1000), us(1150)), (0, 0, None), "it waits, not among others");
}
