//! What is left of one run.

use std::process::ExitStatus;

use ratewire_report::{
    Expectation, FlowRow, FlowSummary, LinkRow, LinkSummary, RunInfo, Summary, Transfer,
};
use ratewire_scenario::{Basis, Finding};

use super::{Samples, names};
use crate::observe::{Held, Stored};
use crate::{Error, World};

/// One finished run: what it was, its exact figures, and how they stand to what the scenario expects.
#[derive(Clone, Debug)]
pub struct Run {
    report: ratewire_report::Run,
    expectations: Vec<Expectation>,
    verdicts: Vec<Finding>,
    why: Option<String>,
    shell: Option<ExitStatus>,
    held: Option<Held>,
}

impl Run {
    pub(crate) fn new(
        report: ratewire_report::Run,
        verdicts: Vec<Finding>,
        why: Option<String>,
        shell: Option<ExitStatus>,
        held: Option<Held>,
    ) -> Run {
        let expectations = verdicts.iter().map(|verdict| expectation(verdict, &report)).collect();
        Run { report, expectations, verdicts, why, shell, held }
    }

    /// What ran: names of nodes, links and flows by index, rates, delays.
    pub fn info(&self) -> &RunInfo {
        &self.report.info
    }

    /// The law that the run was made for, as it was asked for.
    pub fn law(&self) -> &str {
        &self.report.info.law
    }

    /// The seed of every random stream.
    pub fn seed(&self) -> u64 {
        self.report.info.seed
    }

    /// Where it took place.
    pub fn world(&self) -> World {
        self.report.info.world
    }

    /// Its exact figures, as `summary.json` has them; units are in the names of fields.
    pub fn summary(&self) -> &Summary {
        &self.report.summary
    }

    /// The figures of a link direction and its queue.
    ///
    /// # Errors
    /// When no link has this name.
    pub fn link(&self, name: &str) -> Result<&LinkSummary, Error> {
        let links = &self.summary().links;
        let found = links.iter().find(|link| link.name == name);
        found.ok_or_else(|| names::unknown("link", name, links.iter().map(|link| &link.name)))
    }

    /// The figures of a listed flow.
    ///
    /// # Errors
    /// When no flow has this name.
    pub fn flow(&self, name: &str) -> Result<&FlowSummary, Error> {
        let flows = &self.summary().flows;
        let found = flows.iter().find(|flow| flow.name == name);
        found.ok_or_else(|| names::unknown("flow", name, flows.iter().map(|flow| &flow.name)))
    }

    /// Share of the run that a link was busy, 0 to 1.
    ///
    /// # Errors
    /// When no link has this name.
    pub fn utilisation(&self, link: &str) -> Result<f64, Error> {
        Ok(self.link(link)?.utilisation)
    }

    /// Data that a listed flow delivered in order to its application over the flow's life, bits per second.
    ///
    /// # Errors
    /// When no flow has this name.
    pub fn goodput_bps(&self, flow: &str) -> Result<f64, Error> {
        Ok(self.flow(flow)?.goodput_bps)
    }

    /// What the scenario expects of this run, and what was measured.
    pub fn expectations(&self) -> &[Expectation] {
        &self.expectations
    }

    /// Whether every expectation holds, and the world was true to time.
    pub fn holds(&self) -> bool {
        let is_true = self.summary().fidelity.as_ref().is_none_or(|fidelity| fidelity.holds);
        is_true && self.expectations.iter().all(|expectation| expectation.passed)
    }

    /// What bound the rate of the flow that was asked about, hop by hop; `None` if nothing was asked.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// How the shell at a host ended, if there was one.
    pub fn shell(&self) -> Option<ExitStatus> {
        self.shell
    }

    /// A sample of every flow at the end of every sampling interval: `flows.parquet`.
    pub fn flow_samples(&self) -> Samples<FlowRow> {
        self.samples(|held| &held.flows)
    }

    /// A sample of every link at the end of every sampling interval: `links.parquet`.
    pub fn link_samples(&self) -> Samples<LinkRow> {
        self.samples(|held| &held.links)
    }

    /// Every flow of a given size, complete or not: `completions.parquet`.
    pub fn completions(&self) -> Samples<Transfer> {
        self.samples(|held| &held.completions)
    }

    fn samples<R>(&self, of: impl Fn(&Held) -> &Stored) -> Samples<R> {
        Samples::new(self.held.iter().map(|held| of(held).clone()).collect())
    }

    /// The run as tables and pages take it.
    pub fn report(&self) -> &ratewire_report::Run {
        &self.report
    }

    /// The run as tables and pages take it.
    pub fn into_report(self) -> ratewire_report::Run {
        self.report
    }

    /// What came of each expectation, with the unit that its figures are in.
    pub fn verdicts(&self) -> &[Finding] {
        &self.verdicts
    }
}

fn expectation(verdict: &Finding, run: &ratewire_report::Run) -> Expectation {
    let measured = match &verdict.reason {
        Some(reason) => reason.clone(),
        None => verdict.measured_text.clone(),
    };
    Expectation {
        law: verdict.law.clone(),
        seed: run.summary.seed,
        world: run.summary.world,
        claim: verdict.claim.clone(),
        measured,
        bound: verdict.bound.clone(),
        passed: verdict.pass,
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
            Basis::Run => ratewire_report::Basis::Run,
            Basis::Differs => ratewire_report::Basis::Differs,
        },
        source: verdict.source.clone(),
        note: verdict.note.clone(),
    }
}
