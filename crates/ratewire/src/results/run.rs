//! A finished run: figures, expectations and samples.

use std::process::ExitStatus;

use ratewire_report::{
    CheckedExpectation, FidelitySummary, FlowSummary, LinkSummary, RunInfo, Summary, World,
};
use ratewire_scenario::{Basis, Finding};

use super::error::Error;
use super::names;
use super::tables::KeptTables;
use crate::listen::name_of_run;
use crate::provenance::OriginFiles;

/// A finished run: its description, its exact figures, and the results of its expectations.
#[derive(Clone, Debug)]
pub struct Run {
    report: ratewire_report::Run,
    expectations: Vec<CheckedExpectation>,
    verdicts: Vec<Finding>,
    why: Option<String>,
    shell: Option<ExitStatus>,
    /// Its tables, if they are kept.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "there are no tables"))]
    pub(crate) held: Option<KeptTables>,
    /// What made the run, if its samples are kept.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "there are no tables"))]
    pub(crate) origin: Option<OriginFiles>,
}

impl Run {
    pub(crate) fn new(
        report: ratewire_report::Run,
        verdicts: Vec<Finding>,
        why: Option<String>,
        shell: Option<ExitStatus>,
        held: Option<KeptTables>,
    ) -> Run {
        let expectations = verdicts.iter().map(|verdict| expectation(verdict, &report)).collect();
        Run { report, expectations, verdicts, why, shell, held, origin: None }
    }

    /// Notes what made the run.
    pub(crate) fn with_origin(self, origin: Option<OriginFiles>) -> Run {
        Run { origin, ..self }
    }

    /// Description of the run: names of nodes, links and flows by index, rates, delays.
    pub fn info(&self) -> &RunInfo {
        &self.report.info
    }

    /// Law of the run, as requested.
    pub fn law(&self) -> &str {
        &self.report.info.law
    }

    /// Name among the runs of the scenario: `xcp, seed 1`.
    pub fn name(&self) -> String {
        name_of_run(&self.report.info.laws_name(), self.world(), self.seed())
    }

    /// Seed of all random streams.
    pub fn seed(&self) -> u64 {
        self.report.info.seed
    }

    /// World of the run.
    pub fn world(&self) -> World {
        self.report.info.world
    }

    /// Exact figures, as in `summary.json`; names of fields contain the units.
    pub fn summary(&self) -> &Summary {
        &self.report.summary
    }

    /// Figures of one direction of a link, and its queue.
    ///
    /// # Errors
    /// An error if no link has this name.
    pub fn link(&self, name: &str) -> Result<&LinkSummary, Error> {
        let links = &self.summary().links;
        let found = links.iter().find(|link| link.name == name);
        found.ok_or_else(|| names::unknown("link", name, links.iter().map(|link| &link.name)))
    }

    /// Figures of a listed flow.
    ///
    /// # Errors
    /// An error if no flow has this name.
    pub fn flow(&self, name: &str) -> Result<&FlowSummary, Error> {
        let flows = &self.summary().flows;
        let found = flows.iter().find(|flow| flow.name == name);
        found.ok_or_else(|| names::unknown("flow", name, flows.iter().map(|flow| &flow.name)))
    }

    /// Share of the time in which a link sent, 0 to 1.
    ///
    /// # Errors
    /// An error if no link has this name.
    pub fn utilisation(&self, link: &str) -> Result<f64, Error> {
        Ok(self.link(link)?.utilisation)
    }

    /// Goodput of a listed flow over its life, in bits per second.
    ///
    /// Goodput is data delivered in order to the application.
    ///
    /// # Errors
    /// An error if no flow has this name.
    pub fn goodput_bps(&self, flow: &str) -> Result<f64, Error> {
        Ok(self.flow(flow)?.goodput_bps)
    }

    /// Expectations of the scenario, with the measured values.
    pub fn expectations(&self) -> &[CheckedExpectation] {
        &self.expectations
    }

    /// Whether the run was interrupted before its end.
    ///
    /// Its figures are of the time until then, and its expectations are not checked.
    pub fn is_partial(&self) -> bool {
        self.summary().planned_duration_s.is_some()
    }

    /// Whether every expectation holds, the run came to its end, and an emulated run was reliable.
    pub fn holds(&self) -> bool {
        let is_true = !self.is_partial()
            && self.summary().fidelity.as_ref().is_none_or(|fidelity| fidelity.holds);
        is_true && self.expectations.iter().all(|expectation| expectation.passed)
    }

    /// Whether the figures of an emulated run can be relied on, and the times of its hosts too if
    /// an expectation is about them.
    pub(crate) fn is_reliable(&self) -> bool {
        let fidelity = self.summary().fidelity.as_ref();
        let is_untrue = |e: &CheckedExpectation| is_untrue(&e.metric, fidelity);
        fidelity.is_none_or(|fidelity| fidelity.holds) && !self.expectations.iter().any(is_untrue)
    }

    /// What limited the rate of the flow asked about, hop by hop; `None` without a question.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Exit status of the shell at a host, if there was one.
    pub fn shell(&self) -> Option<ExitStatus> {
        self.shell
    }

    /// The run in the form that [`table`](ratewire_report::table) and
    /// [`html`](ratewire_report::html) print.
    pub fn report(&self) -> &ratewire_report::Run {
        &self.report
    }

    /// Converts the run into what [`Run::report`] returns, without a copy.
    pub fn into_report(self) -> ratewire_report::Run {
        self.report
    }

    /// Results of the expectations, with units.
    pub fn verdicts(&self) -> &[Finding] {
        &self.verdicts
    }
}

/// Metrics in which hosts that are late have a part.
const OF_HOSTS_TIMES: [&str; 4] = ["rtt_mean", "rtt_min", "rtt_max", "completion_time"];

/// Whether a figure cannot be relied on, because hosts were late.
fn is_untrue(metric: &str, fidelity: Option<&FidelitySummary>) -> bool {
    fidelity.is_some_and(|fidelity| !fidelity.times_hold) && OF_HOSTS_TIMES.contains(&metric)
}

fn expectation(verdict: &Finding, run: &ratewire_report::Run) -> CheckedExpectation {
    let measured = match &verdict.reason {
        Some(reason) => reason.clone(),
        None => verdict.measured_text.clone(),
    };
    let is_untrue = is_untrue(verdict.metric, run.summary.fidelity.as_ref());
    let measured =
        if is_untrue { format!("{measured}, by hosts that were late") } else { measured };
    CheckedExpectation {
        law: run.info.laws_name(),
        seed: run.summary.seed,
        world: run.summary.world,
        claim: verdict.claim.clone(),
        measured,
        bound: verdict.bound.clone(),
        passed: verdict.pass && !is_untrue,
        metric: verdict.metric.to_string(),
        value: verdict.measured,
        min: verdict.range.0,
        max: verdict.range.1,
        unit: verdict.unit.symbol().to_string(),
        target: verdict.target.clone(),
        window_s: verdict.during.map(|(from, to)| (from.secs(), to.secs())),
        basis: match verdict.basis {
            Basis::Claim => ratewire_report::Basis::Claim,
            Basis::Derived => ratewire_report::Basis::Derived,
            Basis::Fit => ratewire_report::Basis::Fit,
            Basis::Run => ratewire_report::Basis::Run,
            Basis::Differs => ratewire_report::Basis::Differs,
        },
        source: verdict.source.clone(),
        note: verdict.note.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_hosts_that_were_late_are_untrue_and_other_figures_are_not() {
        let late = FidelitySummary { holds: true, ..FidelitySummary::default() };
        let in_time = FidelitySummary { times_hold: true, ..late.clone() };
        assert!(is_untrue("completion_time", Some(&late)) && is_untrue("rtt_max", Some(&late)));
        assert!(!is_untrue("goodput", Some(&late)) && !is_untrue("rtt_max", Some(&in_time)));
        assert!(!is_untrue("rtt_max", None), "a simulated run");
    }
}
