//! Congestion window of each flow.

use super::captions;
use crate::plots::{Chart, Drawn, Family, PlotEntry, PlotSource, Recorded, Scale, Shape, Unit};
use crate::{FlowRow, Run};
use ratewire_units::Bytes;

/// Mean congestion window, bytes; NaN for a law that has none.
const WINDOW: Recorded<FlowRow> =
    Recorded::mean(1, KEY, Scale::Fits(Family::Sizes), |flow| limit(flow.cwnd));
const KEY: &str = "cwnd";

/// A limit in bytes; NaN where there is none.
pub(super) fn limit(bytes: Bytes) -> f64 {
    if bytes == Bytes::MAX { f64::NAN } else { bytes.as_f64() }
}

fn is_known(runs: &[Run]) -> bool {
    runs.iter().flat_map(|run| &run.collected.flows).any(|flow| flow.tracks.has(KEY))
}

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "window",
    key: "cwnd",
    title: "Window",
    detail: |_| "congestion window".into(),
    explanation: "Congestion window of each flow, in bytes of payload, where its law has one.",
    chart: Chart::Opens(|_| "Window"),
    source: PlotSource::Flow(&[WINDOW]),
    is_shown: is_known,
    said: captions::goodputs,
    asks_why: false,
    quantity: "Congestion window",
    unit: Unit::Of(KEY),
    draws: &[Drawn::line(KEY)],
    shape: Shape::LINES,
    none: "No law here has a window: see data in flight.",
};
