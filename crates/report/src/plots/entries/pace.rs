//! The pace that each flow's law asks for.

use super::captions;
use crate::plots::{
    Chart, Drawn, Family, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_flows,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "pace",
    key: "pacing",
    title: "Throughput",
    detail: |_| "pace asked for".into(),
    explanation: "The rate at which each flow's law wants to send, where it paces.",
    chart: Chart::Joins,
    source: PlotSource::Flow(&[Recorded::mean(5, "pacing", Scale::Fits(Family::Rates), |flow| {
        flow.pacing.map_or(f64::NAN, |pace| pace.bps())
    })]),
    is_shown: has_flows,
    said: captions::goodputs,
    asks_why: false,
    quantity: "Pace",
    unit: Unit::Of("pacing"),
    draws: &[Drawn::line("pacing")],
    shape: Shape::LINES,
    none: "No law here asks for a pace.",
};
