//! A toy: payload and headers that a link sent.

use super::captions;
use crate::plots::{Chart, Drawn, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_links};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "sent",
    key: "sent",
    title: "Sent by links",
    detail: |_| "sent".into(),
    explanation: "Bytes that a link sent, headers included.",
    chart: Chart::Opens(|_| "Sent by links"),
    source: PlotSource::Link(&[Recorded::mean(6, "sent", Scale::Fixed(1e6), |link| {
        link.throughput.bps()
    })]),
    is_shown: has_links,
    said: captions::links,
    asks_why: false,
    quantity: "Sent",
    unit: Unit::Fixed("Mbit/s"),
    draws: &[Drawn::line("sent")],
    shape: Shape::LINES,
    none: "This link was not sampled.",
};
