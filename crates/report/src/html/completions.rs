//! Flow completion times: as a distribution, and against size where that can be read.

use ratewire_statistics::percentile;

use super::drawn;
use super::groups::{Group, Groups, Mode};
use crate::Run;
use crate::draw::{Figure, FigureAxis, FigurePanel, FigureSeries, SeriesKind};
use crate::figure::{count, seconds};
use crate::headline::{self, labels};

/// Points over all runs together.
const POINTS: usize = 15_000;
/// Points of one distribution's line.
const STEPS: usize = 400;
/// Most laws whose flows are drawn against size, each in a panel of its own.
const SCATTERED_LAWS: usize = 4;
/// Most flows of a law that are drawn against size: more dots cover each other.
const SCATTERED: usize = 1_500;

/// One flow: its size in bytes, its time in seconds.
type Point = (f64, f64);

/// The section; empty if no flow completed.
pub(super) fn completions(runs: &[Run], groups: &Groups) -> String {
    let mut points: Vec<Vec<Point>> = vec![Vec::new(); groups.list.len()];
    // Share of started flows that completed. It is not known by law if one run mixes laws.
    let mut parts = vec![1.0; groups.list.len()];
    let limit = (POINTS / runs.len().max(1)).max(50);
    for (index, run) in runs.iter().enumerate() {
        let kept = &run.collected.completions;
        if groups.mode != Mode::Mixed {
            let completed = run.collected.completions_total as f64;
            parts[index] = completed / (completed + unfinished(run) as f64);
        }
        // Every k-th of those kept, so that many laws fit one drawing.
        for c in kept.iter().step_by(kept.len().div_ceil(limit).max(1)) {
            let point = (c.size.as_f64(), c.took.secs());
            if point.0 > 0.0 && point.1 > 0.0 {
                points[groups.of_law(index, &c.law)].push(point);
            }
        }
    }
    if points.iter().all(Vec::is_empty) {
        return String::new();
    }
    let of_laws = groups.list.iter().enumerate().zip(points.iter().zip(&parts));
    let shown: Vec<Shown> = of_laws
        .filter(|(_, (points, _))| !points.is_empty())
        .map(|((g, group), (points, part))| Shown { g, group, points, part: *part })
        .collect();
    let said: Vec<String> = shown
        .iter()
        .map(|shown| {
            let median = match runs.get(shown.g).filter(|_| groups.mode != Mode::Mixed) {
                // The median of all completed flows, not only of those drawn.
                Some(run) => headline::completions(run).map(|all| all.median_s),
                None => percentile(&sorted_times(shown.points), 50),
            };
            format!("{}: median {}", shown.group.name, seconds(median))
        })
        .collect();
    let label = said.join("; ");
    let scattered = (shown.len() <= SCATTERED_LAWS).then(|| against_size(&shown));
    let scattered = scattered
        .map(|figure| drawn::figure(&figure, &format!("Completion time against size. {label}")));
    let distribution = distribution(&shown);
    let distribution = drawn::figure(&distribution, &format!("Part of flows done. {label}"));
    format!(
        "<section aria-labelledby=\"h-fct\"><h2 id=\"h-fct\">Flow completion times</h2>\n\
         <div class=\"stack-of\">{distribution}{}</div>\n<p class=\"note\">{}</p>\n{}</section>\n",
        scattered.as_deref().unwrap_or_default(),
        super::text::escape(&what_is_shown(runs, groups, &points)),
        super::by_size::by_size(runs, groups)
    )
}

/// The completed flows of a law.
struct Shown<'a> {
    g: usize,
    group: &'a Group,
    points: &'a [Point],
    /// Share of started flows that completed.
    part: f64,
}

impl Shown<'_> {
    fn series(&self, kind: SeriesKind, points: Vec<(f64, Option<f64>)>) -> FigureSeries {
        FigureSeries {
            name: self.group.name.clone(),
            g: self.g as i64,
            hue: self.group.hue as i64,
            dash: self.group.dash % 4,
            mark: self.group.mark,
            kind,
            points,
            ..FigureSeries::default()
        }
    }
}

/// The unit in which the middle of a logarithmic axis is near one, and its size.
fn fitting(
    units: &[(&'static str, f64)],
    values: impl Iterator<Item = f64>,
) -> (&'static str, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    let middle = libm::sqrt(low * high);
    let fits = units.iter().find(|unit| middle >= 0.2 * unit.1).or(units.last());
    fits.copied().unwrap_or(("", 1.0))
}

const TIMES: [(&str, f64); 3] = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)];
const SIZES: [(&str, f64); 4] = [("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)];

fn times<'a>(shown: &'a [Shown<'_>]) -> impl Iterator<Item = f64> + 'a {
    shown.iter().flat_map(|shown| shown.points).map(|point| point.1)
}

/// Dots for the flows of each law, in a panel a law.
fn against_size(shown: &[Shown<'_>]) -> Figure {
    let sizes = || shown.iter().flat_map(|shown| shown.points).map(|point| point.0);
    let ((x_unit, byte), (y_unit, second)) =
        (fitting(&SIZES, sizes()), fitting(&TIMES, times(shown)));
    let panels = shown.iter().map(|shown| {
        let step = shown.points.len().div_ceil(SCATTERED);
        let points = shown.points.iter().step_by(step.max(1));
        let points = points.map(|(size, time)| (size / byte, Some(time / second))).collect();
        FigurePanel {
            title: shown.group.name.clone(),
            series: vec![shown.series(SeriesKind::Dots, points)],
        }
    });
    Figure {
        name: "completion-size".into(),
        title: "Completion time against size".into(),
        detail: String::new(),
        x: FigureAxis::around("Flow size", x_unit, sizes().map(|size| size / byte)),
        y: FigureAxis::around("Completion time", y_unit, times(shown).map(|time| time / second)),
        scale: None,
        marks: Vec::new(),
        apart_by: if shown.len() > 1 { "law".into() } else { String::new() },
        panels: panels.collect(),
    }
}

/// The staircase of each law's empirical distribution.
fn distribution(shown: &[Shown<'_>]) -> Figure {
    let (unit, second) = fitting(&TIMES, times(shown));
    let series = shown
        .iter()
        .map(|shown| shown.series(SeriesKind::Steps, steps(shown.points, shown.part, second)));
    Figure {
        name: "completion-time".into(),
        title: "Distribution of completion times".into(),
        detail: String::new(),
        x: FigureAxis::around("Completion time", unit, times(shown).map(|time| time / second)),
        y: FigureAxis {
            title: "Flows done within".into(),
            unit: "%".into(),
            high: 100.0,
            ..FigureAxis::default()
        },
        scale: None,
        marks: Vec::new(),
        apart_by: String::new(),
        panels: vec![FigurePanel { title: String::new(), series: series.collect() }],
    }
}

/// What the drawing against size leaves out.
fn note_on_size(points: &[Vec<Point>]) -> String {
    if points.iter().filter(|points| !points.is_empty()).count() > SCATTERED_LAWS {
        return format!(" Against size they are drawn for up to {SCATTERED_LAWS} laws.");
    }
    match points.iter().any(|points| points.len() > SCATTERED) {
        true => format!(" Against size at most {} of each law are drawn.", count(SCATTERED as u64)),
        false => String::new(),
    }
}

/// Flows of a given size that had not completed when the run ended.
pub(super) fn unfinished(run: &Run) -> u64 {
    run.summary.unfinished_flows.unwrap_or(0)
}

fn what_is_shown(runs: &[Run], groups: &Groups, points: &[Vec<Point>]) -> String {
    let total: u64 = runs.iter().map(|r| r.collected.completions_total).sum();
    let shown: usize = points.iter().map(Vec::len).sum();
    let which = if shown as u64 == total {
        format!("All {} completed flows.", count(total))
    } else {
        format!(
            "{} of {} completed flows, taken at equal steps in order of completion.",
            count(shown as u64),
            count(total)
        )
    };
    let mut text = which
        + &note_on_size(points)
        + " Time runs from the application’s request to the last byte delivered in order.";
    if runs.iter().any(|run| unfinished(run) > 0) {
        let all: Vec<String> = match runs {
            [run] => vec![count(unfinished(run))],
            _ => {
                let of = |(run, label)| format!("{} under {label}", count(unfinished(run)));
                runs.iter().zip(labels(runs)).map(of).collect()
            }
        };
        let ends = match groups.mode {
            Mode::Mixed => "the distributions leave them out",
            Mode::Runs | Mode::Flows => "for them a distribution ends below 100 %",
        };
        text += &format!(
            " Flows of a given size that had not completed when the run ended: {}; {ends}.",
            all.join(", ")
        );
    }
    text
}

fn sorted_times(points: &[Point]) -> Vec<f64> {
    let mut times: Vec<f64> = points.iter().map(|p| p.1).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// The staircase of the empirical distribution up to this part, in percent, thinned to [`STEPS`].
fn steps(points: &[Point], part: f64, second: f64) -> Vec<(f64, Option<f64>)> {
    let times = sorted_times(points);
    let stride = times.len().div_ceil(STEPS);
    let last = times.len() - 1;
    let kept = (0..times.len()).filter(|rank| rank % stride == 0 || *rank == last);
    let step = |rank: usize| {
        let done = part * (rank + 1) as f64 / times.len() as f64;
        (times[rank] / second, Some(100.0 * done))
    };
    [(times[0] / second, Some(0.0))].into_iter().chain(kept.map(step)).collect()
}
