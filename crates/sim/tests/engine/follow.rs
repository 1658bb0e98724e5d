//! A followed packet tells what bound its flow's rate.

use ratewire_net::spec::LinkId;
use ratewire_sim::record::{Fate, FlowId};
use ratewire_sim::setup::Follow;
use ratewire_transport::App;

use crate::net::{MBPS, MS, Net, law, packets, secs};

/// Three cables in a row, of which the second is the narrow one.
fn row(name: &str) -> Net {
    let mut net = Net::new(law(name, &[]));
    net.nodes(4);
    for (node, rate) in [(0, 100), (1, 10), (2, 50)] {
        net.cable(node, node + 1, MBPS(rate), MS(5));
    }
    net.flow(0, 3, App::unlimited());
    net
}

#[test]
fn the_narrow_link_is_what_binds() {
    let mut net = row("xcp");
    net.setup.follow = Follow::One(FlowId(0), secs(5.0));
    let (_, log) = net.log();
    let [followed] = &log.followed[..] else { panic!("{:?}", log.followed) };
    assert!(followed.sent >= secs(5.0) && followed.sent < secs(5.1), "{}", followed.sent);
    let links: Vec<LinkId> = followed.trail.there.iter().map(|hop| hop.link).collect();
    assert_eq!(links, [LinkId(0), LinkId(2), LinkId(4)]);
    assert_eq!(followed.trail.back.len(), 3);
    assert_eq!(followed.bound(), Some(1));
    let capacity = followed.trail.there[1].reason.as_ref().map(|reason| reason.figures[0].value);
    assert_eq!(capacity, Some(1.25e6));
    assert!(matches!(followed.fate, Fate::Acknowledged(at, _) if at > followed.sent + MS(30)));
}

#[test]
fn where_no_port_stands_nothing_binds() {
    let mut net = row("newreno");
    net.setup.follow = Follow::One(FlowId(0), secs(5.0));
    let (_, log) = net.log();
    assert_eq!(log.followed[0].bound(), None);
    assert!(log.followed[0].reason.equation.contains("slow start"), "{:?}", log.followed[0].reason);
}

#[test]
fn each_flow_has_its_turn_and_what_it_does_is_not_changed() {
    let mut net = row("xcp");
    net.flow(0, 3, App::unlimited());
    net.flow(3, 0, App::sized(packets(100)));
    net.setup.sample_interval = Some(MS(100));
    let (alone, _) = net.log();
    net.setup.follow = Follow::InTurn;
    let (outcome, log) = net.log();
    for flow in 0..3 {
        assert!(log.followed.iter().any(|f| f.flow == FlowId(flow)), "flow {flow}");
    }
    assert!(log.followed.len() > 50, "{}", log.followed.len());
    assert_eq!(outcome.events, alone.events);
    assert_eq!(outcome.packets, alone.packets);
}

#[test]
fn a_packet_that_is_dropped_is_told_as_missing() {
    let mut net = row("newreno");
    net.link(2).loss = ratewire_net::spec::Loss::Random(1.0);
    net.setup.follow = Follow::One(FlowId(0), secs(0.0));
    let (_, log) = net.log();
    assert_eq!(log.followed[0].fate, Fate::Missing);
    assert_eq!(log.followed[0].trail.there.len(), 2);
    assert!(log.followed[0].trail.back.is_empty());
}
