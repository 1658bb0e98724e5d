//! What is compared, and where a run's summary has it.

use std::collections::BTreeSet;

use ratewire_table::clip;
use ratewire_units::Bytes;

use super::measured::{Measured, is_extreme};
use super::{About, Better, FigureUnit};
use crate::figure::plural;
use crate::figures::{Compared, Reading, compared};
use crate::{Headline, Settling, SizeSummary, Summary};

/// Characters of a link's name in titles.
const NAME: usize = 24;

/// All figures of a run as a whole, also those without a value, with the run's own bottlenecks.
#[cfg(feature = "parquet")]
pub(crate) fn measured_of_run(summary: &Summary) -> Vec<Measured> {
    let all = [summary];
    of_run(&all, &crate::headline::bottlenecks(&all))
}

/// The figures that any of the summaries has.
pub(super) fn figures(all: &[&Summary], bottlenecks: &[u32]) -> Vec<Measured> {
    let mut list = of_run(all, bottlenecks);
    list.extend(of_sizes(all));
    list.retain(|figure| all.iter().any(|summary| (figure.value)(summary).is_some()));
    // A change after which no law became fair tells as much.
    list.extend(of_changes(all));
    list
}

/// The figures of a run as a whole, queue and utilisation of the bottlenecks.
pub(super) fn of_run(all: &[&Summary], bottlenecks: &[u32]) -> Vec<Measured> {
    let measured = |figure: Compared| {
        let of = bottlenecks.to_vec();
        let value = move |summary: &Summary| {
            let headline = &Headline::of(summary, String::new(), &of);
            (figure.value)(Reading { summary, headline })
        };
        Measured {
            name: figure.name.into(),
            title: figure.title.into(),
            at: match figure.is_of_bottleneck {
                true => at(all, bottlenecks, is_extreme(figure.name)),
                false => String::new(),
            },
            about: About::Run,
            unit: figure.unit,
            better: (figure.better)(all),
            value: Box::new(value),
        }
    };
    compared().into_iter().map(measured).collect()
}

/// Where the bottlenecks are, for titles. The link called `bottleneck` needs no word. Of several,
/// figures are means, and maxima and percentiles the largest.
fn at(all: &[&Summary], bottlenecks: &[u32], is_extreme: bool) -> String {
    let name = |link: &u32| all.first()?.links.get(*link as usize).map(|link| link.name.as_str());
    match bottlenecks {
        [] => String::new(),
        [one] => name(one)
            .filter(|name| *name != "bottleneck" && !name.is_empty())
            .map_or(String::new(), |name| format!(" at {}", clip(name, NAME))),
        several => {
            let which = if is_extreme { ", largest of " } else { " of " };
            format!("{which}{}", plural(several.len(), "link"))
        }
    }
}

/// Reads a statistic of the flows of about one size.
type Statistic = fn(&SizeSummary) -> Option<f64>;

/// Number of flows, and percentiles of their slowdown, at each size that completed under any law.
fn of_sizes(all: &[&Summary]) -> Vec<Measured> {
    let sizes = all.iter().flat_map(|s| &s.completions).flat_map(|c| &c.by_size);
    let sizes: BTreeSet<(u64, Option<u64>)> =
        sizes.map(|size| (size.from_bytes, size.below_bytes)).collect();
    let mut list = Vec::new();
    for (from, below) in sizes {
        let text = |bytes| Bytes::new(bytes).to_string();
        let what = match below {
            Some(below) if from == 0 => format!("below {}", text(below)),
            Some(below) => format!("{} to {}", text(from), text(below)),
            None => format!("{} and more", text(from)),
        };
        let counted = (FigureUnit::Count, Better::Neither);
        let slower = (FigureUnit::Ratio, Better::Less);
        let mut add = |name: &str, title: &str, (unit, better), statistic: Statistic| {
            let value = move |s: &Summary| {
                let sizes = &s.completions.as_ref()?.by_size;
                sizes.iter().find(|size| size.from_bytes == from).and_then(statistic)
            };
            list.push(Measured {
                name: format!("{name}_from_{from}_bytes"),
                title: format!("{what}, {title}"),
                at: String::new(),
                about: About::Sizes,
                unit,
                better,
                value: Box::new(value),
            });
        };
        add("completed_flows", "n", counted, |size| Some(size.flows as f64));
        add("slowdown_median", "p50", slower, |size| size.slowdown_median);
        add("slowdown_p95", "p95", slower, |size| size.slowdown_p95);
        add("slowdown_p99", "p99", slower, |size| size.slowdown_p99);
        add("slowdown_p999", "p99.9", slower, |size| size.slowdown_p999);
    }
    list
}

/// A change, by what it is: its instant may be drawn anew in each run.
#[derive(Clone, PartialEq)]
struct Change {
    what: String,
    /// Number among those of a run that are called the same.
    nth: usize,
}

/// The changes of a run, with what is known after each.
fn changes(summary: &Summary) -> Vec<(Change, &Settling)> {
    let what = |settling: &Settling| {
        let timed = settling.event.rsplit_once(" at ");
        timed.map_or(settling.event.as_str(), |(what, _)| what).to_string()
    };
    let mut list: Vec<(Change, &Settling)> = Vec::new();
    for settling in &summary.settlings {
        let what = what(settling);
        let nth = list.iter().filter(|(change, _)| change.what == what).count();
        list.push((Change { what, nth }, settling));
    }
    list
}

/// The time after each change that any run has, in order of the earliest.
fn of_changes(all: &[&Summary]) -> Vec<Measured> {
    let mut known: Vec<(f64, Change, &str)> = Vec::new();
    for (change, settling) in all.iter().flat_map(|s| changes(s)) {
        match known.iter_mut().find(|(_, known, _)| *known == change) {
            Some((at, _, event)) => {
                *at = at.min(settling.at_s);
                // Where runs have it at several times, it is called without one.
                if *event != settling.event {
                    *event = "";
                }
            }
            None => known.push((settling.at_s, change, &settling.event)),
        }
    }
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let figure = |(_, change, event): (f64, Change, &str)| {
        let title = match (event, change.nth) {
            ("", 0) => change.what.clone(),
            ("", nth) => format!("{}, number {}", change.what, nth + 1),
            (event, _) => event.to_string(),
        };
        let value = move |s: &Summary| {
            let found = changes(s).into_iter().find(|(other, _)| *other == change);
            found.and_then(|(_, settling)| settling.took_s)
        };
        Measured {
            name: format!("settling_s: {title}"),
            title,
            at: String::new(),
            about: About::Changes,
            unit: FigureUnit::Seconds,
            better: Better::Less,
            value: Box::new(value),
        }
    };
    known.into_iter().map(figure).collect()
}
