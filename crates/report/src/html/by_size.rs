//! Completion times by flow size: slowdowns in bins of a twentieth of the flows, and tables.

use ratewire_units::Bytes;

use super::drawn;
use super::groups::{Groups, Mode};
use super::table::table;
use super::text::escape;
use crate::draw::{Figure, FigureAxis, FigurePanel, FigureSeries, SeriesKind};
use crate::figure::{NONE, count, mean, plural, seconds};
use crate::headline::{completions, labels};
use crate::{CompletionSummary, Run, SizeSummary};

/// Fewest bins that show how slowdown depends on size.
const BINS: usize = 4;
/// Most runs with a table of their own.
const TABLES: usize = 8;

/// The figure and the tables; empty if no flow completed.
pub(super) fn by_size(runs: &[Run], groups: &Groups) -> String {
    let known: Vec<(usize, CompletionSummary)> = runs
        .iter()
        .enumerate()
        .filter_map(|(index, run)| Some((index, completions(run)?)))
        .collect();
    let names = labels(runs);
    let mut out = figure(&known, groups);
    let rest = known.len().saturating_sub(TABLES);
    for (index, all) in known.iter().take(TABLES) {
        out += &format!(
            "<details><summary>Completion times by size, {}</summary>\n{}</details>\n",
            escape(&names[*index]),
            tables(all)
        );
    }
    if rest > 0 {
        out += &format!(
            "<p class=\"note\">… and {} more, in <code>summary.json</code>.</p>\n",
            plural(rest, "run")
        );
    }
    out
}

/// Reads a statistic of the flows of about one size.
type Statistic = fn(&SizeSummary) -> Option<f64>;

/// Percentiles of slowdown against size, a panel a percentile, a line a law; empty where one run
/// mixes laws, whose flows are together.
fn figure(known: &[(usize, CompletionSummary)], groups: &Groups) -> String {
    let known = || known.iter().filter(|(_, all)| all.by_twentieth.len() >= BINS);
    if groups.mode == Mode::Mixed || known().next().is_none() {
        return String::new();
    }
    let statistics: [(&str, Statistic); 3] = [
        ("Median", |bin| bin.slowdown_median),
        ("95 %", |bin| bin.slowdown_p95),
        ("99 %", |bin| bin.slowdown_p99),
    ];
    let at = |bin: &SizeSummary| bin.from_bytes.max(1) as f64 / 1e3;
    let panel = |(title, of): &(&str, Statistic)| {
        let line = |(index, all): &(usize, CompletionSummary)| {
            let group = &groups.list[*index];
            let points: Vec<(f64, Option<f64>)> =
                all.by_twentieth.iter().map(|bin| (at(bin), of(bin))).collect();
            FigureSeries {
                name: group.name.clone(),
                g: *index as i64,
                hue: group.hue as i64,
                dash: group.dash % 4,
                mark: group.mark,
                kind: SeriesKind::Joined,
                points,
                ..FigureSeries::default()
            }
        };
        let series: Vec<FigureSeries> = known()
            .map(line)
            .filter(|line| line.points.iter().any(|(_, value)| value.is_some()))
            .collect();
        FigurePanel { title: title.to_string(), series }
    };
    let panels: Vec<FigurePanel> =
        statistics.iter().map(panel).filter(|panel| !panel.series.is_empty()).collect();
    let values = |all: &[FigurePanel]| -> Vec<f64> {
        let series = all.iter().flat_map(|panel| &panel.series);
        series.flat_map(|line| line.points.iter().filter_map(|point| point.1)).collect()
    };
    let (sizes, slowdowns) = (known().flat_map(|(_, all)| &all.by_twentieth), values(&panels));
    if slowdowns.is_empty() {
        return String::new();
    }
    let figure = Figure {
        name: "slowdown-size".into(),
        title: "Slowdown against size".into(),
        detail:
            "Each mark stands for the flows of its size up to the next: a twentieth of all, or \
                 those of one size. A percentile with too few flows is left out."
                .into(),
        x: FigureAxis::around("Flow size", "KB", sizes.map(at)),
        y: FigureAxis::around("Slowdown", "times", slowdowns.into_iter()),
        scale: None,
        marks: Vec::new(),
        apart_by: "statistic".into(),
        panels,
    };
    drawn::figure(&figure, "Percentiles of slowdown against flow size")
}

const HEAD: [&str; 10] = [
    "Size",
    "Flows",
    "Time p50",
    "Time p95",
    "Time p99",
    "Time p99.9",
    "Slowdown p50",
    "Slowdown p95",
    "Slowdown p99",
    "Slowdown p99.9",
];

/// Tables of all flows, and of each class of traffic.
fn tables(all: &CompletionSummary) -> String {
    let named = all.by_traffic.iter().map(|of| (of.name.as_str(), &of.completions));
    let table_of = |(name, of): (&str, &CompletionSummary)| {
        let rows = [whole(of)].into_iter().chain(of.by_size.iter().map(row));
        table(name, &HEAD, rows)
    };
    [("All flows", all)].into_iter().chain(named).map(table_of).collect()
}

/// A row of a table: what the flows are, their number, and percentiles of times and slowdowns.
fn cells(
    what: String,
    flows: u64,
    times: [Option<f64>; 4],
    slowdowns: [Option<f64>; 4],
) -> Vec<String> {
    let slowdown = |value: Option<f64>| value.map_or(NONE.into(), mean);
    let numbers = times.into_iter().map(seconds).chain(slowdowns.into_iter().map(slowdown));
    [what, count(flows)].into_iter().chain(numbers).collect()
}

fn whole(of: &CompletionSummary) -> Vec<String> {
    let (time, slowdown) = of.p99();
    let times = [Some(of.median_s), of.p95_s, time, of.p999_s];
    let slowdowns = [of.slowdown_median, of.slowdown_p95, slowdown, of.slowdown_p999];
    cells("all".into(), of.flows, times, slowdowns)
}

fn row(of: &SizeSummary) -> Vec<String> {
    let text = |bytes| Bytes::new(bytes).to_string();
    let what = match of.below_bytes {
        Some(below) if of.from_bytes == 0 => format!("below {}", text(below)),
        Some(below) => format!("{} to {}", text(of.from_bytes), text(below)),
        None => format!("{} and more", text(of.from_bytes)),
    };
    let times = [of.median_s, of.p95_s, of.p99_s, of.p999_s];
    let slowdowns = [of.slowdown_median, of.slowdown_p95, of.slowdown_p99, of.slowdown_p999];
    cells(what, of.flows, times, slowdowns)
}

#[cfg(test)]
mod tests {
    use ratewire_units::{Bytes, Duration};

    use super::*;
    use crate::{Collector, Completion, RunInfo, Summary, TrafficInfo};

    fn run(flows: u64) -> Run {
        let class = |name: &str| TrafficInfo { name: name.into(), ..TrafficInfo::default() };
        let traffic = vec![class("web"), class("bulk")];
        let info = RunInfo { law: "xcp".into(), traffic, ..RunInfo::default() };
        let mut collector = Collector::new(&info);
        for i in 1..=flows {
            let took = Duration::from_millis(10 * i);
            collector.completion(Completion {
                size: Bytes::new(1000 * i),
                traffic: Some((i % 2) as u32),
                took,
                ideal: Some(took / 2),
                ..Completion::default()
            });
        }
        let collected = collector.finish();
        let completions = collected.completion_summary.clone();
        Run { info, summary: Summary { completions, ..Summary::default() }, collected }
    }

    fn section(flows: u64) -> String {
        let runs = [run(flows)];
        by_size(&runs, &Groups::of(&runs))
    }

    #[test]
    fn tables_have_classes_of_size_and_traffic_and_leave_out_what_is_unknown() {
        let text = section(200);
        for caption in ["All flows", "web", "bulk"] {
            assert!(text.contains(&format!("<caption>{caption}</caption>")), "{caption}");
        }
        let all = "<th scope=\"row\">all</th><td class=\"n\">200</td><td class=\"n\">1 s</td>\
                   <td class=\"n\">1.9 s</td><td class=\"n\">1.98 s</td><td class=\"n\">–</td>\
                   <td class=\"n\">2.00</td>";
        let (found, _) = text.split_once("</tr>\n").expect("rows");
        assert!(text.contains(all), "{found}");
        assert!(text.contains("<th scope=\"row\">below 10 KB</th><td class=\"n\">9</td>"));
    }

    #[test]
    fn a_figure_has_a_panel_for_each_percentile_that_is_known() {
        let panels = |flows| {
            let text = section(flows);
            let titles = ["Median", "95 %", "99 %"];
            let has = |title: &&str| text.contains(&format!("\"title\":\"{title}\""));
            titles.into_iter().filter(has).collect::<Vec<&str>>()
        };
        assert_eq!(panels(200), ["Median"]);
        assert_eq!(panels(400), ["Median", "95 %"]);
        assert_eq!(panels(2000), ["Median", "95 %", "99 %"]);
        assert!(panels(3).is_empty());
    }
}
