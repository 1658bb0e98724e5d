//! Checks a run against its expectations while it runs.

use std::fmt;

use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, LinkSample, OverlaySample, PacketSeen, Recorder,
};
use ratewire_sim::setup::Setup;
use ratewire_units::{Duration, Time};

use super::crossing::Crossing;
use super::flows::FlowSums;
use super::late::LateAcks;
use super::links::LinkSums;
use super::overlay::OverlaySums;
use crate::expect::metrics::{MetricUnit, Subject, metrics};
use crate::expect::{Basis, Expectation};

/// Collects what expectations need during a run; a [`Recorder`].
#[derive(Clone, Debug)]
pub struct Evaluator {
    law: String,
    checks: Vec<Check>,
}

#[derive(Clone, Debug)]
struct Check {
    expectation: Expectation,
    sums: Sums,
}

#[derive(Clone, Debug)]
enum Sums {
    Link(LinkSums),
    Late(LateAcks),
    Crossing(Crossing),
    Flows(Box<FlowSums>),
    Overlay(Box<OverlaySums>),
}

/// The value measured for one expectation, and whether it passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What was expected, in words: `utilisation of bottleneck, 5 s .. 30 s`.
    pub claim: String,
    /// The metric's name.
    pub metric: &'static str,
    /// The target of the metric.
    pub target: String,
    /// The window, in words.
    pub window: String,
    /// The window; `None` for the whole run.
    pub during: Option<(Time, Time)>,
    /// Measured value; `None` where nothing could be measured.
    pub measured: Option<f64>,
    /// Unit of `measured`, `equals` and `range`.
    pub unit: MetricUnit,
    /// `measured` as text with its unit.
    pub measured_text: String,
    /// Centre of the bound, if the bound is given as value and tolerance.
    pub equals: Option<f64>,
    /// Smallest and largest value that pass.
    pub range: (Option<f64>, Option<f64>),
    /// The bound as text: `>= 0.98`.
    pub bound: String,
    /// Whether it passes.
    pub pass: bool,
    /// Why nothing could be measured; such a finding fails.
    pub reason: Option<String>,
    /// Basis of the bound.
    pub basis: Basis,
    /// Source of the expectation.
    pub source: Option<String>,
    /// Remark of the scenario's author.
    pub note: Option<String>,
    /// Law of the run.
    pub law: String,
    /// Line in the scenario, from 1.
    pub line: usize,
}

impl Evaluator {
    /// Starts the checks of a run of `setup` under `law`, without expectations of other laws.
    pub fn new(expectations: &[Expectation], setup: &Setup, law: &str) -> Evaluator {
        let mine = expectations.iter().filter(|e| e.is_of(law));
        let checks = mine.map(|expectation| {
            let info = metrics().iter().find(|info| info.name == expectation.metric);
            let late = expectation.measure.link.zip(expectation.measure.late);
            let sums = match (late, info.map(|info| info.subject)) {
                (Some((link, (back, late_by))), _) => {
                    Sums::Late(LateAcks::new(link, back, late_by))
                }
                _ if expectation.measure.is_crossing() => {
                    Sums::Crossing(Crossing::new(&expectation.measure))
                }
                (None, Some(Subject::Link | Subject::LinkOrAll | Subject::Run)) => {
                    Sums::Link(LinkSums::new(expectation, setup))
                }
                (None, Some(Subject::Group | Subject::Connection | Subject::Overlay)) => {
                    Sums::Overlay(Box::new(OverlaySums::new(expectation, setup)))
                }
                (None, Some(Subject::Flows | Subject::FlowsOrTraffic) | None) => {
                    Sums::Flows(Box::new(FlowSums::new(expectation, setup)))
                }
            };
            Check { expectation: expectation.clone(), sums }
        });
        Evaluator { law: law.to_string(), checks: checks.collect() }
    }

    /// Drops the expectations that an emulated run cannot measure.
    pub fn emulated(mut self) -> Evaluator {
        self.checks.retain(|check| check.expectation.measure.is_emulated());
        self
    }

    /// Whether no expectation is left to check.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// One finding for each expectation, in the order of the scenario.
    pub fn finish(&self, outcome: &Outcome) -> Vec<Finding> {
        self.checks.iter().map(|check| check.finding(outcome, &self.law)).collect()
    }
}

impl Expectation {
    /// Whether a sample that ends at `at` counts.
    fn covers(&self, at: Time) -> bool {
        self.during.is_none_or(|(from, to)| at > from && at <= to)
    }
}

impl Check {
    fn finding(&self, outcome: &Outcome, law: &str) -> Finding {
        let expectation = &self.expectation;
        let measured = match &self.sums {
            Sums::Link(sums) => sums.value(expectation, outcome),
            Sums::Late(late) => late.value(),
            Sums::Crossing(crossing) => Ok(crossing.value(expectation, outcome)),
            Sums::Flows(sums) => sums.value(expectation, outcome),
            Sums::Overlay(sums) => sums.value(expectation, outcome),
        };
        // NaN and infinity mean that there was nothing to measure.
        let measured = match measured {
            Ok(value) if !value.is_finite() => Err("there is nothing to measure".to_string()),
            other => other,
        };
        let window = window(expectation.during);
        let unit = expectation.bound.unit;
        Finding {
            claim: expectation.claim(),
            metric: expectation.metric,
            target: expectation.target.clone(),
            window,
            during: expectation.during,
            measured: measured.as_ref().ok().copied(),
            unit,
            equals: expectation.bound.equals.map(|(value, _)| value),
            measured_text: measured.as_ref().map_or("-".to_string(), |value| unit.show(*value)),
            range: (expectation.bound.min, expectation.bound.max),
            bound: expectation.bound.to_string(),
            pass: measured.as_ref().is_ok_and(|value| expectation.bound.holds(*value)),
            reason: measured.err(),
            basis: expectation.basis,
            source: expectation.source.clone(),
            note: expectation.note.clone(),
            law: law.to_string(),
            line: expectation.line,
        }
    }
}

impl Expectation {
    /// The expectation in words.
    pub fn claim(&self) -> String {
        let statistic = self.statistic().map_or_else(String::new, |of| format!("{of} "));
        format!("{statistic}{} of {}, {}", self.metric, self.target, window(self.during))
    }
}

fn window(during: Option<(Time, Time)>) -> String {
    // `Duration` shows 0 as "0 s".
    let text = |time: Time| Duration::from_ps(time.ps()).to_string();
    during.map_or("whole run".to_string(), |(from, to)| format!("{} .. {}", text(from), text(to)))
}

impl Recorder for Evaluator {
    fn flow_started(&mut self, _: &FlowStarted<'_>) {}

    fn flow_sample(&mut self, sample: &FlowSample) {
        for check in &mut self.checks {
            if let Sums::Flows(sums) = &mut check.sums
                && check.expectation.covers(sample.at)
            {
                sums.add(sample, &check.expectation);
            }
        }
    }

    fn link_sample(&mut self, sample: &LinkSample) {
        for check in &mut self.checks {
            if let Sums::Link(sums) = &mut check.sums
                && check.expectation.covers(sample.at)
                && check.expectation.measure.link.is_none_or(|link| link == sample.link.index())
            {
                sums.add(sample, &check.expectation);
            }
        }
    }

    fn packet(&mut self, seen: &PacketSeen) {
        for check in &mut self.checks {
            let counts = check.expectation.covers(seen.packet.at);
            match &mut check.sums {
                Sums::Late(late) => late.see(seen, counts),
                Sums::Crossing(crossing) if counts => crossing.see(seen),
                _ => {}
            }
        }
    }

    fn overlay_sample(&mut self, sample: &OverlaySample<'_>) {
        for check in &mut self.checks {
            if let Sums::Overlay(sums) = &mut check.sums
                && check.expectation.covers(sample.at)
            {
                sums.add(sample, &check.expectation);
            }
        }
    }

    fn flow_completed(&mut self, completed: &FlowCompleted) {
        for check in &mut self.checks {
            if let Sums::Flows(sums) = &mut check.sums {
                sums.complete(completed, &check.expectation);
            }
        }
    }
}

impl fmt::Display for Finding {
    /// One line: `pass  utilisation of bottleneck, 5 s .. 30 s: 0.9982 (>= 0.98)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.pass { "pass" } else { "FAIL" };
        write!(f, "{word}  {}: {} ({})", self.claim, self.measured_text, self.bound)?;
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}
