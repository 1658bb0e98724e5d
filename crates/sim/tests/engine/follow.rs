//! A followed packet shows what limited its flow's rate.

use ratewire_laws::{AnyLaw, Draw, LinkContext, list};
use ratewire_net::spec::{Limit, LinkId};
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::{FlowId, FollowedFate};
use ratewire_sim::setup::Follow;
use ratewire_transport::{App, KeptBy, ReceiveWindow, Writer};
use ratewire_units::{Rate, Time};

use crate::net::{MBPS, MS, Net, law, packets, secs};

/// Follows the first packet that this flow sends at this time or later.
fn asked(flow: u32, at: Time) -> Follow {
    Follow { in_turn: false, asked: Some((FlowId(flow), at)) }
}

/// A chain of three cables, of which the second is the bottleneck.
fn chain(name: &str) -> Net {
    let mut net = Net::new(law(name, &[]));
    net.nodes(4);
    for (node, rate) in [(0, 100), (1, 10), (2, 50)] {
        net.cable(node, node + 1, MBPS(rate), MS(5));
    }
    net.flow(0, 3, App::unlimited());
    net
}

#[test]
fn the_narrow_link_binds() {
    let mut net = chain("xcp");
    net.setup.follow = asked(0, secs(5.0));
    let (_, log) = net.log();
    let [followed] = &log.followed[..] else { panic!("{:?}", log.followed) };
    assert!(followed.sent >= secs(5.0) && followed.sent < secs(5.1), "{}", followed.sent);
    let links: Vec<LinkId> = followed.trail.there.iter().map(|hop| hop.link).collect();
    assert_eq!(links, [LinkId(0), LinkId(2), LinkId(4)]);
    assert_eq!(followed.trail.back.len(), 3);
    assert_eq!(followed.bound(), Some(1));
    let figures = &followed.trail.there[1].reason.as_ref().unwrap().figures;
    let capacity = figures.iter().find(|figure| figure.name == "C").map(|figure| figure.value);
    assert_eq!(capacity, Some(1.25e6));
    assert!(
        matches!(followed.fate, FollowedFate::Acknowledged(at, _) if at > followed.sent + MS(30))
    );
}

#[test]
fn without_a_port_nothing_binds() {
    let mut net = chain("newreno");
    net.setup.follow = asked(0, secs(5.0));
    let (_, log) = net.log();
    assert_eq!(log.followed[0].bound(), None);
    assert!(log.followed[0].reason.equation.contains("slow start"), "{:?}", log.followed[0].reason);
}

#[test]
fn each_flow_has_its_turn() {
    let mut net = chain("xcp");
    net.flow(0, 3, App::unlimited());
    net.flow(3, 0, App::sized(packets(100)));
    net.setup.sample_interval = Some(MS(100));
    net.setup.follow = Follow { in_turn: true, asked: None };
    let (_, log) = net.log();
    for flow in 0..3 {
        assert!(log.followed.iter().any(|f| f.flow == FlowId(flow)), "flow {flow}");
    }
    assert!(log.followed.len() > 50, "{}", log.followed.len());
}

/// A followed packet passes an idle link step by step, and enters none ahead; all others pass in
/// one step. So the number of events depends on it, and nothing else.
#[test]
fn following_changes_nothing() {
    for info in list() {
        let mut net = chain(info.name);
        net.link(2).limit = Limit::Packets(20);
        net.flow(0, 3, App::unlimited());
        net.setup.sample_interval = Some(MS(10));
        let (alone, _) = net.log();
        net.setup.follow = Follow { in_turn: true, asked: None };
        let (outcome, log) = net.log();
        assert!(log.followed.len() > 5, "{}: {}", info.name, log.followed.len());
        let outcome = Outcome { events: alone.events, ..outcome };
        assert_eq!(format!("{outcome:?}"), format!("{alone:?}"), "{}", info.name);
    }
}

#[test]
fn a_packet_that_is_lost_is_reported_as_lost() {
    let mut net = chain("newreno");
    net.link(2).loss = ratewire_net::spec::Loss::Random(1.0);
    net.setup.follow = asked(0, secs(0.0));
    let (_, log) = net.log();
    assert_eq!(log.followed[0].fate, FollowedFate::Lost);
    assert_eq!(log.followed[0].trail.there.len(), 2);
    assert!(log.followed[0].trail.back.is_empty());
}

#[test]
fn under_every_law_with_ports_the_narrow_link_binds() {
    for info in list() {
        let any = LinkContext { rate: MBPS(10), delay: MS(5), id: 1, draw: Draw::new(0) };
        if AnyLaw::new(info.name, &[]).unwrap().port(&any).is_none() {
            continue;
        }
        let mut net = chain(info.name);
        net.setup.sample_interval = Some(MS(50));
        net.setup.follow.in_turn = true;
        let (_, log) = net.log();
        let late = log.followed.iter().filter(|followed| followed.sent > secs(3.0));
        let bound: Vec<usize> = late.filter_map(|followed| followed.bound()).collect();
        let others = bound.iter().filter(|hop| **hop != 1).count();
        // An XCP port that has given out all its feedback of an interval grants nothing until the
        // next, however much capacity it has left.
        let most = if info.name.starts_with("xcp") { bound.len() / 20 } else { 0 };
        assert!(others <= most, "{}: {bound:?}", info.name);
        // DCTCP names a port only after a mark, and there are few marks in each sawtooth.
        let fewest = if info.name == "dctcp" { 1 } else { 50 };
        assert!(bound.len() >= fewest, "{}: {} of {}", info.name, bound.len(), log.followed.len());
    }
}

#[test]
fn a_flow_that_does_not_use_its_rate_is_bound_by_no_port() {
    let slow = Writer::Constant { rate: Rate::from_mbps(1) };
    for (writer, window, expected) in [
        (Writer::Unlimited, ReceiveWindow::Fixed(packets(9999)), KeptBy::Law),
        (slow, ReceiveWindow::Fixed(packets(9999)), KeptBy::Application),
        (Writer::Unlimited, ReceiveWindow::Fixed(packets(4)), KeptBy::Receiver),
    ] {
        let mut net = chain("rcp");
        net.setup.flows[0].app.writer = writer;
        net.setup.flows[0].transport.receive_window = window;
        net.setup.follow = asked(0, secs(5.0));
        let (_, log) = net.log();
        assert_eq!(log.followed[0].kept_by, expected);
        assert_eq!(log.followed[0].bound().is_some(), expected == KeptBy::Law);
    }
}

#[test]
fn the_flow_asked_about_goes_before_all_others_and_may_not_have_started() {
    let mut net = chain("xcp");
    net.flow(0, 3, App::unlimited()).start = secs(4.0);
    net.setup.sample_interval = Some(MS(5));
    for (at, sent) in [(3.0, 4.0), (6.0, 6.0)] {
        net.setup.follow = Follow { in_turn: true, asked: Some((FlowId(1), secs(at))) };
        let (_, log) = net.log();
        let answers: Vec<_> = log.followed.iter().filter(|f| f.asked).collect();
        assert_eq!((answers.len(), answers[0].flow), (1, FlowId(1)));
        assert!(answers[0].sent >= secs(sent) && answers[0].sent < secs(sent) + MS(10));
        assert!(log.followed.len() > 5, "{}", log.followed.len());
    }
}

#[test]
fn a_flow_that_is_over_is_not_taken_for_the_one_in_its_slot() {
    let mut net = chain("newreno");
    net.setup.flows[0].app = App::sized(packets(10));
    net.flow(0, 3, App::unlimited()).start = secs(3.0);
    net.setup.follow = asked(0, secs(5.0));
    let (_, log) = net.log();
    assert!(log.followed.is_empty(), "{:?}", log.followed);
}
