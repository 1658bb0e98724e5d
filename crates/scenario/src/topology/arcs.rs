//! Edges of a graph as lines: cables, and links that go one way.

use std::collections::{BTreeMap, VecDeque};

use ratewire_inputs::topology::Edge;

/// One or two edges that become a cable or a one-way link.
pub(super) struct Line<'e> {
    pub edge: &'e Edge,
    /// The opposite edge, which gives the other direction.
    pub back: Option<&'e Edge>,
    pub is_one_way: bool,
}

/// How edges become lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Arcs {
    /// An edge of a directed graph goes one way.
    OneWay,
    /// An edge of a directed graph without an opposite one carries both ways.
    Cables,
    /// As [`Arcs::Cables`], and opposite edges of undirected graphs are one cable, too.
    Pairs,
}

/// Joins opposite edges, in the order of the file.
pub(super) fn lines<'e>(edges: &[&'e Edge], arcs: Arcs) -> Vec<Line<'e>> {
    let mut lines: Vec<Line<'e>> = Vec::new();
    // Lines that still lack an opposite edge, by the edge's ends. The first is taken first.
    let mut lone: BTreeMap<(usize, usize), VecDeque<usize>> = BTreeMap::new();
    for &edge in edges {
        if edge.is_one_way || arcs == Arcs::Pairs {
            let opposite = lone.get_mut(&(edge.b, edge.a)).and_then(|list| list.pop_front());
            if let Some(line) = opposite {
                lines[line].back = Some(edge);
                continue;
            }
            lone.entry((edge.a, edge.b)).or_default().push_back(lines.len());
        }
        lines.push(Line { edge, back: None, is_one_way: false });
    }
    for line in &mut lines {
        let is_lone = line.edge.is_one_way && line.back.is_none();
        line.is_one_way = is_lone && arcs == Arcs::OneWay;
    }
    lines
}
