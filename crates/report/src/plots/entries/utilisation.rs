//! Part of the time a link was sending.

use super::captions;
use crate::plots::{
    Chart, Drawn, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_links, key,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "utilisation",
    key: "util",
    title: "Utilisation",
    detail: |_| "".into(),
    explanation: "Share of the time in which a link was sending.",
    chart: Chart::Opens(|_| "Utilisation"),
    source: PlotSource::Link(&[Recorded::mean(0, key::UTILISATION, Scale::Fixed(0.01), |link| {
        link.utilisation
    })]),
    is_shown: has_links,
    said: captions::links,
    asks_why: false,
    quantity: "Utilisation",
    unit: Unit::Fixed("%"),
    draws: &[Drawn::line(key::UTILISATION)],
    shape: Shape { top: Some(100.0), ..Shape::LINES },
    none: "This link was not sampled.",
};
