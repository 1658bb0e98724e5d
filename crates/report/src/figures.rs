//! The figures of a run, one entry each, for cards, tables and comparisons of laws.
//!
//! To add a figure, add an entry to [`FIGURES`], at its place in tables. Figures whose number
//! depends on the run (slowdowns by flow size, times after each change) are in
//! `compare/figures.rs`.

use serde::{Deserialize, Serialize};

use crate::figure::{NONE, count, index, mean, percent, seconds};
use crate::{DelaySummary, Headline, Summary, TrafficSummary};

/// What a metric is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// A share from 0 to 1, shown as a percentage.
    Share,
    /// A number from 0 to 1.
    Index,
    /// Packets waiting: a mean or a whole number.
    Packets,
    /// A count.
    Count,
    /// Seconds.
    Seconds,
    /// A ratio of times.
    Ratio,
    /// Bits per second.
    Rate,
    /// Bits per second over seconds.
    Power,
}

/// Which of two values is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The larger value.
    More,
    /// The smaller value.
    Less,
    /// Neither value.
    Neither,
}

/// What a figure is read from.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) summary: &'a Summary,
    pub(crate) headline: &'a Headline,
}

/// A figure of a run. A place that does not show the figure has `None`.
#[derive(Clone, Copy)]
pub(crate) struct RunFigure {
    /// Title in the page's table of all figures.
    pub(crate) row: Option<&'static str>,
    /// Label on a law's card, and the unit after the figure.
    pub(crate) card: Option<(&'static str, &'static str)>,
    /// Title in the terminal's table, and how early a narrow terminal drops the column (0: never).
    pub(crate) column: Option<(&'static str, u8)>,
    /// How the figure compares laws.
    pub(crate) compared: Option<Compared>,
    /// Whether cards, and tables with any such law, show the figure.
    pub(crate) is_shown: fn(&Headline) -> bool,
    /// The figure as people read it.
    pub(crate) text: fn(Reading<'_>) -> String,
}

/// How a figure compares laws.
#[derive(Clone, Copy)]
pub(crate) struct Compared {
    /// Position among the compared figures. A new one takes the next number.
    pub(crate) number: u8,
    /// What programs call the figure.
    pub(crate) name: &'static str,
    /// What people call the figure.
    pub(crate) title: &'static str,
    /// Whether the figure is of the bottlenecks alone.
    pub(crate) is_of_bottleneck: bool,
    pub(crate) unit: FigureUnit,
    /// Which of two values is better, in these runs.
    pub(crate) better: fn(&[&Summary]) -> Better,
    pub(crate) value: fn(Reading<'_>) -> Option<f64>,
}

/// The figures by which laws are compared, in order.
pub(crate) fn compared() -> Vec<Compared> {
    let mut list: Vec<Compared> = FIGURES.iter().filter_map(|figure| figure.compared).collect();
    list.sort_by_key(|compared| compared.number);
    list
}

impl RunFigure {
    /// A row of the page's table, and no more.
    const fn row(title: &'static str, text: fn(Reading<'_>) -> String) -> RunFigure {
        let is_shown = |_: &Headline| true;
        RunFigure { row: Some(title), card: None, column: None, compared: None, is_shown, text }
    }
    const fn on_card(self, label: &'static str, unit: &'static str) -> RunFigure {
        RunFigure { card: Some((label, unit)), ..self }
    }
    const fn in_column(self, title: &'static str, order: u8) -> RunFigure {
        RunFigure { column: Some((title, order)), ..self }
    }
    const fn compared(self, compared: Compared) -> RunFigure {
        RunFigure { compared: Some(compared), ..self }
    }
    const fn shown_if(self, is_shown: fn(&Headline) -> bool) -> RunFigure {
        RunFigure { is_shown, ..self }
    }
}

/// All figures, in the order of tables and cards.
pub(crate) static FIGURES: [RunFigure; 27] = [
    RunFigure::row("Utilisation of the bottleneck", |r| percent(known(r.headline.utilisation)))
        .in_column("utilisation", 0)
        .compared(Compared {
            number: 0,
            name: "utilisation",
            title: "utilisation",
            is_of_bottleneck: true,
            unit: FigureUnit::Share,
            better: better_utilisation,
            value: |r| r.headline.utilisation,
        }),
    RunFigure::row("Fairness, Jain’s index", |r| index(r.headline.jain_index))
        .on_card("Fairness", "")
        .in_column("Jain", 0),
    RunFigure::row("Queue, mean (packets)", |r| mean(known(r.headline.queue_packets_mean)))
        .on_card("Queue, mean", "packets")
        .in_column("queue mean", 0)
        .compared(Compared {
            number: 2,
            name: "queue_packets_mean",
            title: "queue mean",
            is_of_bottleneck: true,
            unit: FigureUnit::Packets,
            better: less,
            value: |r| r.headline.queue_packets_mean,
        }),
    RunFigure::row("Queue, 99 % (packets)", |r| mean(known(r.headline.queue_packets_p99)))
        .on_card("Queue, 99 %", "packets")
        .in_column("p99", 1)
        .compared(Compared {
            number: 3,
            name: "queue_packets_p99",
            title: "queue p99",
            is_of_bottleneck: true,
            unit: FigureUnit::Packets,
            better: less,
            value: |r| r.headline.queue_packets_p99,
        }),
    RunFigure::row("Queue, max (packets)", |r| {
        r.headline.queue_packets_max.map_or(NONE.into(), count)
    })
    .on_card("Queue, max", "packets")
    .in_column("max", 0)
    .compared(Compared {
        number: 4,
        name: "queue_packets_max",
        title: "queue max",
        is_of_bottleneck: true,
        unit: FigureUnit::Packets,
        better: less,
        value: |r| r.headline.queue_packets_max.map(|n| n as f64),
    }),
    RunFigure::row("Drops (packets)", |r| count(r.headline.drops))
        .on_card("Drops", "packets")
        .in_column("drops", 0)
        .compared(Compared {
            number: 5,
            name: "drops_packets",
            title: "drops",
            is_of_bottleneck: false,
            unit: FigureUnit::Count,
            better: less,
            value: |r| Some(r.headline.drops as f64),
        }),
    RunFigure::row("Marks (packets)", |r| count(r.headline.marks))
        .on_card("Marks", "packets")
        .in_column("marks", 2)
        .shown_if(|headline| headline.marks > 0),
    RunFigure::row("Fairness over time, Jain’s index", |r| index(r.summary.jain_over_time))
        .compared(Compared {
            number: 1,
            name: "jain_over_time",
            title: "Jain over time",
            is_of_bottleneck: false,
            unit: FigureUnit::Index,
            better: more,
            value: |r| r.summary.jain_over_time,
        }),
    RunFigure::row("Time until fair, the longest after a change", |r| until_fair(r.summary)),
    RunFigure::row("Round-trip time, max", |r| seconds(r.summary.rtt_max_s)).compared(Compared {
        number: 6,
        name: "rtt_max_s",
        title: "worst RTT",
        is_of_bottleneck: false,
        unit: FigureUnit::Seconds,
        better: less,
        value: |r| r.summary.rtt_max_s,
    }),
    RunFigure::row("Round-trip time, p50, p95, p99", |r| percentiles(r.summary.rtt)),
    RunFigure::row("One-way delay, p50, p95, p99", |r| percentiles(r.summary.one_way)),
    RunFigure::row("Data packets lost", |r| percent(known(r.summary.loss_share))),
    RunFigure::row("Flows completed", |r| {
        r.headline.completions.as_ref().map_or(NONE.into(), |c| count(c.flows))
    }),
    RunFigure::row("Completion time, mean", |r| {
        seconds(r.headline.completions.as_ref().map(|c| c.mean_s))
    }),
    RunFigure::row("Completion time, median", |r| {
        seconds(r.headline.completions.as_ref().map(|c| c.median_s))
    })
    .on_card("Completion, median", "")
    .in_column("FCT median", 1)
    .shown_if(|headline| headline.completions.is_some()),
    RunFigure::row("Completion time, 99 %", |r| {
        seconds(r.headline.completions.as_ref().and_then(|c| c.p99().0))
    })
    .on_card("Completion, 99 %", "")
    .in_column("FCT p99", 1)
    .shown_if(|headline| headline.completions.is_some()),
    RunFigure::row("Slowdown, median", |r| {
        mean(known(r.headline.completions.as_ref().and_then(|c| c.slowdown_median)))
    }),
    RunFigure::row("Slowdown, 99 %", |r| {
        mean(known(r.headline.completions.as_ref().and_then(|c| c.p99().1)))
    }),
    RunFigure { row: None, ..RunFigure::row("", |r| count(r.headline.unfinished)) }
        .on_card("Unfinished", "flows")
        .in_column("unfinished", 1)
        .shown_if(|headline| headline.unfinished > 0)
        .compared(Compared {
            number: 7,
            name: "unfinished_flows",
            title: "unfinished flows",
            is_of_bottleneck: false,
            unit: FigureUnit::Count,
            better: less,
            value: |r| r.summary.unfinished_flows.map(|n| n as f64),
        }),
    RunFigure::row("Packets sent, whole run", |r| {
        let conservation = &r.summary.conservation;
        let missing = if conservation.holds() { "" } else { " (NOT CONSERVED)" };
        count(conservation.sent_packets) + missing
    }),
    RunFigure::row("Packets that arrived twice, whole run", |r| {
        count(r.summary.conservation.duplicated_packets)
    }),
    RunFigure::row("Packets delivered, whole run", |r| {
        count(r.summary.conservation.delivered_packets)
    }),
    RunFigure::row("Packets dropped, whole run", |r| count(r.summary.conservation.dropped_packets)),
    RunFigure::row("Packets in flight at the end", |r| {
        count(r.summary.conservation.in_flight_packets)
    }),
    RunFigure::row("Data packets delivered, whole run", |r| {
        count(r.summary.engine.data_packets_delivered)
    }),
    RunFigure::row("Events", |r| count(r.summary.engine.events)),
];

/// A value, or NaN, which is shown as missing.
fn known(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

/// Percentiles of a delay.
fn percentiles(of: Option<DelaySummary>) -> String {
    let Some(DelaySummary { p50_s, p95_s, p99_s, .. }) = of else { return NONE.into() };
    [p50_s, p95_s, p99_s].map(|s| seconds(Some(s))).join(", ")
}

fn more(_: &[&Summary]) -> Better {
    Better::More
}

fn less(_: &[&Summary]) -> Better {
    Better::Less
}

/// Unfinished flows per completed flow that may just be on their way when a run ends.
const UNDERWAY: f64 = 0.02;

/// Whether more utilisation is better. If all flows have a given size and complete, each law has
/// the same data to carry, and the rest of the utilisation is headers and retransmissions.
pub(crate) fn better_utilisation(all: &[&Summary]) -> Better {
    let sized = |s: &&Summary| s.flows.iter().all(|flow| flow.size_bytes.is_some());
    match all.iter().all(|s| sized(s) && practically_all_complete(s)) {
        true => Better::Neither,
        false => Better::More,
    }
}

/// Whether next to no flow of a given size was unfinished.
pub(crate) fn practically_all_complete(summary: &Summary) -> bool {
    let completed = summary.completions.as_ref().map_or(0, |c| c.flows);
    completed > 0 && summary.unfinished_flows.unwrap_or(0) as f64 <= UNDERWAY * completed as f64
}

/// Whether next to no incast of a class was incomplete.
pub(crate) fn practically_all_incasts(class: &TrafficSummary) -> bool {
    class.share_of_incasts().is_none_or(|share| share >= 1.0 - UNDERWAY)
}

/// The longest that flows took to share fairly after a change.
fn until_fair(summary: &Summary) -> String {
    let took = summary.settlings.iter().map(|settling| settling.took_s);
    match took.reduce(|worst, next| Some(worst?.max(next?))) {
        None => NONE.into(),
        Some(None) => "not always".into(),
        longest => seconds(longest.flatten()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compared_figures_are_numbered_without_gaps() {
        let list = compared();
        assert!(list.iter().map(|one| one.number).eq(0..list.len() as u8));
        let mut names: Vec<&str> = list.iter().map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), list.len());
    }

    #[test]
    fn every_figure_is_shown_somewhere() {
        for figure in &FIGURES {
            assert!(figure.row.is_some() || figure.card.is_some() || figure.column.is_some());
        }
    }
}
