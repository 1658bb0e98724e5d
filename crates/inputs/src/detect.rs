//! Which reader a file needs.

use crate::location::{Location, quoted};
use crate::topology::Topology;
use crate::{
    InputError, brite, gml, graphml, node_link, rocketfuel, sndlib_native, sndlib_xml, xml,
};

/// Reads a topology in any of the formats.
///
/// The extension decides where it is `.graphml`, `.json` or `.gml`; the content does otherwise.
/// Text that starts with `{` is node-link JSON, XML whose root is `graphml` or `network` is GraphML
/// or SNDlib XML, and the other formats are known by how they begin.
///
/// # Errors
/// When the format is none of these, or its reader refuses the text. The error names other formats
/// that are common for networks, and how to convert them.
pub fn topology(file: &str, text: &str) -> Result<Topology, InputError> {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    if extension.eq_ignore_ascii_case("graphml") {
        return graphml::parse(file, text);
    }
    let start = text.trim_start();
    if extension.eq_ignore_ascii_case("json") || start.starts_with('{') {
        return node_link::parse(file, text);
    }
    if start.starts_with('<') {
        let document = xml::open(file, text)?;
        let root = document.root();
        return match root.tag() {
            "graphml" => graphml::from_xml(root),
            "network" => sndlib_xml::from_xml(root),
            tag => Err(root.at().error(
                format!("the root element {}", quoted(tag)),
                "graphml (GraphML) or network (SNDlib XML)",
                match tag {
                    "gexf" => "convert it: networkx.write_graphml(networkx.read_gexf(FILE), NEW)",
                    "fnss-topology" | "topology" => {
                        "convert it: networkx.write_graphml(fnss.read_topology(FILE), NEW)"
                    }
                    _ => "export the topology as GraphML",
                },
            )),
        };
    }
    if start.starts_with(sndlib_native::HEADER) {
        return sndlib_native::parse(file, text);
    }
    if brite::is_brite(text) {
        return brite::parse(file, text);
    }
    if rocketfuel::is_rocketfuel(text) {
        return rocketfuel::parse(file, text);
    }
    let foreign = foreign(start);
    if extension.eq_ignore_ascii_case("gml") || (foreign.is_none() && gml::is_gml(text)) {
        return gml::parse(file, text);
    }
    // What the file says is not shown: it may be one that others must not read.
    let (found, remedy) = foreign.unwrap_or((
        "text that is no topology",
        "save the graph as GraphML (networkx: write_graphml), or write it as [[node]] and [[link]]",
    ));
    Err(Location::line(file, 1).error(
        found,
        "GraphML, GML, node-link JSON, SNDlib, BRITE or Rocketfuel's weights and latencies",
        remedy,
    ))
}

/// The name of another format, and how to convert it.
fn foreign(text: &str) -> Option<(&'static str, &'static str)> {
    let first = text.lines().next().unwrap_or("");
    let has_line = |begin: &str| text.lines().take(500).any(|line| line.trim().starts_with(begin));
    let is_dot = ["graph", "digraph", "strict"].iter().any(|word| first.starts_with(word));
    if is_dot && text.lines().take(2).any(|line| line.contains('{')) {
        return Some(("Graphviz DOT", "convert it: gv2gml FILE > NEW.gml (of Graphviz)"));
    }
    if first.to_ascii_lowercase().starts_with("*vertices") {
        return Some((
            "Pajek",
            "convert it: networkx.write_graphml(networkx.read_pajek(FILE), NEW)",
        ));
    }
    // A line of a router ends in its name and its distance from the network; one of a neighbour's
    // begins with a minus.
    let is_router = |line: &str| line.contains('=') && line.contains(" -> <");
    if text.lines().take(500).any(is_router) {
        return Some((
            "a Rocketfuel map (.cch)",
            "each line is a router, its place and its neighbours: write them as node-link JSON, \
             as docs/how-to/import-a-topology.md shows",
        ));
    }
    if first.starts_with("* GraphBase") || text.contains("GT-ITM") {
        return Some((
            "GT-ITM (Stanford GraphBase)",
            "convert it with sgb2alt of GT-ITM, and write nodes and edges as node-link JSON",
        ));
    }
    if has_line("topology:") && (has_line("nodes:") || has_line("links:")) {
        return Some((
            "a containerlab topology",
            "write its links as [[link]] with `between`, kind = \"custom\", or as node-link JSON",
        ));
    }
    if has_line("from mininet") || has_line("import mininet") {
        return Some((
            "a Mininet script",
            "write its links as [[link]] with `between`, kind = \"custom\", or as node-link JSON",
        ));
    }
    let is_link = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        matches!(fields.as_slice(), [_, _, rate, delay, _]
            if rate.ends_with("bps") && delay.ends_with('s'))
    };
    if text.lines().nth(2).is_some_and(is_link) {
        return Some((
            "a topology of the HPCC simulator",
            "write its lines as [[link]] with `between`, kind = \"custom\", or as node-link JSON",
        ));
    }
    let numbers = |line: &str| {
        let fields = line.split_whitespace().map(|field| field.parse::<f64>());
        fields.collect::<Result<Vec<f64>, _>>().ok().map(|numbers| numbers.len())
    };
    let mut lines = text.lines().map(numbers);
    if let (Some(Some(2)), Some(Some(3))) = (lines.next(), lines.next()) {
        return Some((
            "a topology of Inet",
            "write its edges (the rows behind the nodes) as node-link JSON",
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(file: &str, text: &str) -> String {
        topology(file, text).unwrap_err().to_string()
    }

    #[test]
    fn picks_the_reader() {
        let graphml = "<graphml><graph><node id=\"a\"/></graph></graphml>";
        assert_eq!(topology("x", graphml).unwrap().nodes.len(), 1);
        assert_eq!(topology("x.xml", graphml).unwrap().nodes.len(), 1);
        let json = "{\"nodes\": [{\"id\": 0}], \"edges\": []}";
        assert_eq!(topology("x", json).unwrap().nodes.len(), 1);
        for gml in
            ["graph [ node [ id 0 ] ]", "# c\nCreator \"x\"\nVersion 2\ngraph\n[\nnode [id 0]]"]
        {
            assert_eq!(topology("x", gml).unwrap().nodes.len(), 1);
            assert_eq!(topology("x.gml", gml).unwrap().nodes.len(), 1);
        }
        let native = "?SNDlib native format; type: network; version: 1.0\nNODES ( a )";
        assert_eq!(topology("x.txt", native).unwrap().nodes.len(), 1);
        let brite = "Topology: ( 1 Nodes, 0 Edges )\nNodes: (1)\n0 1 1";
        assert_eq!(topology("x", brite).unwrap().nodes.len(), 1);
        let rocketfuel = "A,+B1 C,+D2 5\nC,+D2 A,+B1 5";
        assert_eq!(topology("x", rocketfuel).unwrap().nodes.len(), 2);
        assert!(error("x.xml", "<svg/>").starts_with("x.xml:1: found the root element \"svg\""));
        assert!(error("x", "").contains("found text that is no topology"));
    }

    #[test]
    fn names_other_formats_and_how_to_convert_them() {
        for (text, name, remedy) in [
            ("digraph {\n a -> b\n}", "Graphviz DOT", "gv2gml"),
            ("graph \"G\"\n{ a -- b }", "Graphviz DOT", "gv2gml"),
            ("*Vertices 2\n1 \"a\"", "Pajek", "read_pajek"),
            (
                "1 @Adelaide,+Australia + bb (2) -> <2> <3> =r1.adl.net r0",
                "a Rocketfuel map",
                "node-link JSON",
            ),
            ("-4438   =208.172.146.62 r1\n1 @? (1) -> <2> \t=x r0", "a Rocketfuel map", "JSON"),
            ("3 1 2\n2\n0 2 100Gbps 0.001ms 0\n1 2 100Gbps 1us 0", "HPCC", "[[link]]"),
            ("2 1\n0 5625 2473\n1 4505 4098\n0 1 5", "a topology of Inet", "node-link JSON"),
            ("name: lab\ntopology:\n  nodes:\n    a:\n", "a containerlab topology", "[[link]]"),
            ("#!/usr/bin/python\nfrom mininet.topo import Topo", "a Mininet script", "[[link]]"),
            ("<gexf/>", "the root element \"gexf\"", "read_gexf"),
            ("* GraphBase graph (util_types", "GT-ITM", "sgb2alt"),
        ] {
            let said = error("x", text);
            assert!(said.contains(name) && said.contains(remedy), "{said}");
        }
    }
}
