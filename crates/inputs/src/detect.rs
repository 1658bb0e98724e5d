//! Which reader a file needs.

use crate::location::{Location, quoted};
use crate::topology::Topology;
use crate::{InputError, graphml, sndlib_xml, topohub, xml};

/// Reads a topology in any of the three formats.
///
/// The extension decides where it is `.graphml` or `.json`; the content does otherwise: text that
/// starts with `{` is node-link JSON, and an XML root called `graphml` or `network` is GraphML or
/// SNDlib XML.
///
/// # Errors
/// When the format is none of these, or its reader refuses the text.
pub fn topology(file: &str, text: &str) -> Result<Topology, InputError> {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    if extension.eq_ignore_ascii_case("graphml") {
        return graphml::parse(file, text);
    }
    if extension.eq_ignore_ascii_case("json") || text.trim_start().starts_with('{') {
        return topohub::parse(file, text);
    }
    if text.trim_start().starts_with('<') {
        let document = xml::open(file, text)?;
        let root = document.root();
        return match root.tag() {
            "graphml" => graphml::from_xml(root),
            "network" => sndlib_xml::from_xml(root),
            tag => Err(root.at().error(
                format!("the root element {}", quoted(tag)),
                "graphml (GraphML) or network (SNDlib XML)",
                "export the topology as GraphML",
            )),
        };
    }
    // What the file says is not shown: it may be one that others must not read.
    Err(Location::line(file, 1).error(
        "text that is no topology",
        "GraphML, SNDlib XML, or networkx node-link JSON",
        "of a GML file, use the JSON or GraphML form of the same graph",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_the_reader() {
        let text = |file: &str, text: &str| topology(file, text).unwrap_err().to_string();
        let graphml = "<graphml><graph><node id=\"a\"/></graph></graphml>";
        assert_eq!(topology("x", graphml).unwrap().nodes.len(), 1);
        assert_eq!(topology("x.xml", graphml).unwrap().nodes.len(), 1);
        let json = "{\"nodes\": [{\"id\": 0}], \"edges\": []}";
        assert_eq!(topology("x", json).unwrap().nodes.len(), 1);
        assert!(text("x.xml", "<svg/>").starts_with("x.xml:1: found the root element \"svg\""));
        assert!(text("x.gml", "graph [\n]").contains("of a GML file"));
        assert!(text("x", "").contains("found text that is no topology"));
    }
}
