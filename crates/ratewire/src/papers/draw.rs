//! Draws figures of papers from runs.

use ratewire_report::html;
use ratewire_report::html::papers::{Claims, Line, Panel, SweepPlot};
use ratewire_scenario::{Finding, MetricUnit, Scenario};

use super::{Name, PaperFigure, is_metric};
use crate::Run;

/// Draws a figure for the page from the runs of its scenarios; keeps only the data that it draws.
pub fn draw(
    figure: &PaperFigure,
    results: Vec<(&Scenario, Vec<Run>)>,
) -> html::papers::FigureSection {
    let sweeps = figure.sweep.iter().flat_map(|sweep| {
        let metrics = sweep.metrics.iter().map(Name::get_ref);
        metrics.map(|metric| sweep_of(sweep, metric, figure, &results))
    });
    let sweeps = sweeps.collect();
    let of_runs = results.iter().flat_map(|(_, runs)| runs);
    let real_time = of_runs.filter_map(|run| {
        let fidelity = run.summary().fidelity.as_ref()?;
        Some(format!("{}: {}. Run on {}.", run.name(), fidelity.text(), fidelity.place()))
    });
    let mut real_time: Vec<String> = real_time.collect();
    if !real_time.is_empty() {
        let others = figure.emulated.iter().map(|values| {
            let of = if values.scenarios.is_empty() { "all" } else { &values.scenarios.join(", ") };
            format!("Emulated runs ({of}) have {}: {}.", values.set.join(", "), values.why)
        });
        real_time.splice(0..0, figure.emulated_note.clone().into_iter().chain(others));
    }
    let claims = results.iter().map(|(scenario, runs)| Claims {
        scenario: scenario.name.clone(),
        file: scenario.file.clone(),
        expectations: runs.iter().flat_map(Run::expectations).cloned().collect(),
    });
    let claims = claims.collect();
    let panels = figure.scenarios.iter().zip(results).filter(|(file, _)| figure.draws(file));
    let panels = panels.map(|(_, (scenario, runs))| Panel {
        title: scenario.name.clone(),
        runs: runs
            .into_iter()
            .filter(|run| figure.draws_law(run.law()))
            .map(Run::into_report)
            .collect(),
        plots: figure.plots.clone(),
        links: figure.links.iter().map(|link| link.get_ref().clone()).collect(),
        apart: figure.apart,
    });
    html::papers::FigureSection {
        id: figure.id.clone(),
        title: figure.title.clone(),
        caption: figure.caption.clone(),
        note: figure.note.clone(),
        panels: panels.collect(),
        sweeps,
        real_time,
        claims,
    }
}

/// Measured values of one metric's expectations, law by law.
fn sweep_of(
    sweep: &super::Sweep,
    metric: &str,
    figure: &PaperFigure,
    results: &[(&Scenario, Vec<Run>)],
) -> SweepPlot {
    let is_of = |v: &Finding| is_metric(metric, v.metric, &v.target);
    // The parameter varies over scenarios, or over flows or links of one scenario.
    let value_of = |scenario: usize, v: &Finding| {
        let place = match sweep.of.is_empty() {
            true => Some(scenario),
            false => sweep.of.iter().position(|target| *target.get_ref() == v.target),
        };
        place.and_then(|place| sweep.values.get(place)).copied()
    };
    let mut lines: Vec<Line> = Vec::new();
    let mut claimed: Vec<(f64, f64)> = Vec::new();
    let mut unit = None;
    for (i, (_, runs)) in results.iter().enumerate() {
        let laws = runs.iter().flat_map(Run::expectations).map(|e| e.run(&[]));
        let verdicts = laws.zip(runs.iter().flat_map(Run::verdicts));
        for (law, verdict) in verdicts.filter(|(_, v)| is_of(v) && figure.draws_law(&v.law)) {
            let (Some(x), Some(y)) = (value_of(i, verdict), verdict.measured) else { continue };
            let at = lines.iter().position(|line| line.law == law).unwrap_or_else(|| {
                lines.push(Line { law, points: Vec::new() });
                lines.len() - 1
            });
            // Two expectations about the same thing give one point, for the window of the first.
            if lines[at].points.iter().all(|(known, _)| *known != x) {
                lines[at].points.push((x, y));
            }
            if let Some(y) = verdict.equals
                && claimed.iter().all(|(known, _)| *known != x)
            {
                claimed.push((x, y));
            }
            unit = Some(verdict.unit);
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    SweepPlot {
        title: metric.replace('_', " "),
        over: sweep.over.clone(),
        logarithmic: sweep.logarithmic,
        unit: match unit {
            Some(MetricUnit::Share) => "share",
            unit => unit.map_or("", MetricUnit::symbol),
        },
        lines,
        claimed,
    }
}
