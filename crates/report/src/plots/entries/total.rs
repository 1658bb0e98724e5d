//! Goodput of all flows together.

use super::captions;
use crate::Run;
use crate::plots::{
    Chart, Drawn, Family, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_flows,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "total",
    key: "total",
    title: "Throughput",
    detail: |_| "all flows together".into(),
    explanation: "Rate at which payload of all flows arrives, in order or not, those of `[[traffic]]` included.",
    chart: Chart::Joins,
    source: PlotSource::AllFlows(&[Recorded::rate(
        0,
        "total",
        Scale::Fits(Family::Rates),
        |bits| *bits,
    )]),
    is_shown: |runs| {
        has_flows(runs) || runs.iter().any(|run: &Run| run.collected.all_flows.has("total"))
    },
    said: captions::goodputs,
    asks_why: false,
    quantity: "Throughput",
    unit: Unit::Of("total"),
    draws: &[Drawn::line("total")],
    shape: Shape::LINES,
    none: "No goodput was sampled.",
};
