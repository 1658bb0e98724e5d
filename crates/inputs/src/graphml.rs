//! GraphML, as the Internet Topology Zoo uses it.
//!
//! Read are, of nodes: `label`, `Longitude`, `Latitude` (degrees; a node with only one of the two
//! has no coordinates) and `Internal` (0 for a neighbouring network's node); of edges:
//! `LinkSpeedRaw` (bits per second) and `LinkLabel`; of the graph: `label`, else `Network`, for its
//! name. Which `<data>` holds which is told by the `<key>` elements. Everything else is skipped.
//! Many nodes of the zoo have no coordinates, most edges no speed, some labels repeat, and some
//! edges are parallel; [`crate::topology`] says what becomes of those.
//!
//! Source of the format: <http://graphml.graphdrawing.org/specification.html>; the attributes:
//! Knight et al., "The Internet Topology Zoo", IEEE JSAC 29(9), 2011.

use std::collections::BTreeMap;

use crate::InputError;
use crate::build::{Builder, RawNode, directed, rate};
use crate::location::quoted;
use crate::topology::{Edge, Topology};
use crate::xml::{self, Element};

/// Reads a topology.
///
/// # Errors
/// When the text is not well-formed XML, its root is not `graphml`, there is not exactly one graph
/// or it is directed, a node's id repeats or is missing, an edge refers to a node that is not
/// there, or a coordinate, speed or `Internal` flag is not a number in range.
pub fn parse(file: &str, text: &str) -> Result<Topology, InputError> {
    from_xml(xml::open(file, text)?.root())
}

/// [`parse`] of XML that is parsed already.
pub(crate) fn from_xml(root: Element<'_, '_>) -> Result<Topology, InputError> {
    if root.tag() != "graphml" {
        return Err(root.at().error(
            format!("the root element {}", quoted(root.tag())),
            "graphml",
            "export the topology as GraphML",
        ));
    }
    let keys = keys(root)?;
    let graph = root.need("graph")?;
    if let Some(second) = root.children("graph").nth(1) {
        return Err(second.at().error("a second graph", "one graph a file", "split the file"));
    }
    if graph.attribute("edgedefault") == Some("directed") {
        return Err(directed(graph.at()));
    }
    let mut builder = Builder::default();
    for node in graph.children("node") {
        add_node(&mut builder, node, &data(node, &keys))?;
    }
    for edge in graph.children("edge") {
        add_edge(&mut builder, edge, &data(edge, &keys))?;
    }
    let about = data(graph, &keys);
    let name = about.get("label").or_else(|| about.get("Network"));
    builder.finish(root.file(), name.map_or("", |name| name.text()))
}

/// The attributes' names by the ids that stand for them in this file.
fn keys<'d>(root: Element<'d, '_>) -> Result<BTreeMap<&'d str, &'d str>, InputError> {
    let mut keys = BTreeMap::new();
    for key in root.children("key") {
        let id = key.need_attribute("id")?;
        keys.insert(id, key.attribute("attr.name").unwrap_or(id));
    }
    Ok(keys)
}

type Data<'d, 'a> = BTreeMap<&'d str, Element<'d, 'a>>;

/// An element's attributes by name.
fn data<'d, 'a>(element: Element<'d, 'a>, keys: &BTreeMap<&'d str, &'d str>) -> Data<'d, 'a> {
    let pairs = element.children("data").filter_map(|data| {
        let name = keys.get(data.attribute("key")?)?;
        Some((*name, data))
    });
    pairs.collect()
}

fn add_node(
    builder: &mut Builder,
    node: Element<'_, '_>,
    data: &Data<'_, '_>,
) -> Result<(), InputError> {
    let position = match (data.get("Longitude"), data.get("Latitude")) {
        (Some(longitude), Some(latitude)) => Some((longitude.degrees()?, latitude.degrees()?)),
        _ => None,
    };
    let external = match data.get("Internal") {
        None => false,
        Some(flag) => match flag.text() {
            "0" => true,
            "1" => false,
            other => {
                return Err(flag.at().error(
                    format!("Internal {}", quoted(other)),
                    "1 (a node of this network) or 0 (a neighbour's)",
                    "correct the flag, or leave it out",
                ));
            }
        },
    };
    let label = data.get("label").map_or("", |label| label.text());
    let id = node.need_attribute("id")?;
    builder.node(node.at(), RawNode { id, label, position, external })
}

fn add_edge(
    builder: &mut Builder,
    edge: Element<'_, '_>,
    data: &Data<'_, '_>,
) -> Result<(), InputError> {
    if edge.attribute("directed") == Some("true") {
        return Err(directed(edge.at()));
    }
    let a = builder.find(edge.at(), edge.need_attribute("source")?)?;
    let b = builder.find(edge.at(), edge.need_attribute("target")?)?;
    let rate = match data.get("LinkSpeedRaw") {
        Some(speed) => rate(speed.at(), speed.text(), 1.0)?,
        None => None,
    };
    let label = data.get("LinkLabel").map(|label| label.text().to_string());
    builder.edge(Edge { a, b, rate, length_km: None, label: label.filter(|l| !l.is_empty()) });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_units::Rate;

    const KEYS: &str = "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">
<key id=\"d0\" for=\"node\" attr.name=\"label\"/><key id=\"d1\" attr.name=\"Latitude\"/>
<key id=\"d2\" attr.name=\"Longitude\"/><key id=\"d3\" attr.name=\"Internal\"/>
<key id=\"d4\" attr.name=\"LinkSpeedRaw\"/><key id=\"d5\" attr.name=\"LinkLabel\"/>
";

    fn graph(body: &str) -> String {
        format!("{KEYS}<graph edgedefault=\"undirected\">\n{body}\n</graph></graphml>")
    }
    fn refused(body: &str) -> String {
        parse("g.graphml", &graph(body)).unwrap_err().to_string()
    }

    #[test]
    fn reads_what_is_there_and_lives_without_the_rest() {
        let text = graph(
            "<node id=\"0\"><data key=\"d0\">Vienna</data><data key=\"d1\">48.2</data>\
             <data key=\"d2\">16.4</data><data key=\"d3\">1</data></node>\
             <node id=\"1\"><data key=\"d0\">Vienna</data><data key=\"d1\">47</data>\
             <data key=\"d3\">0</data></node><node id=\"n\"/>\
             <edge source=\"0\" target=\"1\"><data key=\"d4\">2500000000.0</data>\
             <data key=\"d5\">OC-48 &amp; more</data></edge>\
             <edge source=\"1\" target=\"0\"/><edge source=\"n\" target=\"n\"/>",
        );
        let topology = parse("nets/Small.graphml", &text).unwrap();
        assert_eq!(topology.name, "Small");
        let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["Vienna", "Vienna#2", "n"]);
        assert_eq!(topology.nodes[0].latitude, Some(48.2));
        assert_eq!((topology.nodes[1].latitude, topology.nodes[1].internal), (None, false));
        assert_eq!(topology.edges.len(), 2);
        assert_eq!(topology.edges[0].rate, Some(Rate::from_mbps(2500)));
        assert_eq!(topology.edges[0].label.as_deref(), Some("OC-48 & more"));
        assert_eq!((topology.edges[1].rate, topology.edges[1].length_km), (None, None));
        assert_eq!(topology.components().len(), 2);
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let at = |line: usize| format!("g.graphml:{line}: ");
        assert!(refused("<node id=\"0\"/>\n<node id=\"0\"/>").starts_with(&at(7)));
        assert!(refused("<node/>").contains("without the attribute id"));
        assert!(refused("<node id=\"0\"/>\n<edge source=\"0\" target=\"9\"/>").contains("\"9\""));
        let coordinates =
            "<node id=\"0\"><data key=\"d1\">1</data>\n<data key=\"d2\">x</data></node>";
        assert!(refused(coordinates).starts_with(&at(7)));
        assert!(refused(&coordinates.replace('x', "200")).contains("longitude 200"));
        assert!(refused("<node id=\"0\"><data key=\"d3\">yes</data></node>").contains("Internal"));
        assert!(refused("").contains("no nodes"));
        let error = |text: &str| parse("g.graphml", text).unwrap_err().to_string();
        assert!(error("").contains("g.graphml:1: found XML that cannot be read"));
        assert!(error("<graphml>\n<graph>").contains("complete"));
        assert!(error("<graphml/>").contains("without <graph>"));
        assert!(error("<graphml><graph/>\n<graph/></graphml>").contains(":2: found a second"));
        assert!(error("<graphml><graph edgedefault=\"directed\"/></graphml>").contains("directed"));
        assert!(error("<!DOCTYPE graphml><graphml/>").contains("delete the <!DOCTYPE"));
        assert!(error("<network/>").contains("root element \"network\""));
    }
}
