//! Edges of a graph as lines: cables, and links that go one way.

use std::collections::{BTreeMap, VecDeque};

use ratewire_inputs::topology::Edge;

/// One or two edges that become a cable or a one-way link.
pub(super) struct Line<'e> {
    pub edge: &'e Edge,
    /// The opposite edge of a directed graph, which gives the other direction.
    pub back: Option<&'e Edge>,
    pub is_one_way: bool,
}

/// Joins opposite edges of directed graphs, in the order of the file. With `are_cables`, an edge
/// without an opposite one carries both ways, too.
pub(super) fn lines<'e>(edges: &[&'e Edge], are_cables: bool) -> Vec<Line<'e>> {
    let mut lines: Vec<Line<'e>> = Vec::new();
    // Lines that still lack an opposite edge, by the edge's ends. The first is taken first.
    let mut lone: BTreeMap<(usize, usize), VecDeque<usize>> = BTreeMap::new();
    for &edge in edges {
        if edge.is_one_way {
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
        line.is_one_way = line.edge.is_one_way && line.back.is_none() && !are_cables;
    }
    lines
}
