//! Node-link JSON, as networkx, TopoHub and D3 write it.
//!
//! The reader takes `nodes`, `edges` or `links` (`source`, `target`) and `graph`;
//! [`crate::topology`] says what attributes mean. A node's `pos` (or `coordinates`) is longitude
//! and latitude. A `pos` outside the range of degrees, or a layout within 1 of the origin, is a
//! drawing's and not the globe's. `null` is no value.
//!
//! Links name nodes by `id`. networkx 1 and D3 name them by their place in the list, from 0: so are
//! numbers read if they are not all ids. Nodes without `id` are named by `name`, else `label`.
//!
//! Demands are `demands` of `graph` or of the file: a matrix `{from: {to: Mbit/s}}` of ids, or a
//! list of objects with `source`, `target` and `value` or `demand`. They are sorted by sender, then
//! receiver. TopoHub's demands are SNDlib's numbers, in Mbit/s where SNDlib states a unit. The
//! demands of undirected problems (germany50) are listed once per pair of nodes and read as one
//! direction each.
//!
//! Source of the format: `networkx.readwrite.json_graph.node_link_data`; Jurkiewicz, "TopoHub: A
//! repository of reference Gabriel graph and real-world topologies for networking research",
//! SoftwareX 24, 2023.

mod demands;
mod ends;
mod pieces;

use std::borrow::Cow;

use ends::Ends;
use pieces::{need, objects};

use crate::InputError;
use crate::attributes::Attribute;
use crate::build::{Builder, RawLink, RawNode};
use crate::json::{Json, Object};
use crate::location::quoted;
use crate::tally::Departure;
use crate::topology::Topology;

/// Most defaults of nodes or edges: each may hold for every one of them.
const MOST_DEFAULTS: usize = 512;

/// Reads a topology with its demands.
///
/// # Errors
/// When the text is not JSON, `nodes` or `edges` are missing, an id repeats, an edge or demand
/// refers to a node that is not there, or a number is none or out of range.
pub fn parse(file: &str, text: &str) -> Result<Topology, InputError> {
    let document = Json::of_file(file, text);
    let mut top = document.object("an object with nodes and edges")?;
    top.retain(|_, value| !value.is_null());
    let is_one_way = top.get("directed").is_some_and(|flag| flag.raw == "true");
    let nodes = objects(need(document, &mut top, &["nodes"])?, "a node: an object with an id")?;
    let what = "an edge: an object with source and target";
    let links = objects(need(document, &mut top, &["edges", "links"])?, what)?;
    let mut builder = Builder::default();
    let (mut graph, is_networkx_1) = match top.remove("graph") {
        Some(graph) => about(graph)?,
        None => (Object::new(), false),
    };
    let demands = [graph.remove("demands"), top.remove("demands")];
    let node_defaults = defaults(&mut graph, "node_default")?;
    let edge_defaults = defaults(&mut graph, "edge_default")?;
    builder
        .graph(graph.into_iter().chain(top).map(|(name, json)| json.attribute(name)).collect())?;

    let ends = Ends::of(&nodes, &links, is_networkx_1)?;
    for (place, (json, node)) in nodes.into_iter().enumerate() {
        add_node(&mut builder, json, node, ends.ids[place].clone(), &node_defaults)?;
    }
    for (json, link) in links {
        add_link(&mut builder, json, link, &ends, is_one_way, &edge_defaults)?;
    }
    for given in demands.into_iter().flatten().filter(|given| !given.is_null()) {
        demands::add(&mut builder, &ends, given)?;
    }
    builder.finish(file)
}

/// What is said of the graph, and whether it is said as networkx 1 does: in a list of pairs.
fn about(graph: Json<'_>) -> Result<(Object<'_>, bool), InputError> {
    if !graph.is_array() {
        return Ok((graph.object("an object with name and demands")?, false));
    }
    let mut object = Object::new();
    for pair in graph.array()? {
        let pair: Vec<Json<'_>> = pair.array()?.collect();
        if let [name, value] = pair.as_slice() {
            object.insert(name.id().into_owned(), *value);
        }
    }
    Ok((object, true))
}

/// Attributes that all nodes or links have unless they say otherwise: networkx keeps those of a
/// GraphML file so.
fn defaults<'a>(graph: &mut Object<'a>, name: &str) -> Result<Object<'a>, InputError> {
    match graph.remove(name).filter(|defaults| !defaults.is_null()) {
        Some(json) => {
            let defaults = json.object("an object with attributes")?;
            if defaults.len() > MOST_DEFAULTS {
                return Err(json.at().error(
                    format!("{} defaults", defaults.len()),
                    format!("up to {MOST_DEFAULTS}"),
                    "leave out defaults that no node or edge needs",
                ));
            }
            Ok(defaults)
        }
        None => Ok(Object::new()),
    }
}

fn add_node<'a>(
    builder: &mut Builder<'a>,
    json: Json<'a>,
    mut node: Object<'a>,
    id: Cow<'a, str>,
    defaults: &Object<'a>,
) -> Result<(), InputError> {
    node.remove("id");
    let mut drawn = None;
    for name in ["pos", "coordinates"] {
        if let Some(place) = node.remove(name).filter(|place| !place.is_null()) {
            drawn = Some(position(place)?);
        }
    }
    let attributes = attributes(node, defaults);
    builder.node(RawNode { at: json.at(), id, drawn, attributes })
}

/// The attributes that an object states, and the defaults of others.
fn attributes<'a>(object: Object<'a>, defaults: &Object<'a>) -> Vec<Attribute<'a>> {
    let others: Vec<_> = defaults
        .iter()
        .filter(|(name, _)| !object.contains_key(*name))
        .map(|(name, json)| json.attribute(name.clone()))
        .collect();
    let own = object.into_iter().map(|(name, json)| json.attribute(name));
    own.chain(others).collect()
}

/// Longitude and latitude: a pair, or an object with `x` and `y`.
fn position(json: Json<'_>) -> Result<(f64, f64), InputError> {
    let numbers: Option<Vec<f64>> = if json.is_object() {
        let mut object = json.object("longitude and latitude")?;
        let mut take = |names: &[&str]| names.iter().find_map(|name| object.remove(*name));
        let pair = [take(&["x", "lon", "lng", "longitude"]), take(&["y", "lat", "latitude"])];
        pair.into_iter().map(|number| number?.number()).collect()
    } else {
        json.array()?.map(Json::number).collect()
    };
    match numbers.as_deref() {
        Some(&[longitude, latitude]) => Ok((longitude, latitude)),
        _ => Err(json.at().error(
            format!("pos {}", quoted(json.raw)),
            "two numbers, [longitude, latitude], in degrees",
            "correct the position, or leave it out",
        )),
    }
}

fn add_link<'a>(
    builder: &mut Builder<'a>,
    json: Json<'a>,
    mut link: Object<'a>,
    ends: &Ends<'a>,
    is_one_way: bool,
    defaults: &Object<'a>,
) -> Result<(), InputError> {
    let source = need(json, &mut link, &["source"])?;
    let target = need(json, &mut link, &["target"])?;
    let pair = (ends.find(builder, source)?, ends.find(builder, target)?);
    if ends.are_places {
        builder.tally.departs(Departure::ByPlace, json.at());
    }
    let attributes = attributes(link, defaults);
    builder.link(RawLink { at: json.at(), ends: pair, is_one_way, attributes })
}

#[cfg(test)]
mod tests {
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
        let text =
            r#"{"nodes": [{"id": "7"}, {"id": "5"}], "links": [{"source": 5, "target": 7}]}"#;
        assert_eq!(ends(text), [(1, 0)]);
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
            ["1 demand of a node to itself left out", "not used: of demands \"priority\""]
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
                          "latency": 7, "queue": {"size": 5}}], "flows": []}"#,
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
}
