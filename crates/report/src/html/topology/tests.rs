use super::*;
use crate::{Collector, FlowInfo, NodeInfo, NodeKind, RunInfo, Summary, Topology};
use ratewire_units::{Duration, Rate};

#[derive(Default)]
pub(super) struct Net {
    info: RunInfo,
}

impl Net {
    fn node(&mut self, name: &str, kind: NodeKind, at: Option<(f64, f64)>) -> u32 {
        self.info.topology.nodes.push(NodeInfo {
            name: name.into(),
            kind,
            at,
            ..NodeInfo::default()
        });
        self.info.topology.nodes.len() as u32 - 1
    }
    fn host(&mut self, name: &str) -> u32 {
        self.node(name, NodeKind::Host, None)
    }
    fn router(&mut self, name: &str) -> u32 {
        self.node(name, NodeKind::Router, None)
    }
    fn duplex(&mut self, a: u32, b: u32) {
        for (from, to) in [(a, b), (b, a)] {
            let (rate, delay) = (Rate::from_mbps(10), Duration::from_millis(1));
            self.info.topology.links.push(LinkInfo { from, to, rate, delay, ..Default::default() });
        }
    }
    fn run(self) -> Run {
        let (info, collected) = (self.info.clone(), Collector::new(&self.info).finish());
        Run { summary: Summary::of(&info), info, collected }
    }
    fn placed(&self) -> (Graph, Placed) {
        let graph = Graph::of(&self.info);
        let placed = layout::place(&graph);
        (graph, placed)
    }
}

fn dumbbell(pairs: usize) -> Net {
    let mut net = Net::default();
    let (r1, r2) = (net.router("r1"), net.router("r2"));
    net.duplex(r1, r2);
    for i in 0..pairs {
        let (s, d) = (net.host(&format!("s{i}")), net.host(&format!("d{i}")));
        net.duplex(s, r1);
        net.duplex(r2, d);
        net.info.flows.push(FlowInfo { from: s, to: d, ..FlowInfo::default() });
    }
    net
}

/// Checks that every node is inside the drawing and no two overlap.
fn legible(placed: &Placed) {
    for (i, a) in placed.at.iter().enumerate() {
        assert!(a.0 > 0.0 && a.0 < placed.width && a.1 > 0.0 && a.1 < placed.height, "{a:?}");
        for b in &placed.at[..i] {
            let apart = ((a.0 - b.0) * (a.0 - b.0) + (a.1 - b.1) * (a.1 - b.1)).sqrt();
            assert!(apart > 15.0, "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_dumbbell_has_senders_left_and_receivers_right() {
    let (graph, placed) = dumbbell(10).placed();
    legible(&placed);
    let x = |name: &str| placed.at[graph.nodes.iter().position(|n| n.name == name).unwrap()].0;
    assert!(x("s3") < x("r1") && x("r1") < x("r2") && x("r2") < x("d3"));
    // Two directions of a link are one edge.
    assert_eq!(graph.edges.len(), 21);
}

#[test]
fn a_hundred_hosts_on_a_router_are_drawn_as_one() {
    let (graph, placed) = dumbbell(100).placed();
    assert_eq!(graph.nodes.len(), 4);
    assert_eq!(graph.nodes.iter().map(|n| n.stands_for).max(), Some(100));
    legible(&placed);
    let html = topology(&[dumbbell(100).run()]);
    assert!(html.contains(">100 hosts<"));
}

/// A dumbbell as scenarios place it: hosts in columns, routers half-way down.
fn dumbbell_on_map(pairs: usize) -> Net {
    let mut net = dumbbell(pairs);
    let middle = -(pairs as f64 - 1.0) / 2.0;
    for node in &mut net.info.topology.nodes {
        let row = |name: &str| -name[1..].parse::<f64>().unwrap();
        node.at = Some(match node.name.as_str() {
            "r1" => (1.0, middle),
            "r2" => (2.0, middle),
            name if name.starts_with('s') => (0.0, row(name)),
            name => (3.0, row(name)),
        });
    }
    net
}

#[test]
fn hosts_drawn_as_one_stand_in_their_middle() {
    let mut net = dumbbell_on_map(100);
    // Hosts without a position do not count.
    for node in &mut net.info.topology.nodes {
        if ["s0", "s99"].contains(&node.name.as_str()) {
            node.at = None;
        }
    }
    let (_, placed) = net.placed();
    legible(&placed);
    assert!(placed.at.iter().all(|p| (p.1 - placed.height / 2.0).abs() < 3.0), "{:?}", placed.at);
    assert!((placed.at[1].0 - placed.at[0].0) > 150.0, "{:?}", placed.at);
}

#[test]
fn places_without_coordinates_are_marked() {
    let page = level(&[(1.0, 1.0)]);
    assert!(!page.contains("guessed") && !page.contains("no coordinates"));
    let mut net = Net::default();
    let nodes = [Some((0.0, 0.0)), Some((4.0, 0.0)), None];
    let nodes: Vec<u32> = nodes.into_iter().map(|at| net.node("n", NodeKind::Router, at)).collect();
    net.duplex(nodes[0], nodes[1]);
    net.duplex(nodes[1], nodes[2]);
    let page = topology(&[net.run()]);
    assert_eq!(page.matches("class=\"router guessed\"").count(), 1);
    assert!(page.contains("<title>n, without coordinates</title>"));
    assert!(page.contains("dashed nodes have no coordinates"));
}

/// Letters are a third larger on phones, where names would run into the rates.
#[test]
fn names_keep_off_rates_on_a_phone() {
    let mut net = dumbbell_on_map(20);
    for link in &mut net.info.topology.links {
        (link.rate, link.delay) = (Rate::from_mbps(1500), Duration::from_micros(1250));
    }
    assert!(net.placed().1.fits);
    let page = topology(&[net.run()]);
    let y = |words: &str| {
        let tags = page.split("<text ").filter_map(|rest| Some(rest.split_once("</text>")?.0));
        let tags = tags.filter(|tag| tag.contains(words));
        let of = |tag: &str| tag.split(" y=\"").nth(1)?.split('"').next()?.parse::<f64>().ok();
        tags.filter_map(of).collect::<Vec<f64>>()
    };
    let (rates, names) = (y("1.5 Gbit/s"), y("20 hosts"));
    assert!(rates.len() == 3 && names.len() == 2, "{page}");
    assert!(names.iter().all(|name| rates.iter().all(|rate| (name - rate).abs() > 15.0)), "{page}");
}

#[test]
fn a_fat_tree_stands_in_tiers() {
    let mut net = Net::default();
    let core: Vec<u32> = (0..4).map(|i| net.router(&format!("c{i}"))).collect();
    for pod in 0..4 {
        let up: Vec<u32> = (0..2).map(|i| net.router(&format!("a{pod}{i}"))).collect();
        for i in 0..2 {
            let edge = net.router(&format!("e{pod}{i}"));
            for (k, &a) in up.iter().enumerate() {
                net.duplex(edge, a);
                if i == 0 {
                    net.duplex(a, core[2 * k]);
                    net.duplex(a, core[2 * k + 1]);
                }
            }
            for h in 0..2 {
                let host = net.host(&format!("h{pod}{i}{h}"));
                net.duplex(host, edge);
            }
        }
    }
    let (graph, placed) = net.placed();
    legible(&placed);
    let y = |name: &str| placed.at[graph.nodes.iter().position(|n| n.name == name).unwrap()].1;
    assert!(y("c0") < y("a00") && y("a00") < y("e00") && y("e00") < y("h000"));
    assert_eq!(y("h000"), y("h311"));
}

#[test]
fn a_map_keeps_north_up_and_hosts_without_a_place_near_their_router() {
    let mut net = Net::default();
    let seattle = net.node("Seattle", NodeKind::Router, Some((-122.3, 47.6)));
    let houston = net.node("Houston", NodeKind::Router, Some((-95.4, 29.8)));
    let host = net.host("h");
    net.duplex(seattle, houston);
    net.duplex(host, houston);
    let (_, placed) = net.placed();
    legible(&placed);
    let [s, t, h] = [seattle, houston, host].map(|i| placed.at[i as usize]);
    assert!(s.0 < t.0 && s.1 < t.1);
    assert!((h.0 - t.0).abs() < 60.0 && (h.1 - t.1).abs() < 60.0);
}

#[test]
fn shapes_without_a_name_are_drawn_all_the_same() {
    let mut ring = Net::default();
    let routers: Vec<u32> = (0..7).map(|i| ring.router(&format!("r{i}"))).collect();
    for i in 0..7 {
        ring.duplex(routers[i], routers[(i + 1) % 7]);
    }
    legible(&ring.placed().1);
    let mut wire = Net::default();
    let (a, b) = (wire.host("a"), wire.host("b"));
    wire.duplex(a, b);
    legible(&wire.placed().1);
    let mut strangers = Net::default();
    strangers.host("a");
    strangers.router("b");
    legible(&strangers.placed().1);
    let mut star = Net::default();
    let hub = star.router("hub");
    for i in 0..6 {
        let host = star.host(&format!("h{i}"));
        star.duplex(host, hub);
    }
    legible(&star.placed().1);
}

#[test]
fn a_ring_of_few_nodes_with_short_names_is_seen_whole_on_a_phone() {
    let ring = |nodes: u32, name: &str| {
        let mut net = Net::default();
        let routers: Vec<u32> = (0..nodes).map(|i| net.router(&format!("{name}{i}"))).collect();
        (0..nodes).for_each(|i| net.duplex(routers[i as usize], (i + 1) % nodes));
        topology(&[net.run()])
    };
    let fits = |page: &str| page.contains("<svg class=\"topo fits\"");
    assert!(fits(&ring(12, "r")) && !fits(&ring(13, "r")));
    assert!(fits(&ring(3, "seven77")) && !fits(&ring(3, "eight888")));
}

#[test]
fn nonsense_is_left_out() {
    let mut net = dumbbell(1);
    net.info.topology.links.push(LinkInfo { from: 99, to: 0, ..LinkInfo::default() });
    net.info.topology.links.push(LinkInfo { from: 1, to: 1, ..LinkInfo::default() });
    net.info.topology.nodes[0].at = Some((f64::NAN, 1.0));
    net.info.flows.push(FlowInfo { from: 77, to: 78, ..FlowInfo::default() });
    assert!(topology(&[net.run()]).contains("<svg"));
    let info = RunInfo { topology: Topology::default(), ..RunInfo::default() };
    let empty =
        Run { summary: Summary::of(&info), collected: Collector::new(&info).finish(), info };
    assert_eq!(topology(&[empty]), "");
}

#[test]
fn parallel_links_lie_beside_each_other() {
    let mut net = dumbbell(1);
    net.duplex(0, 1);
    let graph = Graph::of(&net.info);
    let lanes: Vec<usize> = graph.edges.iter().filter(|e| e.a + e.b == 1).map(|e| e.lane).collect();
    assert_eq!(lanes, [0, 1]);
}

/// Two routers on the level with a link between them, and nodes at the places `beside`.
fn level(beside: &[(f64, f64)]) -> String {
    let mut net = Net::default();
    let west = net.node("west", NodeKind::Router, Some((0.0, 0.0)));
    let east = net.node("east", NodeKind::Router, Some((4.0, 0.0)));
    net.duplex(west, east);
    for (i, &at) in beside.iter().enumerate() {
        net.node(&format!("n{i}"), NodeKind::Router, Some(at));
    }
    topology(&[net.run()])
}

/// Height on the page of the link's rate, and of its routers.
fn rate_and_routers(page: &str) -> (Option<f64>, f64) {
    let y = |from: &str| {
        let tag = &page[page.find(from)?..];
        let y = &tag[tag.find(" y=\"")? + 4..];
        y[..y.find('"')?].parse::<f64>().ok()
    };
    (y("class=\"rate\""), y("class=\"router\"").unwrap() + 8.0)
}

#[test]
fn a_rate_does_not_lie_across_a_node() {
    let (rate, routers) = rate_and_routers(&level(&[]));
    assert_eq!(rate, Some(routers - 14.0));
    let (above, below) = ((2.2, 0.1), (1.8, -0.1));
    let (rate, routers) = rate_and_routers(&level(&[above]));
    assert_eq!(rate, Some(routers + 14.0));
    assert_eq!(rate_and_routers(&level(&[above, below])).0, None);
}

/// In networks from files a router shares its host's name. A router with further hosts, or with
/// another name, keeps its own.
#[test]
fn a_host_and_the_router_of_its_own_share_a_name() {
    let mut net = Net::default();
    let long = "SEQSUINET, Rice University, Houston, Texas";
    for (i, name) in ["LV", long].into_iter().enumerate() {
        let router =
            net.node(&format!("{name}.router"), NodeKind::Router, Some((i as f64 * 9.0, 50.0)));
        let host = net.host(name);
        net.duplex(router, host);
    }
    let (hub, leaf) = (net.router("hub"), net.host("leaf"));
    net.duplex(hub, leaf);
    net.duplex(hub, 0);
    net.duplex(hub, 2);
    let page = topology(&[net.run()]);
    let clipped = ratewire_table::clip(long, 40);
    for (name, times) in [("LV", 1), ("LV.router", 0), (&*clipped, 1), ("hub", 1), ("leaf", 1)] {
        assert_eq!(page.matches(&format!(">{name}</text>")).count(), times, "{name}");
    }
    assert!(page.contains("<title>LV.router</title>"));
}

#[test]
fn names_have_room_first_where_nodes_are_crowded() {
    let mut net = Net::default();
    // As many units apart as the drawing has: it is 628 wide inside its margins.
    let ends = [(0.0, 0.0), (628.0, 0.0)];
    let around = [(262.0, 22.0), (262.0, -22.0), (284.0, 0.0), (344.0, 0.0)];
    for at in ends.into_iter().chain(around) {
        net.node("one of the outer", NodeKind::Router, Some(at));
    }
    net.node("inner", NodeKind::Router, Some((314.0, 0.0)));
    let page = topology(&[net.run()]);
    assert!(page.contains(">inner</text>"), "{page}");
}

#[test]
fn an_ensemble_shows_its_switch_and_members() {
    let mut net = Net::default();
    let peer = net.host("peer");
    let switch = net.node("s", NodeKind::Switch, None);
    net.duplex(peer, switch);
    for name in ["a1", "a2"] {
        let member = net.node(name, NodeKind::Member, None);
        net.info.topology.nodes[member as usize].part = "member of kv".into();
        net.duplex(switch, member);
    }
    let page = topology(&[net.run()]);
    assert_eq!(page.matches("class=\"switch\"").count(), 1);
    assert_eq!(page.matches("class=\"host member\"").count(), 2);
    assert!(page.contains("<title>a1, member of kv</title>") && page.contains("a diamond is"));
    assert!(!topology(&[dumbbell(2).run()]).contains("a diamond is"));
}
