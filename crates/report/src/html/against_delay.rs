//! Goodput of flows against the delay of their packets.

use super::drawn;
use super::groups::Groups;
use crate::draw::{Figure, FigureAxis, FigurePanel, FigureSeries, SeriesKind};
use crate::{FlowSummary, Run};

/// Most flows that are drawn; others would cover each other.
const FLOWS: usize = 2_000;

/// The section: a mark for each listed flow; empty if no flow's delays are known.
pub(super) fn against_delay(runs: &[Run], groups: &Groups) -> String {
    let mut points: Vec<Vec<(f64, Option<f64>)>> = vec![Vec::new(); groups.list.len()];
    let drawn = |flow: &&FlowSummary| flow.goodput_bps > 0.0;
    let all: usize = runs.iter().map(|run| run.summary.flows.iter().filter(drawn).count()).sum();
    let step = all.div_ceil(FLOWS).max(1);
    for (index, run) in runs.iter().enumerate() {
        for flow in run.summary.flows.iter().filter(drawn).step_by(step) {
            if let Some(delay) = flow.one_way {
                let point = (delay.p95_s * 1e3, Some(flow.goodput_bps / 1e6));
                points[groups.of_law(index, &flow.law)].push(point);
            }
        }
    }
    let values = || points.iter().flatten();
    if values().next().is_none() {
        return String::new();
    }
    let (x, y) = (values().map(|point| point.0), values().filter_map(|point| point.1));
    let (x, y) = (FigureAxis::around("One-way delay, p95", "ms", x), y.collect::<Vec<f64>>());
    let of_law = |(g, points): (usize, &Vec<(f64, Option<f64>)>)| FigureSeries {
        name: groups.list[g].name.clone(),
        g: g as i64,
        hue: groups.list[g].hue as i64,
        mark: groups.list[g].mark,
        kind: SeriesKind::Marks,
        points: points.clone(),
        ..FigureSeries::default()
    };
    let series = points.iter().enumerate().filter(|(_, points)| !points.is_empty()).map(of_law);
    let figure = Figure {
        name: "goodput-delay".into(),
        title: "Goodput against delay".into(),
        detail: match step {
            1 => "A mark for each listed flow; better is up and to the left.".into(),
            n => format!("A mark for one of {n} listed flows; better is up and to the left."),
        },
        x,
        y: FigureAxis::from_zero("Goodput", "Mbit/s", y.into_iter()),
        scale: None,
        marks: Vec::new(),
        apart_by: String::new(),
        panels: vec![FigurePanel { title: String::new(), series: series.collect() }],
    };
    format!(
        "<section aria-labelledby=\"h-delay\"><h2 id=\"h-delay\">Goodput against delay</h2>\n{}</section>\n",
        drawn::figure(&figure, "Goodput of each flow against the 95th percentile of its delay")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collector, DelaySummary, FlowInfo, RunInfo, Summary};

    #[test]
    fn each_flow_whose_delays_are_known_has_a_mark() {
        let info = |law: &str| FlowInfo { law: law.into(), ..FlowInfo::default() };
        let flow = |flow: u32, law: &str, p95_s: Option<f64>| FlowSummary {
            flow,
            law: law.into(),
            goodput_bps: 5e6,
            one_way: p95_s.map(|p95_s| DelaySummary { p95_s, ..DelaySummary::default() }),
            ..FlowSummary::default()
        };
        let run = |flows: Vec<FlowSummary>| {
            let info = RunInfo {
                flows: flows.iter().map(|flow| info(&flow.law)).collect(),
                ..RunInfo::default()
            };
            let collected = Collector::new(&info).finish();
            Run { info, summary: Summary { flows, ..Summary::default() }, collected }
        };
        let section = |run: Run| {
            let runs = [run];
            against_delay(&runs, &Groups::of(&runs))
        };
        let both = section(run(vec![
            flow(0, "xcp", Some(0.02)),
            flow(1, "cubic", Some(0.08)),
            flow(2, "cubic", None),
        ]));
        assert!(both.contains("[[20.0,5.0]]") && both.contains("[[80.0,5.0]]"), "{both}");
        assert!(section(run(vec![flow(0, "xcp", None)])).is_empty());
    }
}
