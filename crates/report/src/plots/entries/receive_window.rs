//! What each receiver allows.

use super::captions;
use super::window::limit;
use crate::plots::{
    Chart, Drawn, Family, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_flows,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "receive-window",
    key: "rwnd",
    title: "Window",
    detail: |_| "receive window".into(),
    explanation: "Window that each flow's receiver advertises, where there is a limit.",
    chart: Chart::Joins,
    source: PlotSource::Flow(&[Recorded::mean(3, "rwnd", Scale::Fits(Family::Sizes), |flow| {
        limit(flow.receive_window)
    })]),
    is_shown: has_flows,
    said: captions::goodputs,
    asks_why: false,
    quantity: "Receive window",
    unit: Unit::Of("rwnd"),
    draws: &[Drawn::line("rwnd")],
    shape: Shape::LINES,
    none: "No receiver sets a limit.",
};
