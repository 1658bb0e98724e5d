//! Topologies from files: what is read, and what is said of the rest.

use proptest::collection::vec;
use proptest::prelude::*;
use ratewire_scenario::Scenario;
use ratewire_sim::setup::Setup;
use ratewire_units::{Duration, Rate};

use crate::common::{parse_with, shown};

const LINK: &str = "link = { rate = \"10 Mbit/s\", delay = \"1 ms\" }";

/// A scenario over `file`, with `more` in its topology.
fn text(more: &str) -> String {
    format!(
        "duration = \"1 s\"\nlaw = \"cubic\"\n[topology]\nkind = \"graph\"\nfile = \"g\"\n{more}\n\
         [[traffic]]\nname = \"t\"\nbetween = \"all\"\nsizes = {{ fixed = \"10 KB\" }}\n\
         load = {{ fraction = 0.3 }}\n"
    )
}

#[track_caller]
fn read(more: &str, file: &str) -> Scenario {
    parse_with(&text(more), &[("g", file)]).unwrap_or_else(|all| panic!("{all}"))
}

fn refused(more: &str, file: &str) -> String {
    parse_with(&text(more), &[("g", file)]).expect_err("it should be refused").to_string()
}

fn warned(more: &str, file: &str) -> String {
    shown(&read(more, file).warnings)
}

#[track_caller]
fn setup(more: &str, file: &str) -> Setup {
    read(more, file).setup(None, None).unwrap_or_else(|all| panic!("{all}"))
}

/// Names of the links between routers.
fn links(setup: &Setup) -> Vec<&str> {
    let names = setup.network.links.iter().map(|link| link.name.as_str());
    names.filter(|name| !name.ends_with(".access") && !name.ends_with(".reverse")).collect()
}

#[track_caller]
fn delay(setup: &Setup, name: &str) -> Duration {
    setup.network.links.iter().find(|link| link.name == name).expect("the link").delay
}

#[track_caller]
fn rate(setup: &Setup, name: &str) -> Rate {
    let link = setup.network.links.iter().find(|link| link.name == name).expect("the link");
    match link.service {
        ratewire_net::spec::Service::Rate(rate) => rate,
        _ => panic!("a rate"),
    }
}

/// Node-link JSON of the given nodes and links.
fn json(head: &str, nodes: &str, links: &str) -> String {
    format!("{{{head}\"nodes\": [{nodes}],\n\"links\": [{links}]}}")
}

const THREE: &str = r#"{"id": "a"}, {"id": "b"}, {"id": "c"}"#;

#[test]
fn attributes_of_json_are_used() {
    let nodes = r#"{"id": 0, "label": "West", "Latitude": 48.0, "Longitude": 10.0, "Internal": 1},
                   {"id": 1, "label": "East", "Latitude": 48.0, "Longitude": 20.0, "Internal": 1}"#;
    let file = json("", nodes, r#"{"source": 0, "target": 1, "LinkSpeedRaw": 2000000.0}"#);
    let setup = setup(LINK, &file);
    assert_eq!(rate(&setup, "West->East"), Rate::from_mbps(2));
    let there = delay(&setup, "West->East");
    assert!(
        there > Duration::from_micros(3_710) && there < Duration::from_micros(3_730),
        "{there}"
    );
    assert_eq!(warned("", &file), "", "nothing is left");
}

#[test]
fn links_by_place_and_nulls_are_read() {
    let by_place = json("", THREE, r#"{"source": 0, "target": 1}, {"source": 1, "target": 2}"#);
    assert_eq!(links(&setup(LINK, &by_place)), ["a->b", "b->a", "b->c", "c->b"]);
    assert!(warned(LINK, &by_place).starts_with(
        "warning: g:2: the ends of 2 links are places in the list of nodes, from 0\n"
    ));
    let null = r#"{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": "a",
        "pos": null}, {"id": "b", "pos": null}], "edges": [{"source": "a", "target": "b",
        "dist": null}]}"#;
    let setup = setup(LINK, null);
    assert_eq!(delay(&setup, "a->b"), Duration::from_millis(1));
    assert_eq!(warned(LINK, null), "");
}

#[test]
fn nested_graphs_are_places_too() {
    let file = "<graphml><key id=\"l\" for=\"node\" attr.name=\"label\"/>\
        <graph edgedefault=\"undirected\"><node id=\"n0\"><data key=\"l\">A</data></node>\
        <node id=\"n2\"><data key=\"l\">D</data></node><node id=\"n1\"><data key=\"l\">Pop</data>\
        <graph edgedefault=\"undirected\"><node id=\"n1::n0\"><data key=\"l\">B</data></node>\
        <node id=\"n1::n1\"><data key=\"l\">C</data></node>\
        <edge source=\"n1::n0\" target=\"n1::n1\"/></graph></node>\
        <edge source=\"n0\" target=\"n2\"/><edge source=\"n0\" target=\"n1\"/>\
        <edge source=\"n1\" target=\"n1::n0\"/></graph></graphml>";
    let setup = setup(LINK, file);
    let hosts: Vec<&str> =
        setup.network.nodes.iter().filter(|node| node.is_host).map(|n| n.name.as_str()).collect();
    assert_eq!(hosts, ["A", "D", "Pop", "B", "C"]);
    assert!(links(&setup).contains(&"B->C"), "{:?}", links(&setup));
}

#[test]
fn a_cable_of_yed_carries_both_ways() {
    let file = "<graphml xmlns:y=\"http://www.yworks.com/xml/graphml\">\
        <key for=\"node\" id=\"d6\" yfiles.type=\"nodegraphics\"/>\
        <key for=\"edge\" id=\"d10\" yfiles.type=\"edgegraphics\"/>\
        <graph edgedefault=\"directed\"><node id=\"n0\"><data key=\"d6\"><y:ShapeNode>\
        <y:NodeLabel>Vienna</y:NodeLabel></y:ShapeNode></data></node><node id=\"n1\">\
        <data key=\"d6\"><y:ShapeNode><y:NodeLabel>Graz</y:NodeLabel></y:ShapeNode></data></node>\
        <edge source=\"n0\" target=\"n1\"><data key=\"d10\"><y:PolyLineEdge>\
        <y:Arrows source=\"none\" target=\"none\"/></y:PolyLineEdge></data></edge></graph></graphml>";
    assert_eq!(links(&setup(LINK, file)), ["Vienna->Graz", "Graz->Vienna"]);
    let arrow = file.replace("target=\"none\"", "target=\"standard\"");
    let said = refused(LINK, &arrow);
    assert!(said.contains("no path leads from \"Graz\" to \"Vienna\""), "{said}");
    assert!(said.contains("or read arcs as cables: arcs = \"cables\""), "{said}");
    let setup = setup(&format!("{LINK}\narcs = \"cables\""), &arrow);
    assert_eq!(links(&setup), ["Vienna->Graz", "Graz->Vienna"]);
}

#[test]
fn opposite_arcs_are_a_cable_with_two_rates() {
    let links_of = r#"{"source": "a", "target": "b", "capacity": "1 Gbit/s", "delay": "2 ms"},
        {"source": "b", "target": "a", "capacity": "2 Gbit/s", "delay": "3 ms"},
        {"source": "b", "target": "c"}, {"source": "c", "target": "b"},
        {"source": "c", "target": "a"}"#;
    let file = json("\"directed\": true,\n", THREE, links_of);
    let one_way = setup(LINK, &file);
    assert_eq!(links(&one_way), ["a->b", "b->a", "b->c", "c->b", "c->a"]);
    assert_eq!(rate(&one_way, "a->b"), Rate::from_mbps(1_000));
    assert_eq!(rate(&one_way, "b->a"), Rate::from_mbps(2_000));
    assert_eq!(delay(&one_way, "b->a"), Duration::from_millis(3));
    assert_eq!(delay(&one_way, "c->a"), Duration::from_millis(1));
    let cables = setup(&format!("{LINK}\narcs = \"cables\""), &file);
    assert_eq!(links(&cables), ["a->b", "b->a", "b->c", "c->b", "c->a", "a->c"]);
}

#[test]
fn cables_that_are_listed_from_both_ends_are_said_and_can_be_joined() {
    let file = json(
        "",
        THREE,
        r#"{"source": "a", "target": "b"}, {"source": "b", "target": "c"},
        {"source": "b", "target": "a"}, {"source": "c", "target": "b"}"#,
    );
    let said = warned(LINK, &file);
    assert!(said.contains("each of the 4 links has an opposite one"), "{said}");
    assert!(said.contains("arcs = \"pairs\" joins them"), "{said}");
    let all = ["a->b", "b->a", "b->c", "c->b", "b->a#2", "a->b#2", "c->b#2", "b->c#2"];
    assert_eq!(links(&setup(LINK, &file)), all);
    let more = format!("{LINK}\narcs = \"pairs\"");
    assert_eq!(links(&setup(&more, &file)), all[..4]);
}

#[test]
fn a_file_without_links_is_said_to_have_none() {
    let said = refused(LINK, &json("", THREE, ""));
    assert!(said.contains("g: the file has no links"), "{said}");
    assert!(!said.contains("parts"), "{said}");
}

#[test]
fn parts_are_said_and_the_largest_can_be_kept() {
    let nodes = r#"{"id": "alone"}, {"id": "a"}, {"id": "b"}, {"id": "c"}"#;
    let file = json("", nodes, r#"{"source": "a", "target": "b"}, {"source": "b", "target": "c"}"#);
    let said = warned(LINK, &file);
    assert!(said.contains("this topology is in 2 parts\n"), "{said}");
    assert!(said.contains("parts = \"largest\" keeps 3 of 4 nodes"), "{said}");
    let left = "6 of 12 pairs of [[traffic]] 1 are left out: no path joins \"alone\" and \"a\"";
    assert!(said.contains(left), "{said}");
    let flow = "[[flow]]\nfrom = \"alone\"\nto = \"a\"\n";
    let named = format!("{}{flow}", text(LINK));
    let said = parse_with(&named, &[("g", &file)]).expect_err("a named pair").to_string();
    assert!(said.contains("no path leads from \"alone\" to \"a\""), "{said}");
    assert!(said.contains("or keep one part of the graph: parts = \"largest\""), "{said}");
    let more = format!("{LINK}\nparts = \"largest\"");
    assert_eq!(setup(&more, &file).network.nodes.len(), 6);
    let said = warned(&more, &file);
    assert!(said.contains("in 2 parts, and only the largest is kept: 3 of 4 nodes"), "{said}");
    assert!(said.contains("parts = \"all\" keeps \"alone\""), "{said}");
    let demands = r#""demands": {"a": {"b": 5}, "alone": {"b": 5}}, "#;
    let said = warned(&more, &file.replacen('{', &format!("{{{demands}"), 1));
    assert!(said.contains("1 of 2 demands are left out with their nodes"), "{said}");
    // A network that neighbours hold together is in parts without them.
    let bridge = nodes.replace("\"b\"", "\"b\", \"Internal\": 0");
    let file =
        json("", &bridge, r#"{"source": "a", "target": "b"}, {"source": "a", "target": "alone"}"#);
    let more = format!("{LINK}\nparts = \"largest\"\nexternal = false");
    let setup = setup(&more, &file);
    let names: Vec<&str> = setup.network.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["alone.router", "alone", "a.router", "a"]);
}

#[test]
fn neighbours_at_one_spot_take_the_delay_of_link() {
    let spot = |id: &str, x: f64| format!(r#"{{"id": "{id}", "lat": 48, "lon": {x}}}"#);
    let nodes = [spot("a", 10.0), spot("b", 10.0), spot("c", 11.0)].join(",");
    let file =
        json("", &nodes, r#"{"source": "a", "target": "b"}, {"source": "b", "target": "c"}"#);
    let with = setup(LINK, &file);
    assert_eq!(delay(&with, "a->b"), Duration::from_millis(1));
    assert!(delay(&with, "b->c") < Duration::from_micros(500));
    let said = warned(LINK, &file);
    assert!(
        said.contains("1 link between nodes at one spot: the delay of `link` is taken"),
        "{said}"
    );
    let without = "link = { rate = \"10 Mbit/s\" }";
    assert_eq!(delay(&setup(without, &file), "a->b"), Duration::ZERO);
    let said = warned(without, &file);
    assert!(said.contains("1 link between nodes at one spot: no delay is taken"), "{said}");
    // A delay that the file gives is nobody's guess.
    let given = file.replace("\"target\": \"b\"", "\"target\": \"b\", \"delay\": \"7 ms\"");
    assert_eq!(delay(&setup(without, &given), "a->b"), Duration::from_millis(7));
    assert_eq!(warned(without, &given), "");
}

#[test]
fn names_that_the_reader_makes_collide_with_none() {
    let nodes = r#"{"id": "A"}, {"id": "A.router"}, {"id": "B"}, {"id": "B#2"},
                   {"id": "C.access"}, {"id": "A->C"}, {"id": "x", "name": "B"}"#;
    let edges = r#"{"source": "A", "target": "B"}, {"source": "A", "target": "B"},
        {"source": "A", "target": "B#2"}, {"source": "A", "target": "A.router"},
        {"source": "A", "target": "C.access"}, {"source": "A->C", "target": "B"},
        {"source": "x", "target": "A"}"#;
    let setup = setup(LINK, &json("", nodes, edges));
    let routers: Vec<&str> =
        setup.network.nodes.iter().filter(|n| !n.is_host).map(|n| n.name.as_str()).collect();
    assert_eq!(routers[..2], ["A.router#2", "A.router.router"]);
    let names: Vec<&str> = setup.network.links.iter().map(|link| link.name.as_str()).collect();
    for name in ["A->B", "A->B#3", "A->B#2", "A->C.access", "A->C.access#2", "B#3->A"] {
        assert_eq!(names.iter().filter(|one| **one == name).count(), 1, "{name}: {names:?}");
    }
}

#[test]
fn what_a_file_says_in_vain_is_named() {
    let file = json(
        "",
        THREE,
        r#"{"source": "a", "target": "b", "weight": 1}, {"source": "b", "target": "c", "weight": 2,
            "bandwidth": 100}"#,
    );
    let said = warned(LINK, &file);
    assert!(said.contains("warning: g:2: not used: of links \"weight\" (2 times)\n"), "{said}");
    assert!(said.contains("\"bandwidth\" has no unit (1 times) and is read in Mbit/s"), "{said}");
    assert!(said.contains(" --> test.toml:5:8\n"), "{said}");
}

/// What was written for GraphML holds for the same graph in other formats.
#[test]
fn one_graph_is_one_network_in_every_format() {
    let json = json(
        "\"graph\": {\"name\": \"two\"},",
        r#"{"id": 0, "name": "a", "lat": 48, "lon": 10}, {"id": 1, "name": "b", "lat": 48, "lon": 20}"#,
        r#"{"source": 0, "target": 1, "capacity": "2 Gbit/s"}"#,
    );
    let gml = "graph [ name \"two\" node [ id 0 name \"a\" lat 48 lon 10 ]\n\
               node [ id 1 name \"b\" lat 48 lon 20 ] edge [ source 0 target 1 capacity \"2 Gbps\" ] ]";
    let native = "?SNDlib native format; type: network; version: 1.0\nMETA ( unit = GBITPERSEC )\n\
                  NODES (\na ( 10 48 )\nb ( 20 48 )\n)\nLINKS (\nl ( a b ) 2 0 0 0 ( )\n)\n";
    let expected = format!("{:?}", setup("", &json).network);
    for other in [gml, native] {
        assert_eq!(format!("{:?}", setup("", other).network), expected);
        assert_eq!(warned("", other), "");
    }
    let brite = "Topology: ( 2 Nodes, 1 Edges )\nNodes: (2)\n0 1 1\n1 5 5\nEdges: (1):\n\
                 0 0 1 1000 5 2000 -1 -1 E_RT U\n";
    let setup = setup("", brite);
    assert_eq!(
        (rate(&setup, "0->1"), delay(&setup, "1->0")),
        (Rate::from_mbps(2_000), Duration::from_millis(5))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a file calls its nodes, all names differ, and those of the file stand.
    #[test]
    fn no_made_name_collides(
        names in vec("[AB](\\.router|\\.access|#2|#3|->B|->A)?(#2)?", 2..7),
        ends in vec((0..7_usize, 0..7_usize), 1..14),
        directed: bool,
    ) {
        let count = names.len();
        let node = |(id, name): (usize, &String)| format!("{{\"id\": {id}, \"name\": {name:?}}}");
        let nodes: Vec<String> = names.iter().enumerate().map(node).collect();
        let links = ends.iter().map(|(a, b)| {
            format!("{{\"source\": {}, \"target\": {}}}", a % count, b % count)
        });
        let head = format!("\"directed\": {directed},");
        let file = json(&head, &nodes.join(","), &links.collect::<Vec<_>>().join(","));
        let text = format!(
            "duration = \"1 s\"\nlaw = \"cubic\"\n[topology]\nkind = \"graph\"\nfile = \"g\"\n{LINK}\n\
             [[node]]\nname = \"x\"\n[[node]]\nname = \"y\"\n[[link]]\nbetween = [\"x\", \"y\"]\n\
             rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[flow]]\nfrom = \"x\"\nto = \"y\"\n"
        );
        let read = parse_with(&text, &[("g", &file)]);
        let scenario = read.unwrap_or_else(|all| panic!("{all}"));
        let network = scenario.setup(None, None).unwrap().network;
        let mut seen = std::collections::BTreeSet::new();
        prop_assert!(network.nodes.iter().all(|node| seen.insert(&node.name)));
        let mut seen = std::collections::BTreeSet::new();
        prop_assert!(network.links.iter().all(|link| seen.insert(&link.name)));
        for name in &names {
            prop_assert!(network.nodes.iter().any(|node| node.is_host && node.name == *name));
        }
    }
}
