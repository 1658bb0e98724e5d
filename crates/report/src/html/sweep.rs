//! A measured value of a paper's figure against a parameter varied from run to run.

use ratewire_table::clip;

use super::drawn;
use super::text::{capital, coordinate, name};
use crate::draw::{
    Figure, FigureAxis, FigurePanel, FigureSeries, Look, SeriesKind, fitting_symbol,
};

/// Points of one measured value over several runs, a line a law.
pub struct SweepPlot {
    /// What was measured.
    pub title: String,
    /// What was varied, with its unit.
    pub over: String,
    /// Whether what was varied lies on a logarithmic axis.
    pub logarithmic: bool,
    /// Unit of the values: `bit/s`, `s`, `B`, `packets`; `share` for shares of one; may be empty.
    pub unit: &'static str,
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

/// The drawing; `look` gives a law its colour, dash and marker.
pub(super) fn sweep(sweep: &SweepPlot, look: impl Fn(&str) -> Look) -> String {
    let points = || sweep.lines.iter().flat_map(|line| &line.points).chain(&sweep.claimed);
    let finite = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points.iter().copied().filter(|point| point.0.is_finite() && point.1.is_finite()).collect()
    };
    let most = points().map(|point| point.1).filter(|y| y.is_finite()).fold(0.0, f64::max);
    let (unit, size) = fitting_symbol(sweep.unit, most);
    let x = points().map(|point| point.0);
    let x = match sweep.logarithmic {
        true => FigureAxis::around(&clip(&sweep.over, 80), "", x),
        false => FigureAxis::from_zero(&clip(&sweep.over, 80), "", x),
    };
    let title = capital(&sweep.title);
    let series = |name: &str, points: &[(f64, f64)]| FigureSeries {
        name: clip(name, 80),
        g: -1,
        points: finite(points).into_iter().map(|(x, y)| (x, Some(y / size))).collect(),
        ..FigureSeries::default()
    };
    let mut all = Vec::new();
    let mut said = Vec::new();
    for line in &sweep.lines {
        let Look { hue, dash, mark } = look(&line.law);
        let kind = SeriesKind::Joined;
        all.push(FigureSeries {
            hue: hue as i64,
            dash,
            mark,
            kind,
            ..series(&line.law, &line.points)
        });
        let value = |(x, y): (f64, f64)| {
            format!("{} {unit} at {}", coordinate(y / size, 3), coordinate(x, 6))
        };
        let values: Vec<String> = finite(&line.points).into_iter().map(value).collect();
        said.push(format!("{}: {}", line.law, values.join(", ")));
    }
    // In front of all others: no law's marker hides what the source says.
    if !sweep.claimed.is_empty() {
        let claimed = series("claimed", &sweep.claimed);
        all.push(FigureSeries { hue: -1, kind: SeriesKind::Claimed, ..claimed });
    }
    let figure = Figure {
        name: name(&sweep.title).replace(' ', "-"),
        title: title.clone(),
        detail: String::new(),
        x,
        y: FigureAxis::from_zero(&title, unit, points().map(|point| point.1 / size)),
        scale: None,
        marks: Vec::new(),
        apart_by: String::new(),
        panels: vec![FigurePanel { title: String::new(), series: all }],
    };
    drawn::figure(&figure, &format!("{title} against {}. {}", sweep.over, said.join("; ")))
}
