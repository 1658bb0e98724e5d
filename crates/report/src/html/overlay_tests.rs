use ratewire_units::Duration;

use super::*;
use crate::{
    Collector, ConnectionSummary, FlowInfo, GroupSummary, LinkInfo, NodeInfo, Summary, Topology,
    World,
};

/// Two nodes and a connection each way; the group's tree is the second.
fn run(at: Option<(f64, f64)>) -> Run {
    let node = |name: &str| NodeInfo { name: name.into(), at, ..NodeInfo::default() };
    let flow = |from, to| FlowInfo {
        name: format!("{from}=>{to}"),
        from,
        to,
        law: "newreno".into(),
        ..FlowInfo::default()
    };
    let info = RunInfo {
        duration: Duration::from_secs(1),
        topology: Topology { nodes: vec![node("a<b"), node("c")], links: Vec::new() },
        flows: vec![flow(0, 1), flow(1, 0)],
        overlay: Some(OverlayInfo {
            groups: vec!["news".into()],
            connections: vec![0, 1],
            trees: vec![vec![1]],
            senders: vec![(0, 0)],
        }),
        ..RunInfo::default()
    };
    let mut summary = Summary::of(&info);
    let connection =
        ConnectionSummary { name: "1=>0".into(), price_mean: 12.3, ..ConnectionSummary::default() };
    let name = "news".to_string();
    let group = GroupSummary { name, senders: 3, receiving_nodes: 1, ..GroupSummary::default() };
    summary.overlay = Some(OverlaySummary {
        groups: vec![group],
        connections: vec![
            ConnectionSummary { name: "0=>1".into(), ..ConnectionSummary::default() },
            connection,
        ],
        sent_bps: 1e6,
        optimum_bps: Some(2e6),
        optimum_ratio: Some(0.5),
        views: 0,
        control_share: 0.001,
    });
    let collected = Collector::new(&info).finish();
    Run { info, summary, collected }
}

#[test]
fn a_tree_has_its_prices_and_names() {
    // Between two nodes in one place there is no room for a price.
    for (at, room) in [(None, true), (Some((1.0, 2.0)), false)] {
        let html = overlay(&[run(at)]);
        assert_eq!(html.matches("class=\"branch\"").count(), 1, "{html}");
        assert_eq!(html.matches("class=\"way\"").count(), 2);
        assert!(html.contains("$12.30") == room && html.contains("a&lt;b"), "{html}");
        assert!(html.contains("0.500 of the optimum, 2 Mbit/s"), "{html}");
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
    }
}

#[test]
fn each_world_says_what_it_sent() {
    let (mut simulated, mut emulated) = (run(None), run(None));
    simulated.info.law = "newreno".into();
    emulated.info = RunInfo { world: World::Emulate, ..simulated.info.clone() };
    emulated.summary.overlay.as_mut().unwrap().sent_bps = 3e6;
    let html = overlay(&[simulated, emulated]);
    assert!(html.contains("newreno (simulated): All senders sent 1 Mbit/s"), "{html}");
    assert!(html.contains("newreno (emulated): All senders sent 3 Mbit/s"), "{html}");
    assert!(html.contains("The drawings are of newreno (simulated)."), "{html}");
    assert!(!overlay(&[run(None)]).contains("drawings are of"));
}

#[test]
fn one_node_is_no_nodes() {
    let run = run(None);
    let table =
        crate::table::render(std::slice::from_ref(&run), &crate::table::TableOptions::default());
    for text in [overlay(&[run]), table] {
        assert!(text.contains("1 node") && !text.contains("1 nodes"), "{text}");
    }
}

#[test]
fn prices_cover_nothing_and_are_no_longer_than_their_connection() {
    let price = |length, taken| prices(vec![(12.3, [(0.0, 0.0), (length, 0.0)])], taken);
    assert_eq!(price(50.0, Vec::new()), "");
    let usual = price(200.0, Vec::new());
    assert!(usual.contains("$12.30"));
    let node = Box::around(112.0, -9.0, RADIUS);
    let shifted = price(200.0, vec![node]);
    assert!(shifted.contains("$12.30") && shifted != usual);
    assert_eq!(price(200.0, vec![Box::around(100.0, 0.0, 60.0)]), "");
}

#[test]
fn the_dearer_price_has_room_first() {
    let (west, east) = ((0.0, 0.0), (200.0, 0.0));
    let alone = prices(vec![(2.0, [west, east])], Vec::new());
    let both = prices(vec![(1.0, [east, west]), (2.0, [west, east])], Vec::new());
    assert!(both.starts_with(&alone) && both.contains("$1.00"), "{both}");
}

#[test]
fn no_price_lies_across_a_name() {
    let mut run = run(None);
    run.info.topology.nodes[0].name = "a".repeat(100);
    assert!(!overlay(&[run]).contains("$12.30"));
}

/// A host has the place of its router; a drawing is as wide as it is high.
#[test]
fn hosts_stand_where_their_routers_do() {
    let mut run = run(None);
    let router =
        |name: &str, at| NodeInfo { name: name.into(), at: Some(at), ..NodeInfo::default() };
    run.info.topology.nodes.extend([router("r1", (0.0, 0.0)), router("r2", (30.0, 40.0))]);
    let link = |from, to| LinkInfo { from, to, ..LinkInfo::default() };
    run.info.topology.links = vec![link(0, 2), link(2, 3), link(1, 3)];
    let html = overlay(&[run]);
    let ends: Vec<f64> = ["x1", "y1", "x2", "y2"]
        .iter()
        .map(|key| {
            let from = html.find(&format!("{key}=\"")).unwrap() + 4;
            html[from..][..html[from..].find('"').unwrap()].parse().unwrap()
        })
        .collect();
    let (across, down) = (ends[2] - ends[0], ends[1] - ends[3]);
    assert!((across / down - 0.75).abs() < 0.01, "{ends:?}");
    assert!(down > 300.0, "{ends:?}");
}

#[test]
fn groups_and_connections_have_tables() {
    let html = tables(&run(None), "newreno", 10);
    for wanted in
        ["newreno: groups", ">news<", "Delivered in", "newreno: connections", "1=&gt;0", "$12.30"]
    {
        assert!(html.contains(wanted), "{wanted}: {html}");
    }
    assert!(html.find("1=&gt;0") < html.find("0=&gt;1"), "the dearest first");
    assert!(tables(&run(None), "newreno", 1).contains("and 1 more"));
    let mut plain = run(None);
    plain.summary.overlay = None;
    assert_eq!(tables(&plain, "newreno", 10), "");
}

#[test]
fn a_run_without_an_overlay_has_no_section() {
    let mut plain = run(None);
    plain.info.overlay = None;
    assert_eq!(overlay(&[plain]), "");
    assert_eq!(overlay(&[]), "");
}
