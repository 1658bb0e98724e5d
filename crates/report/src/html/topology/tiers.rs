//! Trees and fat-trees: hosts in a row at the bottom, routers above them by their distance from the
//! nearest host.

use std::collections::VecDeque;

use super::graph::Graph;
use super::placed::{Placed, Side};

/// `None` unless every edge joins two neighbouring tiers and there are at least three tiers.
pub(super) fn tiers(graph: &Graph) -> Option<Placed> {
    let neighbours = graph.neighbours();
    let tier = distances(graph, &neighbours)?;
    let top = tier.iter().copied().max().unwrap_or(0);
    if top < 2 || graph.edges.iter().any(|e| tier[e.a].abs_diff(tier[e.b]) != 1) {
        return None;
    }
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); top + 1];
    for (node, &t) in tier.iter().enumerate() {
        rows[t].push(node);
    }
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let label = |row: &[usize]| {
        let names = row.iter().map(|&n| super::labels::width(&graph.nodes[n].name));
        names.fold(0.0, f64::max)
    };
    let width = f64::max(620.0, widest * 46.0 + 60.0);
    let mut x = vec![0.0; tier.len()];
    for row in &rows {
        spread(row, width, &mut x);
    }
    // Each tier is centred over the one below, so that a pod stays together, and hosts follow their
    // switch. The order settles in a few rounds.
    for _ in 0..3 {
        for t in (1..=top).chain([0]) {
            let below = if t == 0 { 1 } else { t - 1 };
            let middle = |node: usize| {
                let near: Vec<f64> =
                    neighbours[node].iter().filter(|&&n| tier[n] == below).map(|&n| x[n]).collect();
                if near.is_empty() { x[node] } else { near.iter().sum::<f64>() / near.len() as f64 }
            };
            let mut keyed: Vec<(f64, usize)> = rows[t].iter().map(|&n| (middle(n), n)).collect();
            // Rounded to a tenth, because sums of the same positions differ in their last bits.
            let key = |k: &(f64, usize)| (libm::round(k.0 * 10.0) as i64, k.1);
            keyed.sort_by_key(key);
            rows[t] = keyed.into_iter().map(|k| k.1).collect();
            spread(&rows[t], width, &mut x);
        }
    }
    let gap = width / rows[0].len().max(1) as f64;
    let tight = label(&rows[0]) + 6.0 > gap;
    let foot = if tight { label(&rows[0]) + 26.0 } else { 40.0 };
    let height = 34.0 + 92.0 * top as f64 + foot;
    let mut placed = Placed {
        at: Vec::new(),
        side: Vec::new(),
        upright: Vec::new(),
        guessed: vec![false; graph.nodes.len()],
        width,
        height,
        fits: false,
    };
    for (node, &t) in tier.iter().enumerate() {
        placed.at.push((x[node], 34.0 + 92.0 * (top - t) as f64));
        placed.side.push(if t == top {
            Side::Above
        } else if t == 0 {
            Side::Below
        } else {
            Side::Left
        });
        placed.upright.push(t == 0 && tight);
    }
    Some(placed)
}

/// Spreads a row evenly over the width.
fn spread(row: &[usize], width: f64, x: &mut [f64]) {
    let gap = width / row.len().max(1) as f64;
    for (i, &node) in row.iter().enumerate() {
        x[node] = gap * (i as f64 + 0.5);
    }
}

/// Hops from the nearest host; `None` if some node reaches no host.
fn distances(graph: &Graph, neighbours: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut distance = vec![usize::MAX; graph.nodes.len()];
    let mut queue: VecDeque<usize> = VecDeque::new();
    for (i, _) in graph.nodes.iter().enumerate().filter(|(_, n)| n.host) {
        distance[i] = 0;
        queue.push_back(i);
    }
    while let Some(node) = queue.pop_front() {
        for &n in &neighbours[node] {
            if distance[n] == usize::MAX {
                distance[n] = distance[node] + 1;
                queue.push_back(n);
            }
        }
    }
    distance.iter().all(|&d| d != usize::MAX).then_some(distance)
}
