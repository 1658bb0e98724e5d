//! Networks of the shapes the drawing must cope with.

use ratewire_report::{LinkInfo, NodeInfo, NodeKind, RunInfo};
use ratewire_units::{Duration, Rate};

/// The network of a variant, with `flows` flows on it.
pub fn info(variant: &str, flows: u32) -> RunInfo {
    let mut info = RunInfo::default();
    match variant {
        "fat-tree" => fat_tree(&mut info, 4),
        "big-tree" => fat_tree(&mut info, 8),
        "abilene" => abilene(&mut info),
        "chain" => chain(&mut info, 5),
        "star" => star(&mut info, 9),
        "mesh" => mesh(&mut info),
        "pairs" => dumbbell(&mut info, 10),
        _ => dumbbell(&mut info, flows),
    }
    let hosts: Vec<u32> = (0..info.topology.nodes.len() as u32)
        .filter(|&i| info.topology.nodes[i as usize].kind == NodeKind::Host)
        .collect();
    for i in 0..flows {
        let pair = (i as usize * 2) % hosts.len();
        info.flows.push(super::flow(hosts[pair], hosts[(pair + 1) % hosts.len()], i));
    }
    info
}

/// Utilisation of a link, as a share of the bottleneck's.
pub fn share(index: u32, link: &LinkInfo) -> f64 {
    match (link.bottleneck, index % 2) {
        (true, _) => 1.0,
        (false, 0) => f64::from(index * 37 % 100) / 110.0,
        _ => 0.03,
    }
}

fn node(info: &mut RunInfo, name: String, kind: NodeKind, at: Option<(f64, f64)>) -> u32 {
    info.topology.nodes.push(NodeInfo { name, kind, at, ..NodeInfo::default() });
    info.topology.nodes.len() as u32 - 1
}
fn host(info: &mut RunInfo, name: String) -> u32 {
    node(info, name, NodeKind::Host, None)
}
fn router(info: &mut RunInfo, name: String) -> u32 {
    node(info, name, NodeKind::Router, None)
}
fn duplex(info: &mut RunInfo, name: &str, a: u32, b: u32, mbps: u64, bottleneck: bool) {
    for (from, to, back) in [(a, b, false), (b, a, true)] {
        let ends =
            (&info.topology.nodes[from as usize].name, &info.topology.nodes[to as usize].name);
        let name = match (name, back) {
            ("", _) => format!("{}-{}", ends.0, ends.1),
            (name, true) => format!("{name} back"),
            (name, false) => name.to_string(),
        };
        let delay = Duration::from_millis(if bottleneck { 20 } else { 1 });
        let (rate, bottleneck) = (Rate::from_mbps(mbps), bottleneck && !back);
        info.topology.links.push(LinkInfo {
            name,
            from,
            to,
            rate,
            delay,
            bottleneck,
            slowest: bottleneck,
            ..LinkInfo::default()
        });
    }
}

fn dumbbell(info: &mut RunInfo, pairs: u32) {
    let (left, right) = (router(info, "r1".into()), router(info, "r2".into()));
    duplex(info, "bottleneck", left, right, 100, true);
    for i in 1..=pairs {
        let (s, d) = (host(info, format!("s{i}")), host(info, format!("d{i}")));
        duplex(info, "", s, left, 1000, false);
        duplex(info, "", right, d, 1000, false);
    }
}

fn chain(info: &mut RunInfo, length: u32) {
    let routers: Vec<u32> = (0..length).map(|i| router(info, format!("r{i}"))).collect();
    for pair in routers.windows(2) {
        duplex(info, &format!("hop {}", pair[0]), pair[0], pair[1], 100, true);
    }
    for (i, &r) in routers.iter().enumerate() {
        for k in 0..2 {
            let h = host(info, format!("h{i}{k}"));
            duplex(info, "", h, r, 1000, false);
        }
    }
}

fn star(info: &mut RunInfo, hosts: u32) {
    let hub = router(info, "switch".into());
    for i in 0..hosts {
        let h = host(info, format!("node{i}"));
        duplex(info, "", h, hub, 10_000, i == 3);
    }
}

fn fat_tree(info: &mut RunInfo, k: u32) {
    let half = k / 2;
    let core: Vec<u32> = (0..half * half).map(|i| router(info, format!("core{i}"))).collect();
    for pod in 0..k {
        let up: Vec<u32> = (0..half).map(|i| router(info, format!("agg{pod}{i}"))).collect();
        for (i, &a) in up.iter().enumerate() {
            for j in 0..half {
                duplex(info, "", a, core[(i as u32 * half + j) as usize], 40_000, pod + j == 1);
            }
        }
        for e in 0..half {
            let edge = router(info, format!("edge{pod}{e}"));
            for &a in &up {
                duplex(info, "", edge, a, 40_000, false);
            }
            for h in 0..half {
                let h = host(info, format!("h{pod}-{e}-{h}"));
                duplex(info, "", h, edge, 10_000, false);
            }
        }
    }
}

fn mesh(info: &mut RunInfo) {
    let routers: Vec<u32> = (0..14).map(|i| router(info, format!("n{i}"))).collect();
    for i in 0..14_usize {
        duplex(info, "", routers[i], routers[(i + 1) % 14], 1000, i == 2);
        if i % 3 == 0 {
            duplex(info, "", routers[i], routers[(i * 5 + 4) % 14], 100, false);
        }
    }
    for i in [0_usize, 3, 7, 7, 11] {
        let h = host(info, format!("host{}", info.topology.nodes.len()));
        duplex(info, "", h, routers[i], 1000, false);
    }
}

/// The research network of 2004: city, longitude, latitude, and its links.
fn abilene(info: &mut RunInfo) {
    const CITIES: [(&str, f64, f64); 12] = [
        ("Atlanta M5", -84.3833, 33.75),
        ("Atlanta", -85.5, 34.5),
        ("Chicago", -87.6167, 41.8333),
        ("Denver", -105.0, 40.75),
        ("Houston", -95.517364, 29.770031),
        ("Indianapolis", -86.159535, 39.780622),
        ("Kansas City", -96.596704, 38.961694),
        ("Los Angeles", -118.25, 34.05),
        ("New York", -73.9667, 40.7833),
        ("Sunnyvale", -122.02553, 37.38575),
        ("Seattle", -122.3, 47.6),
        ("Washington", -77.026842, 38.897303),
    ];
    const LINKS: [(usize, usize); 15] = [
        (0, 1),
        (1, 4),
        (1, 5),
        (1, 11),
        (2, 5),
        (2, 8),
        (3, 6),
        (3, 9),
        (3, 10),
        (4, 6),
        (4, 7),
        (5, 6),
        (7, 9),
        (8, 11),
        (9, 10),
    ];
    for (name, x, y) in CITIES {
        node(info, name.into(), NodeKind::Router, Some((x, y)));
    }
    for (a, b) in LINKS {
        let rate = if a == 0 { 2_488 } else { 9_920 };
        duplex(info, "", a as u32, b as u32, rate, (a, b) == (5, 6));
    }
    for at in [10_u32, 8, 7, 11] {
        let h = host(info, format!("lab {at}"));
        duplex(info, "", h, at, 1000, false);
    }
}
