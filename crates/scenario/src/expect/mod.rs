//! Expectations: how they are read, and how a run is checked against them.

mod measure;
mod metrics;
mod read;
mod reference;
mod statistics;

use std::sync::Arc;

use ratewire_net::spec::LinkId;
use ratewire_units::{Duration, Rate, Time};

use crate::keys::OF_SEVERAL;

pub use measure::{Evaluator, Finding};
pub use metrics::{MetricInfo, MetricUnit, Subject, metrics};
pub(crate) use read::{Named, read};
use reference::Series;
use statistics::Statistic;

/// An expectation of a scenario.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The metric's name.
    pub metric: &'static str,
    /// The target, as written.
    pub target: String,
    /// The window; `None` for the whole run.
    pub during: Option<(Time, Time)>,
    /// Range of values that pass.
    pub bound: AllowedRange,
    /// Laws that the expectation is about; empty for all.
    pub laws: Vec<String>,
    /// Basis of the bound.
    pub basis: Basis,
    /// Source of the expectation.
    pub source: Option<String>,
    /// Remark of the scenario's author.
    pub note: Option<String>,
    /// Bound of emulated runs, if they have one of their own.
    pub emulated: Option<EmulatedBound>,
    /// Line in the scenario, from 1.
    pub line: usize,
    pub(crate) measure: Measure,
}

/// Bound of emulated runs, where real packets and hosts have another value.
#[derive(Clone, Debug)]
pub struct EmulatedBound {
    /// Range of values that pass.
    pub bound: AllowedRange,
    /// Basis of the bound.
    pub basis: Basis,
    /// Why emulated runs differ.
    pub cause: String,
}

/// Basis of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The source states the value or the order.
    Claim,
    /// A value computed from the source's theory or set-up; the source does not state the value.
    Derived,
    /// The source states the value, and a parameter that it does not state was chosen to meet it.
    Fit,
    /// A run of this program; the source gives no figure.
    Run,
    /// A run of this program that the source contradicts.
    Differs,
}

/// Range of values that pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllowedRange {
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Unit of both limits.
    pub unit: MetricUnit,
    /// Value and tolerance, if the range was written so.
    pub equals: Option<(f64, f64)>,
}

/// The measured things, resolved to indices.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    /// The link; `None` for all.
    pub link: Option<usize>,
    /// Listed flows.
    pub flows: Vec<usize>,
    /// Listed flows that `flows` are compared with.
    pub of: Vec<usize>,
    /// A class of traffic.
    pub traffic: Option<usize>,
    pub statistic: Statistic,
    pub within: f64,
    pub average: Duration,
    pub reference: Option<Reference>,
    /// The link back, and the delay from which an acknowledgement is late.
    pub late: Option<(usize, Duration)>,
    pub part: OverlayPart,
}

impl Measure {
    /// Whether emulated runs can measure it; they do not see single packets.
    pub(crate) fn is_emulated(&self) -> bool {
        self.late.is_none() && !self.is_crossing()
    }

    /// Whether it is about the packets of flows at a link.
    fn is_crossing(&self) -> bool {
        self.link.is_some() && !self.flows.is_empty()
    }
}

/// The part of an overlay that is measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct OverlayPart {
    /// Groups.
    pub groups: Vec<usize>,
    /// The receiving node; `None` for all that receive.
    pub node: Option<usize>,
    /// A connection.
    pub link: Option<usize>,
}

/// Reference that a series is compared with.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub series: Arc<Series>,
    pub capacity: Rate,
    pub skip: Duration,
    pub headers: bool,
}

impl Expectation {
    /// Whether the expectation holds for this law.
    pub(crate) fn is_of(&self, law: &str) -> bool {
        self.laws.is_empty() || self.laws.iter().any(|name| name == law)
    }

    /// The expectation as emulated runs must meet it.
    fn emulated(self) -> Expectation {
        match self.emulated {
            None => self,
            Some(EmulatedBound { bound, basis, cause }) => {
                Expectation { bound, basis, note: Some(cause), emulated: None, ..self }
            }
        }
    }

    /// The statistic over several values; `None` where there is only one value.
    fn statistic(&self) -> Option<Statistic> {
        let of_one = self.measure.flows.len() == 1 && self.metric == "completion_time";
        (OF_SEVERAL.contains(&self.metric) && !of_one).then_some(self.measure.statistic)
    }

    /// Links whose packets the expectation needs one by one.
    pub(crate) fn watched(&self) -> Vec<LinkId> {
        let back = self.measure.late.map(|(back, _)| back);
        let needs = back.is_some() || self.measure.is_crossing();
        let link = self.measure.link.filter(|_| needs);
        link.into_iter().chain(back).map(|link| LinkId(link as u32)).collect()
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
