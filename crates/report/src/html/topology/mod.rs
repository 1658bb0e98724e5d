//! The network as a drawing: hosts, routers and links. A link's width shows its rate, the colour of
//! each half how busy that direction was.

mod graph;
pub(super) mod labels;
mod layout;
mod mesh;
mod placed;
mod tiers;

use std::cmp::Reverse;

use super::text::{coordinate, escape, name};
use crate::figure::{percent, plural};
use crate::headline::labels as run_labels;
use crate::{LinkInfo, NodeKind, Run};
use graph::{Edge, Graph};
use labels::Labels;
use placed::Placed;

/// Most nodes of a legible drawing.
const NODES: usize = 400;
/// Most nodes of a small drawing.
const LITTLE: usize = 8;
/// Shares of the time from which a direction has the next darker colour.
const STEPS: [f64; 4] = [0.2, 0.5, 0.8, 0.95];

/// The section; empty without nodes.
pub(super) fn topology(runs: &[Run]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    if first.info.topology.nodes.is_empty() {
        return String::new();
    }
    let graph = Graph::of(&first.info);
    let what = format!(
        "{} and {}",
        plural(first.info.topology.nodes.len(), "node"),
        plural(first.info.topology.links.len(), "link direction")
    );
    let mut out =
        String::from("<section aria-labelledby=\"h-net\"><h2 id=\"h-net\">Network</h2>\n");
    if graph.nodes.len() > NODES {
        return out
            + &format!(
                "<p class=\"note\">{what}: too many to draw. The tables have them.</p></section>\n"
            );
    }
    // A drawing of few nodes says little, and stays small.
    let class = if graph.nodes.len() <= LITTLE { "net little" } else { "net" };
    out.push_str(&format!("<figure class=\"{class}\">\n<figcaption>"));
    out.push_str(&switch(runs));
    out.push_str(&legend());
    out.push_str("</figcaption>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Drawing of the network\">");
    let placed = layout::place(&graph);
    out.push_str(&draw(runs, &graph, &placed, &what));
    out.push_str("</div></figure>\n<p class=\"note\">Each half of a line shows what the node next to it sends. Lines are wider the faster the link");
    if graph.nodes.iter().any(|n| n.stands_for > 1) {
        out.push_str("; hosts of one router are drawn as one, coloured by the busiest");
    }
    if placed.guessed.contains(&true) {
        out.push_str(
            "; dashed nodes have no coordinates in the topology and lie beside their neighbours",
        );
    }
    if graph.nodes.iter().any(|n| n.kind == NodeKind::Switch) {
        out.push_str("; a diamond is a switch of an ensemble, a filled circle a member of it");
    }
    out + ".</p></section>\n"
}

/// The choice of the law whose utilisation the colours show.
fn switch(runs: &[Run]) -> String {
    let part = match runs.first().and_then(|run| run.summary.measured_from_s) {
        Some(_) => "the measured part",
        None => "the run",
    };
    if runs.len() < 2 {
        return format!("<span>Utilisation over {part}</span>");
    }
    let mut out = format!("<label>Utilisation over {part}, under <select id=\"net-law\">");
    for (i, label) in run_labels(runs).iter().enumerate() {
        out.push_str(&format!("<option value=\"{i}\">{}</option>", name(label)));
    }
    out + "</select></label>"
}

fn legend() -> String {
    let texts = ["below 20 %", "20 to 50", "50 to 80", "80 to 95", "95 % and more"];
    let items =
        texts.iter().enumerate().map(|(i, t)| format!("<span><i class=\"u{i}\"></i>{t}</span>"));
    format!("<span class=\"scale\">{}</span>", items.collect::<String>())
}

fn draw(runs: &[Run], graph: &Graph, placed: &Placed, what: &str) -> String {
    let (w, h) = (coordinate(placed.width, 0), coordinate(placed.height, 0));
    let mut out = format!(
        "<svg class=\"topo{}\" viewBox=\"0 0 {w} {h}\" style=\"--w:{w}px\" role=\"img\" \
         aria-label=\"{}\">\n",
        if placed.fits { " fits" } else { "" },
        escape(&format!("Network of {what}"))
    );
    let ends: Vec<[(f64, f64); 2]> = graph.edges.iter().map(|e| ends(e, placed)).collect();
    let mut rates = Widths::of(&runs[0].info.topology.links);
    if graph.edges.len() > 100 {
        rates.scale = 0.6;
    }
    // Where lines cross, busy links are on top.
    let busy = |e: &Edge| {
        let links: Vec<u32> = e.forth.iter().chain(&e.back).copied().collect();
        runs.iter().map(|r| busiest(r, &links)).fold(0.0, f64::max)
    };
    let mut drawn: Vec<(&Edge, &[(f64, f64); 2])> = graph.edges.iter().zip(&ends).collect();
    drawn.sort_by(|a, b| busy(a.0).total_cmp(&busy(b.0)));
    for (edge, ends) in drawn {
        out.push_str(&draw_edge(runs, edge, *ends, &rates));
    }
    let mut labels = Labels::new((placed.width, placed.height), &placed.at, ends.clone());
    if placed.fits {
        labels = labels.for_phones();
    }
    out.push_str(&link_labels(runs, graph, &ends, &mut labels));
    for (i, node) in graph.nodes.iter().enumerate() {
        let (x, y) = (coordinate(placed.at[i].0, 1), coordinate(placed.at[i].1, 1));
        let title = match node.stands_for {
            1 if !node.part.is_empty() => escape(&format!("{}, {}", node.name, node.part)),
            1 => escape(&node.name),
            n => escape(&format!("{n} hosts, {}", node.name)),
        };
        let (guessed, title) = match placed.guessed[i] {
            true => (" guessed", title + ", without coordinates"),
            false => ("", title),
        };
        let class = if node.kind == NodeKind::Member { "host member" } else { "host" };
        let shape = match (node.host, node.stands_for) {
            (true, 1) => format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>"),
            (true, _) => format!(
                "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>\
                 <circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"4.5\"/>"
            ),
            (false, _) if node.kind == NodeKind::Switch => {
                format!(
                    "<path class=\"switch\" transform=\"translate({x} {y})\" d=\"M0 -11L11 0L0 11L-11 0Z\"/>"
                )
            }
            (false, _) => format!(
                "<rect class=\"router{guessed}\" x=\"{}\" y=\"{}\" width=\"16\" height=\"16\" rx=\"4\"/>",
                coordinate(placed.at[i].0 - 8.0, 1),
                coordinate(placed.at[i].1 - 8.0, 1)
            ),
        };
        out.push_str(&format!("<g><title>{title}</title>{shape}</g>\n"));
    }
    out.push_str(&names(graph, placed, &mut labels));
    out + "</svg>"
}

/// The names of nodes, beside them where there is room.
fn names(graph: &Graph, placed: &Placed, labels: &mut Labels) -> String {
    let mut out = String::new();
    let own = graph.own_routers();
    // A host and its own router share the host's name, which leaves room for others.
    let mut order: Vec<usize> =
        (0..graph.nodes.len()).filter(|&i| !own.contains(&Some(i))).collect();
    // Routers first, because readers look for them. Then crowded nodes, because others find room.
    order.sort_by_key(|&i| {
        (graph.nodes[i].host && own[i].is_none(), Reverse(crowd(&placed.at, placed.at[i])))
    });
    for i in order {
        let node = &graph.nodes[i];
        let text = if node.stands_for > 1 {
            format!("{} hosts", node.stands_for)
        } else {
            node.name.clone()
        };
        let at = placed.at[i];
        if placed.upright[i] {
            out.push_str(&format!(
                "<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"end\" dy=\".33em\">{}</text>\n",
                coordinate(at.0, 1),
                coordinate(at.1 + 12.0, 1),
                escape(&text)
            ));
            continue;
        }
        let mut beside = [Some(i), own[i]].into_iter().flatten();
        let free = beside.find_map(|n| labels.place(placed.at[n], &text, placed.side[n]));
        if let Some(label) = free {
            out.push_str(&format!(
                "<text x=\"{}\" y=\"{}\" dy=\".33em\" text-anchor=\"{}\">{}</text>\n",
                coordinate(label.x, 1),
                coordinate(label.y, 1),
                label.anchor,
                escape(&text)
            ));
        }
    }
    out
}

/// Number of nodes so near to `centre` that their names may overlap.
fn crowd(at: &[(f64, f64)], centre: (f64, f64)) -> usize {
    at.iter().filter(|(x, y)| libm::hypot(x - centre.0, y - centre.1) < 60.0).count()
}

/// Where an edge starts and ends; parallel edges lie beside each other.
fn ends(edge: &Edge, placed: &Placed) -> [(f64, f64); 2] {
    let (a, b) = (placed.at[edge.a], placed.at[edge.b]);
    if edge.lane == 0 {
        return [a, b];
    }
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = (dx * dx + dy * dy).sqrt().max(1e-6);
    // 1, -1, 2, -2, ... lanes from the middle.
    let lane = edge.lane.div_ceil(2) as f64 * if edge.lane % 2 == 1 { 7.0 } else { -7.0 };
    let off = (-dy / length * lane, dx / length * lane);
    [(a.0 + off.0, a.1 + off.1), (b.0 + off.0, b.1 + off.1)]
}

fn draw_edge(runs: &[Run], edge: &Edge, [a, b]: [(f64, f64); 2], rates: &Widths) -> String {
    let middle = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    let mut out = String::new();
    // If one direction has no link, the other takes the whole line.
    let forth_end = if edge.back.is_empty() { b } else { middle };
    let back_end = if edge.forth.is_empty() { a } else { middle };
    for (links, from, to) in [(&edge.forth, a, forth_end), (&edge.back, b, back_end)] {
        let Some(&link) = links.first() else { continue };
        let busy: Vec<f64> = runs.iter().map(|r| busiest(r, links)).collect();
        let steps: Vec<String> = busy.iter().map(|&u| step(u).to_string()).collect();
        let info = runs[0].info.topology.links.get(link as usize);
        let title = info.map_or(String::new(), |l| {
            let under: Vec<String> = run_labels(runs)
                .iter()
                .zip(&busy)
                .map(|(r, u)| format!("{r} {}", percent(*u)))
                .collect();
            let from = runs[0].info.node_name(l.from);
            let to = runs[0].info.node_name(l.to);
            format!(
                "{}: {from} → {to}, {}, {}\nbusy: {}",
                l.name,
                l.rate,
                l.delay,
                under.join(", ")
            )
        });
        let width = info.map_or(2.0, |l| rates.width(l));
        out.push_str(&format!(
            "<path class=\"link u{}\" data-u=\"{}\" data-link=\"{link}\" stroke-width=\"{}\" \
             d=\"M{} {}L{} {}\"><title>{}</title></path>\n",
            steps[0],
            steps.join(" "),
            coordinate(width, 1),
            coordinate(from.0, 1),
            coordinate(from.1, 1),
            coordinate(to.0, 1),
            coordinate(to.1, 1),
            escape(&ratewire_table::clip(&title.replace('\n', " · "), 300))
        ));
    }
    out
}

fn busiest(run: &Run, links: &[u32]) -> f64 {
    let busy =
        links.iter().filter_map(|&l| run.summary.links.get(l as usize)).map(|l| l.utilisation);
    busy.filter(|u| u.is_finite()).fold(0.0, f64::max)
}

fn step(utilisation: f64) -> usize {
    STEPS.iter().filter(|&&s| utilisation >= s).count()
}

/// Rate and delay of the slowest links, or of all links if there are few. Labels cover neither
/// nodes nor each other.
fn link_labels(
    runs: &[Run],
    graph: &Graph,
    ends: &[[(f64, f64); 2]],
    labels: &mut Labels,
) -> String {
    let info = &runs[0].info;
    let mut out = String::new();
    for (edge, [a, b]) in graph.edges.iter().zip(ends) {
        let links = edge.forth.iter().chain(&edge.back);
        let known: Vec<&LinkInfo> =
            links.filter_map(|&l| info.topology.links.get(l as usize)).collect();
        let Some(link) = known.iter().find(|l| l.slowest).or(known.first()) else { continue };
        if !link.slowest && graph.edges.len() > 3 {
            continue;
        }
        let text = format!("{}, {}", link.rate, link.delay);
        let (wide, high) = labels.room(&text);
        let (x, middle) = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
        let length = ((b.0 - a.0) * (b.0 - a.0) + (b.1 - a.1) * (b.1 - a.1)).sqrt();
        // A label needs a level line that is long enough; for other links the tooltip has the text.
        if (b.1 - a.1).abs() > 12.0 || length < wide + 16.0 {
            continue;
        }
        let above_or_below = [middle - 14.0, middle + 14.0];
        let free = above_or_below.into_iter().find(|y| {
            labels.take(labels::Box {
                x0: x - wide / 2.0,
                y0: y - high / 2.0,
                x1: x + wide / 2.0,
                y1: y + high / 2.0,
            })
        });
        let Some(y) = free else { continue };
        out.push_str(&format!(
            "<text class=\"rate\" x=\"{}\" y=\"{}\" dy=\".33em\" text-anchor=\"middle\">{}</text>\n",
            coordinate(x, 1),
            coordinate(y, 1),
            escape(&text)
        ));
    }
    out
}

/// Widths of lines, by the logarithm of the rate.
struct Widths {
    low: f64,
    high: f64,
    /// Factor on widths, below one in drawings of many lines.
    scale: f64,
}

impl Widths {
    fn of(links: &[LinkInfo]) -> Widths {
        let logs = || links.iter().map(|l| libm::log10(l.rate.bps().max(1) as f64));
        Widths {
            low: logs().fold(f64::INFINITY, f64::min),
            high: logs().fold(0.0, f64::max),
            scale: 1.0,
        }
    }
    fn width(&self, link: &LinkInfo) -> f64 {
        let span = self.high - self.low;
        if span < 0.01 {
            return 3.5 * self.scale;
        }
        let part = (libm::log10(link.rate.bps().max(1) as f64) - self.low) / span;
        (3.0 + part * f64::min(span * 2.5, 4.5)) * self.scale
    }
}

#[cfg(test)]
mod tests;
