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

    /// Drops the expectations that an emulated run cannot measure, and gives the others the bounds
    /// of emulated runs.
    pub fn emulated(self) -> Evaluator {
        let checks = self.checks.into_iter();
        let checks = checks.filter(|check| check.expectation.measure.is_emulated());
        let checks = checks.map(|check| {
            let expectation = check.expectation.emulated();
            Check { expectation, ..check }
        });
        Evaluator { checks: checks.collect(), law: self.law }
    }

    /// Whether no expectation is left to check.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// One finding for each expectation, in the order of the scenario.
    pub fn finish(&self, outcome: &Outcome) -> Vec<Finding> {
        let finding = |check: &Check| check.expectation.finding(check.measured(outcome), &self.law);
        self.checks.iter().map(finding).collect()
    }

    /// Findings of a run that was measured before, in the order of [`Evaluator::finish`]: each
    /// value, or why there was none. `None` if they are not as many.
    pub fn judge(&self, measured: &[Result<f64, String>]) -> Option<Vec<Finding>> {
        let both = self.checks.iter().zip(measured);
        let finding = |(check, value): (&Check, &Result<f64, String>)| {
            check.expectation.finding(value.clone(), &self.law)
        };
        (measured.len() == self.checks.len()).then(|| both.map(finding).collect())
    }
}

impl Expectation {
    /// Whether a sample that ends at `at` counts.
    fn covers(&self, at: Time) -> bool {
        self.during.is_none_or(|(from, to)| at > from && at <= to)
    }
}

impl Check {
    /// The value, or why there is none.
    fn measured(&self, outcome: &Outcome) -> Result<f64, String> {
        let expectation = &self.expectation;
        let measured = match &self.sums {
            Sums::Link(sums) => sums.value(expectation, outcome),
            Sums::Late(late) => late.value(),
            Sums::Crossing(crossing) => Ok(crossing.value(expectation, outcome)),
            Sums::Flows(sums) => sums.value(expectation, outcome),
            Sums::Overlay(sums) => sums.value(expectation, outcome),
        };
        // NaN and infinity mean that there was nothing to measure.
        match measured {
            Ok(value) if !value.is_finite() => Err("there is nothing to measure".to_string()),
            other => other,
        }
    }
}

impl Finding {
    /// The value that was measured, or why there was none.
    pub fn value(&self) -> Result<f64, String> {
        self.measured.ok_or_else(|| self.reason.clone().unwrap_or_default())
    }
}

impl Expectation {
    fn finding(&self, measured: Result<f64, String>, law: &str) -> Finding {
        let unit = self.bound.unit;
        Finding {
            claim: self.claim(),
            metric: self.metric,
            target: self.target.clone(),
            window: window(self.during),
            during: self.during,
            measured: measured.as_ref().ok().copied(),
            unit,
            equals: self.bound.equals.map(|(value, _)| value),
            measured_text: measured.as_ref().map_or("-".to_string(), |value| unit.show(*value)),
            range: (self.bound.min, self.bound.max),
            bound: self.bound.to_string(),
            pass: measured.as_ref().is_ok_and(|value| self.bound.holds(*value)),
            reason: measured.err(),
            basis: self.basis,
            source: self.source.clone(),
            note: self.note.clone(),
            law: law.to_string(),
            line: self.line,
        }
    }

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
