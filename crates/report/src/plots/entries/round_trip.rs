//! Smoothed round-trip time of each flow.

use super::captions;
use crate::plots::{
    Chart, Drawn, Family, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_flows,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "round-trip",
    key: "rtt",
    title: "Round-trip time",
    detail: |_| "smoothed".into(),
    explanation: "Smoothed round-trip time of each flow, as its sender knows it.",
    chart: Chart::Opens(|_| "Round-trip time"),
    source: PlotSource::Flow(&[Recorded::mean(4, "rtt", Scale::Fits(Family::Times), |flow| {
        if flow.srtt.is_zero() { f64::NAN } else { flow.srtt.secs() }
    })]),
    is_shown: has_flows,
    said: captions::round_trips,
    asks_why: false,
    quantity: "Round-trip time",
    unit: Unit::Of("rtt"),
    draws: &[Drawn::line("rtt")],
    shape: Shape::LINES,
    none: "No round-trip time was measured.",
};
