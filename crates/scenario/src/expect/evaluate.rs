//! Holding a run against its expectations, as it goes.

use std::fmt;

use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, LinkSample, OverlaySample, PacketSeen, Recorder,
};
use ratewire_sim::setup::Setup;
use ratewire_units::{Duration, Time};

use super::flows::FlowSums;
use super::late::LateAcks;
use super::links::LinkSums;
use super::overlay::OverlaySums;
use super::{Basis, Expectation, Subject, Unit, metrics};

/// Gathers what expectations need while a run goes on; a [`Recorder`].
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
    Flows(Box<FlowSums>),
    Overlay(Box<OverlaySums>),
}

/// What a run measured for one expectation, and whether the value passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What was expected, in words: `utilisation of bottleneck, 5 s .. 30 s`.
    pub claim: String,
    /// The metric's name.
    pub metric: &'static str,
    /// Of what.
    pub target: String,
    /// When, in words.
    pub window: String,
    /// When; `None` for the whole run.
    pub during: Option<(Time, Time)>,
    /// What was measured; `None` where nothing could be.
    pub measured: Option<f64>,
    /// What `measured`, `equals` and `range` are in.
    pub unit: Unit,
    /// The same as a reader likes it.
    pub measured_text: String,
    /// The value that the bound is around, if it is given as one.
    pub equals: Option<f64>,
    /// The least and the most that pass.
    pub range: (Option<f64>, Option<f64>),
    /// What passes: `>= 0.98`.
    pub bound: String,
    /// Whether it passes.
    pub pass: bool,
    /// Why nothing could be measured, which is a failure.
    pub reason: Option<String>,
    /// What the bound rests on.
    pub basis: Basis,
    /// Where the expectation comes from.
    pub source: Option<String>,
    /// What else there is to say.
    pub note: Option<String>,
    /// The law of the run.
    pub law: String,
    /// The line of the scenario, from 1.
    pub line: usize,
}

impl Evaluator {
    /// For a run of `setup` under `law`; expectations of other laws are left out.
    pub fn new(expectations: &[Expectation], setup: &Setup, law: &str) -> Evaluator {
        let mine = expectations.iter().filter(|e| e.is_of(law));
        let checks = mine.map(|expectation| {
            let info = metrics().iter().find(|info| info.name == expectation.metric);
            let late = expectation.measure.link.zip(expectation.measure.late);
            let sums = match (late, info.map(|info| info.subject)) {
                (Some((link, (back, late_by))), _) => {
                    Sums::Late(LateAcks::new(link, back, late_by))
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

    /// The same of an emulated run, without what cannot be measured there.
    pub fn emulated(mut self) -> Evaluator {
        self.checks.retain(|check| check.expectation.measure.is_emulated());
        self
    }

    /// Whether there is anything to hold the run against.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// One finding an expectation, in the order of the scenario.
    pub fn finish(&self, outcome: &Outcome) -> Vec<Finding> {
        self.checks.iter().map(|check| check.finding(outcome, &self.law)).collect()
    }
}

impl Expectation {
    /// Whether it is expected of this law.
    pub(super) fn is_of(&self, law: &str) -> bool {
        self.laws.is_empty() || self.laws.iter().any(|name| name == law)
    }

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
            Sums::Flows(sums) => sums.value(expectation, outcome),
            Sums::Overlay(sums) => sums.value(expectation, outcome),
        };
        // A number that is none measures nothing.
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
    /// What is expected, in words.
    pub fn claim(&self) -> String {
        let statistic = self.statistic().map_or_else(String::new, |of| format!("{of} "));
        format!("{statistic}{} of {}, {}", self.metric, self.target, window(self.during))
    }
}

fn window(during: Option<(Time, Time)>) -> String {
    // An instant of 0 is "0 s" as a length of time.
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
            if let Sums::Late(late) = &mut check.sums {
                late.see(seen, check.expectation.covers(seen.packet.at));
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
