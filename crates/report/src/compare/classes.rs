//! Figures of a class of arriving traffic: of its flows that completed, and of its incasts.

use std::collections::BTreeSet;

use super::measured::{Measured, Named};
use super::{About, Better, FigureUnit};
use crate::figures::{practically_all_complete, practically_all_incasts};
use crate::{CompletionSummary, Summary, TrafficSummary};

/// Figures of the flows that completed. To add one, add an entry, a name to `figure_name.rs` and a
/// row to `docs/reference/figures.md`.
static COMPLETIONS: [Named<CompletionSummary>; 9] = [
    Named {
        name: "fct_mean",
        title: "mean completion time",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| Some(of.mean_s),
    },
    Named {
        name: "fct_median",
        title: "median completion time",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| Some(of.median_s),
    },
    Named {
        name: "fct_p95",
        title: "completion time, 95 %",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| of.p95_s,
    },
    Named {
        name: "fct_p99",
        title: "completion time, 99 %",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| of.p99().0,
    },
    Named {
        name: "fct_p999",
        title: "completion time, 99.9 %",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| of.p999_s,
    },
    Named {
        name: "slowdown_median",
        title: "median slowdown",
        unit: FigureUnit::Ratio,
        better: Better::Less,
        value: |of| of.slowdown_median,
    },
    Named {
        name: "slowdown_p95",
        title: "slowdown, 95 %",
        unit: FigureUnit::Ratio,
        better: Better::Less,
        value: |of| of.slowdown_p95,
    },
    Named {
        name: "slowdown_p99",
        title: "slowdown, 99 %",
        unit: FigureUnit::Ratio,
        better: Better::Less,
        value: |of| of.p99().1,
    },
    Named {
        name: "slowdown_p999",
        title: "slowdown, 99.9 %",
        unit: FigureUnit::Ratio,
        better: Better::Less,
        value: |of| of.slowdown_p999,
    },
];

/// Figures of incasts: how many were complete, and times until the last flow of these was.
static INCASTS: [Named<TrafficSummary>; 6] = [
    Named {
        name: "incast_complete",
        title: "incasts complete",
        unit: FigureUnit::Share,
        better: Better::More,
        value: TrafficSummary::share_of_incasts,
    },
    Named {
        name: "incast_mean",
        title: "last flow of incast, mean",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| Some(of.incasts?.mean_s),
    },
    Named {
        name: "incast_p50",
        title: "last flow of incast, p50",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| Some(of.incasts?.p50_s),
    },
    Named {
        name: "incast_p95",
        title: "last flow of incast, p95",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| of.incasts?.tails().0,
    },
    Named {
        name: "incast_p99",
        title: "last flow of incast, p99",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| of.incasts?.tails().1,
    },
    Named {
        name: "incast_max",
        title: "last flow of incast, max",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |of| Some(of.incasts?.max_s),
    },
];

/// Figures of incasts that comparisons show without being asked.
const COMPARED: [&str; 5] =
    ["incast_complete", "incast_p50", "incast_p95", "incast_p99", "incast_max"];

/// The figure of a class of traffic; `None` if no such figure is of a class.
pub(super) fn measured(figure: &str, class: &str) -> Option<Measured> {
    if let Some(found) = COMPLETIONS.iter().find(|known| known.name == figure) {
        return Some(of_class(found, class, |s, class| s.completions_of(class)));
    }
    let found = INCASTS.iter().find(|known| known.name == figure)?;
    Some(of_class(found, class, Summary::class))
}

/// The figures of incasts by which laws are compared, of all classes that have any.
pub(super) fn of_incasts(all: &[&Summary]) -> Vec<Measured> {
    let classes = all.iter().flat_map(|summary| &summary.traffic);
    let having = classes.filter(|class| class.fan_in > 1);
    let names: BTreeSet<&str> = having.map(|class| class.name.as_str()).collect();
    let of = |class| COMPARED.iter().filter_map(move |figure| measured(figure, class));
    let has_any = |figure: &Measured| all.iter().any(|summary| figure.value(summary).is_some());
    names.into_iter().flat_map(of).filter(has_any).collect()
}

/// Ranks no laws by the times of what completed, where more than a little did not: those that are
/// left out may be the longest.
pub(super) fn unrank_incomplete(figures: &mut [Measured], all: &[&Summary]) {
    let are_flows_done = all.iter().all(|summary| practically_all_complete(summary));
    let are_incasts_done = |class: &str| {
        all.iter().all(|summary| summary.class(class).is_none_or(practically_all_incasts))
    };
    for figure in figures {
        let (name, class) = figure.name.split_once('/').unwrap_or((&figure.name, ""));
        let is_of_flows =
            ["completion_", "slowdown_", "fct_"].iter().any(|of| name.starts_with(of));
        let is_of_incasts = name.starts_with("incast_") && name != "incast_complete";
        if is_of_flows && !are_flows_done || is_of_incasts && !are_incasts_done(class) {
            figure.better = Better::Neither;
        }
    }
}

fn of_class<S: 'static>(
    Named { name, title, unit, better, value }: &'static Named<S>,
    class: &str,
    part: for<'a> fn(&'a Summary, &str) -> Option<&'a S>,
) -> Measured {
    let of = class.to_string();
    Measured {
        name: format!("{name}/{class}"),
        title: format!("{class}: {title}"),
        at: String::new(),
        about: About::Flows,
        unit: *unit,
        better: *better,
        value: Box::new(move |summary| value(part(summary, &of)?)),
    }
}

impl Summary {
    fn class(&self, name: &str) -> Option<&TrafficSummary> {
        self.traffic.iter().find(|class| class.name == name)
    }

    /// Completion times of the flows of a class.
    fn completions_of(&self, class: &str) -> Option<&CompletionSummary> {
        let all = self.completions.as_ref()?;
        let own = all.by_traffic.iter().find(|of| of.name == class);
        // Flows that are all of one class are not told apart.
        let is_all = || self.class(class).is_some_and(|class| class.completed_flows == all.flows);
        own.map(|of| &of.completions).or_else(|| Some(all).filter(|_| is_all()))
    }
}

/// Names of all figures.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let completions = COMPLETIONS.iter().map(|figure| figure.name);
    completions.chain(INCASTS.iter().map(|figure| figure.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassSummary, DelaySummary};

    fn read(summary: &Summary, figure: &str, class: &str) -> Option<f64> {
        measured(figure, class).expect(figure).value(summary)
    }

    #[test]
    fn completions_are_those_of_the_class() {
        let of = |mean_s, flows| CompletionSummary { mean_s, flows, ..Default::default() };
        let class = |name: &str, completed_flows| TrafficSummary {
            name: name.into(),
            completed_flows,
            ..Default::default()
        };
        let told = |name: &str, mean_s, flows| ClassSummary {
            name: name.into(),
            completions: of(mean_s, flows),
        };
        let by_traffic = vec![told("web", 2.0, 3), told("mail", 5.0, 1)];
        let mut summary = Summary {
            traffic: vec![class("web", 3), class("mail", 1)],
            completions: Some(CompletionSummary { by_traffic, ..of(2.75, 4) }),
            ..Default::default()
        };
        assert_eq!(read(&summary, "fct_mean", "mail"), Some(5.0));
        // All flows that completed are of one class, and no flow of the other.
        summary.traffic = vec![class("web", 4), class("mail", 0)];
        summary.completions = Some(of(2.75, 4));
        assert_eq!(read(&summary, "fct_mean", "web"), Some(2.75));
        assert_eq!(read(&summary, "fct_mean", "mail"), None);
    }

    #[test]
    fn times_of_what_completed_rank_no_laws_where_others_did_not() {
        let summary = |unfinished, complete| {
            let class = TrafficSummary {
                name: "query".into(),
                fan_in: 10,
                arrived_flows: 1000,
                incasts: Some(DelaySummary { samples: complete, ..Default::default() }),
                ..Default::default()
            };
            Summary {
                traffic: vec![class],
                completions: Some(CompletionSummary { flows: 1000, ..Default::default() }),
                unfinished_flows: Some(unfinished),
                ..Default::default()
            }
        };
        let better = |summaries: &[&Summary]| {
            let names = ["fct_p99/query", "incast_p50/query", "incast_complete/query"];
            let of = |name: &str| {
                let (figure, class) = name.split_once('/').expect("a class");
                measured(figure, class).expect(name)
            };
            let mut figures = names.map(of);
            unrank_incomplete(&mut figures, summaries);
            figures.map(|figure| figure.better)
        };
        let (whole, flows, incasts) = (summary(20, 98), summary(21, 98), summary(20, 97));
        assert_eq!(better(&[&whole, &whole]), [Better::Less, Better::Less, Better::More]);
        assert_eq!(better(&[&whole, &flows]), [Better::Neither, Better::Less, Better::More]);
        assert_eq!(better(&[&incasts, &whole]), [Better::Less, Better::Neither, Better::More]);
    }

    #[test]
    fn incasts_are_compared_by_their_last_flows() {
        let incasts =
            DelaySummary { samples: 99, p50_s: 0.2, p95_s: 0.3, max_s: 0.3, ..Default::default() };
        let class = |name: &str, fan_in, incasts| TrafficSummary {
            name: name.into(),
            fan_in,
            arrived_flows: 1200,
            incasts,
            ..Default::default()
        };
        let traffic = vec![class("web", 1, None), class("query", 12, Some(incasts))];
        let summary = Summary { traffic, ..Default::default() };
        let figures = of_incasts(&[&summary, &Summary::default()]);
        let read: Vec<(String, Option<f64>)> =
            figures.iter().map(|figure| (figure.names().0, figure.value(&summary))).collect();
        // There is no percentile without an incast beyond it.
        let expected = [
            ("incast_complete/query", Some(0.99)),
            ("incast_p50/query", Some(0.2)),
            ("incast_p95/query", Some(0.3)),
            ("incast_max/query", Some(0.3)),
        ];
        assert_eq!(read, expected.map(|(name, value)| (name.to_string(), value)));
        assert_eq!(figures[3].title(), "query: last flow of incast, max");
    }
}
