//! Packets waiting at a link.

use super::captions;
use crate::plots::{
    Chart, Drawn, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_links, key,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "queue",
    key: "queue",
    title: "Queue",
    detail: |_| "mean, shaded up to the maximum".into(),
    explanation: "Packets waiting at a link: the mean, shaded up to the maximum.",
    chart: Chart::Opens(|_| "Queue"),
    source: PlotSource::Link(&[
        Recorded::mean(1, "qmean", Scale::Fixed(1.0), |link| link.queue_packets_mean),
        Recorded::max(2, key::QUEUE_MAX, Scale::Fixed(1.0), |link| {
            f64::from(link.queue_packets_max)
        }),
        Recorded {
            begins_above_zero: true,
            ..Recorded::mean(3, key::PAUSED, Scale::Fixed(1.0), |link| link.paused)
        },
    ]),
    is_shown: has_links,
    said: captions::links,
    asks_why: false,
    quantity: "Queue",
    unit: Unit::Fixed("packets"),
    draws: &[Drawn::band(key::QUEUE_MAX, "max"), Drawn::named("qmean", "mean")],
    shape: Shape { shaded: Some(key::PAUSED), ..Shape::LINES },
    none: "This link was not sampled.",
};
