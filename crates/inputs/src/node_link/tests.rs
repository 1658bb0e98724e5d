//! One graph after another, as files spell it.

use super::*;
use ratewire_units::Rate;

const SMALL: &str = r#"{
"directed": false,
"graph": {"name": "small", "demands": {"10": {"2": 3.5, "10": 7}, "2": {"x": 0, "10": 1}}},
"nodes": [
  {"id": 2, "name": "A", "pos": [16.37, 48.21]},
  {"id": 10, "name": "A", "pos": [4.35, 50.85]},
  {"id": "x", "pos": null}
],
"links": [
  {"source": 2, "target": 10, "dist": 914.5},
  {"source": 10, "target": 2},
  {"source": "x", "target": 2, "label": "\u00e9"}
]}"#;

fn refused(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from));
    parse("t.json", &SMALL.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn reads_nodes_lengths_and_demands() {
    let topology = parse("t.json", SMALL).unwrap();
    assert_eq!(topology.name, "small");
    let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["A", "A#2", "x"]);
    assert_eq!(topology.nodes[2].longitude, None);
    assert_eq!(topology.edges[0].length_km, Some(914.5));
    assert!((topology.edges[1].length_km.unwrap() - 914.5).abs() < 3.0);
    assert_eq!(topology.edges[2].length_km, None);
    assert_eq!(topology.edges[2].label.as_deref(), Some("é"));
    let demands: Vec<_> = topology.demands.iter().map(|d| (d.from, d.to, d.rate)).collect();
    assert_eq!(demands, [(0, 1, Rate::from_mbps(1)), (1, 0, Rate::from_bps(3_500_000))]);
}

#[test]
fn says_what_is_wrong_and_where() {
    assert!(refused("\"target\": 2}", "\"target\": 9}").contains("t.json:11:"));
    assert!(refused("\"id\": 10", "\"id\": 2").contains("t.json:6: found a second node"));
    assert!(refused("\"id\": 10,", "").contains("an object without id"));
    assert!(refused("914.5", "-1").contains("t.json:10: found dist \"-1\""));
    assert!(refused("914.5", "\"far\"").contains("far"));
    assert!(refused("[4.35, 50.85]", "[4.35]").contains("t.json:6: found pos"));
    assert!(refused("3.5", "\"lots\"").contains("t.json:3: found demand"));
    assert!(refused("{\"x\": 0", "{\"y\": 0").contains("\"y\", which is not there"));
    assert!(refused("\"links\"", "\"arcs\"").contains("without edges or links"));
    assert!(refused("\n]}", "\n]").contains("t.json:13: found JSON that cannot be read"));
    let error = |text: &str| parse("t.json", text).unwrap_err().to_string();
    assert!(error("[1]").starts_with("t.json:1: found JSON of another kind"));
    assert!(
        error("\n\n{\"nodes\": 3, \"edges\": []}")
            .starts_with("t.json:3: found JSON of another kind")
    );
    assert!(error("{\"nodes\": [], \"edges\": []}").contains("no nodes"));
    assert!(error("").contains("cannot be read"));
}

fn read(text: &str) -> Topology {
    parse("t.json", text).unwrap_or_else(|error| panic!("{error}"))
}

fn notes(topology: &Topology) -> Vec<&str> {
    topology.notes.iter().map(|note| note.text.as_str()).collect()
}

#[test]
fn attributes_of_networkx_are_those_of_graphml() {
    let topology = read(
        r#"{"graph": {"Network": "two"}, "nodes": [
            {"id": 0, "label": "West", "Latitude": 48.0, "Longitude": 10.0, "Internal": 1},
            {"id": 1, "label": "East", "Latitude": 48.0, "Longitude": 20.0, "Internal": 0}],
           "edges": [{"source": 0, "target": 1, "LinkSpeedRaw": 2000000.0}]}"#,
    );
    assert_eq!(topology.name, "two");
    assert_eq!(topology.edges[0].rate, Some(Rate::from_mbps(2)));
    assert!((topology.edges[0].length_km.unwrap() - 743.6).abs() < 1.0);
    assert_eq!((topology.nodes[0].internal, topology.nodes[1].internal), (true, false));
    assert_eq!(notes(&topology), [""; 0]);
}

#[test]
fn defaults_that_networkx_keeps_hold() {
    let topology = read(
        r#"{"graph": {"edge_default": {"capacity": "10 Mbit/s"}, "node_default": {"Internal": 0}},
           "nodes": [{"id": 0}, {"id": 1, "Internal": 1}],
           "links": [{"source": 0, "target": 1}, {"source": 1, "target": 0, "capacity": "1G"}]}"#,
    );
    let rates: Vec<_> = topology.edges.iter().map(|edge| edge.rate.unwrap().bps()).collect();
    assert_eq!(rates, [10_000_000, 1_000_000_000]);
    assert_eq!((topology.nodes[0].internal, topology.nodes[1].internal), (false, true));
}

#[test]
fn links_by_place() {
    let ends = |text: &str| -> Vec<(usize, usize)> {
        read(text).edges.iter().map(|edge| (edge.a, edge.b)).collect()
    };
    let d3 = r#"{"nodes": [{"id": "k"}, {"id": "l"}, {"id": "m"}],
                 "links": [{"source": 0, "target": 1}, {"source": 1, "target": 2}]}"#;
    assert_eq!(ends(d3), [(0, 1), (1, 2)]);
    let said = read(d3);
    assert_eq!(notes(&said), ["the ends of 2 links are places in the list of nodes, from 0"]);
    let named = r#"{"nodes": [{"name": "b"}, {"name": "a"}, {"name": "a"}],
                    "links": [{"source": 2, "target": 0}]}"#;
    assert_eq!(ends(named), [(2, 0)]);
    assert_eq!(read(named).nodes[2].name, "a#2");
    let by_name = r#"{"nodes": [{"name": "b"}, {"name": "a"}],
                      "links": [{"source": "a", "target": "b"}]}"#;
    assert_eq!(ends(by_name), [(1, 0)]);
    // Ids win where all ends are ids, but not in a file of networkx 1.
    let ids = r#"{"nodes": [{"id": 1}, {"id": 0}], "links": [{"source": 1, "target": 0}]}"#;
    assert_eq!(ends(ids), [(0, 1)]);
    let old = ids.replacen('{', r#"{"graph": [["name", "old"]], "#, 1);
    assert_eq!((ends(&old), read(&old).name.as_str()), (vec![(1, 0)], "old"));
    // Numbers stand for ids that are strings where they are no places.
    let text = r#"{"nodes": [{"id": "7"}, {"id": "5"}], "links": [{"source": 5, "target": 7}]}"#;
    assert_eq!(ends(text), [(1, 0)]);
}

#[test]
fn nodes_by_their_keys() {
    let topology = read(
        r#"{"nodes": {"b": {"lat": 50, "lon": 4}, "a": {}},
           "links": [{"from": "b", "to": "a"}, {"src": "a", "dst": "b", "delay": "1ms"}]}"#,
    );
    assert_eq!(topology.nodes[1].name, "b");
    let ends: Vec<_> = topology.edges.iter().map(|edge| (edge.a, edge.b)).collect();
    assert_eq!(ends, [(1, 0), (0, 1)]);
}

#[test]
fn other_json_is_named_with_what_to_do() {
    for (text, member, remedy) in [
        (r#"{"nodes": [{"id": 0}], "adjacency": [[]]}"#, "adjacency", "adjacency_graph"),
        (r#"{"elements": {"nodes": []}}"#, "elements", "cytoscape_graph"),
        (r#"{"id": 1, "children": []}"#, "children", "tree_graph"),
        (r#"{"hosts": [], "switches": [], "links": []}"#, "switches", "MiniEdit"),
        (r#"{"devices": {}, "links": {}}"#, "devices", "ONOS"),
    ] {
        let said = parse("t.json", text).unwrap_err().to_string();
        assert!(said.contains(&format!("of another kind, with {member:?}")), "{said}");
        assert!(said.contains(remedy), "{said}");
    }
    let said = parse("t.json", r#"{"graph": [[1]], "nodes": [], "links": []}"#).unwrap_err();
    assert_eq!(said.found, "a graph that is no list of pairs");
}

#[test]
fn null_is_no_value() {
    let topology = read(
        r#"{"graph": null, "demands": null,
           "nodes": [{"id": "a", "pos": null, "name": null}, {"id": "b", "Latitude": null}],
           "edges": [{"source": "a", "target": "b", "dist": null, "capacity": null}]}"#,
    );
    assert_eq!((topology.edges[0].length_km, topology.edges[0].rate), (None, None));
    assert_eq!(topology.nodes[0].name, "a");
    assert_eq!(notes(&topology), [""; 0]);
}

#[test]
fn a_layout_is_no_place_on_earth() {
    let text = |pos: &str| {
        format!(
            r#"{{"nodes": [{{"id": 0, "pos": [40, 50]}}, {{"id": 1, "pos": {pos}}}],
               "links": [{{"source": 0, "target": 1}}]}}"#
        )
    };
    assert!(read(&text("[41, 50]")).edges[0].length_km.is_some());
    for text in [text("[400, 50]"), text("[0.5, -1]").replace("[40, 50]", "[0.1, 1.0]")] {
        let topology = read(&text);
        assert_eq!(topology.edges[0].length_km, None);
        assert!(notes(&topology)[0].starts_with("the positions of 2 nodes are a drawing's"));
    }
}

#[test]
fn demands_in_a_list() {
    let topology = read(
        r#"{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}],
           "demands": [{"source": "b", "target": "a", "value": 5, "priority": 1},
                       {"source": "a", "target": "b", "demand": "1 Gbit/s"},
                       {"source": "a", "target": "a", "demand": 1}]}"#,
    );
    let demands: Vec<_> = topology.demands.iter().map(|d| (d.from, d.to, d.rate)).collect();
    assert_eq!(demands, [(0, 1, Rate::from_mbps(1000)), (1, 0, Rate::from_mbps(5))]);
    assert_eq!(
        notes(&topology),
        [
            "\"demand\" has no unit (2 times) and is read in Mbit/s (the first: 5 Mbit/s)",
            "1 demand of a node to itself left out",
            "not used: of demands \"priority\"",
        ]
    );
}

#[test]
fn a_rate_that_is_only_a_label_is_said() {
    let link = |more: &str| format!("{{\"source\": 0, \"target\": 1, {more}}}");
    let links = [
        link("\"label\": \"155 Mbps\""),
        link("\"LinkLabel\": \"1 Gb/s\""),
        link("\"label\": \"OC-3\""),
        link("\"label\": \"8*GbE\""),
        link("\"label\": \"trunk\""),
        link("\"label\": \"155 Mbps\", \"capacity\": \"155M\""),
    ];
    let topology = read(&format!(
        "{{\"nodes\": [{{\"id\": 0}}, {{\"id\": 1}}], \"links\": [{}]}}",
        links.join(",")
    ));
    assert_eq!(notes(&topology), ["4 links without a rate, whose label reads like one"]);
}

#[test]
fn links_that_do_not_exist_are_said() {
    let link = |more: &str| format!("{{\"source\": 0, \"target\": 1, {more}}}");
    let links = [
        link("\"LinkStatus\": \"Future\""),
        link("\"status\": \"planned (2013)\""),
        link("\"link_state\": \"Under construction\""),
        link("\"LinkStatus\": \"Completed\""),
        link("\"state\": \"up\""),
    ];
    let topology = read(&format!(
        "{{\"nodes\": [{{\"id\": 0}}, {{\"id\": 1}}], \"links\": [{}]}}",
        links.join(",")
    ));
    assert_eq!(
        notes(&topology),
        [
            "3 links whose status says that it does not exist yet or any more",
            "not used: of links \"state\""
        ]
    );
}

#[test]
fn edges_of_a_directed_graph_go_one_way() {
    let text = SMALL.replacen("\"directed\": false", "\"directed\": true", 1);
    assert!(read(&text).edges.iter().all(|edge| edge.is_one_way));
}

#[test]
fn what_is_not_used_is_named_with_its_number() {
    let topology = read(
        r#"{"nodes": [{"id": 0, "x": 1, "cpu": 4}, {"id": 1, "x": 2, "Latitude": 4}],
           "links": [{"source": 0, "target": 1, "weight": 3, "bandwidth": 100, "delay": 5,
                      "latency": 7, "queue": {"size": 5}}], "flows": [1]}"#,
    );
    assert_eq!(
        notes(&topology),
        [
            "\"bandwidth\" has no unit (1 times) and is read in Mbit/s (the first: 100 Mbit/s)",
            "\"delay\" has no unit (1 times) and is read in ms (the first: 5 ms)",
            "not used: of links \"latency\", \"queue\", \"weight\"; of nodes \"Latitude\", \
             \"cpu\", \"x\" (2 times); of the graph \"flows\"",
        ]
    );
    assert_eq!(topology.notes[2].line, Some(3));
}

#[test]
fn sndlib_s_capacities_and_demands() {
    let text = r#"{"meta": {"granularity": "5min", "unit": "BITSPERSEC"},
        "nodes": [{"id": "a", "longitude": 9.99, "latitude": 53.55}, {"id": "b", "latitude": "null"}],
        "links": [{"id": "L1", "source": "a", "target": "b", "pre_installed_capacity": 2e9,
            "modules": [], "setup_cost": 1},
           {"id": "L2", "source": "b", "target": "a", "pre_installed_capacity": 0.0,
            "modules": [{"module_capacity": 6e8}, {"module_capacity": 1e8, "module_cost": 2}]}],
        "demands": [{"id": "D", "source": "a", "target": "b", "routing_unit": 2,
            "demand_value": 1000, "max_path_length": "UNLIMITED"}], "admissible_paths": []}"#;
    let topology = read(text);
    let rates: Vec<_> = topology.edges.iter().map(|edge| edge.rate.unwrap()).collect();
    assert_eq!(rates, [Rate::from_mbps(2_000), Rate::from_mbps(100)]);
    assert_eq!(topology.demands[0].rate, Rate::from_bps(2_000));
    assert_eq!(
        notes(&topology),
        [
            "each of the 2 links has an opposite one: all are cables, in parallel",
            "1 link with modules to choose from: the smallest is taken",
            "not used: of links \"module_cost\", \"setup_cost\"",
        ]
    );
    // A value with a unit of its own is of so many routing units, too.
    let own = read(&text.replacen("\"demand_value\": 1000", "\"demand_value\": \"3 kbit/s\"", 1));
    assert_eq!(own.demands[0].rate, Rate::from_bps(6_000));
    let without = read(&text.replacen("\"unit\": \"BITSPERSEC\"", "\"time\": 1", 1));
    assert!(notes(&without)[0].starts_with("no unit of capacities and demands"));
    assert_eq!(without.edges[1].rate, Some(Rate::from_bps(100_000_000_000_000)));
}

/// Demands are read in the usual unit, and their note says so.
#[test]
fn demands_keep_their_unit_beside_rates_of_bits() {
    let topology = read(
        r#"{"nodes": [{"id": "a"}, {"id": "b"}],
            "links": [{"source": "a", "target": "b", "bandwidth": 10000000}],
            "demands": [{"source": "a", "target": "b", "value": 5}]}"#,
    );
    assert_eq!(topology.edges[0].rate, Some(Rate::from_mbps(10)));
    assert_eq!(topology.demands[0].rate, Rate::from_mbps(5));
    let said = notes(&topology).join("\n");
    assert!(said.contains("(the first: 10000000 bit/s)"), "{said}");
    assert!(said.contains("(the first: 5 Mbit/s)"), "{said}");
}

#[test]
fn rates_of_bits_are_known_by_their_size() {
    let rates = |rates: &[&str]| {
        let link = |rate| format!("{{\"source\": 0, \"target\": 1, \"bandwidth\": {rate}}}");
        let links: Vec<String> = rates.iter().map(link).collect();
        let topology = read(&format!(
            "{{\"nodes\": [{{\"id\": 0}}, {{\"id\": 1}}], \"links\": [{}]}}",
            links.join(",")
        ));
        let rates: Vec<u64> = topology.edges.iter().map(|e| e.rate.map_or(0, Rate::bps)).collect();
        (rates, topology.notes[0].text.clone())
    };
    let (bits, said) = rates(&["10000000", "0", "40000000"]);
    assert_eq!(bits, [10_000_000, 0, 40_000_000]);
    assert!(said.contains("(3 times) and is read in bit/s (the first: 10000000 bit/s)"), "{said}");
    let (mbit, said) = rates(&["10", "40000000"]);
    assert_eq!(mbit, [10_000_000, 40_000_000_000_000]);
    assert!(said.contains("is read in Mbit/s (the first: 10 Mbit/s)"), "{said}");
    let (mixed, _) = rates(&["10000000", "\"5 Mbit/s\""]);
    assert_eq!(mixed, [10_000_000, 5_000_000]);
}

#[test]
fn attributes_in_an_object_of_their_own() {
    let topology = read(
        r#"{"type": "NetworkGraph", "graph": {"nodes": [{"id": "a", "properties": {"lat": 1, "lon": 20}},
            {"id": "b", "properties": {"name": "B"}}], "edges": [{"source": "a", "target": "b",
            "properties": {"delay": "3 ms", "cost": 2}}]}}"#,
    );
    assert_eq!(topology.nodes[0].latitude, Some(1.0));
    assert_eq!(topology.nodes[1].name, "B");
    assert_eq!(topology.edges[0].delay, Some(ratewire_units::Duration::from_millis(3)));
    assert_eq!(notes(&topology), ["not used: of links \"cost\""]);
}

#[test]
fn units_stand_in_the_value_the_name_beside_it_or_with_the_graph() {
    let link = |more: &str| format!("{{\"source\": 0, \"target\": 1, {more}}}");
    let links = [
        link(r#""bandwidth": "2 Gb/s", "distance": "500 m", "delay": "7us""#),
        link(r#""bandwidth_mbps": 2000, "length_m": 500, "latency (us)": 7"#),
        link(
            r#""bandwidth": "2", "bandwidthUnits": "Gb/s", "distance": 500,
             "distanceUnits": "meters", "delay": 7, "delay_unit": "us""#,
        ),
        link(r#""LinkSpeed": "2", "LinkSpeedUnits": "G", "dist": 0.5, "delay": "7 us""#),
        link(
            r#""LinkSpeedRaw": 2e9, "LinkSpeed": "2", "LinkSpeedUnits": "G", "dist": 0.5,
             "delay": "0.007 ms""#,
        ),
    ];
    let text = |about: &str, links: &str| {
        format!(
            "{{\"graph\": {{{about}}}, \"nodes\": [{{\"id\": 0}}, {{\"id\": 1}}], \"links\": [{links}]}}"
        )
    };
    let topology = read(&text("", &links.join(",")));
    assert_eq!(notes(&topology), [""; 0]);
    let of_graph = read(&text(
        r#""capacity_unit": "Gbps", "delay_unit": "us", "distance_unit": "m""#,
        &link(r#""capacity": 2, "delay": 7, "length": 500"#),
    ));
    assert_eq!(notes(&of_graph), [""; 0]);
    for edge in topology.edges.iter().chain(&of_graph.edges) {
        assert_eq!(edge.rate, Some(Rate::from_mbps(2_000)));
        assert_eq!(edge.length_km, Some(0.5));
        assert_eq!(edge.delay, Some(ratewire_units::Duration::from_micros(7)));
    }
    let wrong = text("", &link(r#""bandwidth": 2, "bandwidthUnits": "lanes""#));
    let said = parse("t.json", &wrong).unwrap_err().to_string();
    assert!(
        said.starts_with("t.json:1: found bandwidthUnits \"lanes\"; allowed: bit/s, kbit/s"),
        "{said}"
    );
}

#[test]
fn a_demand_at_a_place_that_is_none_is_refused() {
    let text = |to: u8| {
        format!(
            r#"{{"nodes": [{{"id": "a"}}, {{"id": "b"}}], "links": [{{"source": 0, "target": 1}}],
               "demands": [{{"source": 0, "target": {to}, "value": 1}}]}}"#
        )
    };
    assert_eq!(read(&text(1)).demands[0].to, 1);
    let said = parse("t.json", &text(2)).unwrap_err().to_string();
    assert!(said.starts_with("t.json:2: found a reference to the node \"2\""), "{said}");
}

#[test]
fn roles_of_nodes_are_named_and_symbols_passed_over() {
    let topology = read(
        r#"{"nodes": [{"id": 0, "type": "Small Circle"}, {"id": 1, "type": "switch"}], "links": []}"#,
    );
    assert_eq!(notes(&topology), ["not used: of nodes \"type\""]);
}
