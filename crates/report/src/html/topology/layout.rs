//! Layout of nodes: on a map if the scenario has one, else in the shape one would draw by hand.

use super::graph::Graph;
use super::placed::{COLUMN_GAP, Placed, Side};
use super::{mesh, tiers};

/// Places every node of `graph`, which has at least one.
pub(super) fn place(graph: &Graph) -> Placed {
    let routers = graph.nodes.iter().filter(|n| !n.host).count();
    let known = graph.nodes.iter().filter(|n| n.at.is_some()).count();
    if known >= 2 && known * 2 >= routers.max(2) {
        return mesh::on_map(graph);
    }
    if let Some(placed) = chain(graph) {
        return placed;
    }
    tiers::tiers(graph).unwrap_or_else(|| mesh::mesh(graph))
}

/// Routers in a row (a dumbbell has two, a star one), hosts in columns at the ends and in rows
/// along the way. `None` if the routers are not in a row or a host has two links.
fn chain(graph: &Graph) -> Option<Placed> {
    let neighbours = graph.neighbours();
    let row = router_row(graph, &neighbours)?;
    let hosts_of = |router: usize| -> Vec<usize> {
        neighbours[router].iter().copied().filter(|&n| graph.nodes[n].host).collect()
    };
    let label = |hosts: &[usize]| {
        let widest = hosts
            .iter()
            .map(|&h| super::labels::width(&graph.nodes[h].name))
            .max_by(f64::total_cmp);
        widest.unwrap_or(0.0)
    };
    let (first, last) = (row[0], row[row.len() - 1]);
    let (mut left, mut right) = (hosts_of(first), hosts_of(last));
    if row.len() == 1 {
        // One router: senders stand on the left. Without flows half of the hosts do.
        right = left.iter().copied().filter(|&h| graph.nodes[h].sends < 0).collect();
        if right.is_empty() || right.len() == left.len() {
            right = left.split_off(left.len().div_ceil(2));
        }
        left.retain(|h| !right.contains(h));
    }
    let inner: Vec<Vec<usize>> = row
        .iter()
        .map(|&r| if r == first || r == last { Vec::new() } else { hosts_of(r) })
        .collect();
    let split = |hosts: &[usize]| {
        let (down, up): (Vec<usize>, Vec<usize>) =
            hosts.iter().partition(|&&h| graph.nodes[h].sends < 0);
        if down.len().abs_diff(up.len()) > 1 {
            let half = hosts.len().div_ceil(2);
            (hosts[..half].to_vec(), hosts[half..].to_vec())
        } else {
            (up, down)
        }
    };
    let most_inner = inner.iter().map(|h| h.len().div_ceil(2)).max().unwrap_or(0) as f64;
    let step = match row.len() {
        2 => 250.0,
        n if n <= 4 => 180.0,
        _ => 130.0,
    };
    let step = f64::max(step, most_inner * 52.0);
    let rows = left.len().max(right.len()) as f64;
    let vertical = if most_inner > 0.0 { 210.0 } else { 110.0 };
    let height = f64::max(vertical, rows * COLUMN_GAP + 24.0);
    let middle = height / 2.0;
    let reach = |hosts: &[usize]| if hosts.is_empty() { 0.0 } else { 130.0 };
    let x0 = 24.0 + label(&left) + reach(&left);
    let x1 = x0 + step * (row.len() - 1) as f64;
    let width = x1 + reach(&right) + label(&right) + 24.0;
    let mut placed = Placed {
        at: vec![(x0, middle); graph.nodes.len()],
        side: vec![Side::Below; graph.nodes.len()],
        upright: vec![false; graph.nodes.len()],
        guessed: vec![false; graph.nodes.len()],
        width,
        height,
        fits: width <= 640.0,
    };
    for (i, &router) in row.iter().enumerate() {
        let x = x0 + step * i as f64;
        placed.at[router] = (x, middle);
        let (up, down) = split(&inner[i]);
        for (hosts, direction, side) in [(up, -1.0, Side::Above), (down, 1.0, Side::Below)] {
            let start = x - (hosts.len() as f64 - 1.0) / 2.0 * 52.0;
            for (k, &host) in hosts.iter().enumerate() {
                placed.at[host] = (start + 52.0 * k as f64, middle + direction * 70.0);
                placed.side[host] = side;
            }
        }
    }
    for (hosts, x, side) in
        [(&left, x0 - reach(&left), Side::Left), (&right, x1 + reach(&right), Side::Right)]
    {
        let top = middle - (hosts.len() as f64 - 1.0) / 2.0 * COLUMN_GAP;
        for (k, &host) in hosts.iter().enumerate() {
            placed.at[host] = (x, top + COLUMN_GAP * k as f64);
            placed.side[host] = side;
        }
    }
    Some(placed)
}

/// The routers from one end of their row to the other, the end that sends more first.
fn router_row(graph: &Graph, neighbours: &[Vec<usize>]) -> Option<Vec<usize>> {
    let routers: Vec<usize> = (0..graph.nodes.len()).filter(|&i| !graph.nodes[i].host).collect();
    let hosts = (0..graph.nodes.len()).filter(|&i| graph.nodes[i].host);
    let mut hosts = hosts.map(|h| &neighbours[h]);
    if routers.is_empty() || hosts.any(|n| n.len() != 1 || graph.nodes[n[0]].host) {
        return None;
    }
    let next = |r: usize| -> Vec<usize> {
        neighbours[r].iter().copied().filter(|&n| !graph.nodes[n].host).collect()
    };
    if routers.iter().any(|&r| next(r).len() > 2) {
        return None;
    }
    let ends: Vec<usize> = routers.iter().copied().filter(|&r| next(r).len() <= 1).collect();
    let sends = |router: usize| -> i64 {
        let hosts = neighbours[router].iter().filter(|&&n| graph.nodes[n].host);
        hosts.map(|&h| graph.nodes[h].sends).sum()
    };
    let start = match *ends.as_slice() {
        [only] => only,
        [a, b] if sends(b) > sends(a) => b,
        [a, _] => a,
        _ => return None,
    };
    let mut row = vec![start];
    while let Some(&n) = next(row[row.len() - 1]).iter().find(|n| !row.contains(n)) {
        row.push(n);
    }
    (row.len() == routers.len()).then_some(row)
}
