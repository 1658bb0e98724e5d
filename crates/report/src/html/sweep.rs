//! A sweep: a measured figure against a parameter varied from run to run.

use super::plane::{Axis, Plane};
use super::text::{capital, coordinate, escape, name};

/// Points of one figure over several runs, a line a law.
pub struct SweepPlot {
    /// What was measured.
    pub title: String,
    /// What was varied, with its unit.
    pub over: String,
    /// Whether what was varied lies on a logarithmic axis.
    pub logarithmic: bool,
    /// The measured value as a reader likes it.
    pub show: Box<dyn Fn(f64) -> String>,
    /// The laws' lines.
    pub lines: Vec<Line>,
    /// Points that the source claims.
    pub claimed: Vec<(f64, f64)>,
}

/// One law's points.
pub struct Line {
    /// The law.
    pub law: String,
    /// What was varied, and what was measured there.
    pub points: Vec<(f64, f64)>,
}

/// The drawing and its legend; `hue` gives a law its colour and dash.
pub(super) fn sweep(sweep: &SweepPlot, hue: impl Fn(&str) -> (usize, usize)) -> String {
    let points = || sweep.lines.iter().flat_map(|l| &l.points).chain(&sweep.claimed);
    let over = |v: f64| coordinate(v, 6);
    let x = points().map(|p| p.0);
    let plane = Plane {
        x: if sweep.logarithmic { Axis::log(x, over) } else { Axis::linear(x, over) },
        y: Axis::linear(points().map(|p| p.1), &sweep.show),
        x_title: sweep.over.clone(),
        y_title: String::new(),
    };
    let (mut marks, mut legend, mut said) = (String::new(), String::new(), Vec::new());
    if !sweep.claimed.is_empty() {
        marks.push_str(&format!("<g class=\"claimed\">{}</g>\n", rings(&plane, &sweep.claimed)));
        legend.push_str("<span><i class=\"ring\"></i>claimed</span>");
    }
    for line in &sweep.lines {
        let (hue, dash) = hue(&line.law);
        let class = format!("hue{hue} dash{}", dash.min(3));
        marks.push_str(&format!(
            "<g class=\"lines\"><path class=\"{class}\" d=\"{}\"/></g>\
             <g class=\"dots full\"><path class=\"{class}\" d=\"{}\"/></g>\n",
            path(&plane, &line.points, "L"),
            path(&plane, &line.points, "h0M")
        ));
        legend.push_str(&format!(
            "<span class=\"hue{hue}\"><i class=\"chip dash{}\"></i>{}</span>",
            dash.min(3),
            name(&line.law)
        ));
        let values =
            finite(&line.points).map(|p| format!("{} at {}", (sweep.show)(p.1), over(p.0)));
        said.push(format!("{}: {}", line.law, values.collect::<Vec<_>>().join(", ")));
    }
    let title = capital(&sweep.title);
    let label = format!("{title} against {}. {}", sweep.over, said.join("; "));
    format!(
        "<figure><figcaption><h3>{}</h3></figcaption>{}<div class=\"flows\">{legend}</div></figure>\n",
        escape(&title),
        plane.svg(&marks, &label)
    )
}

fn finite(points: &[(f64, f64)]) -> impl Iterator<Item = &(f64, f64)> {
    points.iter().filter(|p| p.0.is_finite() && p.1.is_finite())
}

/// The points in order, each after the first led in by `join`; a dot for `h0M`, a line for `L`.
fn path(plane: &Plane, points: &[(f64, f64)], join: &str) -> String {
    let at = |p: &(f64, f64)| {
        let (x, y) = plane.at(p.0, p.1);
        format!("{x} {y}")
    };
    let joined = finite(points).map(at).collect::<Vec<_>>().join(join);
    if joined.is_empty() { joined } else { format!("M{joined}h0") }
}

fn rings(plane: &Plane, points: &[(f64, f64)]) -> String {
    let ring = |p: &(f64, f64)| {
        let (x, y) = plane.at(p.0, p.1);
        format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"6\"/>")
    };
    finite(points).map(ring).collect()
}
