//! Goodput of each flow, point by point.

use super::captions;
use super::throughput::GOODPUT;
use crate::plots::{Chart, Drawn, PlotEntry, PlotSource, Shape, Unit, has_flows, key};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "sampled",
    key: "sampled",
    title: "Throughput",
    detail: |_| "per flow, as sampled".into(),
    explanation: "Rate at which payload of each flow arrives, in order or not, point by point.",
    chart: Chart::Joins,
    source: PlotSource::Flow(&[GOODPUT]),
    is_shown: has_flows,
    said: captions::goodputs,
    asks_why: false,
    quantity: "Throughput",
    unit: Unit::Of(key::GOODPUT),
    draws: &[Drawn::line(key::GOODPUT)],
    shape: Shape::LINES,
    none: "No goodput was sampled.",
};
