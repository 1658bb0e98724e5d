//! Topologies in levels: star, tree, fat tree.

use super::Builder;

/// Most hosts of a tree.
const MOST_HOSTS: u64 = 20_000;

/// Hosts around one router.
pub(super) fn star(b: &mut Builder<'_, '_>) {
    let hosts = b.required_count("hosts") as usize;
    let link = b.properties("link");
    let hub = b.router("r1".into(), 0.0, 0.0);
    for i in 0..hosts {
        let angle = std::f64::consts::TAU * i as f64 / hosts as f64;
        let host = b.host(format!("h{}", i + 1), libm::cos(angle), libm::sin(angle));
        b.cable(host, hub, &link);
    }
}

/// A tree of routers with hosts below the last level and one at the root.
pub(super) fn tree(b: &mut Builder<'_, '_>) {
    let depth = b.count("depth") as u32;
    let fanout = b.count("fanout");
    let link = b.properties("link");
    let access = b.properties("access");
    let hosts = fanout.saturating_pow(depth);
    if hosts > MOST_HOSTS {
        b.section
            .context
            .error(b.section.span, format!("a tree of {hosts} hosts is too large"))
            .help(format!("`fanout` to the power of `depth` may be {MOST_HOSTS}"));
        b.net.is_guess = true;
        return;
    }
    // Routers and hosts are placed level by level, each centred above its leaves.
    let width = hosts as f64;
    let mut level = vec![b.router("r1".into(), (width - 1.0) / 2.0, 0.0)];
    let mut routers = 1;
    let mut leaf = 0;
    let source = b.host("s1".into(), (width - 1.0) / 2.0, 1.0);
    b.access(source, level[0], &access);
    for below in 1..=depth {
        let count = fanout.pow(below) as f64;
        let share = width / count;
        let mut next = Vec::new();
        for (parent, node) in level.iter().enumerate() {
            for child in 0..fanout {
                let place = parent as f64 * fanout as f64 + child as f64;
                let (x, y) = (share * (place + 0.5) - 0.5, -f64::from(below));
                if below == depth {
                    leaf += 1;
                    let host = b.host(format!("h{leaf}"), x, y);
                    b.access(*node, host, &access);
                    b.net.pairs.push((source, host));
                } else {
                    routers += 1;
                    let router = b.router(format!("r{routers}"), x, y);
                    b.cable(*node, router, &link);
                    next.push(router);
                }
            }
        }
        level = next;
    }
}

/// The fat tree of k-port switches.
pub(super) fn fat_tree(b: &mut Builder<'_, '_>) {
    let mut k = b.count("k") as usize;
    if k % 2 == 1 {
        if let Some(entry) = b.section.get("k") {
            b.section.context.error(entry.item.span, format!("`k` must be even, not {k}"));
            b.net.is_guess = true;
        }
        k += 1;
    }
    let link = b.properties("link");
    let access = b.properties("access");
    let half = k / 2;
    let width = (k * half * half) as f64;
    let across = |count: usize, i: usize| width * (i as f64 + 0.5) / count as f64 - 0.5;
    let core: Vec<usize> = (0..half * half)
        .map(|i| b.router(format!("c{}", i + 1), across(half * half, i), 3.0))
        .collect();
    for pod in 0..k {
        let mut switches = |letter: char, y: f64| -> Vec<usize> {
            (0..half)
                .map(|i| {
                    let name = format!("{letter}{}.{}", pod + 1, i + 1);
                    b.router(name, across(k * half, pod * half + i), y)
                })
                .collect()
        };
        let edges = switches('e', 1.0);
        let aggregations = switches('a', 2.0);
        for (i, edge) in edges.iter().enumerate() {
            for j in 0..half {
                let number = (pod * half + i) * half + j;
                let host = b.host(format!("h{}", number + 1), number as f64, 0.0);
                b.access(host, *edge, &access);
            }
            for aggregation in &aggregations {
                b.cable(*edge, *aggregation, &link);
            }
        }
        for (i, aggregation) in aggregations.iter().enumerate() {
            for j in 0..half {
                b.cable(*aggregation, core[i * half + j], &link);
            }
        }
    }
}
