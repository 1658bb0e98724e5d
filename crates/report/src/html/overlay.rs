//! The overlay as drawings: for each group the connections that its messages cross, and what a message
//! over each costs.

use super::text::{coordinate, escape, name};
use crate::figure::{count, plural, rate};
use crate::{OverlayInfo, OverlaySummary, Run, RunInfo};

/// Groups that are drawn.
const GROUPS: usize = 6;
/// Nodes a drawing may have and still have names and prices.
const LABELLED: usize = 24;
/// Side of a drawing, and its margin.
const SIDE: (f64, f64) = (460.0, 260.0);
const MARGIN: f64 = 34.0;

/// The section; nothing without an overlay.
pub(super) fn overlay(runs: &[Run]) -> String {
    let with = runs.iter().find_map(|run| {
        Some((&run.info, run.info.overlay.as_ref()?, run.summary.overlay.as_ref()?))
    });
    let Some((info, overlay, summary)) = with else { return String::new() };
    let mut out = String::from(
        "<section aria-labelledby=\"h-overlay\"><h2 id=\"h-overlay\">Overlay</h2>\n<p class=\"note\">",
    );
    out.push_str(&escape(&said(summary)));
    out.push_str("</p>\n<div class=\"trees\">\n");
    let places = Places::of(info, overlay);
    for (group, links) in overlay.trees.iter().enumerate().take(GROUPS) {
        out.push_str(&figure(info, overlay, summary, &places, group, links));
    }
    out.push_str("</div>\n<p class=\"note\">The trees of a group's senders are in colour, wider the dearer the connection; beside it, its mean price.");
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
    text + &format!(". What nodes tell each other came to {control:.2} % of the messages' bytes.")
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
        let given = |node: &u32| info.topology.nodes.get(*node as usize)?.at;
        let known: Option<Vec<(f64, f64)>> = nodes.iter().map(given).collect();
        let turn = |i: usize| core::f64::consts::TAU * i as f64 / nodes.len().max(1) as f64;
        // Without a place for each they stand in a circle.
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

/// Scales points into the drawing; their y grows upwards, that of the drawing downwards.
fn fit(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let low = points.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        (low, (high - low).max(1e-9))
    };
    let ((left, width), (bottom, height)) = (range(|p| p.0), range(|p| p.1));
    let scale = |value: f64, low: f64, span: f64, side: f64| {
        // A line of nodes goes through the middle.
        let share = if span > 1e-9 { (value - low) / span } else { 0.5 };
        MARGIN + share * (side - 2.0 * MARGIN)
    };
    let one = |&(x, y): &(f64, f64)| {
        (scale(x, left, width, SIDE.0), SIDE.1 - scale(y, bottom, height, SIDE.1))
    };
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
        let (senders, nodes) = (count(g.senders), count(g.receiving_nodes));
        format!("{senders} senders, {} to {nodes} nodes", rate(g.sent_bps))
    });
    let (w, h) = (coordinate(SIDE.0, 0), coordinate(SIDE.1, 0));
    let mut out = format!(
        "<figure class=\"tree hue{}\"><figcaption><b>{}</b> {}</figcaption>\
         <svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"Trees of the group {}\">\n",
        group % super::groups::HUES,
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
    let mut labels = String::new();
    for connection in tree.iter().map(|connection| *connection as usize) {
        let Some((from, to)) = ends(connection) else { continue };
        let price = summary.connections.get(connection).map_or(0.0, |c| c.price_mean);
        out.push_str(&line("branch", from, to, 1.5 + price.clamp(0.0, 20.0) / 4.0));
        if places.0.len() <= LABELLED || price >= 1.0 {
            // Off the middle towards the end, so that both directions have their own.
            let at = (from.0 + (to.0 - from.0) * 0.56, from.1 + (to.1 - from.1) * 0.56 - 5.0);
            labels.push_str(&text("price", at, &format!("${price:.2}")));
        }
    }
    for (node, (x, y)) in &places.0 {
        let (cx, cy) = (coordinate(*x, 1), coordinate(*y, 1));
        let called = escape(info.node_name(*node));
        out.push_str(&format!(
            "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"4\"><title>{called}</title></circle>"
        ));
        if places.0.len() <= LABELLED {
            labels.push_str(&text("node", (*x, y + 17.0), info.node_name(*node)));
        }
    }
    out + &labels + "</svg></figure>\n"
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

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
