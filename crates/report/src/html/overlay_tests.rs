use ratewire_units::Duration;

use super::*;
use crate::{Collector, ConnectionSummary, FlowInfo, GroupSummary, NodeInfo, Summary, Topology};

/// Two nodes and a connection each way, of which the group's tree is the first.
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
            trees: vec![vec![0]],
        }),
        ..RunInfo::default()
    };
    let mut summary = Summary::of(&info);
    let connection = ConnectionSummary { price_mean: 12.3, ..ConnectionSummary::default() };
    let group = GroupSummary { name: "news".into(), senders: 3, ..GroupSummary::default() };
    summary.overlay = Some(OverlaySummary {
        groups: vec![group],
        connections: vec![connection, ConnectionSummary::default()],
        sent_bps: 1e6,
        optimum_bps: Some(2e6),
        optimum_ratio: Some(0.5),
        control_share: 0.001,
    });
    let collected = Collector::new(&info).finish();
    Run { info, summary, collected }
}

#[test]
fn a_tree_has_its_prices_and_names() {
    for at in [None, Some((1.0, 2.0))] {
        let html = overlay(&[run(at)]);
        assert_eq!(html.matches("class=\"branch\"").count(), 1, "{html}");
        assert_eq!(html.matches("class=\"way\"").count(), 2);
        assert!(html.contains("$12.30") && html.contains("a&lt;b"), "{html}");
        assert!(html.contains("0.500 of the optimum, 2 Mbit/s"), "{html}");
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
    }
}

#[test]
fn a_run_without_an_overlay_has_no_section() {
    let mut plain = run(None);
    plain.info.overlay = None;
    assert_eq!(overlay(&[plain]), "");
    assert_eq!(overlay(&[]), "");
}
