//! Flow completion times: against size, and as a distribution. They are drawn here and not by
//! script, so they are exact and print.

use ratewire_statistics::percentile;

use super::groups::{Groups, Mode};
use super::plane::{Axis, Plane};
use crate::Run;
use crate::figure::{bytes, count, seconds};
use crate::headline::{self, labels};

/// Points over all runs together.
const POINTS: usize = 15_000;
/// Points of one distribution's line.
const STEPS: usize = 400;

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
    let time = |v: f64| seconds(Some(v));
    let times = || points.iter().flatten().map(|p| p.1);
    let against_size = Plane {
        x: Axis::log(points.iter().flatten().map(|p| p.0), |v| bytes(libm::round(v) as u64)),
        y: Axis::log(times(), time),
        x_title: "Flow size".into(),
        y_title: "Completion time".into(),
    };
    let distribution = Plane {
        x: Axis::log(times(), time),
        y: Axis::parts(),
        x_title: "Completion time".into(),
        y_title: "Flows done within".into(),
    };
    let (mut dots, mut lines, mut said) = (String::new(), String::new(), Vec::new());
    for (index, (group, points)) in groups.list.iter().zip(&points).enumerate() {
        if points.is_empty() {
            continue;
        }
        let hue =
            if groups.mode == Mode::Flows { "ink".into() } else { format!("hue{}", group.hue) };
        let class = format!("class=\"{hue} dash{}\" data-g=\"{index}\"", group.dash.min(3));
        dots.push_str(&format!("<path {class} d=\"{}\"/>\n", scatter(&against_size, points)));
        let steps = steps(&distribution, points, parts[index]);
        lines.push_str(&format!("<path {class} d=\"{steps}\"/>\n"));
        let median = match runs.get(index).filter(|_| groups.mode != Mode::Mixed) {
            // The median of all completed flows, not only of those drawn.
            Some(run) => headline::completions(run).map(|all| all.median_s),
            None => percentile(&sorted_times(points), 50),
        };
        said.push(format!("{}: median {}", group.name, seconds(median)));
    }
    let marks = |class: &str, paths: &str| format!("<g class=\"{class}\">\n{paths}</g>\n");
    let label = said.join("; ");
    format!(
        "<section aria-labelledby=\"h-fct\"><h2 id=\"h-fct\">Flow completion times</h2>\n\
         <div class=\"pair\"><figure><figcaption><h3>Against size</h3></figcaption>{}</figure>\
         <figure><figcaption><h3>Distribution</h3></figcaption>{}</figure></div>\n\
         <p class=\"note\">{}</p></section>\n",
        against_size.svg(&marks("dots", &dots), &format!("Completion time against size. {label}")),
        distribution.svg(&marks("lines", &lines), &format!("Part of flows done. {label}")),
        super::text::escape(&what_is_shown(runs, groups, &points))
    )
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
    let mut text =
        which + " Time runs from the application’s request to the last byte delivered in order.";
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

/// Dots as one path of zero-length strokes: a dozen bytes each.
fn scatter(plane: &Plane, points: &[Point]) -> String {
    let mut out = String::with_capacity(points.len() * 14);
    for &(size, time) in points {
        let (x, y) = plane.at(size, time);
        out.push_str(&format!("M{x} {y}h0"));
    }
    out
}

fn sorted_times(points: &[Point]) -> Vec<f64> {
    let mut times: Vec<f64> = points.iter().map(|p| p.1).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// The staircase of the empirical distribution up to this part, thinned to [`STEPS`].
fn steps(plane: &Plane, points: &[Point], part: f64) -> String {
    let times = sorted_times(points);
    let (x, y) = plane.at(times[0], 0.0);
    let mut out = format!("M{x} {y}");
    let stride = times.len().div_ceil(STEPS);
    let last = times.len() - 1;
    for rank in (0..times.len()).filter(|r| r % stride == 0 || *r == last) {
        let (x, y) = plane.at(times[rank], part * (rank + 1) as f64 / times.len() as f64);
        out.push_str(&format!("H{x}V{y}"));
    }
    out
}
