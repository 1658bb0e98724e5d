//! Which reader a file needs.

use crate::cooked::{self, RateTrace};
use crate::location::{Location, quoted};
use crate::mahimahi::{self, LinkTrace};
use crate::rows::rows;
use crate::topology::Topology;
use crate::{InputError, Notice, graphml, sndlib_xml, topohub, xml};

/// A trace of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Instants at which packets may pass, from Mahimahi.
    Opportunities(LinkTrace),
    /// A rate over time.
    Rates(RateTrace),
}

/// Reads a trace: one with a single column as Mahimahi's, any other as times and rates.
///
/// # Errors
/// When the reader of its kind refuses the text.
pub fn trace(file: &str, text: &str, notices: &mut Vec<Notice>) -> Result<Trace, InputError> {
    if rows(file, text).next().is_some_and(|row| row.fields.len() > 1) {
        return cooked::parse(file, text, notices).map(Trace::Rates);
    }
    mahimahi::parse(file, text).map(Trace::Opportunities)
}

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
    fn a_trace_of_two_columns_is_one_of_rates() {
        let is_rates =
            |text: &str| matches!(trace("x", text, &mut Vec::new()).unwrap(), Trace::Rates(_));
        for text in ["0,3.5\n1,4\n", "0 3.5\n", "# a\n\n0\t3\n", "time,bw\n0,1\n", "0 , 3\n"] {
            assert!(is_rates(text), "{text:?}");
        }
        for text in ["1\n2\n", "1.0\n", "5,\n"] {
            assert!(!trace("x", text, &mut Vec::new()).is_ok_and(|t| matches!(t, Trace::Rates(_))));
        }
        assert!(!is_rates("1\n2\n"));
    }

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
