//! Packets a link marked.

use super::captions;
use crate::plots::{Chart, Drawn, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_links};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "marks",
    key: "marks",
    title: "Marks",
    detail: |_| "marked".into(),
    explanation: "Packets to which a link gave a congestion mark, a second.",
    chart: Chart::Joins,
    source: PlotSource::Link(&[Recorded {
        is_left_out_if_zero: true,
        ..Recorded::rate(5, "marks", Scale::Fixed(1.0), |link| link.marks as f64)
    }]),
    is_shown: has_links,
    said: captions::links,
    asks_why: false,
    quantity: "Marks",
    unit: Unit::Fixed("packets/s"),
    draws: &[Drawn::line("marks")],
    shape: Shape::STEPS,
    none: "This link marked no packet.",
};
