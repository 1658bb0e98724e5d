//! Messages waiting for each connection of an overlay.

use super::captions;
use crate::plots::{
    Chart, Drawn, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_overlay, key,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "waiting",
    key: "waiting",
    title: "Connections of the overlay",
    detail: |_| "messages waiting".into(),
    explanation: "Messages waiting for each connection of an overlay.",
    chart: Chart::Joins,
    source: PlotSource::Connection(&[Recorded::mean(
        0,
        key::WAITING,
        Scale::Fixed(1.0),
        |connection| connection.waiting_mean,
    )]),
    is_shown: has_overlay,
    said: captions::groups,
    asks_why: false,
    quantity: "Messages waiting",
    unit: Unit::Fixed("messages"),
    draws: &[Drawn::line(key::WAITING)],
    shape: Shape::LINES,
    none: "Nothing ever waited for a connection.",
};
