//! Maps, and networks of no particular shape.

use std::collections::VecDeque;

use super::graph::Graph;
use super::labels;
use super::placed::{Placed, Side};

/// Width of a drawing of few nodes, and of one of many, whose names need room.
const WIDTHS: [f64; 2] = [720.0, 1000.0];
/// Height of the two, without margins. A drawing of few nodes is low.
const HEIGHTS: [f64; 2] = [260.0, 620.0];
/// Most nodes that are few.
const FEW: usize = 16;
const MARGIN: f64 = 46.0;
/// Distance of hosts from their router.
const REACH: f64 = 42.0;

/// Nodes at the scenario's positions; nodes without one next to their neighbours.
pub(super) fn on_map(graph: &Graph) -> Placed {
    let known = || graph.nodes.iter().filter_map(|n| n.at);
    // Longitude and latitude: a degree of longitude is shorter the further from the equator.
    let degrees = known().all(|(x, y)| x.abs() <= 180.0 && y.abs() <= 90.0);
    let count = known().count() as f64;
    let latitude = known().map(|(_, y)| y).sum::<f64>() / count;
    let stretch = if degrees { libm::cos(latitude.to_radians()).max(0.2) } else { 1.0 };
    let at = graph.nodes.iter().map(|n| n.at.map(|(x, y)| (x * stretch, -y))).collect();
    // A host lies at its router, so that it needs no coordinates.
    let guessed = graph.nodes.iter().map(|node| !node.host && node.at.is_none()).collect();
    Placed { guessed, ..fit(graph, at) }
}

/// Nodes at distances on paper that follow their distances in hops (stress majorisation).
pub(super) fn mesh(graph: &Graph) -> Placed {
    let neighbours = graph.neighbours();
    // Hosts of one router are placed beside it afterwards.
    let core: Vec<usize> = (0..graph.nodes.len())
        .filter(|&i| {
            !(graph.nodes[i].host && neighbours[i].len() == 1) || alone(graph, &neighbours, i)
        })
        .collect();
    let hops: Vec<Vec<f64>> = core.iter().map(|&i| hops_from(i, &neighbours)).collect();
    let n = core.len();
    let mut at: Vec<(f64, f64)> = (0..n)
        .map(|i| {
            let angle = std::f64::consts::TAU * i as f64 / n as f64;
            let radius = n as f64 / 4.0;
            (radius * libm::cos(angle) * 1.3, radius * libm::sin(angle))
        })
        .collect();
    for _ in 0..120 {
        for i in 0..n {
            let (mut x, mut y, mut total) = (0.0, 0.0, 0.0);
            for j in (0..n).filter(|&j| j != i) {
                let wanted = hops[i][core[j]];
                let (dx, dy) = (at[i].0 - at[j].0, at[i].1 - at[j].1);
                let distance = (dx * dx + dy * dy).sqrt().max(1e-6);
                let weight = 1.0 / (wanted * wanted);
                x += weight * (at[j].0 + wanted * dx / distance);
                y += weight * (at[j].1 + wanted * dy / distance);
                total += weight;
            }
            if total > 0.0 {
                at[i] = (x / total, y / total);
            }
        }
    }
    // Pages are wider than they are high.
    let (low, high) = bounds(at.iter());
    if high.1 - low.1 > high.0 - low.0 {
        at.iter_mut().for_each(|p| *p = (p.1, p.0));
    }
    let mut all = vec![None; graph.nodes.len()];
    for (&node, &place) in core.iter().zip(&at) {
        all[node] = Some(place);
    }
    fit(graph, all)
}

/// Whether host `i` and its only neighbour are two hosts on one wire.
fn alone(graph: &Graph, neighbours: &[Vec<usize>], i: usize) -> bool {
    let other = neighbours[i][0];
    graph.nodes[other].host && neighbours[other].len() == 1
}

fn hops_from(start: usize, neighbours: &[Vec<usize>]) -> Vec<f64> {
    // Unconnected parts need some distance from each other.
    let apart = (neighbours.len() as f64).sqrt() + 2.0;
    let mut hops = vec![apart; neighbours.len()];
    let mut seen = vec![false; neighbours.len()];
    (hops[start], seen[start]) = (0.0, true);
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &n in &neighbours[node] {
            if !seen[n] {
                (hops[n], seen[n]) = (hops[node] + 1.0, true);
                queue.push_back(n);
            }
        }
    }
    hops
}

/// At most so many nodes, with names of at most so many letters, leave room for the larger letters
/// on phones.
const FIT_NODES: usize = 12;
const FIT_NAME: f64 = 8.0;

/// Scales known positions to the drawing, pushes crowded nodes apart, and places the rest beside
/// their neighbours.
fn fit(graph: &Graph, mut at: Vec<Option<(f64, f64)>>) -> Placed {
    let (low, high) = bounds(at.iter().flatten());
    let (dx, dy) = (f64::max(high.0 - low.0, 1e-9), f64::max(high.1 - low.1, 1e-9));
    let many = usize::from(graph.nodes.len() > FEW);
    let (wide, tallest) = (WIDTHS[many], HEIGHTS[many]);
    let scale = f64::min((wide - 2.0 * MARGIN) / dx, tallest / dy);
    let height = f64::max(dy * scale, 60.0) + 2.0 * MARGIN;
    let (x0, y0) = ((wide - dx * scale) / 2.0, (height - dy * scale) / 2.0);
    for place in at.iter_mut().flatten() {
        *place = (x0 + (place.0 - low.0) * scale, y0 + (place.1 - low.1) * scale);
    }
    apart(&mut at);
    hang(graph, &mut at);
    let widest = graph.nodes.iter().map(|n| labels::width(&n.name)).fold(0.0, f64::max);
    let middle = (wide / 2.0, height / 2.0);
    let at: Vec<(f64, f64)> = at.into_iter().map(|p| p.unwrap_or(middle)).collect();
    let (low, high) = bounds(at.iter());
    let (left, top) = (f64::min(low.0 - MARGIN, 0.0), f64::min(low.1 - MARGIN, 0.0));
    let (right, bottom) = (f64::max(high.0 + MARGIN, wide), f64::max(high.1 + MARGIN, height));
    Placed {
        side: vec![Side::Right; at.len()],
        upright: vec![false; at.len()],
        guessed: vec![false; at.len()],
        at: at.into_iter().map(|(x, y)| (x - left, y - top)).collect(),
        width: right - left,
        height: bottom - top,
        fits: graph.nodes.len() <= FIT_NODES && widest <= labels::width("m") * FIT_NAME,
    }
}

fn bounds<'a>(places: impl Iterator<Item = &'a (f64, f64)>) -> ((f64, f64), (f64, f64)) {
    let start = ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    let (low, high) = places.fold(start, |(low, high), p| {
        ((low.0.min(p.0), low.1.min(p.1)), (high.0.max(p.0), high.1.max(p.1)))
    });
    if low.0.is_finite() { (low, high) } else { ((0.0, 0.0), (0.0, 0.0)) }
}

/// Moves nodes that lie on top of each other until they can be distinguished.
fn apart(at: &mut [Option<(f64, f64)>]) {
    const NEAR: f64 = 26.0;
    for _ in 0..20 {
        for i in 0..at.len() {
            for j in 0..i {
                let (Some(a), Some(b)) = (at[i], at[j]) else { continue };
                let (mut dx, dy) = (a.0 - b.0, a.1 - b.1);
                let distance = (dx * dx + dy * dy).sqrt();
                if distance >= NEAR {
                    continue;
                }
                if distance < 1e-6 {
                    dx = 1.0;
                }
                let push = (NEAR - distance) / 2.0 / distance.max(1.0);
                at[i] = Some((a.0 + dx * push, a.1 + dy * push));
                at[j] = Some((b.0 - dx * push, b.1 - dy * push));
            }
        }
    }
}

/// Places nodes without a position beside a neighbour with one, in the widest gap between the
/// neighbour's edges.
fn hang(graph: &Graph, at: &mut [Option<(f64, f64)>]) {
    let neighbours = graph.neighbours();
    loop {
        let homeless = (0..at.len()).find_map(|i| {
            let placed = neighbours[i].iter().copied().find(|&n| at[n].is_some());
            placed.filter(|_| at[i].is_none()).map(|n| (i, n))
        });
        let Some((node, beside)) = homeless else { return };
        let Some(centre) = at[beside] else { return };
        let taken: Vec<(f64, f64)> = neighbours[beside].iter().filter_map(|&n| at[n]).collect();
        // The one of sixteen directions that is furthest from every edge.
        let open = |direction: &(f64, f64)| {
            let near = taken.iter().map(|t| {
                let (dx, dy) = (t.0 - centre.0, t.1 - centre.1);
                let length = (dx * dx + dy * dy).sqrt().max(1e-6);
                (dx * direction.0 + dy * direction.1) / length
            });
            -near.fold(-1.0, f64::max)
        };
        let directions = (0..16).map(|k| {
            let angle = std::f64::consts::TAU * f64::from(k) / 16.0;
            (libm::cos(angle), libm::sin(angle))
        });
        let best = directions.max_by(|a, b| open(a).total_cmp(&open(b))).unwrap_or((0.0, 1.0));
        at[node] = Some((centre.0 + REACH * best.0, centre.1 + REACH * best.1));
    }
}
