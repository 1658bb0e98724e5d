//! What the senders of each group of an overlay send.

use super::captions;
use crate::plots::{
    Chart, Drawn, Family, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_overlay,
};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "groups",
    key: "sent",
    title: "Groups of the overlay",
    detail: |_| "sent by all their senders".into(),
    explanation: "What all senders of each group of an overlay send, as a moving mean.",
    chart: Chart::Opens(|_| "Groups of the overlay"),
    source: PlotSource::Group(&[Recorded::mean(
        0,
        "sent",
        Scale::FitsLasting(Family::Rates),
        |group| group.sent.bps(),
    )]),
    is_shown: has_overlay,
    said: captions::groups,
    asks_why: false,
    quantity: "Sent",
    unit: Unit::Of("sent"),
    draws: &[Drawn::moving_mean("sent")],
    shape: Shape::LINES,
    none: "No group was sampled.",
};
