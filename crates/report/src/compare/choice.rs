//! Figures that are asked for by name, of a link, a flow or a run: `queue/hop2`, `goodput/long`,
//! `fct_p99`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::figures::{Measured, asked, of_run};
use super::own::own;
use super::{About, Better, FigureUnit};
use crate::{FlowSummary, LinkSummary, Summary};

/// A figure that is asked for: what, and of which link or flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FigureName {
    figure: String,
    of: Option<String>,
}

/// What a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A link.
    Link,
    /// A listed flow.
    Flow,
}

/// A figure of one link or flow.
struct Named<S> {
    name: &'static str,
    title: &'static str,
    unit: FigureUnit,
    better: Better,
    value: fn(&S) -> Option<f64>,
}

/// Figures of a link. To add one, add an entry, and a row to `docs/reference/figures.md`.
static OF_LINK: [Named<LinkSummary>; 7] = [
    Named {
        name: "utilisation",
        title: "utilisation",
        unit: FigureUnit::Share,
        better: Better::More,
        value: |link| Some(link.utilisation),
    },
    Named {
        name: "throughput",
        title: "throughput",
        unit: FigureUnit::Rate,
        better: Better::More,
        value: |link| Some(link.throughput_bps),
    },
    Named {
        name: "queue",
        title: "queue mean",
        unit: FigureUnit::Packets,
        better: Better::Less,
        value: |link| Some(link.queue_packets_mean),
    },
    Named {
        name: "queue_p99",
        title: "queue p99",
        unit: FigureUnit::Packets,
        better: Better::Less,
        value: |link| Some(link.queue_packets_p99),
    },
    Named {
        name: "queue_max",
        title: "queue max",
        unit: FigureUnit::Packets,
        better: Better::Less,
        value: |link| Some(link.queue_packets_max as f64),
    },
    Named {
        name: "drops",
        title: "drops",
        unit: FigureUnit::Count,
        better: Better::Less,
        value: |link| Some(link.drops_total() as f64),
    },
    Named {
        name: "marks",
        title: "marks",
        unit: FigureUnit::Count,
        better: Better::Neither,
        value: |link| Some(link.marks as f64),
    },
];

/// Figures of a listed flow, as [`OF_LINK`].
static OF_FLOW: [Named<FlowSummary>; 7] = [
    Named {
        name: "goodput",
        title: "goodput",
        unit: FigureUnit::Rate,
        better: Better::More,
        value: |flow| Some(flow.goodput_bps),
    },
    Named {
        name: "share",
        title: "share",
        unit: FigureUnit::Share,
        better: Better::Neither,
        value: |flow| Some(flow.share),
    },
    Named {
        name: "fct",
        title: "completion time",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.completion_s,
    },
    Named {
        name: "rtt_mean",
        title: "RTT mean",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.rtt_mean_s,
    },
    Named {
        name: "rtt_min",
        title: "RTT min",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.rtt_min_s,
    },
    Named {
        name: "rtt_max",
        title: "RTT max",
        unit: FigureUnit::Seconds,
        better: Better::Less,
        value: |flow| flow.rtt_max_s,
    },
    Named {
        name: "sent_again",
        title: "packets sent again",
        unit: FigureUnit::Count,
        better: Better::Less,
        value: |flow| Some(flow.retransmitted_packets as f64),
    },
];

/// Figures of a run, by the names that files have for them.
const OF_RUN: [(&str, &str); 18] = [
    ("utilisation", "utilisation"),
    ("queue", "queue_packets_mean"),
    ("queue_p99", "queue_packets_p99"),
    ("queue_max", "queue_packets_max"),
    ("drops", "drops_packets"),
    ("marks", "marks_packets"),
    ("goodput", "goodput_bps"),
    ("jain", "jain_index"),
    ("jain_over_time", "jain_over_time"),
    ("rtt_mean", "rtt_mean_s"),
    ("rtt_max", "rtt_max_s"),
    ("sent_again", "retransmitted_packets"),
    ("unfinished", "unfinished_flows"),
    ("fct_mean", "completion_mean_s"),
    ("fct_median", "completion_median_s"),
    ("fct_p99", "completion_p99_s"),
    ("slowdown_median", "slowdown_median"),
    ("slowdown_p99", "slowdown_p99"),
];

impl FigureName {
    /// What the figure is of, and its name, unless it is of the run.
    pub fn subject(&self) -> Option<(Subject, &str)> {
        let kind = if of_link(&self.figure).is_some() { Subject::Link } else { Subject::Flow };
        self.of.as_deref().map(|of| (kind, of))
    }

    /// The same figure of a link or flow whose name is written out.
    pub fn of(self, name: &str) -> FigureName {
        FigureName { of: Some(name.to_string()), ..self }
    }

    fn measured(&self, all: &[&Summary], bottlenecks: &[u32]) -> Option<Measured> {
        let name = self.to_string();
        let Some(of) = self.of.clone() else {
            let (_, known) = OF_RUN.iter().find(|(name, _)| *name == self.figure)?;
            let mut figures = of_run(all, bottlenecks).into_iter().chain(own());
            let found = figures.find(|figure| figure.name == *known)?;
            return Some(Measured { name, about: About::Chosen, ..found });
        };
        let title = |title: &str, word: &str| format!("{title} {word} {of}");
        let about = About::Chosen;
        if let Some(Named { title: what, unit, better, value, .. }) = of_link(&self.figure) {
            let title = title(what, "at");
            let value = move |s: &Summary| value(s.links.iter().find(|link| link.name == of)?);
            let (unit, better, value) = (*unit, *better, Box::new(value));
            return Some(Measured { name, title, at: String::new(), about, unit, better, value });
        }
        let Named { title: what, unit, better, value, .. } = of_flow(&self.figure)?;
        let title = title(what, "of");
        let value = move |s: &Summary| value(s.flows.iter().find(|flow| flow.name == of)?);
        let (unit, better, value) = (*unit, *better, Box::new(value));
        Some(Measured { name, title, at: String::new(), about, unit, better, value })
    }
}

impl FromStr for FigureName {
    type Err = String;

    fn from_str(text: &str) -> Result<FigureName, String> {
        let (figure, of) = match text.split_once('/') {
            Some((figure, of)) => (figure.trim(), Some(of.trim().to_string())),
            None => (text.trim(), None),
        };
        let (of_link, of_flow) = (of_link(figure).is_some(), of_flow(figure).is_some());
        let of_run = OF_RUN.iter().any(|(name, _)| *name == figure);
        let example = match (of_link, of_flow) {
            (true, _) => format!("{figure}/LINK, as in {figure}/bottleneck"),
            (_, true) => format!("{figure}/FLOW, as in {figure}/s1-d1"),
            (false, false) if !of_run => return Err(unknown(figure)),
            (false, false) => figure.to_string(),
        };
        match &of {
            Some(name) if name.is_empty() || !of_link && !of_flow => {
                Err(format!("write {example}"))
            }
            None if !of_run => Err(format!("write {example}")),
            _ => Ok(FigureName { figure: figure.to_string(), of }),
        }
    }
}

fn unknown(figure: &str) -> String {
    let names =
        |names: &mut dyn Iterator<Item = &'static str>| names.collect::<Vec<_>>().join(", ");
    format!(
        "no figure is called {figure:?}; of a run: {}; of a link, as in queue/hop2: {}; of a flow, as \
         in goodput/s1-d1: {}",
        names(&mut OF_RUN.iter().map(|(name, _)| *name)),
        names(&mut OF_LINK.iter().map(|figure| figure.name)),
        names(&mut OF_FLOW.iter().map(|figure| figure.name)),
    )
}

impl fmt::Display for FigureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.of {
            Some(of) => write!(f, "{}/{of}", self.figure),
            None => f.write_str(&self.figure),
        }
    }
}

impl TryFrom<String> for FigureName {
    type Error = String;

    fn try_from(text: String) -> Result<FigureName, String> {
        text.parse()
    }
}

impl From<FigureName> for String {
    fn from(name: FigureName) -> String {
        name.to_string()
    }
}

fn of_link(name: &str) -> Option<&'static Named<LinkSummary>> {
    OF_LINK.iter().find(|figure| figure.name == name)
}

fn of_flow(name: &str) -> Option<&'static Named<FlowSummary>> {
    OF_FLOW.iter().find(|figure| figure.name == name)
}

/// The figures that are asked for, in their order.
pub(super) fn chosen(names: &[FigureName], all: &[&Summary], bottlenecks: &[u32]) -> Vec<Measured> {
    names.iter().filter_map(|name| name.measured(all, bottlenecks)).collect()
}

impl Summary {
    /// Values of figures that are asked for.
    pub fn asked(&self, names: &[FigureName]) -> BTreeMap<String, Option<f64>> {
        let all = [self];
        let figures = asked(names, &all);
        figures.iter().map(|figure| (figure.names().0, figure.value(self))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_off_the_links_and_flows_of_their_names() {
        let link = |name: &str, queue_packets_mean| LinkSummary {
            name: name.into(),
            queue_packets_mean,
            ..LinkSummary::default()
        };
        let flow = |name: &str, goodput_bps| FlowSummary {
            name: name.into(),
            goodput_bps,
            ..FlowSummary::default()
        };
        let summary = Summary {
            links: vec![link("hop1", 455.0), link("hop2", 9.5)],
            flows: vec![flow("a/b", 1e6), flow("long", 2e6)],
            jain_over_time: Some(0.5),
            ..Summary::default()
        };
        let names = ["queue/hop2", "goodput/a/b", "jain_over_time", "fct/long", "queue"];
        let names = names.map(|name| name.parse::<FigureName>().expect(name));
        let all = [&summary];
        let chosen = chosen(&names, &all, &[0]);
        let read: Vec<(String, Option<f64>)> =
            chosen.iter().map(|figure| (figure.title(), figure.value(&summary))).collect();
        let expected = [
            ("queue mean at hop2", Some(9.5)),
            ("goodput of a/b", Some(1e6)),
            ("Jain over time", Some(0.5)),
            ("completion time of long", None),
            ("queue mean at hop1", Some(455.0)),
        ];
        assert_eq!(read, expected.map(|(title, value)| (title.to_string(), value)));
        assert_eq!(chosen[0].name, "queue/hop2");
        assert_eq!(names[1].subject(), Some((Subject::Flow, "a/b")));
        assert_eq!(names[0].clone().of("hop3").subject(), Some((Subject::Link, "hop3")));
    }

    #[test]
    fn every_figure_of_a_run_exists() {
        let summary = Summary::default();
        let all = [&summary];
        for (name, _) in OF_RUN {
            let name: FigureName = name.parse().expect(name);
            assert_eq!(chosen(&[name], &all, &[]).len(), 1);
        }
    }

    #[test]
    fn what_is_no_figure_is_refused_with_what_there_is() {
        let refused = |text: &str| text.parse::<FigureName>().unwrap_err();
        assert!(
            refused("queues").contains("no figure is called \"queues\"; of a run: utilisation,")
        );
        assert_eq!(refused("queue/"), "write queue/LINK, as in queue/bottleneck");
        assert_eq!(refused("throughput"), "write throughput/LINK, as in throughput/bottleneck");
        assert_eq!(refused("share"), "write share/FLOW, as in share/s1-d1");
        assert_eq!(refused("fct_p99/long"), "write fct_p99");
        let json = serde_json::to_string(&"queue/x".parse::<FigureName>().unwrap()).unwrap();
        assert_eq!(json, "\"queue/x\"");
        assert!(serde_json::from_str::<FigureName>("\"queues\"").is_err());
    }
}
