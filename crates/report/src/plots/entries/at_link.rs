//! Rate of each flow at a link that the scenario chooses.

use super::captions;
use crate::plots::{
    Chart, Drawn, Family, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, rates_at,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "at-link",
    key: "atlink",
    title: "Throughput",
    detail: |runs| format!("per flow at {}", rates_at(runs).unwrap_or("a link")).into(),
    explanation: "Rate at which packets of each flow's data, headers included, come through the link that `rates_at` of `[record]` names, as a moving mean of up to nine points.",
    chart: Chart::Joins,
    source: PlotSource::Flow(&[Recorded {
        begins_above_zero: true,
        ..Recorded::mean(6, "atlink", Scale::FitsLasting(Family::Rates), |flow| {
            flow.at_link.map_or(f64::NAN, |rate| rate.bps())
        })
    }]),
    is_shown: |runs| rates_at(runs).is_some(),
    said: captions::goodputs,
    asks_why: true,
    quantity: "Throughput at the link",
    unit: Unit::Of("atlink"),
    draws: &[Drawn::moving_mean("atlink")],
    shape: Shape::LINES,
    none: "No data came through this link.",
};
