//! What a graph file says and its topology does not.

use std::collections::BTreeMap;

use crate::Note;
use crate::location::{Location, quoted};
use crate::vocabulary::{Part, Quantity};

/// Most names that one note lists.
const MOST_NAMES: usize = 12;

/// A departure from the file, of which the number matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Departure {
    /// An edge from a node to itself.
    Loop,
    /// A demand of a node to itself.
    OwnDemand,
    /// A position that is no place on earth.
    Drawing,
    /// A group of nodes that is no node itself.
    Frame,
    /// A `<hyperedge>` of GraphML.
    Hyperedge,
    /// A link that names its ends by their place in the list of nodes.
    ByPlace,
    /// A link whose capacity is the smallest of several on offer.
    SmallestModule,
    /// A link without a rate, but with a label that reads like one.
    RateAsLabel,
    /// A link that the file says does not exist.
    NoLink,
}

/// Counts of what is not used, or not used as it stands.
#[derive(Default)]
pub(crate) struct Tally<'a> {
    unused: BTreeMap<(Part, String), Seen<'a>>,
    assumed: BTreeMap<(Quantity, String), (Seen<'a>, f64)>,
    /// Whether rates of links without a unit are in bit/s.
    are_bits: bool,
    departures: BTreeMap<Departure, Seen<'a>>,
    others: Vec<Note>,
}

struct Seen<'a> {
    count: usize,
    /// The first time.
    at: Location<'a>,
}

impl<'a> Tally<'a> {
    /// Counts something of a part of the graph that is not used.
    pub(crate) fn unused(&mut self, part: Part, name: &str, at: Location<'a>) {
        count(&mut self.unused, (part, name.to_string()), at);
    }

    /// Counts a number whose unit is not stated; `value` is what it is taken for.
    pub(crate) fn assumed(&mut self, quantity: Quantity, name: &str, at: Location<'a>, value: f64) {
        let first = || (Seen { count: 0, at }, value);
        self.assumed.entry((quantity, name.to_string())).or_insert_with(first).0.count += 1;
    }

    /// Notes that rates of links without a unit are in bit/s.
    pub(crate) fn assume_bits(&mut self) {
        self.are_bits = true;
    }

    /// Counts a departure.
    pub(crate) fn departs(&mut self, departure: Departure, at: Location<'a>) {
        count(&mut self.departures, departure, at);
    }

    /// Notes that `count` links are each other's opposites.
    pub(crate) fn mirrors(&mut self, count: usize) {
        self.others.push(Note {
            line: None,
            text: format!(
                "each of the {count} links has an opposite one: all are cables, in parallel"
            ),
            help: "if the file lists each direction of a cable, arcs = \"pairs\" joins them".into(),
        });
    }

    /// Notes that a file says another number of something than it has.
    pub(crate) fn miscounted(&mut self, at: Location<'a>, what: &str, stated: usize, has: usize) {
        let text = format!("the file says {stated} {what}, and has {has}");
        self.others.push(at.note(text, "check that the file is complete"));
    }

    /// All notes.
    pub(crate) fn notes(self) -> Vec<Note> {
        let mut notes = self.others;
        for ((quantity, name), (seen, value)) in self.assumed {
            let (unit, size) = quantity.usual();
            let number = value / size;
            // Demands keep the usual unit.
            let are_bits = quantity == Quantity::Rate && self.are_bits && name != "demand";
            let unit = if are_bits { "bit/s" } else { unit };
            let text = format!(
                "{} has no unit ({} times) and is read in {unit} (the first: {number} {unit})",
                quoted(&name),
                seen.count,
            );
            let help = match quantity {
                Quantity::Rate => "state the unit (\"10 Gbit/s\", capacity_unit of the graph)",
                Quantity::Delay => "state the unit (\"5 ms\", delay_unit of the graph)",
                Quantity::Length => "state the unit (\"12 km\", distance_unit of the graph)",
            };
            notes.push(seen.at.note(text, help));
        }
        for (departure, seen) in self.departures {
            let (text, help) = departure.said(seen.count);
            notes.push(seen.at.note(text, help));
        }
        notes.extend(unused(&self.unused));
        notes
    }
}

/// The note of attributes that are not used.
fn unused(unused: &BTreeMap<(Part, String), Seen<'_>>) -> Option<Note> {
    let line = unused.values().next()?.at.line_number();
    let mut text = "not used:".to_string();
    let mut last = None;
    for ((part, name), seen) in unused.iter().take(MOST_NAMES) {
        if last != Some(*part) {
            let of = match part {
                Part::Link => "of links",
                Part::Node => "of nodes",
                Part::Demand => "of demands",
                Part::Graph => "of the graph",
            };
            text += &format!("{} {of}", if last.is_some() { ";" } else { "" });
        } else {
            text += ",";
        }
        text += &format!(" {}", quoted(name));
        if seen.count > 1 {
            text += &format!(" ({} times)", seen.count);
        }
        last = Some(*part);
    }
    if unused.len() > MOST_NAMES {
        text += &format!(", and {} more", unused.len() - MOST_NAMES);
    }
    let help = "links take capacity, delay and length, nodes latitude and longitude; \
                `link` and [[link]] set what else links have";
    Some(Note { line, text, help: help.into() })
}

fn count<'a, K: Ord>(map: &mut BTreeMap<K, Seen<'a>>, key: K, at: Location<'a>) {
    map.entry(key).or_insert(Seen { count: 0, at }).count += 1;
}

/// "1 link", "2 links".
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl Departure {
    fn said(self, count: usize) -> (String, &'static str) {
        let of = |what| counted(count, what);
        match self {
            Departure::Loop => (
                format!("{} from a node to itself left out", of("edge")),
                "nothing would ever take it",
            ),
            Departure::OwnDemand => {
                (format!("{} of a node to itself left out", of("demand")), "it would cross no link")
            }
            Departure::Drawing => (
                format!(
                    "the positions of {} are a drawing's, no degrees, and not used",
                    of("node")
                ),
                "give nodes a latitude and a longitude, or links a length or delay",
            ),
            Departure::Frame => (
                format!("{} without edges left out; their nodes are kept", of("group")),
                "a group that an edge names is a node itself",
            ),
            Departure::Hyperedge => (
                format!("{} left out", of("hyperedge")),
                "write it as edges between two nodes each",
            ),
            Departure::ByPlace => (
                format!("the ends of {} are places in the list of nodes, from 0", of("link")),
                "networkx 1 and D3 write them so; save the graph anew for ids",
            ),
            Departure::SmallestModule => (
                format!("{} with modules to choose from: the smallest is taken", of("link")),
                "set another capacity with [[link]], or pre-install one in the file",
            ),
            Departure::RateAsLabel => (
                format!("{} without a rate, whose label reads like one", of("link")),
                "give them a `capacity`: labels are not read as rates",
            ),
            Departure::NoLink => (
                format!("{} whose status says that it does not exist yet or any more", of("link")),
                "links are used whatever their status: delete those that are not meant",
            ),
        }
    }
}
