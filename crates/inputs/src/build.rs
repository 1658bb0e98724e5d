//! What the topology readers share: names, references to nodes, lengths.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ratewire_units::Rate;

use crate::attributes::{self, Attribute, Units};
use crate::location::{Location, quoted};
use crate::tally::{Departure, Tally};
use crate::topology::{Demand, Edge, Node, Topology, great_circle_km};
use crate::vocabulary::BITS_FROM;
use crate::{InputError, Note};

/// A node as a file states it.
pub(crate) struct RawNode<'a> {
    pub(crate) at: Location<'a>,
    pub(crate) id: Cow<'a, str>,
    /// A pair of numbers that may be longitude and latitude, or a drawing's.
    pub(crate) drawn: Option<(f64, f64)>,
    pub(crate) attributes: Vec<Attribute<'a>>,
}

/// A link as a file states it.
pub(crate) struct RawLink<'a> {
    pub(crate) at: Location<'a>,
    /// Indices of its nodes.
    pub(crate) ends: (usize, usize),
    pub(crate) is_one_way: bool,
    pub(crate) attributes: Vec<Attribute<'a>>,
}

/// A topology under construction.
#[derive(Default)]
pub(crate) struct Builder<'a> {
    /// Units of numbers that state none.
    pub(crate) units: Units,
    /// What is not used.
    pub(crate) tally: Tally<'a>,
    /// A note that matters if there is any rate.
    pub(crate) of_rates: Option<Note>,
    nodes: Vec<Node>,
    /// Places and pairs of numbers of nodes without other coordinates.
    drawn: Vec<(usize, Location<'a>, (f64, f64))>,
    edges: Vec<Edge>,
    /// Links whose rate has no unit.
    assumed: Vec<usize>,
    demands: Vec<Demand>,
    by_id: BTreeMap<String, usize>,
    name: Option<String>,
}

impl<'a> Builder<'a> {
    /// Reads the graph's own attributes. Its units hold for links that are added later.
    pub(crate) fn graph(&mut self, attributes: Vec<Attribute<'a>>) -> Result<(), InputError> {
        let name = attributes::of_graph(attributes, &mut self.units, &mut self.tally)?;
        self.name = name.or(self.name.take());
        Ok(())
    }

    /// Adds a node; its id must be new.
    pub(crate) fn node(&mut self, node: RawNode<'a>) -> Result<(), InputError> {
        let at = node.at;
        if self.by_id.insert(node.id.to_string(), self.nodes.len()).is_some() {
            return Err(at.error(
                format!("a second node with the id {}", quoted(&node.id)),
                "one node per id",
                "rename one of the two, in its edges too (labels may repeat, ids may not)",
            ));
        }
        let facts = attributes::of_node(node.attributes, &mut self.tally)?;
        if let Some((longitude, latitude)) = facts.position
            && !is_on_earth(longitude, latitude)
        {
            return Err(at.error(
                format!("longitude {longitude}, latitude {latitude}"),
                "longitude -180 to 180, latitude -90 to 90",
                "correct the coordinates (were they swapped?), or leave them out",
            ));
        }
        if let (Some(drawn), None) = (node.drawn, facts.position) {
            self.drawn.push((self.nodes.len(), at, drawn));
        }
        let label = facts.label.map(|label| tidy(&label)).filter(|label| !label.is_empty());
        self.nodes.push(Node {
            name: label.unwrap_or_else(|| tidy(&node.id)),
            longitude: facts.position.map(|p| p.0),
            latitude: facts.position.map(|p| p.1),
            internal: !facts.is_external,
        });
        Ok(())
    }

    /// The index of the node with an id, if there is one.
    pub(crate) fn get(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The index of the node with an id that an edge or demand refers to.
    pub(crate) fn find(&self, at: Location<'_>, id: &str) -> Result<usize, InputError> {
        self.get(id).ok_or_else(|| {
            at.error(
                format!("a reference to the node {}, which is not there", quoted(id)),
                "ids of nodes in the same file",
                "correct the id, or add the node",
            )
        })
    }

    /// Adds a link, unless it starts and ends at the same node.
    pub(crate) fn link(&mut self, link: RawLink<'a>) -> Result<(), InputError> {
        let facts = attributes::of_link(link.attributes, self.units, &mut self.tally)?;
        let (a, b) = link.ends;
        if a == b {
            self.tally.departs(Departure::Loop, link.at);
            return Ok(());
        }
        if facts.is_rate_assumed && facts.rate.is_some() {
            self.assumed.push(self.edges.len());
        }
        self.edges.push(Edge {
            a,
            b,
            is_one_way: link.is_one_way,
            rate: facts.rate,
            delay: facts.delay,
            length_km: facts.length_km,
            label: facts.label.map(|l| tidy(&l)).filter(|l| !l.is_empty()),
        });
        Ok(())
    }

    /// Reads the value of a demand.
    pub(crate) fn rate(&mut self, value: &Attribute<'a>) -> Result<Option<Rate>, InputError> {
        attributes::rate(value, self.units, &mut self.tally)
    }

    /// Adds a demand, unless there is nothing to carry.
    pub(crate) fn demand(
        &mut self,
        at: Location<'a>,
        (from, to): (usize, usize),
        rate: Option<Rate>,
    ) {
        match rate {
            None => {}
            Some(_) if from == to => self.tally.departs(Departure::OwnDemand, at),
            Some(rate) => self.demands.push(Demand { from, to, rate }),
        }
    }

    /// The topology, with unique names and the lengths that coordinates give.
    pub(crate) fn finish(mut self, file: &str) -> Result<Topology, InputError> {
        if self.nodes.is_empty() {
            return Err(Location::whole(file).error(
                "no nodes",
                "at least one node",
                "check that the file is the topology, and complete",
            ));
        }
        self.place();
        self.guess_unit();
        self.note_mirrors();
        for edge in &mut self.edges {
            if edge.length_km.is_none() {
                edge.length_km = great_circle_km(&self.nodes[edge.a], &self.nodes[edge.b]);
            }
        }
        make_unique(&mut self.nodes);
        let has_rates = !self.demands.is_empty() || self.edges.iter().any(|e| e.rate.is_some());
        let of_rates = self.of_rates.filter(|_| has_rates);
        let name = self.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        Ok(Topology {
            name: name.unwrap_or_else(|| stem(file)).to_string(),
            nodes: self.nodes,
            edges: self.edges,
            demands: self.demands,
            notes: of_rates.into_iter().chain(self.tally.notes()).collect(),
        })
    }

    /// Takes rates without a unit for bit/s, if in Mbit/s even the slowest link had a Tbit/s.
    fn guess_unit(&mut self) {
        let edges = &mut self.edges;
        let rates = self.assumed.iter().filter_map(|edge| edges[*edge].rate);
        if rates.min().is_none_or(|slowest| slowest < BITS_FROM) {
            return;
        }
        self.tally.assume_bits();
        for edge in &self.assumed {
            let rate = edges[*edge].rate.map(|rate| Rate::from_bps(rate.bps() / 1_000_000));
            edges[*edge].rate = rate;
        }
    }

    /// Notes that every cable has an opposite one: the file may list each cable from both ends.
    fn note_mirrors(&mut self) {
        let cables = self.edges.iter().filter(|edge| !edge.is_one_way);
        let mut balance: BTreeMap<(usize, usize), i64> = BTreeMap::new();
        for edge in cables.clone() {
            let way = if edge.a < edge.b { 1 } else { -1 };
            *balance.entry((edge.a.min(edge.b), edge.a.max(edge.b))).or_default() += way;
        }
        if !balance.is_empty() && balance.values().all(|balance| *balance == 0) {
            self.tally.mirrors(cables.count());
        }
    }

    /// Gives nodes the coordinates that are drawn, if they are degrees. A drawing's are outside of
    /// the range of degrees somewhere, or all within 1 of the origin, as networkx lays graphs out:
    /// no network is there.
    fn place(&mut self) {
        let is_small =
            |(_, _, (x, y)): &(usize, Location<'a>, (f64, f64))| x.abs() <= 1.0 && y.abs() <= 1.0;
        let are_degrees = self.drawn.iter().all(|(_, _, (x, y))| is_on_earth(*x, *y));
        let is_drawing = !are_degrees || self.drawn.iter().all(is_small);
        for (node, at, (longitude, latitude)) in std::mem::take(&mut self.drawn) {
            if is_drawing {
                self.tally.departs(Departure::Drawing, at);
            } else {
                self.nodes[node].longitude = Some(longitude);
                self.nodes[node].latitude = Some(latitude);
            }
        }
    }
}

/// Text with single blanks.
fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Numbers names that repeat, skipping names that the file gives.
fn make_unique(nodes: &mut [Node]) {
    let mut names: BTreeSet<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let mut seen = BTreeSet::new();
    // The number to try next.
    let mut again: BTreeMap<String, usize> = BTreeMap::new();
    for node in nodes {
        if seen.insert(node.name.clone()) {
            continue;
        }
        let number = again.entry(node.name.clone()).or_insert(2);
        let free = loop {
            let name = format!("{}#{number}", node.name);
            *number += 1;
            if names.insert(name.clone()) {
                break name;
            }
        };
        node.name = free;
    }
}

/// Whether a pair of numbers can be geographic coordinates in degrees.
fn is_on_earth(longitude: f64, latitude: f64) -> bool {
    (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude)
}

/// A file's name without folder and extension.
fn stem(file: &str) -> &str {
    let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
    base.split_once('.').map_or(base, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(labels: &[&str]) -> Vec<String> {
        let ids: Vec<String> = (0..labels.len()).map(|i| i.to_string()).collect();
        let mut builder = Builder::default();
        for (id, label) in ids.iter().zip(labels) {
            let at = Location::whole("f");
            let attributes = vec![Attribute::new("label", *label, at)];
            builder.node(RawNode { at, id: id.into(), drawn: None, attributes }).unwrap();
        }
        builder.finish("f").unwrap().nodes.into_iter().map(|node| node.name).collect()
    }

    #[test]
    fn names_are_unique() {
        assert_eq!(names(&["Vienna", "Vienna", "Vienna"]), ["Vienna", "Vienna#2", "Vienna#3"]);
        assert_eq!(names(&["A#2", "A", "A", "A"]), ["A#2", "A", "A#3", "A#4"]);
        assert_eq!(names(&["", " New  York\n", "0"]), ["0", "New York", "0#2"]);
    }

    #[test]
    fn a_made_name_takes_none_that_the_file_gives() {
        assert_eq!(names(&["A", "A", "A#2"]), ["A", "A#3", "A#2"]);
    }

    #[test]
    fn names_of_files() {
        assert_eq!(stem("a/b.c/Abilene.graphml"), "Abilene");
        assert_eq!(stem("x"), "x");
    }
}
