//! What is compared, and where a run's summary has it.

use std::collections::BTreeSet;

use ratewire_table::clip;
use ratewire_units::Bytes;

use super::{About, Better, FigureUnit};
use crate::figure::plural;
use crate::figures::{Compared, Reading, compared};
use crate::{Headline, SizeSummary, Summary};

/// Characters of a link's name in titles.
const NAME: usize = 24;

/// Reads the value of a metric from a summary.
type Value = Box<dyn Fn(&Summary) -> Option<f64>>;

/// A figure, and how it is read off a summary.
pub(crate) struct Measured {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) about: About,
    pub(super) unit: FigureUnit,
    pub(super) better: Better,
    pub(super) value: Value,
}

/// The figures that any of the summaries of one network has.
pub(crate) fn measured(all: &[&Summary]) -> Vec<Measured> {
    figures(all, &crate::headline::bottlenecks(all))
}

/// All figures of a run as a whole, also those without a value, with the run's own bottlenecks.
#[cfg(feature = "parquet")]
pub(crate) fn measured_of_run(summary: &Summary) -> Vec<Measured> {
    let all = [summary];
    of_run(&all, &crate::headline::bottlenecks(&all))
}

impl Measured {
    /// What programs and people call the figure.
    pub(crate) fn names(&self) -> (String, String) {
        (self.name.clone(), self.title.clone())
    }

    /// Unit of the values, and what the figure belongs to.
    pub(crate) fn kind(&self) -> (FigureUnit, About) {
        (self.unit, self.about)
    }

    /// The value of a run; `None` where there was nothing to measure.
    pub(crate) fn value(&self, summary: &Summary) -> Option<f64> {
        (self.value)(summary).filter(|value| value.is_finite())
    }
}

/// The figures that any of the summaries has.
pub(super) fn figures(all: &[&Summary], bottlenecks: &[u32]) -> Vec<Measured> {
    let mut list = of_run(all, bottlenecks);
    list.extend(of_sizes(all));
    list.extend(of_changes(all));
    list.retain(|figure| all.iter().any(|summary| (figure.value)(summary).is_some()));
    list
}

/// The figures of a run as a whole, queue and utilisation of the bottlenecks.
fn of_run(all: &[&Summary], bottlenecks: &[u32]) -> Vec<Measured> {
    let at = at(all, bottlenecks);
    let measured = |figure: Compared| {
        let bottlenecks = bottlenecks.to_vec();
        let value = move |summary: &Summary| {
            let headline = &Headline::of(summary, String::new(), &bottlenecks);
            (figure.value)(Reading { summary, headline })
        };
        Measured {
            name: figure.name.into(),
            title: match figure.is_of_bottleneck {
                true => format!("{}{at}", figure.title),
                false => figure.title.into(),
            },
            about: About::Run,
            unit: figure.unit,
            better: (figure.better)(all),
            value: Box::new(value),
        }
    };
    compared().into_iter().map(measured).collect()
}

/// Where the bottlenecks are, for titles. The link called `bottleneck` needs no word.
fn at(all: &[&Summary], bottlenecks: &[u32]) -> String {
    let name = |link: &u32| all.first()?.links.get(*link as usize).map(|link| link.name.as_str());
    match bottlenecks {
        [] => String::new(),
        [one] => name(one)
            .filter(|name| *name != "bottleneck" && !name.is_empty())
            .map_or(String::new(), |name| format!(" at {}", clip(name, NAME))),
        several => format!(" of {}", plural(several.len(), "link")),
    }
}

/// Median and 99th percentile of the slowdown at each size that completed under any law.
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
        let mut add = |name: &str, title: &str, statistic: fn(&SizeSummary) -> f64| {
            let value = move |s: &Summary| {
                let sizes = &s.completions.as_ref()?.by_size;
                sizes.iter().find(|size| size.from_bytes == from).map(statistic)
            };
            list.push(Measured {
                name: format!("slowdown_{name}_from_{from}_bytes"),
                title: format!("{what}, {title}"),
                about: About::Sizes,
                unit: FigureUnit::Ratio,
                better: Better::Less,
                value: Box::new(value),
            });
        };
        add("median", "p50", |size| size.slowdown_median);
        add("p99", "p99", |size| size.slowdown_p99);
    }
    list
}

/// The time after each change that any run has, in order of the earliest.
fn of_changes(all: &[&Summary]) -> Vec<Measured> {
    let mut events: Vec<(f64, &str)> = Vec::new();
    for settling in all.iter().flat_map(|s| &s.settlings) {
        match events.iter_mut().find(|(_, event)| *event == settling.event) {
            Some((at, _)) => *at = at.min(settling.at_s),
            None => events.push((settling.at_s, &settling.event)),
        }
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    let figure = |(_, event): (f64, &str)| {
        let wanted = event.to_string();
        let value = move |s: &Summary| s.settlings.iter().find(|e| e.event == wanted)?.took_s;
        Measured {
            name: format!("settling_s: {event}"),
            title: event.into(),
            about: About::Changes,
            unit: FigureUnit::Seconds,
            better: Better::Less,
            value: Box::new(value),
        }
    };
    events.into_iter().map(figure).collect()
}
