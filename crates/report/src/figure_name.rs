//! Names of figures that are asked for, of a link, a flow, a class of traffic or a run:
//! `queue/hop2`, `goodput/long`, `fct_p99/web`, `fct_p99`. `compare/choice.rs` reads them off a
//! summary.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A figure that is asked for: what, and of which link, flow or class of traffic.
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
    /// A class of arriving traffic.
    Class,
}

/// Figures of a link.
pub(crate) const OF_LINK: [&str; 8] = [
    "utilisation",
    "throughput",
    "queue",
    "queue_p99",
    "queue_max",
    "drops",
    "drop_share",
    "marks",
];
/// Figures of a listed flow.
pub(crate) const OF_FLOW: [&str; 16] = [
    "goodput",
    "share",
    "fct",
    "rtt_mean",
    "rtt_min",
    "rtt_max",
    "rtt_p50",
    "rtt_p95",
    "rtt_p99",
    "one_way_mean",
    "one_way_p50",
    "one_way_p95",
    "one_way_p99",
    "loss",
    "power",
    "sent_again",
];
/// Figures of the flows of a class of traffic that completed, and of its incasts.
pub(crate) const OF_CLASS: [&str; 15] = [
    "fct_mean",
    "fct_median",
    "fct_p95",
    "fct_p99",
    "fct_p999",
    "slowdown_median",
    "slowdown_p95",
    "slowdown_p99",
    "slowdown_p999",
    "incast_complete",
    "incast_mean",
    "incast_p50",
    "incast_p95",
    "incast_p99",
    "incast_max",
];
/// Figures of a run, by the names that files have for them.
pub(crate) const OF_RUN: [(&str, &str); 29] = [
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
    ("goodput_flow_mean", "goodput_flow_mean_bps"),
    ("goodput_flow_least", "goodput_flow_least_bps"),
    ("rtt_p50", "rtt_p50_s"),
    ("rtt_p95", "rtt_p95_s"),
    ("rtt_p99", "rtt_p99_s"),
    ("one_way_mean", "one_way_mean_s"),
    ("one_way_p50", "one_way_p50_s"),
    ("one_way_p95", "one_way_p95_s"),
    ("one_way_p99", "one_way_p99_s"),
    ("loss", "loss_share"),
    ("power", "power_bps2"),
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
        self.of.as_deref().zip(subject(&self.figure)).map(|(of, kind)| (kind, of))
    }

    /// Whether a figure of this name is of the bottlenecks of a run.
    pub(crate) fn is_of_bottleneck(name: &str) -> bool {
        ["utilisation", "queue", "queue_p99", "queue_max"].contains(&name)
    }

    /// Whether it is of the incasts of a class.
    pub fn is_of_incasts(&self) -> bool {
        self.figure.starts_with("incast_")
    }

    /// The same figure of a link, flow or class whose name is written out.
    pub fn of(self, name: &str) -> FigureName {
        FigureName { of: Some(name.to_string()), ..self }
    }

    /// A list of names with commas between them. A part of it that begins with no figure belongs to
    /// the name before, because names of links, flows and classes may have commas.
    ///
    /// # Errors
    /// A text that tells what is wrong with a name.
    pub fn list(text: &str) -> Result<Vec<FigureName>, String> {
        let mut names: Vec<FigureName> = Vec::new();
        for part in text.split(',') {
            match (part.parse::<FigureName>(), names.last_mut()) {
                (Ok(name), _) => names.push(name),
                (Err(_), Some(FigureName { of: Some(of), .. })) if !part.contains('/') => {
                    *of += &format!(",{part}");
                }
                (Err(wrong), _) => return Err(wrong),
            }
        }
        Ok(names)
    }

    /// The figure, and the link, flow or class that it is of, if it is of one.
    pub(crate) fn parts(&self) -> (&str, Option<&str>) {
        (&self.figure, self.of.as_deref())
    }
}

impl FromStr for FigureName {
    type Err = String;

    fn from_str(text: &str) -> Result<FigureName, String> {
        let (figure, of) = match text.split_once('/') {
            Some((figure, of)) => (figure.trim(), Some(of.trim().to_string())),
            None => (text.trim(), None),
        };
        let of_run = OF_RUN.iter().any(|(name, _)| *name == figure);
        let subject = subject(figure);
        let example = match subject {
            Some(Subject::Link) => format!("{figure}/LINK, as in {figure}/bottleneck"),
            Some(Subject::Flow) => format!("{figure}/FLOW, as in {figure}/s1-d1"),
            Some(Subject::Class) => format!("{figure}/CLASS, as in {figure}/web"),
            None if !of_run => return Err(unknown(figure)),
            None => figure.to_string(),
        };
        match &of {
            Some(name) if name.is_empty() || subject.is_none() => Err(format!("write {example}")),
            None if !of_run => Err(format!("write {example}")),
            _ => Ok(FigureName { figure: figure.to_string(), of }),
        }
    }
}

/// What a figure can be of, other than a run.
fn subject(figure: &str) -> Option<Subject> {
    let lists: [(&[&str], Subject); 3] =
        [(&OF_LINK, Subject::Link), (&OF_FLOW, Subject::Flow), (&OF_CLASS, Subject::Class)];
    lists.into_iter().find(|(list, _)| list.contains(&figure)).map(|(_, subject)| subject)
}

fn unknown(figure: &str) -> String {
    format!(
        "no figure is called {figure:?}; of a run: {}; of a link, as in queue/hop2: {}; of a flow, as \
         in goodput/s1-d1: {}; of a class of traffic, as in fct_p99/web: {}",
        OF_RUN.map(|(name, _)| name).join(", "),
        OF_LINK.join(", "),
        OF_FLOW.join(", "),
        OF_CLASS.join(", "),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_it_is_of() {
        let name = |text: &str| text.parse::<FigureName>().expect(text);
        assert_eq!(name("goodput/a/b").subject(), Some((Subject::Flow, "a/b")));
        assert_eq!(name("fct_p99/web").subject(), Some((Subject::Class, "web")));
        assert_eq!(name("queue/hop2").of("hop3").subject(), Some((Subject::Link, "hop3")));
        assert_eq!((name("queue").subject(), name("queue").to_string()), (None, "queue".into()));
    }

    #[test]
    fn names_in_lists_may_have_commas() {
        let list = |text: &str| {
            let names = FigureName::list(text)?;
            Ok::<_, String>(names.iter().map(FigureName::to_string).collect::<Vec<String>>())
        };
        let names = list("queue/hop1, jain,goodput/web, mail,loss,rtt_max");
        assert_eq!(names.unwrap(), ["queue/hop1", "jain", "goodput/web, mail", "loss", "rtt_max"]);
        assert!(list("mail,jain").is_err() && list("queue/hop1,gooodput/x").is_err());
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
        assert_eq!(refused("fct_p99/"), "write fct_p99/CLASS, as in fct_p99/web");
        assert_eq!(refused("jain/long"), "write jain");
        let json = serde_json::to_string(&"queue/x".parse::<FigureName>().unwrap()).unwrap();
        assert_eq!(json, "\"queue/x\"");
        assert!(serde_json::from_str::<FigureName>("\"queues\"").is_err());
    }
}
