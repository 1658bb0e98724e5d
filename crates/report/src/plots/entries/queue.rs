//! Packets waiting at a link.

use super::captions;
use crate::plots::{Chart, PlotEntry, PlotSource, Recorded, Scale, has_links, key};

pub(crate) static PLOT: PlotEntry = PlotEntry {
    name: "queue",
    key: "queue",
    title: "Queue",
    detail: "mean, shaded up to the maximum",
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
    script: r#"{
      lines: () => {
        const max = linkLines("qmax");
        const mean = linkLines("qmean");
        const lines = [];
        mean.forEach((m) => {
          const top = max.find((x) => x.g === m.g && x.dt === m.dt);
          if (top) lines.push({ ...top, width: 0.6, name: "max", band: true, faint: true });
          lines.push({ ...m, name: "mean" });
        });
        return lines;
      },
      unit: "packets", none: "This link was not sampled.", paused: true,
    }"#,
};
