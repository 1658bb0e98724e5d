//! Packets a link dropped.

use super::captions;
use crate::Run;
use crate::plots::{Chart, Drawn, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit, has_links};

/// The chart also offers marks, and says so if there are any.
fn title(runs: &[Run]) -> &'static str {
    let is_marked = runs.iter().flat_map(|run| &run.summary.links).any(|link| link.marks > 0);
    if is_marked { "Drops and marks" } else { "Drops" }
}

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "drops",
    key: "drops",
    title: "Drops",
    detail: |_| "dropped".into(),
    explanation: "Packets that a link dropped, a second.",
    chart: Chart::Opens(title),
    source: PlotSource::Link(&[Recorded {
        is_left_out_if_zero: true,
        ..Recorded::rate(4, "drops", Scale::Fixed(1.0), |link| link.drops as f64)
    }]),
    is_shown: has_links,
    said: captions::links,
    asks_why: false,
    quantity: "Drops",
    unit: Unit::Fixed("packets/s"),
    draws: &[Drawn::line("drops")],
    shape: Shape::STEPS,
    none: "This link dropped no packet.",
};
