//! What must come out: expectations, how they are read, and how a run is held against them.

mod choose;
mod evaluate;
mod flows;
mod late;
mod links;
mod metrics;
mod overlay;
mod rates;
mod read;
mod reference;
mod statistics;
mod vain;

use std::sync::Arc;

use ratewire_net::spec::LinkId;
use ratewire_units::{Duration, Rate, Time};

pub use evaluate::{Evaluator, Finding};
pub use metrics::{MetricInfo, Subject, Unit, metrics};
pub(crate) use read::{Edges, Named, read};
pub(crate) use reference::Series;

/// Something that must come out.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The metric's name.
    pub metric: &'static str,
    /// Of what, as written.
    pub target: String,
    /// When; `None` for the whole run.
    pub during: Option<(Time, Time)>,
    /// The values of a metric that pass.
    pub bound: AllowedRange,
    /// The laws it is expected of; all if empty.
    pub laws: Vec<String>,
    /// What the bound rests on.
    pub basis: Basis,
    /// Where it comes from.
    pub source: Option<String>,
    /// What else there is to say.
    pub note: Option<String>,
    /// The line of the scenario on which it stands, from 1.
    pub line: usize,
    pub(crate) measure: Measure,
}

/// What a bound rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The source states the value or the order.
    Claim,
    /// A value computed from the source's theory or set-up; the source does not state the value.
    Derived,
    /// A run: the source gives no figure.
    Run,
    /// A run that the source contradicts.
    Differs,
}

/// What passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllowedRange {
    /// The least.
    pub min: Option<f64>,
    /// The most.
    pub max: Option<f64>,
    /// What both are in.
    pub unit: Unit,
    /// The value and tolerance they were written as, if they were.
    pub equals: Option<(f64, f64)>,
}

/// What is measured, resolved to indices.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    /// The link; `None` for all.
    pub link: Option<usize>,
    /// Listed flows.
    pub flows: Vec<usize>,
    /// Listed flows that those are compared with.
    pub of: Vec<usize>,
    /// A class of traffic.
    pub traffic: Option<usize>,
    pub statistic: Statistic,
    pub within: f64,
    pub average: Duration,
    pub reference: Option<Reference>,
    /// The link the other way, and how much is late.
    pub late: Option<(usize, Duration)>,
    pub part: overlay::Part,
}

impl Measure {
    /// Whether it is known of emulated runs. What packets say is not.
    fn is_emulated(&self) -> bool {
        self.late.is_none()
    }
}

/// What a series is held against.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub series: Arc<Series>,
    pub capacity: Rate,
    pub skip: Duration,
    pub headers: bool,
}

impl Expectation {
    /// Which of several values is meant; `None` where there is but one.
    fn statistic(&self) -> Option<Statistic> {
        let of_one = self.measure.flows.len() == 1 && self.metric == "completion_time";
        (OF_SEVERAL.contains(&self.metric) && !of_one).then_some(self.measure.statistic)
    }

    /// The links whose packets it has to see one by one.
    pub(crate) fn watched(&self) -> Vec<LinkId> {
        let back = self.measure.late.map(|(back, _)| back);
        let both = back.and_then(|back| Some([self.measure.link?, back]));
        both.into_iter().flatten().map(|link| LinkId(link as u32)).collect()
    }
}

/// Metrics that have a value of each of several flows, samples or messages.
pub(crate) const OF_SEVERAL: [&str; 3] = ["completion_time", "reference_error", "delivery_time"];

/// One of several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistic {
    Mean,
    Percentile(u32),
    Max,
}

impl std::fmt::Display for Statistic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Statistic::Mean => f.write_str("mean"),
            Statistic::Percentile(percent) => write!(f, "p{percent}"),
            Statistic::Max => f.write_str("max"),
        }
    }
}

impl AllowedRange {
    /// Whether `value` passes.
    pub fn holds(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

impl std::fmt::Display for AllowedRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let show = |value: f64| self.unit.show(value);
        match (self.equals, self.min, self.max) {
            (Some((value, 0.0)), ..) => f.write_str(&show(value)),
            (Some((value, tolerance)), ..) => {
                write!(f, "{} +- {}", show(value), show(tolerance))
            }
            (None, Some(min), Some(max)) => write!(f, "{} .. {}", show(min), show(max)),
            (None, Some(min), None) => write!(f, ">= {}", show(min)),
            (None, None, Some(max)) => write!(f, "<= {}", show(max)),
            (None, None, None) => Ok(()),
        }
    }
}
