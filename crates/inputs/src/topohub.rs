//! networkx node-link JSON, as TopoHub publishes its topologies.
//!
//! The reader takes `nodes` (`id`, a number or string; `name`, else `label`; `pos`: longitude,
//! latitude), `edges` or `links` (`source`, `target`, `dist` in km) and of `graph` its `name` and
//! `demands`, a matrix `{from: {to: Mbit/s}}` of node ids. Everything else is skipped, so that
//! other node-link JSON is read too. TopoHub gives no link rates. A `pos` outside the range of
//! degrees is a drawing's, not the globe's, and leaves the node without coordinates. Demands are
//! sorted by sender, then receiver.
//!
//! TopoHub's demands are SNDlib's numbers, in Mbit/s where SNDlib states a unit. The demands of
//! undirected problems (germany50) are listed once per pair of nodes and read as one direction
//! each.
//!
//! Source of the format: `networkx.readwrite.json_graph.node_link_data`; Jurkiewicz, "TopoHub: A
//! repository of reference Gabriel graph and real-world topologies for networking research",
//! SoftwareX 24, 2023.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::InputError;
use crate::build::{Builder, RawNode, directed, is_on_earth, rate};
use crate::location::{Location, finite, quoted};
use crate::topology::{Edge, Topology};

/// Reads a topology with its demands.
///
/// # Errors
/// When the text is not JSON, `nodes` or `edges` are missing, the graph is directed, an id repeats,
/// an edge or demand refers to a node that is not there, or a number is none or out of range.
pub fn parse(file: &str, text: &str) -> Result<Topology, InputError> {
    let document = Json { file, text, raw: text.trim() };
    let top = document.object("an object with nodes and edges")?;
    if top.get("directed").is_some_and(|flag| flag.raw == "true") {
        return Err(directed(top["directed"].at()));
    }
    let mut builder = Builder::default();
    for node in document.need(&top, &["nodes"])?.array()? {
        add_node(&mut builder, node)?;
    }
    for edge in document.need(&top, &["edges", "links"])?.array()? {
        add_edge(&mut builder, edge)?;
    }
    let graph = match top.get("graph") {
        Some(graph) => graph.object("an object with name and demands")?,
        None => Object::new(),
    };
    if let Some(demands) = graph.get("demands") {
        add_demands(&mut builder, *demands)?;
    }
    let name = graph.get("name").and_then(|name| name.string()).unwrap_or_default();
    builder.finish(file, &name)
}

fn add_node(builder: &mut Builder, json: Json<'_>) -> Result<(), InputError> {
    let node = json.object("a node: an object with an id")?;
    let id = json.need(&node, &["id"])?.id();
    let label = node.get("name").or_else(|| node.get("label")).and_then(|name| name.string());
    let position = match node.get("pos") {
        Some(pos) if pos.raw != "null" => pos.position()?,
        _ => None,
    };
    let label = label.unwrap_or_default();
    builder.node(json.at(), RawNode { id: &id, label: &label, position, external: false })
}

fn add_edge(builder: &mut Builder, json: Json<'_>) -> Result<(), InputError> {
    let edge = json.object("an edge: an object with source and target")?;
    let a = builder.find(json.at(), &json.need(&edge, &["source"])?.id())?;
    let b = builder.find(json.at(), &json.need(&edge, &["target"])?.id())?;
    let length_km = match edge.get("dist") {
        None => None,
        Some(dist) => Some(dist.number().filter(|km| *km >= 0.0).ok_or_else(|| {
            dist.at().error(
                format!("dist {}", quoted(dist.raw)),
                "a number of km, 0 or more",
                "correct the length, or leave it out",
            )
        })?),
    };
    let label = edge.get("label").and_then(|label| label.string());
    builder.edge(Edge { a, b, rate: None, length_km, label });
    Ok(())
}

fn add_demands(builder: &mut Builder, json: Json<'_>) -> Result<(), InputError> {
    let allowed = "demands: an object {from: {to: Mbit/s}} of node ids";
    let mut list = Vec::new();
    for (from, row) in json.object(allowed)? {
        let from = builder.find(row.at(), &from)?;
        for (to, value) in row.object(allowed)? {
            let to = builder.find(value.at(), &to)?;
            list.push((from, to, rate(value.at(), value.raw, 1e6)?));
        }
    }
    // The map sorts ids as text (10 before 2); demands are sorted by the order of nodes.
    list.sort_by_key(|(from, to, _)| (*from, *to));
    for (from, to, rate) in list {
        builder.demand(from, to, rate);
    }
    Ok(())
}

/// A piece of the file's JSON, kept as text: errors can name its line, and the standard library
/// reads its numbers exactly, whatever features of `serde_json` are on.
#[derive(Clone, Copy)]
struct Json<'a> {
    file: &'a str,
    text: &'a str,
    raw: &'a str,
}

type Object<'a> = BTreeMap<String, Json<'a>>;

impl<'a> Json<'a> {
    fn at(self) -> Location<'a> {
        // `raw` is a slice of `text`: the distance of their addresses is its offset.
        let offset = self.raw.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        Location::offset(self.file, self.text, offset)
    }

    fn piece(self, raw: &'a RawValue) -> Json<'a> {
        Json { raw: raw.get(), ..self }
    }

    fn wrong(self, error: &serde_json::Error, allowed: &str) -> InputError {
        let at = self.at().below(error.line().saturating_sub(1));
        let remedy = "check that the file is complete, and is node-link JSON";
        if error.is_data() {
            at.error("JSON of another kind", allowed, remedy)
        } else {
            // The position in the message counts from this piece, not from the file's start.
            let message = error.to_string();
            let reason = message.split(" at line ").next().unwrap_or("");
            at.error(format!("JSON that cannot be read ({reason})"), allowed, remedy)
        }
    }

    fn object(self, allowed: &str) -> Result<Object<'a>, InputError> {
        let object: BTreeMap<String, &'a RawValue> =
            serde_json::from_str(self.raw).map_err(|error| self.wrong(&error, allowed))?;
        Ok(object.into_iter().map(|(key, raw)| (key, self.piece(raw))).collect())
    }

    fn array(self) -> Result<impl Iterator<Item = Json<'a>>, InputError> {
        let array: Vec<&'a RawValue> =
            serde_json::from_str(self.raw).map_err(|error| self.wrong(&error, "an array"))?;
        Ok(array.into_iter().map(move |raw| self.piece(raw)))
    }

    /// The member of `object` (this piece, parsed) under the first of `names` that is present.
    fn need(self, object: &Object<'a>, names: &[&str]) -> Result<Json<'a>, InputError> {
        names.iter().find_map(|name| object.get(*name)).copied().ok_or_else(|| {
            let names = names.join(" or ");
            self.at().error(
                format!("an object without {names}"),
                format!("an object with {names}"),
                "check that the file is node-link JSON (networkx: node_link_data(G))",
            )
        })
    }

    fn string(self) -> Option<String> {
        serde_json::from_str(self.raw).ok()
    }

    fn number(self) -> Option<f64> {
        finite(self.raw)
    }

    /// An id as text, as demands refer to it: a string, or the digits of a number.
    fn id(self) -> Cow<'a, str> {
        self.string().map_or(Cow::Borrowed(self.raw), Cow::Owned)
    }

    /// Longitude and latitude, if both are in range.
    fn position(self) -> Result<Option<(f64, f64)>, InputError> {
        let numbers: Option<Vec<f64>> = self.array()?.map(Json::number).collect();
        match numbers.as_deref() {
            Some(&[longitude, latitude]) => {
                Ok(Some((longitude, latitude)).filter(|_| is_on_earth(longitude, latitude)))
            }
            _ => Err(self.at().error(
                format!("pos {}", quoted(self.raw)),
                "two numbers, [longitude, latitude], in degrees",
                "correct the position, or leave it out",
            )),
        }
    }
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
  {"id": "x", "pos": [1000, 2000]}
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
        assert!(refused("\"directed\": false", "\"directed\": true").contains("t.json:2:"));
        assert!(refused("\"target\": 2}", "\"target\": 9}").contains("t.json:11:"));
        assert!(refused("\"id\": 10", "\"id\": 2").contains("t.json:6: found a second node"));
        assert!(refused("\"id\": 10,", "").contains("an object without id"));
        assert!(refused("914.5", "-1").contains("t.json:10: found dist \"-1\""));
        assert!(refused("914.5", "\"far\"").contains("far"));
        assert!(refused("[4.35, 50.85]", "[4.35]").contains("t.json:6: found pos"));
        assert!(refused("3.5", "\"lots\"").contains("t.json:3: found the rate"));
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
}
