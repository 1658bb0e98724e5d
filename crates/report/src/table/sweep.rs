//! The table of a sweep, a line for each point of the grid and law.

use ratewire_table::{Column, Grid, clip};

use super::{TableOptions, wrap};
use crate::Sweep;
use crate::compare::About;
use crate::figure::{count, plural};

/// Most lines that are printed; the Parquet file has every run.
const LINES: usize = 200;

/// The table of a sweep: the values that were set, the law, and the figures of runs as a whole.
///
/// The text ends in a newline, and is empty without runs. A narrow terminal drops figures from the
/// right.
pub fn sweep(sweep: &Sweep, options: &TableOptions) -> String {
    if sweep.runs.is_empty() {
        return String::new();
    }
    let figures = sweep.of_table();
    let keys = sweep.axes.iter().map(|axis| Column::number(&clip(&axis.key, 40)));
    let law = Column::text("law").shrinks();
    let figure = |(order, at): (usize, &usize)| {
        // The first figure stays on any terminal.
        let order = u8::try_from(order).unwrap_or(u8::MAX);
        Column::number(&clip(&sweep.figures[*at].title, 40)).left_out(order)
    };
    let of_figures = figures.iter().enumerate().map(figure);
    let links = (!sweep.bottlenecks.is_empty()).then(|| Column::text("bottleneck").shrinks());
    let mut grid = Grid::new(keys.chain([law]).chain(links).chain(of_figures).collect());
    let cells = sweep.cells();
    for cell in cells.iter().take(LINES) {
        grid.row(sweep.row(cell, &figures));
    }
    let title = if sweep.scenario.is_empty() { "(no name)" } else { &sweep.scenario };
    let mut out = format!("{}\n", options.style().bold(&clip(title, 200)));
    let points: usize = sweep.axes.iter().map(|axis| axis.values.len()).product();
    let (points, laws) = (plural(points, "point"), plural(sweep.laws.len(), "law"));
    let runs = plural(sweep.runs.len(), "run");
    out += &wrap(
        &format!("{points}, {laws}, {}: {runs}{}", sweep.seeds_text(), measured(sweep)),
        0,
        options.text_width(),
    );
    out += &format!("\n{}", grid.render(&options.style()));
    let rest = cells.len().saturating_sub(LINES);
    if rest > 0 {
        out += &format!(
            "{}\n",
            options.style().dim(&format!("... and {} more lines", count(rest as u64)))
        );
    }
    let mut notes = Vec::new();
    let is_of_run = |at: &usize| sweep.figures[*at].about == About::Run;
    notes.extend(sweep.bottleneck_text().filter(|_| figures.iter().any(is_of_run)));
    if cells.iter().any(|cell| cell.estimates.iter().flatten().any(|e| e.margin.is_some())) {
        notes.push("± is half the 95 % interval of the mean over the seeds".to_string());
    }
    if cells.iter().any(|cell| cell.ranges.iter().any(Option::is_some)) {
        let about =
            "(a to b), of maxima, minima, p95 and above: the least and the largest of the seeds";
        notes.push(about.to_string());
    }
    if sweep.missing_runs > 0 {
        notes.push(format!("{} without results", plural(sweep.missing_runs, "run")));
    }
    notes.iter().for_each(|note| out += &format!("{}\n", options.style().dim(note)));
    out
}

/// The part of the runs that is measured, if it is not all.
fn measured(sweep: &Sweep) -> String {
    sweep.measured_text().map_or_else(String::new, |text| format!(", {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::sample;

    #[test]
    fn a_line_a_point_and_law_with_what_is_missing() {
        let text = sweep(&sample(), &TableOptions::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "4 points, 2 laws, seeds 1, 2: 15 runs");
        assert!(lines[3].starts_with("bottleneck.rate  bottleneck.discipline  law "), "{text}");
        assert_eq!(lines[5].split_whitespace().take(3).collect::<Vec<_>>(), ["1M", "red", "xcp"]);
        assert!(lines[5].contains("50.5 ± 6.4 %"), "{text}");
        assert!(lines[12].contains("10 Mbit/s") && lines[12].contains("60.0 %"), "{text}");
        assert!(text.contains("± is half the 95 % interval"), "{text}");
        assert!(text.ends_with("1 run without results\n"), "{text}");
        assert_eq!(sweep(&Sweep::default(), &TableOptions::default()), "");
    }

    #[test]
    fn a_narrow_terminal_keeps_values_law_and_the_first_figure() {
        let options = TableOptions { width: Some(62), ..TableOptions::default() };
        let text = sweep(&sample(), &options);
        assert!(text.lines().all(|line| line.chars().count() <= 62), "{text}");
        assert!(text.contains("utilisation") && text.contains("(too narrow for: "), "{text}");
    }
}
