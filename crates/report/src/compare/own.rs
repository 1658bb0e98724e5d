//! Figures that sweeps have beside those by which laws are compared.

use super::measured::Measured;
use super::{About, Better, FigureUnit};
use crate::Summary;

/// A figure, and how it is read off a summary.
struct OwnFigure {
    name: &'static str,
    title: &'static str,
    unit: FigureUnit,
    better: Better,
    value: fn(&Summary) -> Option<f64>,
}

/// The figures, in the order of the page.
pub(crate) fn own() -> Vec<Measured> {
    let measured = |own: &OwnFigure| Measured {
        name: own.name.into(),
        title: own.title.into(),
        at: String::new(),
        about: About::Flows,
        unit: own.unit,
        better: own.better,
        value: Box::new(own.value),
    };
    OWN.iter().map(measured).collect()
}

/// Figures of flows that comparisons show, too.
const COMPARED: [&str; 9] = [
    "goodput_flow_mean_bps",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_p99_s",
    "one_way_p50_s",
    "one_way_p95_s",
    "one_way_p99_s",
    "loss_share",
    "power_bps2",
];

/// The figures of flows by which laws are compared, if any of the summaries has them.
pub(super) fn of_flows(all: &[&Summary]) -> Vec<Measured> {
    let mut list = own();
    list.retain(|figure| COMPARED.contains(&figure.name.as_str()));
    list.retain(|figure| all.iter().any(|summary| figure.value(summary).is_some()));
    list
}

/// To add a figure, add an entry, and a row to `docs/reference/files.md`.
static OWN: [OwnFigure; 21] = [
    OwnFigure {
        name: "goodput_bps",
        title: "goodput of listed flows",
        unit: FigureUnit::Rate,
        better: Better::More,
        value: goodput_bps,
    },
    OwnFigure {
        name: "jain_index",
        title: "Jain’s index",
        unit: FigureUnit::Index,
        better: Better::More,
        value: |summary| summary.jain_index,
    },
    OwnFigure {
        name: "rtt_mean_s",
        title: "mean RTT",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.rtt.map(|rtt| rtt.mean_s),
    },
    OwnFigure {
        name: "goodput_flow_mean_bps",
        title: "goodput a flow",
        unit: FigureUnit::Rate,
        better: Better::More,
        value: |summary| {
            let rates: Vec<f64> = goodputs(summary).collect();
            (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
        },
    },
    OwnFigure {
        name: "goodput_flow_least_bps",
        title: "least goodput of a flow",
        unit: FigureUnit::Rate,
        better: Better::More,
        value: |summary| goodputs(summary).reduce(f64::min),
    },
    OwnFigure {
        name: "rtt_p50_s",
        title: "RTT p50",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.rtt.map(|rtt| rtt.p50_s),
    },
    OwnFigure {
        name: "rtt_p95_s",
        title: "RTT p95",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.rtt.map(|rtt| rtt.p95_s),
    },
    OwnFigure {
        name: "rtt_p99_s",
        title: "RTT p99",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.rtt.map(|rtt| rtt.p99_s),
    },
    OwnFigure {
        name: "one_way_mean_s",
        title: "one-way delay, mean",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.one_way.map(|delay| delay.mean_s),
    },
    OwnFigure {
        name: "one_way_p50_s",
        title: "one-way delay p50",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.one_way.map(|delay| delay.p50_s),
    },
    OwnFigure {
        name: "one_way_p95_s",
        title: "one-way delay p95",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.one_way.map(|delay| delay.p95_s),
    },
    OwnFigure {
        name: "one_way_p99_s",
        title: "one-way delay p99",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.one_way.map(|delay| delay.p99_s),
    },
    OwnFigure {
        name: "loss_share",
        title: "data packets lost",
        unit: FigureUnit::Share,
        better: Better::Less,
        value: |summary| summary.loss_share,
    },
    OwnFigure {
        name: "power_bps2",
        title: "power",
        unit: FigureUnit::Power,
        better: Better::More,
        value: |summary| Some(goodput_bps(summary)? / summary.rtt?.mean_s),
    },
    OwnFigure {
        name: "retransmitted_packets",
        title: "packets sent again",
        unit: FigureUnit::Count,
        better: Better::Less,
        value: |summary| {
            let sum: u64 = summary.flows.iter().map(|flow| flow.retransmitted_packets).sum();
            (!summary.flows.is_empty()).then_some(sum as f64)
        },
    },
    OwnFigure {
        name: "marks_packets",
        title: "marks",
        unit: FigureUnit::Count,
        better: Better::Neither,
        value: |summary| Some(summary.links.iter().map(|link| link.marks).sum::<u64>() as f64),
    },
    OwnFigure {
        name: "completion_mean_s",
        title: "mean completion time",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.completions.as_ref().map(|all| all.mean_s),
    },
    OwnFigure {
        name: "completion_median_s",
        title: "median completion time",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.completions.as_ref().map(|all| all.median_s),
    },
    OwnFigure {
        name: "completion_p99_s",
        title: "completion time, 99 %",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |summary| summary.completions.as_ref().and_then(|all| all.p99().0),
    },
    OwnFigure {
        name: "slowdown_median",
        title: "median slowdown",
        unit: FigureUnit::Ratio,
        better: Better::Less,
        value: |summary| summary.completions.as_ref().and_then(|all| all.slowdown_median),
    },
    OwnFigure {
        name: "slowdown_p99",
        title: "slowdown, 99 %",
        unit: FigureUnit::Ratio,
        better: Better::Less,
        value: |summary| summary.completions.as_ref().and_then(|all| all.p99().1),
    },
];

/// Data that listed flows delivered to hosts over the run.
///
/// A flow's share is of that total, which counts data that a switch forwards once.
fn goodput_bps(summary: &Summary) -> Option<f64> {
    let some = summary.flows.iter().find(|flow| flow.share > 0.0);
    let total = some.map_or(0.0, |flow| flow.delivered_bytes as f64 / flow.share);
    let is_known = !summary.flows.is_empty() && summary.measured_s() > 0.0;
    is_known.then(|| total * 8.0 / summary.measured_s())
}

/// Goodput of each listed flow that ran in the measured part of the run.
fn goodputs(summary: &Summary) -> impl Iterator<Item = f64> {
    summary.flows.iter().filter(|flow| summary.has_run(flow)).map(|flow| flow.goodput_bps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DelaySummary, FlowSummary};

    #[test]
    fn goodput_is_that_of_all_listed_flows_and_counts_data_once() {
        let flow = |delivered_bytes, share| FlowSummary {
            delivered_bytes,
            share,
            ..FlowSummary::default()
        };
        // The third flow goes on to a switch: its data are those of the first two.
        let flows = vec![flow(0, 0.0), flow(3_000, 0.75), flow(1_000, 0.25), flow(4_000, 1.0)];
        let rtt = Some(DelaySummary { mean_s: 0.1, ..DelaySummary::default() });
        let summary = Summary { flows, rtt, duration_s: 2.0, ..Summary::default() };
        assert_eq!(goodput_bps(&summary), Some(16_000.0));
        let read = |name: &str| {
            let of = own().into_iter().find(|figure| figure.name == name);
            of.expect(name).value(&summary)
        };
        // Power is over the same mean.
        assert_eq!((read("rtt_mean_s"), read("power_bps2")), (Some(0.1), Some(160_000.0)));
        let none = Summary { duration_s: 2.0, ..Summary::default() };
        assert_eq!(goodput_bps(&none), None);
    }
}
