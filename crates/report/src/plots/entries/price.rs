//! Price of a message over each connection of an overlay.

use super::captions;
use crate::plots::{
    Chart, Drawn, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_overlay,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "price",
    key: "price",
    title: "Connections of the overlay",
    detail: |_| "price of a message".into(),
    explanation: "What a message over each connection of an overlay costs.",
    chart: Chart::Opens(|_| "Connections of the overlay"),
    source: PlotSource::Connection(&[Recorded::mean(
        1,
        "price",
        Scale::Fixed(1.0),
        |connection| connection.price,
    )]),
    is_shown: has_overlay,
    said: captions::groups,
    asks_why: false,
    quantity: "Price of a message",
    unit: Unit::Fixed("dollars"),
    draws: &[Drawn::line("price")],
    shape: Shape::LINES,
    none: "Nothing ever waited for a connection.",
};
