//! Goodput of each flow, as a moving mean.

use super::captions;
use crate::FlowRow;
use crate::plots::{
    Chart, Drawn, Family, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_flows, key,
};

/// Mean goodput, bits per second.
pub(super) const GOODPUT: Recorded<FlowRow> =
    Recorded::mean(0, key::GOODPUT, Scale::FitsLasting(Family::Rates), |flow| flow.goodput.bps());

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "throughput",
    key: "goodput",
    title: "Throughput",
    detail: |_| "per flow".into(),
    explanation: "Rate at which payload of each flow arrives, in order or not, as a moving mean of up to nine points.",
    chart: Chart::Opens(|_| "Throughput"),
    source: PlotSource::Flow(&[GOODPUT]),
    is_shown: has_flows,
    said: captions::goodputs,
    asks_why: true,
    quantity: "Throughput",
    unit: Unit::Of(key::GOODPUT),
    draws: &[Drawn::moving_mean(key::GOODPUT)],
    shape: Shape::LINES,
    none: "No goodput was sampled.",
};
