//! GraphML, as the Internet Topology Zoo, networkx and yEd write it.
//!
//! Which `<data>` holds which attribute is told by the `<key>` elements, whose defaults hold where
//! an element has no `<data>`; [`crate::topology`] says what attributes mean. `Internal` is 0 for
//! a neighbouring network's node (Topology Zoo).
//!
//! A graph inside a node adds its nodes and edges. The outer node is a node, too, if an edge names
//! it; if none does, it only frames the others (a group of yEd) and is left out. yEd's labels are
//! read from `y:NodeLabel`. yEd marks every graph as directed: an edge whose `y:Arrows` say that it
//! has no arrow, or two, carries both ways.
//!
//! Source of the format: <http://graphml.graphdrawing.org/specification.html>; the attributes:
//! Knight et al., "The Internet Topology Zoo", IEEE JSAC 29(9), 2011.

use std::collections::{BTreeMap, BTreeSet};

use crate::InputError;
use crate::attributes::Attribute;
use crate::build::{Builder, RawLink, RawNode};
use crate::location::quoted;
use crate::tally::Departure;
use crate::topology::Topology;
use crate::xml::{self, Element};

/// Most `<key>` elements: each may have a default for every node and edge.
const MOST_KEYS: usize = 512;

/// Reads a topology.
///
/// # Errors
/// When the text is not well-formed XML, its root is not `graphml`, there is not exactly one graph,
/// a node's id repeats or is missing, an edge refers to a node that is not there, or a coordinate,
/// quantity or `Internal` flag is not a number in range.
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
    let keys = Keys::of(root)?;
    let graph = root.need("graph")?;
    if let Some(second) = root.children("graph").nth(1) {
        return Err(second.at().error("a second graph", "one graph a file", "split the file"));
    }
    let mut builder = Builder::default();
    builder.graph(keys.attributes(graph, "graph").list)?;
    let edges: Vec<Element<'_, '_>> = inner(graph, "edge").collect();
    let mut ends = BTreeSet::new();
    for edge in &edges {
        ends.extend([edge.need_attribute("source")?, edge.need_attribute("target")?]);
    }
    for node in inner(graph, "node") {
        let id = node.need_attribute("id")?;
        if node.child("graph").is_some() && !ends.contains(id) {
            builder.tally.departs(Departure::Frame, node.at());
            continue;
        }
        let attributes = keys.attributes(node, "node").list;
        builder.node(RawNode { at: node.at(), id: id.into(), drawn: None, attributes })?;
    }
    for edge in edges {
        add_edge(&mut builder, edge, &keys)?;
    }
    for hyperedge in inner(graph, "hyperedge") {
        builder.tally.departs(Departure::Hyperedge, hyperedge.at());
    }
    builder.finish(root.file())
}

/// The elements called `tag` of a graph and of the graphs within it.
fn inner<'d, 'a: 'd>(
    graph: Element<'d, 'a>,
    tag: &'static str,
) -> impl Iterator<Item = Element<'d, 'a>> {
    graph.descendants(tag).filter(|element| element.parent_tag() == Some("graph"))
}

fn add_edge<'d>(
    builder: &mut Builder<'d>,
    edge: Element<'d, '_>,
    keys: &Keys<'d>,
) -> Result<(), InputError> {
    let a = builder.find(edge.at(), edge.need_attribute("source")?)?;
    let b = builder.find(edge.at(), edge.need_attribute("target")?)?;
    let Data { list: attributes, arrows } = keys.attributes(edge, "edge");
    let is_directed = match edge.attribute("directed") {
        Some(own) => own == "true",
        None => edge.parent_attribute("edgedefault") == Some("directed"),
    };
    let (ends, is_one_way) = match arrows.filter(|_| is_directed) {
        Some((true, false)) => ((b, a), true),
        Some((source, target)) => ((a, b), source != target),
        None => ((a, b), is_directed),
    };
    builder.link(RawLink { at: edge.at(), ends, is_one_way, attributes })
}

/// The `<key>` elements.
struct Keys<'d> {
    by_id: BTreeMap<&'d str, Key<'d>>,
    /// Attributes that elements without `<data>` have, with the elements' tag.
    defaults: Vec<(&'d str, Attribute<'d>)>,
}

#[derive(Clone, Copy)]
enum Key<'d> {
    Named(&'d str),
    /// A drawing of yEd, with the label within.
    Drawing,
}

/// What `<data>` elements say of an element.
struct Data<'d> {
    list: Vec<Attribute<'d>>,
    /// Whether yEd draws an arrow at the source, and at the target.
    arrows: Option<(bool, bool)>,
}

impl<'d> Keys<'d> {
    fn of(root: Element<'d, '_>) -> Result<Keys<'d>, InputError> {
        let mut keys = Keys { by_id: BTreeMap::new(), defaults: Vec::new() };
        for (i, key) in root.children("key").enumerate() {
            if i == MOST_KEYS {
                return Err(key.at().error(
                    "another key",
                    format!("up to {MOST_KEYS}"),
                    "leave out keys that no node or edge needs",
                ));
            }
            let id = key.need_attribute("id")?;
            let name = match (key.attribute("attr.name"), key.attribute("yfiles.type")) {
                (None, Some(_)) => Key::Drawing,
                (name, _) => Key::Named(name.unwrap_or(id)),
            };
            if let (Key::Named(name), Some(default)) = (name, key.child("default")) {
                let of = key.attribute("for").unwrap_or("all");
                keys.defaults.push((of, Attribute::new(name, default.text(), default.at())));
            }
            keys.by_id.insert(id, name);
        }
        Ok(keys)
    }

    /// What an element called `tag` says, or has by default.
    fn attributes(&self, element: Element<'d, '_>, tag: &str) -> Data<'d> {
        let mut data = Data { list: Vec::new(), arrows: None };
        for one in element.children("data") {
            let id = one.attribute("key").unwrap_or("");
            match self.by_id.get(id).copied().unwrap_or(Key::Named(id)) {
                Key::Named(name) => data.list.push(Attribute::new(name, one.text(), one.at())),
                Key::Drawing => {
                    let label = if tag == "node" { "NodeLabel" } else { "EdgeLabel" };
                    if let Some(label) = one.descendants(label).next() {
                        data.list.push(Attribute::new("label", label.text(), label.at()));
                    }
                    if let Some(arrows) = one.descendants("Arrows").next() {
                        let has = |end| arrows.attribute(end).unwrap_or("none") != "none";
                        data.arrows = Some((has("source"), has("target")));
                    }
                }
            }
        }
        let given = data.list.len();
        for (of, default) in &self.defaults {
            let is_given = data.list[..given].iter().any(|one| one.name == default.name);
            if (*of == tag || *of == "all") && !is_given {
                data.list.push(default.clone());
            }
        }
        data
    }
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
        assert!(error("<!DOCTYPE graphml><graphml/>").contains("delete the <!DOCTYPE"));
        assert!(error("<network/>").contains("root element \"network\""));
    }

    fn read(body: &str) -> Topology {
        parse("g.graphml", body).unwrap_or_else(|error| panic!("{error}"))
    }
    fn names(topology: &Topology) -> Vec<&str> {
        topology.nodes.iter().map(|node| node.name.as_str()).collect()
    }
    fn notes(topology: &Topology) -> Vec<&str> {
        topology.notes.iter().map(|note| note.text.as_str()).collect()
    }

    #[test]
    fn defaults_of_keys_hold_where_nothing_is_given() {
        let topology = read(
            "<graphml><key id=\"s\" for=\"edge\" attr.name=\"LinkSpeedRaw\"><default>1e6</default></key>\
             <key id=\"i\" for=\"node\" attr.name=\"Internal\"><default>0</default></key><graph>\
             <node id=\"a\"/><node id=\"b\"><data key=\"i\">1</data></node>\
             <edge source=\"a\" target=\"b\"/>\
             <edge source=\"a\" target=\"b\"><data key=\"s\">5</data></edge></graph></graphml>",
        );
        let rates: Vec<_> = topology.edges.iter().map(|edge| edge.rate.unwrap().bps()).collect();
        assert_eq!(rates, [1_000_000, 5]);
        assert_eq!((topology.nodes[0].internal, topology.nodes[1].internal), (false, true));
    }

    #[test]
    fn nested_graphs_and_groups() {
        let inner = "<graph edgedefault=\"undirected\"><node id=\"b\"/><node id=\"c\"/>\
                     <edge source=\"b\" target=\"c\"/></graph>";
        let named = graph(&format!(
            "<node id=\"a\"/><node id=\"pop\">{inner}</node><edge source=\"a\" target=\"pop\"/>"
        ));
        let topology = read(&named);
        assert_eq!(names(&topology), ["a", "pop", "b", "c"]);
        assert_eq!((topology.edges.len(), topology.notes.len()), (2, 0));
        let frame = graph(&format!(
            "<node id=\"a\"/><node id=\"pop\">{inner}</node><edge source=\"a\" target=\"b\"/>"
        ));
        let topology = read(&frame);
        assert_eq!(names(&topology), ["a", "b", "c"]);
        assert_eq!(notes(&topology), ["1 group without edges left out; their nodes are kept"]);
    }

    #[test]
    fn graphs_nest_without_end_or_crash() {
        let deep = 300;
        let open: String = (0..deep).map(|i| format!("<node id=\"{i}\"><graph>")).collect();
        let text = format!(
            "<graphml><graph>{open}<node id=\"x\"/>{}</graph></graphml>",
            "</graph></node>".repeat(deep)
        );
        assert_eq!(read(&text).nodes.len(), 1);
        let deep = 100_000;
        let text =
            format!("<graphml>{}{}</graphml>", "<graph>".repeat(deep), "</graph>".repeat(deep));
        assert!(parse("g.graphml", &text).is_err());
    }

    const YED: &str = "<graphml xmlns:y=\"http://www.yworks.com/xml/graphml\">\
        <key for=\"node\" id=\"d6\" yfiles.type=\"nodegraphics\"/>\
        <key for=\"edge\" id=\"d10\" yfiles.type=\"edgegraphics\"/>\
        <graph edgedefault=\"directed\" id=\"G\"><node id=\"n0\"><data key=\"d6\"><y:ShapeNode>\
        <y:NodeLabel>Vienna<y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>\
        <node id=\"n1\"/><edge source=\"n0\" target=\"n1\"><data key=\"d10\"><y:PolyLineEdge>\
        <y:Arrows source=\"none\" target=\"none\"/></y:PolyLineEdge></data></edge></graph></graphml>";

    #[test]
    fn yed_s_labels_and_arrows() {
        let edge = |from: &str, to: &str| {
            let topology = read(&YED.replacen(from, to, 1));
            let edge = &topology.edges[0];
            (edge.a, edge.b, edge.is_one_way)
        };
        let topology = read(YED);
        assert_eq!((names(&topology), notes(&topology)), (vec!["Vienna", "n1"], vec![]));
        assert_eq!(edge("", ""), (0, 1, false));
        assert_eq!(edge("target=\"none\"", "target=\"standard\""), (0, 1, true));
        assert_eq!(edge("Arrows source=\"none\"", "Arrows source=\"delta\""), (1, 0, true));
        let both = YED.replacen(
            "Arrows source=\"none\" target=\"none\"",
            "Arrows source=\"x\" target=\"x\"",
            1,
        );
        assert!(!read(&both).edges[0].is_one_way);
        assert_eq!(edge("<y:Arrows source=\"none\" target=\"none\"/>", ""), (0, 1, true));
        assert_eq!(edge("<edge ", "<edge directed=\"false\" "), (0, 1, false));
    }

    #[test]
    fn a_rate_in_yed_s_label_is_said() {
        let label = "<y:EdgeLabel>10 Mbps, 5 ms<y:LabelModel/></y:EdgeLabel><y:Arrows";
        let topology = read(&YED.replacen("<y:Arrows", label, 1));
        assert_eq!(topology.edges[0].rate, None);
        assert_eq!(notes(&topology), ["1 link without a rate, whose label reads like one"]);
    }

    #[test]
    fn directed_edges_go_one_way() {
        let text = graph(
            "<node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\" directed=\"true\"/>\
                          <edge source=\"a\" target=\"b\"/>",
        );
        let ways: Vec<bool> = read(&text).edges.iter().map(|edge| edge.is_one_way).collect();
        assert_eq!(ways, [true, false]);
    }

    #[test]
    fn what_is_not_used_is_named() {
        let body = graph(
            "<node id=\"a\"><data key=\"cpu\">4</data></node><node id=\"b\"><data key=\"d1\">4</data></node>\
             <edge source=\"a\" target=\"b\"><data key=\"w\">4</data></edge>\
             <edge source=\"a\" target=\"b\"><data key=\"w\">5</data></edge>\
             <edge source=\"a\" target=\"a\"/><hyperedge/>",
        );
        let topology =
            read(&body.replacen("<graph ", "<key id=\"w\" attr.name=\"Weight\"/><graph ", 1));
        assert_eq!(
            notes(&topology),
            [
                "1 edge from a node to itself left out",
                "1 hyperedge left out",
                "not used: of links \"Weight\" (2 times); of nodes \"Latitude\", \"cpu\"",
            ]
        );
    }

    #[test]
    fn keys_are_bounded() {
        let keys: String = (0..600).map(|i| format!("<key id=\"{i}\"/>")).collect();
        let said =
            parse("g", &format!("<graphml>{keys}<graph/></graphml>")).unwrap_err().to_string();
        assert!(said.contains("allowed: up to 512"), "{said}");
    }
}
