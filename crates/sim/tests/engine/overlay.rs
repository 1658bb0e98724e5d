//! An overlay over simulated connections.

use std::sync::Arc;

use proptest::prelude::*;
use ratewire_net::spec::{Limit, Loss, NodeId as Host};
use ratewire_overlay::{ClientId, GroupId, NodeId, Params, SenderSpec, Service};
use ratewire_sim::overlay::spec::*;
use ratewire_transport::App;
use ratewire_units::{Bytes, Rate, Time};

use crate::net::*;

/// Hosts joined by cables of so many Mb/s, with 10 ms and 50 packets each, and an overlay over all.
fn overlay(
    hosts: u32,
    cables: &[(u32, u32, u64)],
    groups: Vec<OverlayGroup>,
) -> (Net, OverlaySpec) {
    let mut net = Net::new(law("newreno", &[]));
    net.nodes(hosts);
    let mut links = Vec::new();
    for (a, b, mbps) in cables {
        let first = net.cable(*a, *b, MBPS(*mbps), MS(10));
        for link in [first, first + 1] {
            net.link(link).limit = Limit::Packets(50);
        }
        for (from, to) in [(*a, *b), (*b, *a)] {
            let flow = net.setup.flows.len();
            net.flow(from, to, App::fed());
            links.push(OverlayLink { from: NodeId(from as u8), to: NodeId(to as u8), flow });
        }
    }
    let spec = OverlaySpec {
        params: Params::default(),
        nodes: (0..hosts).map(Host).collect(),
        links,
        groups,
        senders: Vec::new(),
        changes: Vec::new(),
        payload: Bytes::new(1460),
    };
    (net, spec)
}

fn group(name: &str, service: Service, members: &[(u32, u8)]) -> OverlayGroup {
    let members = members.iter().map(|(client, node)| (ClientId(*client), NodeId(*node)));
    OverlayGroup { name: name.into(), service, members: members.collect() }
}

fn sender(client: u32, at: u8, group: u32) -> OverlaySender {
    let spec = SenderSpec {
        client: ClientId(client),
        group: GroupId(group),
        message: Bytes::new(1460),
        line: Rate::from_mbps(10),
        offered: None,
    };
    OverlaySender { at: NodeId(at), spec, start: Time::ZERO, stop: None }
}

/// The paper's scenario 2: both groups cross B-D, at 2 Mb/s.
fn scenario_2(senders: u32) -> (Net, OverlaySpec) {
    let cables = [(0, 1, 3), (1, 2, 3), (1, 3, 2), (3, 4, 3), (3, 5, 2)];
    let ace = group("ace", Service::Fifo, &[(1000, 2), (1001, 4)]);
    let aef = group("aef", Service::Fifo, &[(1002, 4), (1003, 5)]);
    let (net, mut spec) = overlay(6, &cables, vec![ace, aef]);
    spec.senders = (0..senders).map(|i| sender(i, 0, i % 2)).collect();
    (net, spec)
}

#[test]
fn two_groups_share_a_bottleneck() {
    let (mut net, spec) = scenario_2(40);
    net.setup.overlay = Some(Arc::new(spec));
    let outcome = net.seconds(60.0).run();
    let overlay = outcome.overlay.unwrap();
    let rate = |group: usize| overlay.groups[group].sent as f64 * 1460.0 * 8.0 / 60e6;
    for link in &overlay.links {
        println!("{:?}", link);
    }
    println!("{} {} {:?}", rate(0), rate(1), overlay.groups);
    assert!((rate(0) - rate(1)).abs() < 0.05 * rate(0), "{} and {}", rate(0), rate(1));
    assert!(rate(0) + rate(1) > 0.95 * 2.0, "{} and {}", rate(0), rate(1));
}
