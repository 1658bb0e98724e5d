//! Data of each flow in flight.

use super::captions;
use crate::plots::{
    Chart, Drawn, Family, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_flows,
};
use ratewire_units::Bytes;

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "in-flight",
    key: "flight",
    title: "Window",
    detail: |_| "data in flight".into(),
    explanation: "Payload of each flow that is sent and not acknowledged.",
    chart: Chart::Joins,
    source: PlotSource::Flow(&[Recorded::mean(2, "flight", Scale::Fits(Family::Sizes), |flow| {
        flow.in_flight.map_or(f64::NAN, Bytes::as_f64)
    })]),
    is_shown: has_flows,
    said: captions::goodputs,
    asks_why: false,
    quantity: "Data in flight",
    unit: Unit::Of("flight"),
    draws: &[Drawn::line("flight")],
    shape: Shape::LINES,
    none: "Nothing was sampled.",
};
