//! Results of an experiment, and its errors: results hold the errors of runs that failed, and an
//! error holds the results of the others.

pub(crate) mod error;
mod names;
mod run;
#[cfg(feature = "parquet")]
pub(crate) mod tables;
#[cfg(not(feature = "parquet"))]
#[path = "no_tables.rs"]
pub(crate) mod tables;

use std::fmt;

use ratewire_report::{CheckedExpectation, LeftOut, Page, Summary, table};
use ratewire_scenario::Scenario;
use serde::Serialize;

pub use error::Error;
pub use run::Run;

use crate::listen::Interrupted;
use crate::provenance::ExperimentRecord;

/// Results of an experiment: its runs, in the order of laws, worlds and seeds.
///
/// ```
/// # let text = "duration = '4 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
/// #   bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";
/// let experiment = ratewire::Experiment::parse("hello.toml", text)?;
/// let results = experiment.laws(["xcp", "cubic"]).run()?;
/// for law in ["xcp", "cubic"] {
///     println!("{law}: {:.2}", results.law(law)?.utilisation("bottleneck")?);
/// }
/// assert!(results.law("xcp")?.utilisation("bottleneck")? > 0.8);
/// # Ok::<(), ratewire::Error>(())
/// ```
pub struct Results {
    pub(crate) runs: Vec<Run>,
    pub(crate) failures: Vec<Failed>,
    pub(crate) unwritten: Option<Error>,
    pub(crate) experiment: ExperimentRecord,
    pub(crate) scenario_text: String,
    pub(crate) description: Option<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Shows what is missing and the names of the runs. All that runs have measured would fill screens
/// where a program unwraps [`Error::Incomplete`].
impl fmt::Debug for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs: Vec<String> = self.runs.iter().map(Run::name).collect();
        f.debug_struct("Results")
            .field("failures", &self.failures)
            .field("unwritten", &self.unwritten)
            .field("left_out", &self.left_out)
            .field("runs", &runs)
            .finish_non_exhaustive()
    }
}

/// A run that failed.
#[derive(Debug)]
pub struct Failed {
    /// Name among the runs of the scenario: `xcp, seed 1`.
    pub run: String,
    /// Why the run failed.
    pub error: Error,
}

impl Failed {
    /// Whether the run was interrupted before it had results.
    pub fn is_interrupted(&self) -> bool {
        matches!(&self.error, Error::Stopped { source, .. } if source.is::<Interrupted>())
    }
}

/// The schema of `summary.json`, whose first key is `generator`.
#[derive(Serialize)]
struct SummaryFile<'a> {
    experiment: &'a ExperimentRecord,
    runs: Vec<&'a Summary>,
    /// Links whose utilisation and queue the summary names.
    verdict_links: Vec<String>,
    expectations: &'a [CheckedExpectation],
    left_out: &'a [LeftOut],
}

impl Results {
    /// Results of an experiment before its first run.
    pub(crate) fn none_of(experiment: ExperimentRecord, scenario: &Scenario) -> Results {
        Results {
            runs: Vec::new(),
            failures: Vec::new(),
            unwritten: None,
            experiment,
            scenario_text: scenario.source_text.clone(),
            description: scenario.description.clone(),
            left_out: Vec::new(),
        }
    }

    /// Runs that finished.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Runs under `law`, one for each seed and world.
    ///
    /// # Errors
    /// An error if no run has a law of this name.
    pub fn law(&self, law: &str) -> Result<OfLaw<'_>, Error> {
        let runs: Vec<&Run> = self.runs.iter().filter(|run| run.law() == law).collect();
        if runs.is_empty() {
            let known = self.runs.iter().map(|run| &run.info().law);
            return Err(names::unknown("law", law, known));
        }
        Ok(OfLaw { runs })
    }

    /// Runs that failed; [`Experiment::run`](crate::Experiment::run) then returns
    /// [`Error::Incomplete`].
    pub fn failures(&self) -> &[Failed] {
        &self.failures
    }

    /// Whether runs were interrupted: some results are partial, or missing.
    pub fn is_partial(&self) -> bool {
        self.runs.iter().any(Run::is_partial) || self.failures.iter().any(Failed::is_interrupted)
    }

    /// Whether there are results, and the experiment's folder, if it has one, has them.
    pub fn is_written(&self) -> bool {
        !self.runs.is_empty() && self.unwritten.is_none()
    }

    /// Why the experiment's folder could not be written, if so.
    pub fn unwritten(&self) -> Option<&Error> {
        self.unwritten.as_ref()
    }

    /// Laws that could not run in a requested world, and why.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Expectations of the scenario, run by run.
    pub fn expectations(&self) -> impl Iterator<Item = &CheckedExpectation> {
        self.runs.iter().flat_map(Run::expectations)
    }

    /// Whether every expectation of every run holds, and every emulated run was reliable.
    pub fn hold(&self) -> bool {
        self.runs.iter().all(Run::holds)
    }

    /// Content of the page: all runs, expectations, and the scenario's text.
    pub fn page(&self) -> Page {
        Page {
            runs: self.runs.iter().map(|run| run.report().clone()).collect(),
            expectations: self.expectations().cloned().collect(),
            scenario_text: Some(self.scenario_text.clone()),
            description: self.description.clone(),
            left_out: self.left_out.clone(),
        }
    }

    /// Figures of all runs and the expectations, as in `summary.json`.
    pub fn json(&self) -> String {
        summary_json(&self.experiment, &self.page())
    }

    /// Figures of all runs as tables, in the width of the terminal.
    pub fn table(&self) -> String {
        table::render(&self.page().runs, &table::TableOptions::default())
    }

    /// Describes the results that are missing.
    pub(crate) fn shortfall(&self) -> String {
        let failed =
            |failed: &Failed| format!("the run of {} failed: {}", failed.run, failed.error);
        let left =
            |left: &LeftOut| format!("{} did not run in {}: {}", left.law, left.world, left.why);
        let partial = |run: &Run| {
            let part = run.summary().partial()?;
            Some(format!("the run of {} was interrupted after {part}", run.name()))
        };
        let failures = self.failures.iter().map(failed).chain(self.runs.iter().filter_map(partial));
        let left_out = self.left_out.iter().map(left);
        let unwritten = self.unwritten.iter().map(ToString::to_string);
        failures.chain(left_out).chain(unwritten).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn is_complete(&self) -> bool {
        !self.is_partial()
            && self.failures.is_empty()
            && self.left_out.is_empty()
            && self.unwritten.is_none()
    }
}

/// The text of `summary.json` for a page's runs.
pub(crate) fn summary_json(experiment: &ExperimentRecord, page: &Page) -> String {
    ratewire_report::json(&SummaryFile {
        experiment,
        runs: page.runs.iter().map(|run| &run.summary).collect(),
        verdict_links: ratewire_report::verdict_links(&page.runs),
        expectations: &page.expectations,
        left_out: &page.left_out,
    })
}

/// Runs under one law.
#[derive(Clone, Debug)]
pub struct OfLaw<'a> {
    runs: Vec<&'a Run>,
}

impl<'a> OfLaw<'a> {
    /// Each run, in the order of worlds and seeds.
    pub fn runs(&self) -> &[&'a Run] {
        &self.runs
    }

    /// Share of the time in which a link sent, 0 to 1; mean over the runs.
    ///
    /// # Errors
    /// An error if no link has this name.
    pub fn utilisation(&self, link: &str) -> Result<f64, Error> {
        self.mean(|run| run.utilisation(link))
    }

    /// Mean backlog of a link in packets; mean over the runs.
    ///
    /// # Errors
    /// An error if no link has this name.
    pub fn queue_packets(&self, link: &str) -> Result<f64, Error> {
        self.mean(|run| Ok(run.link(link)?.queue_packets_mean))
    }

    /// Goodput of a listed flow over its life, in bits per second; mean over the runs.
    ///
    /// Goodput is data delivered in order to the application.
    ///
    /// # Errors
    /// An error if no flow has this name.
    pub fn goodput_bps(&self, flow: &str) -> Result<f64, Error> {
        self.mean(|run| run.goodput_bps(flow))
    }

    /// Jain's index of the rates at which the long flows' payload arrived while all of them ran,
    /// the mean over the runs; `None` if a run has fewer than two such flows.
    pub fn jain_index(&self) -> Option<f64> {
        let indices: Option<Vec<f64>> =
            self.runs.iter().map(|run| run.summary().jain_index).collect();
        indices.map(|all| all.iter().sum::<f64>() / all.len() as f64)
    }

    fn mean(&self, of: impl Fn(&Run) -> Result<f64, Error>) -> Result<f64, Error> {
        let sum: f64 = self.runs.iter().map(|run| of(run)).sum::<Result<f64, Error>>()?;
        Ok(sum / self.runs.len() as f64)
    }
}
