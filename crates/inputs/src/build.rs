//! What the topology readers share: names, references to nodes, units, lengths.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_units::Rate;

use crate::InputError;
use crate::location::{Location, finite, quoted};
use crate::topology::{Demand, Edge, Node, Topology, great_circle_km};

/// The largest rate taken, in bit/s: a million times the fastest link there is.
const MAX_BPS: f64 = 1e18;

/// A node as a file states it.
#[derive(Default)]
pub(crate) struct RawNode<'a> {
    pub(crate) id: &'a str,
    pub(crate) label: &'a str,
    /// Longitude, latitude.
    pub(crate) position: Option<(f64, f64)>,
    pub(crate) external: bool,
}

/// A topology under construction.
#[derive(Default)]
pub(crate) struct Builder {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    demands: Vec<Demand>,
    by_id: BTreeMap<String, usize>,
    names: BTreeSet<String>,
    /// For a label used before, the number to try next.
    again: BTreeMap<String, usize>,
}

impl Builder {
    /// Adds a node; its id must be new.
    pub(crate) fn node(&mut self, at: Location<'_>, node: RawNode<'_>) -> Result<(), InputError> {
        if self.by_id.insert(node.id.to_string(), self.nodes.len()).is_some() {
            return Err(at.error(
                format!("a second node with the id {}", quoted(node.id)),
                "one node per id",
                "rename one of the two, in its edges too (labels may repeat, ids may not)",
            ));
        }
        if let Some((longitude, latitude)) = node.position
            && !is_on_earth(longitude, latitude)
        {
            return Err(at.error(
                format!("longitude {longitude}, latitude {latitude}"),
                "longitude -180 to 180, latitude -90 to 90",
                "correct the coordinates (were they swapped?), or leave them out",
            ));
        }
        let name = self.unique(node.label, node.id);
        self.nodes.push(Node {
            name,
            longitude: node.position.map(|p| p.0),
            latitude: node.position.map(|p| p.1),
            internal: !node.external,
        });
        Ok(())
    }

    fn unique(&mut self, label: &str, id: &str) -> String {
        let tidy = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let label = Some(tidy(label)).filter(|label| !label.is_empty()).unwrap_or(tidy(id));
        let mut name = label.clone();
        while !self.names.insert(name.clone()) {
            let number = self.again.entry(label.clone()).or_insert(2);
            name = format!("{label}#{number}");
            *number += 1;
        }
        name
    }

    /// The index of the node with an id that an edge or demand refers to.
    pub(crate) fn find(&self, at: Location<'_>, id: &str) -> Result<usize, InputError> {
        self.by_id.get(id).copied().ok_or_else(|| {
            at.error(
                format!("a reference to the node {}, which is not there", quoted(id)),
                "ids of nodes in the same file",
                "correct the id, or add the node",
            )
        })
    }

    /// Adds a link, unless it starts and ends at the same node.
    pub(crate) fn edge(&mut self, edge: Edge) {
        if edge.a != edge.b {
            self.edges.push(edge);
        }
    }

    /// Adds a demand, unless there is nothing to carry.
    pub(crate) fn demand(&mut self, from: usize, to: usize, rate: Option<Rate>) {
        if let Some(rate) = rate
            && from != to
        {
            self.demands.push(Demand { from, to, rate });
        }
    }

    /// The topology, with the lengths that coordinates give.
    pub(crate) fn finish(mut self, file: &str, name: &str) -> Result<Topology, InputError> {
        if self.nodes.is_empty() {
            return Err(Location::whole(file).error(
                "no nodes",
                "at least one node",
                "check that the file is the topology, and complete",
            ));
        }
        for edge in &mut self.edges {
            if edge.length_km.is_none() {
                edge.length_km = great_circle_km(&self.nodes[edge.a], &self.nodes[edge.b]);
            }
        }
        let name = if name.trim().is_empty() { stem(file) } else { name.trim() };
        Ok(Topology {
            name: name.to_string(),
            nodes: self.nodes,
            edges: self.edges,
            demands: self.demands,
        })
    }
}

/// Whether a pair of numbers can be geographic coordinates in degrees.
pub(crate) fn is_on_earth(longitude: f64, latitude: f64) -> bool {
    (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude)
}

/// A file's name without folder and extension.
fn stem(file: &str) -> &str {
    let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
    base.split_once('.').map_or(base, |(stem, _)| stem)
}

/// A rate of `text` times `unit` bit/s; `None` for 0, with which files say "not known".
pub(crate) fn rate(at: Location<'_>, text: &str, unit: f64) -> Result<Option<Rate>, InputError> {
    let bps = finite(text).map(|value| value * unit).filter(|bps| (0.0..=MAX_BPS).contains(bps));
    match bps {
        Some(bps) => Ok(Some(Rate::from_bps((bps + 0.5) as u64)).filter(|r| *r != Rate::ZERO)),
        None => Err(at.error(
            format!("the rate {}", quoted(text)),
            format!("a number of {}, 0 or more, at most 1e18 bit/s", unit_name(unit)),
            "correct the number, or leave the rate out",
        )),
    }
}

fn unit_name(unit: f64) -> &'static str {
    if unit == 1.0 { "bit/s" } else { "Mbit/s" }
}

/// The error for a graph whose edges go one way only.
pub(crate) fn directed(at: Location<'_>) -> InputError {
    at.error(
        "a directed graph",
        "an undirected one: each edge is a link that carries both ways",
        "export the undirected graph (networkx: G.to_undirected())",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(labels: &[&str]) -> Vec<String> {
        let mut builder = Builder::default();
        for (i, label) in labels.iter().enumerate() {
            let id = i.to_string();
            let node = RawNode { id: &id, label, ..RawNode::default() };
            builder.node(Location::whole("f"), node).unwrap();
        }
        builder.finish("f", "").unwrap().nodes.into_iter().map(|node| node.name).collect()
    }

    #[test]
    fn names_are_unique() {
        assert_eq!(names(&["Vienna", "Vienna", "Vienna"]), ["Vienna", "Vienna#2", "Vienna#3"]);
        assert_eq!(names(&["A#2", "A", "A", "A"]), ["A#2", "A", "A#3", "A#4"]);
        assert_eq!(names(&["A", "A", "A#2"]), ["A", "A#2", "A#2#2"]);
        assert_eq!(names(&["", " New  York\n", "0"]), ["0", "New York", "0#2"]);
    }

    #[test]
    fn names_of_files() {
        assert_eq!(stem("a/b.c/Abilene.graphml"), "Abilene");
        assert_eq!(stem("x"), "x");
    }

    #[test]
    fn zero_rates_are_unknown_ones() {
        let at = Location::whole("f");
        assert_eq!(rate(at, "0.0", 1.0), Ok(None));
        assert_eq!(rate(at, " 2.5 ", 1e6), Ok(Some(Rate::from_bps(2_500_000))));
        assert!(rate(at, "1e19", 1.0).is_err());
        assert!(rate(at, "-1", 1e6).unwrap_err().to_string().contains("Mbit/s"));
    }
}
