//! Drawings of an overlay: for each group the connections that its messages cross, with their
//! prices.

use super::table::{more, state, table};
use super::text::{coordinate, escape, name};
use super::topology::labels::{self, Box};
use crate::draw::Look;
use crate::figure::{bytes, count, mean, percent, plural, rate, seconds};
use crate::{OverlayInfo, OverlaySummary, Run, RunInfo};

/// Most groups that are drawn.
const GROUPS: usize = 6;
/// Most nodes of a drawing with names, and with prices of all connections.
const NAMED: usize = 48;
const PRICED: usize = 24;
/// Sides of a drawing, and its margin.
const SIDE: (f64, f64) = (560.0, 420.0);
const MARGIN: f64 = 34.0;
/// A node's radius.
const RADIUS: f64 = 4.0;
/// Height of the letters of names and prices on a phone, where it is largest: text that fits there
/// fits everywhere.
const NAME: f64 = 17.0;
const PRICE: f64 = 15.0;

/// The section; empty without an overlay.
pub(super) fn overlay(runs: &[Run]) -> String {
    let labels = crate::headline::labels(runs);
    let with: Vec<_> = runs
        .iter()
        .zip(&labels)
        .filter_map(|(run, label)| {
            let (overlay, summary) = (run.info.overlay.as_ref()?, run.summary.overlay.as_ref()?);
            Some((label, &run.info, overlay, summary))
        })
        .collect();
    let Some(&(drawn, info, overlay, summary)) = with.first() else { return String::new() };
    let mut out =
        String::from("<section aria-labelledby=\"h-overlay\"><h2 id=\"h-overlay\">Overlay</h2>\n");
    for (label, .., summary) in &with {
        let text = match with.len() {
            1 => said(summary),
            _ => format!("{label}: {}", said(summary)),
        };
        out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(&text)));
    }
    out.push_str("<div class=\"trees\">\n");
    let places = Places::of(info, overlay);
    for (group, links) in overlay.trees.iter().enumerate().take(GROUPS) {
        out.push_str(&figure(info, overlay, summary, &places, group, links));
    }
    out.push_str("</div>\n<p class=\"note\">The trees of a group's senders are in colour: the wider, the higher the price of the connection. The mean price stands beside it where it fits.");
    if with.len() > 1 {
        out.push_str(&format!(" The drawings are of {}.", escape(drawn)));
    }
    if overlay.groups.len() > GROUPS {
        out.push_str(&format!(
            " The first {GROUPS} of {} are drawn.",
            plural(overlay.groups.len(), "group")
        ));
    }
    out + "</p></section>\n"
}

fn said(summary: &OverlaySummary) -> String {
    let mut text = format!("All senders sent {}", rate(summary.sent_bps));
    if let (Some(most), Some(ratio)) = (summary.optimum_bps, summary.optimum_ratio) {
        text += &format!(", {ratio:.3} of the optimum, {}", rate(most));
    }
    let control = summary.control_share * 100.0;
    text + &format!(". Control messages between nodes were {control:.2} % of the data's bytes.")
}

/// Where the overlay's nodes are drawn, by index of the node.
struct Places(Vec<(u32, (f64, f64))>);

impl Places {
    fn of(info: &RunInfo, overlay: &OverlayInfo) -> Places {
        let mut nodes: Vec<u32> = overlay
            .connections
            .iter()
            .filter_map(|flow| info.flows.get(*flow as usize))
            .flat_map(|flow| [flow.from, flow.to])
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        // A host without a position has that of its router.
        let place = |node: u32| info.topology.nodes.get(node as usize)?.at;
        let beside = |node: u32| {
            let mut links = info.topology.links.iter().filter(|link| link.from == node);
            links.find_map(|link| place(link.to))
        };
        let given = |node: &u32| place(*node).or_else(|| beside(*node));
        let known: Option<Vec<(f64, f64)>> = nodes.iter().map(given).collect();
        let turn = |i: usize| core::f64::consts::TAU * i as f64 / nodes.len().max(1) as f64;
        // If any position is unknown, nodes stand in a circle.
        let circle =
            || (0..nodes.len()).map(|i| (libm::cos(turn(i)), libm::sin(turn(i)))).collect();
        let at = fit(&known.unwrap_or_else(circle));
        Places(nodes.into_iter().zip(at).collect())
    }

    fn at(&self, node: u32) -> Option<(f64, f64)> {
        let found = self.0.binary_search_by_key(&node, |(id, _)| *id).ok()?;
        Some(self.0[found].1)
    }
}

/// Scales points into the drawing. Their y grows upwards, the drawing's downwards.
fn fit(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let low = points.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        (low, (high - low).max(1e-9))
    };
    let ((left, width), (bottom, height)) = (range(|p| p.0), range(|p| p.1));
    let room = |side: f64| side - 2.0 * MARGIN;
    // One scale for both axes, as on a map. Left-over space is divided between both ends.
    let scale = (room(SIDE.0) / width).min(room(SIDE.1) / height);
    let at = |value: f64, low: f64, span: f64, side: f64| {
        side / 2.0 + (value - low - span / 2.0) * scale
    };
    let one =
        |&(x, y): &(f64, f64)| (at(x, left, width, SIDE.0), SIDE.1 - at(y, bottom, height, SIDE.1));
    points.iter().map(one).collect()
}

fn figure(
    info: &RunInfo,
    overlay: &OverlayInfo,
    summary: &OverlaySummary,
    places: &Places,
    group: usize,
    tree: &[u32],
) -> String {
    let called = overlay.groups.get(group).map_or("", String::as_str);
    let figures = summary.groups.get(group);
    let caption = figures.map_or(String::new(), |g| {
        let senders = plural(g.senders as usize, "sender");
        let nodes = plural(g.receiving_nodes as usize, "node");
        format!("{senders}, {} to {nodes}", rate(g.sent_bps))
    });
    let (w, h) = (coordinate(SIDE.0, 0), coordinate(SIDE.1, 0));
    let mut out = format!(
        "<figure class=\"tree hue{}\"><figcaption><b>{}</b> {}</figcaption>\
         <svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"Trees of the group {}\">\n",
        Look::of_flow(group).hue,
        name(called),
        escape(&caption),
        name(called)
    );
    let ends = |connection: usize| {
        let flow = info.flows.get(*overlay.connections.get(connection)? as usize)?;
        Some((places.at(flow.from)?, places.at(flow.to)?))
    };
    let all = (0..overlay.connections.len()).filter_map(ends);
    for ((x1, y1), (x2, y2)) in all {
        out.push_str(&line("way", (x1, y1), (x2, y2), 1.0));
    }
    let mut priced = Vec::new();
    for connection in tree.iter().map(|connection| *connection as usize) {
        let Some((from, to)) = ends(connection) else { continue };
        let price = summary.connections.get(connection).map_or(0.0, |c| c.price_mean);
        out.push_str(&line("branch", from, to, 1.5 + price.clamp(0.0, 20.0) / 4.0));
        if places.0.len() <= PRICED || price >= 1.0 {
            priced.push((price, [from, to]));
        }
    }
    let mut names = String::new();
    let mut taken = Vec::new();
    for (node, (x, y)) in &places.0 {
        let (cx, cy) = (coordinate(*x, 1), coordinate(*y, 1));
        let called = info.node_name(*node);
        out.push_str(&format!(
            "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{RADIUS}\"><title>{}</title></circle>",
            escape(called)
        ));
        taken.push(Box::around(*x, *y, RADIUS + 1.0));
        if places.0.len() <= NAMED {
            let at = beside((*x, *y));
            names.push_str(&text("node", at, called));
            taken.push(area(at, called, NAME));
        }
    }
    out + &prices(priced, taken) + &names + "</svg></figure>\n"
}

/// Prices beside their connections. A price is left out if it is longer than the connection or
/// would cover something; the table has all prices.
fn prices(mut priced: Vec<(f64, [(f64, f64); 2])>, mut taken: Vec<Box>) -> String {
    // The dearest connections have precedence: senders wait for those.
    priced.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut out = String::new();
    for (price, [from, to]) in priced {
        let words = format!("${price:.2}");
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        if libm::hypot(dx, dy) < wide(&words, PRICE) {
            continue;
        }
        // Off the middle towards the end, so both directions have a spot.
        let spots = [(0.56, -5.0), (0.56, PRICE), (0.7, -5.0), (0.7, PRICE)]
            .map(|(part, down)| (from.0 + dx * part, from.1 + dy * part + down));
        let free = spots.into_iter().find(|at| {
            let area = area(*at, &words, PRICE);
            taken.iter().all(|other| other.overlap(&area) == 0.0)
        });
        if let Some(at) = free {
            taken.push(area(at, &words, PRICE));
            out.push_str(&text("price", at, &words));
        }
    }
    out
}

/// Width of words in letters of height `high`.
fn wide(words: &str, high: f64) -> f64 {
    labels::width(words) * high / labels::LETTERS
}

/// Area of words whose bottom has its middle at `(x, y)`.
fn area((x, y): (f64, f64), words: &str, high: f64) -> Box {
    let half = wide(words, high) / 2.0;
    Box { x0: x - half, y0: y - 0.8 * high, x1: x + half, y1: y + 0.2 * high }
}

/// Position of a node's name: away from the middle, where fewer lines are.
fn beside((x, y): (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (x - SIDE.0 / 2.0, y - SIDE.1 / 2.0);
    let far = (dx * dx + dy * dy).sqrt();
    let (dx, dy) = if far > 1.0 { (dx / far, dy / far) } else { (0.0, 1.0) };
    (x + 17.0 * dx, y + 17.0 * dy + 4.0)
}

fn line(class: &str, from: (f64, f64), to: (f64, f64), width: f64) -> String {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(|v| coordinate(v, 1));
    let width = coordinate(width, 1);
    format!(
        "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke-width=\"{width}\"/>"
    )
}

fn text(class: &str, at: (f64, f64), words: &str) -> String {
    let (x, y) = (coordinate(at.0, 1), coordinate(at.1, 1));
    format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escape(words))
}

/// Tables of the overlay's groups and connections; empty without an overlay.
pub(super) fn tables(run: &Run, label: &str, limit: usize) -> String {
    let Some(overlay) = &run.summary.overlay else { return String::new() };
    let groups = overlay.groups.iter().take(limit).map(|g| {
        vec![
            g.name.clone(),
            count(g.senders),
            rate(g.sent_bps),
            percent(g.blocked_share),
            count(g.receiving_nodes),
            rate(g.received_bps),
            seconds(g.delivery_mean_s),
            seconds(g.delivery_max_s),
        ]
    });
    let head = [
        "Group",
        "Senders",
        "Sent",
        "Blocked",
        "Nodes",
        "Received at each",
        "Delivered in",
        "At most",
    ];
    let groups = table("Groups", &head, groups) + &more(overlay.groups.len(), limit);
    // The dearest first: senders wait for those.
    let mut dearest: Vec<_> = overlay.connections.iter().collect();
    dearest.sort_by(|a, b| {
        b.price_mean.total_cmp(&a.price_mean).then(b.data_bytes.cmp(&a.data_bytes))
    });
    let connections = dearest.iter().take(limit).map(|c| {
        vec![
            c.name.clone(),
            format!("${:.2}", c.price_mean),
            mean(c.waiting_mean),
            count(c.waiting_max),
            bytes(c.data_bytes),
            bytes(c.control_bytes),
        ]
    });
    let head =
        ["Connection", "Price mean", "Waiting mean", "Waiting max", "Messages", "Nodes’ own"];
    let connections =
        table("Connections", &head, connections) + &more(overlay.connections.len(), limit);
    let (groups_open, connections_open) =
        (state(overlay.groups.len(), true), state(overlay.connections.len(), true));
    format!(
        "<details{groups_open}><summary>{label}: groups</summary>\n{groups}</details>\n\
         <details{connections_open}><summary>{label}: connections of the overlay</summary>\n{connections}</details>\n"
    )
}

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
