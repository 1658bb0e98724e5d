//! BRITE's own format, as the topology generator of Boston University writes it.
//!
//! Of a row of `Nodes:` the id is read, of a row of `Edges:` its ends, its delay in ms, its
//! bandwidth in Mbit/s and whether it is directed. Positions are points of a plane.
//!
//! Source of the format: <https://www.cs.bu.edu/brite/user_manual/node29.html>.

use crate::InputError;
use crate::attributes::Attribute;
use crate::build::{Builder, RawLink, RawNode};
use crate::location::{Location, finite, quoted};
use crate::tally::Departure;
use crate::topology::Topology;

/// Whether text is of this format.
pub(crate) fn is_brite(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or("");
    first.starts_with("Topology:") && first.contains("Nodes")
}

#[derive(Clone, Copy)]
enum Section {
    Head,
    Nodes,
    Edges,
}

/// Reads a topology.
///
/// # Errors
/// When a row is not complete, an id repeats, an edge refers to a node that is not there, or a
/// number is none or out of range.
pub fn parse(file: &str, text: &str) -> Result<Topology, InputError> {
    let mut builder = Builder::default();
    (builder.units.rate, builder.units.delay) = (Some(1e6), Some(1e-3));
    let mut section = Section::Head;
    // Rows of nodes and of edges, and how many the file says that there are.
    let (mut rows, mut stated) = ([0_usize; 2], [None; 2]);
    for (i, line) in text.lines().enumerate() {
        let at = Location::line(file, i + 1);
        let fields: Vec<&str> = line.split_whitespace().collect();
        match (section, fields.as_slice()) {
            (_, []) => {}
            (_, [first, ..]) if first.starts_with("Nodes:") => {
                (section, stated[0]) = (Section::Nodes, count(line).map(|count| (at, count)));
            }
            (_, [first, ..]) if first.starts_with("Edges:") => {
                (section, stated[1]) = (Section::Edges, count(line).map(|count| (at, count)));
            }
            (Section::Head, _) => {}
            (Section::Nodes, [id, x, y, ..]) if is_number(x) && is_number(y) => {
                rows[0] += 1;
                builder.tally.departs(Departure::Drawing, at);
                builder.node(RawNode {
                    at,
                    id: (*id).into(),
                    drawn: None,
                    attributes: Vec::new(),
                })?;
            }
            (Section::Edges, [_, from, to, _, delay, rate, more @ ..]) => {
                rows[1] += 1;
                let ends = (builder.find(at, from)?, builder.find(at, to)?);
                // BRITE writes -1 for what it did not assign.
                let given = [("delay", *delay), ("bandwidth", *rate)];
                let given = given.into_iter().filter(|(_, number)| finite(number) != Some(-1.0));
                let attributes = given.map(|(name, number)| Attribute::new(name, number, at));
                let is_one_way = more.last() == Some(&"D");
                let attributes = attributes.collect();
                builder.link(RawLink { at, ends, is_one_way, attributes })?;
            }
            (Section::Nodes | Section::Edges, [first, ..]) => {
                return Err(at.error(
                    format!("a row that begins with {}", quoted(first)),
                    "id x y ... of a node, id from to length delay bandwidth ... of an edge",
                    "check that the file is complete",
                ));
            }
        }
    }
    for ((what, rows), stated) in ["nodes", "edges"].into_iter().zip(rows).zip(stated) {
        if let Some((at, stated)) = stated.filter(|(_, stated)| *stated != rows) {
            builder.tally.miscounted(at, what, stated, rows);
        }
    }
    builder.finish(file)
}

/// The number in the head of a section, such as `Nodes: ( 3 )`.
fn count(line: &str) -> Option<usize> {
    let digits = line.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
    digits.and_then(|digits| digits.parse().ok())
}

fn is_number(text: &str) -> bool {
    finite(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_units::{Duration, Rate};

    const SMALL: &str = "Topology: ( 3 Nodes, 2 Edges )\nModel ( 2 ): 3 1000 100 1 2 1 10 1024\n\n\
                         Nodes: (3)\n0 209.00 89.00 1 1 -1 RT_NODE\n1 689 291 2 2 -1 RT_NODE\n\
                         2 323 292 1 1 -1 RT_NODE\n\nEdges: (2):\n\
                         0 0 1 520.77 1.74 10.00 -1 -1 E_RT U\n1 1 2 366.0 -1 -1.0 -1 -1 E_RT D\n";

    #[test]
    fn reads_delays_and_bandwidths() {
        let topology = parse("nets/small.brite", SMALL).unwrap();
        assert_eq!((topology.name.as_str(), topology.nodes.len()), ("small", 3));
        let [first, second] = topology.edges.as_slice() else { panic!("two edges") };
        assert_eq!((first.a, first.b, first.is_one_way), (0, 1, false));
        assert_eq!(first.rate, Some(Rate::from_mbps(10)));
        assert_eq!(first.delay, Some(Duration::from_micros(1_740)));
        assert_eq!((second.rate, second.delay, second.is_one_way), (None, None, true));
        assert_eq!(topology.notes.len(), 1);
        assert!(topology.notes[0].text.starts_with("the positions of 3 nodes are a drawing's"));
        let cut = parse("t", &SMALL.replace("Edges: (2)", "Edges: (20000)")).unwrap();
        let said = cut.notes.iter().find(|note| note.text.contains("20000")).expect("a note");
        assert_eq!(said.text, "the file says 20000 edges, and has 2");
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let refused = |from: &str, to: &str| {
            assert!(SMALL.contains(from));
            parse("t", &SMALL.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(refused("0 0 1 520", "0 0 7 520").starts_with("t:10: found a reference to the"));
        assert!(refused("1.74", "slow").starts_with("t:10: found delay \"slow\"; allowed: a num"));
        assert!(refused("0 209.00", "0 west").starts_with("t:5: found a row that begins with"));
        assert!(refused("1 689", "0 689").contains("a second node"));
        assert!(parse("t", "Topology: ( 0 Nodes )").unwrap_err().to_string().contains("no nodes"));
    }
}
