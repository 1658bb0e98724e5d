//! A comparison: laws on the same scenario from the same seeds, with intervals that
//! distinguish a difference from noise.

use std::path::Path;

use ratewire_report::draw::{Figure, Panels};
use ratewire_report::{Comparison, Page, Summary, html, table};
use ratewire_scenario::{Diagnostic, Scenario, ScenarioError};
use serde::Serialize;

use crate::experiment::without_repeats;
use crate::folder::{COMPARISON, OutputFolder, write_page};
use crate::listen::Listener;
use crate::provenance::ExperimentRecord;
use crate::results::Failed;
use crate::{Error, Experiment, Figures, Job, Run, run_all};

/// Stands for every law that reacts to the network.
const ALL: &str = "all";
/// The law that sends at a given rate, so that a comparison means nothing.
const NO_CONTENDER: &str = "fixed";
/// The law that is NewReno where no link is paused.
const FOR_PAUSED: &str = "noq";

/// A comparison of laws over several seeds.
///
/// ```
/// # let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
/// #   bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";
/// let experiment = ratewire::Experiment::parse("hello.toml", text)?;
/// let compare = ratewire::Compare::of(experiment, &["xcp", "cubic"], 3)?;
/// let results = compare.run()?;
/// assert_eq!(results.comparison().laws, ["xcp", "cubic"]);
/// println!("{}", results.table());
/// # Ok::<(), ratewire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compare {
    experiment: Experiment,
}

/// The runs of a comparison.
#[derive(Debug)]
pub struct PlannedComparison<'a> {
    compare: &'a Compare,
    /// The runs, in the order of laws and seeds.
    pub jobs: Vec<Job<'a>>,
    /// Warnings about the scenario and the runs.
    pub warnings: Vec<Diagnostic>,
    has_chance: bool,
}

/// A finished comparison.
#[derive(Debug)]
pub struct ComparisonResults {
    comparison: Comparison,
    record: ExperimentRecord,
    page: Page,
    failures: Vec<Failed>,
}

/// Kept data of a run. The whole run is kept only for the first seed, for the plots.
type Kept = (Summary, Option<ratewire_report::Run>);
/// A law and its runs in the order of seeds.
type OfLaw<T> = (String, Vec<T>);

/// The schema of `comparison.json`, whose first key is `generator`.
#[derive(Serialize)]
struct ComparisonFile<'a> {
    experiment: &'a ExperimentRecord,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

impl Compare {
    /// A comparison of these laws in the experiment's scenario, or of the experiment's own laws if
    /// there are none. `seeds` is the number of seeds: the scenario's own and those that follow.
    ///
    /// `all` stands for every law that reacts to the network, without laws of the kernel, `noq`
    /// where no link is paused, and laws that an ensemble refuses. The experiment's seeds, worlds,
    /// folder, captures and question are not used.
    ///
    /// # Errors
    /// An error if there is no such law.
    pub fn of(
        experiment: Experiment,
        laws: &[impl AsRef<str>],
        seeds: u64,
    ) -> Result<Compare, Error> {
        let own = experiment.chosen().0;
        let laws = chosen(experiment.scenario(), own, laws)?;
        let first = experiment.scenario().seed;
        let seeds = (0..seeds).map(|offset| first.wrapping_add(offset));
        let figures = experiment.figures_asked().to_vec();
        let experiment = Experiment::of(experiment.scenario().clone())
            .laws(laws)
            .seeds(seeds)
            .figures(figures)
            .without_samples();
        Ok(Compare { experiment })
    }

    /// What makes the runs.
    pub fn record(&self) -> ExperimentRecord {
        self.experiment.record()
    }

    /// Warnings about the scenario.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.experiment.scenario().warnings
    }

    /// Plans the runs. Runs and writes nothing.
    ///
    /// # Errors
    /// As [`Experiment::plan`].
    pub fn plan(&self) -> Result<PlannedComparison<'_>, Error> {
        let (experiment, scenario) = (&self.experiment, self.experiment.scenario());
        let planned = experiment.plan()?;
        let warnings = without_repeats([scenario.warnings.clone(), planned.warnings].concat());
        let mut jobs = planned.jobs;
        let has_chance = jobs.iter().any(|job| job.plan().setup.has_chance());
        if !has_chance {
            // Every seed gives the same run.
            jobs.retain(|job| job.plan().setup.seed == scenario.seed);
        }
        Ok(PlannedComparison { compare: self, jobs, warnings, has_chance })
    }

    /// Runs the comparison on all cores.
    ///
    /// # Errors
    /// As [`Compare::plan`]. Runs that fail are in [`ComparisonResults::failures`].
    pub fn run(&self) -> Result<ComparisonResults, Error> {
        Ok(self.plan()?.run(&()))
    }
}

impl PlannedComparison<'_> {
    /// Runs all jobs on all cores with a listener.
    pub fn run(&self, listener: &dyn Listener) -> ComparisonResults {
        let scenario = self.compare.experiment.scenario();
        let keep = |_: &Job<'_>, run: Run| -> Kept {
            let is_first = run.seed() == scenario.seed;
            (run.summary().clone(), is_first.then(|| run.into_report()))
        };
        let (whole, failures) = by_law(&self.jobs, run_all(&self.jobs, listener, keep));
        let mut runs = Vec::new();
        let mut summaries = Vec::new();
        for (law, done) in whole {
            let (own, drawn): (Vec<Summary>, Vec<Option<ratewire_report::Run>>) =
                done.into_iter().unzip();
            summaries.push((law, own));
            runs.extend(drawn.into_iter().flatten());
        }
        let figures = self.jobs.first().map_or(&[][..], |job| &job.figures);
        ComparisonResults {
            comparison: Comparison::with(figures, &summaries, self.has_chance),
            record: self.compare.record(),
            page: Page { scenario_text: Some(scenario.source_text.clone()), ..Page::new(runs) },
            failures,
        }
    }
}

impl ComparisonResults {
    /// The laws, and how they differ. A law that lacks a run is left out.
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    /// Runs that failed, or were interrupted.
    pub fn failures(&self) -> &[Failed] {
        &self.failures
    }

    /// The text of `comparison.json`.
    pub fn json(&self) -> String {
        let (experiment, comparison) = (&self.record, &self.comparison);
        ratewire_report::json(&ComparisonFile { experiment, comparison })
    }

    /// The comparison as a table, in the width of the terminal.
    pub fn table(&self) -> String {
        table::comparison(&self.comparison, &table::TableOptions::default())
    }

    /// The page: the text of `comparison.html`.
    pub fn page(&self) -> String {
        html::render_comparison(&self.comparison, &self.page)
    }

    /// Writes the page: one HTML file that needs no network.
    ///
    /// # Errors
    /// As [`Results::report`](crate::Results::report).
    pub fn report(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        write_page(path.as_ref(), &self.page())
    }

    /// Writes `comparison.html` and `comparison.json` into an open folder.
    ///
    /// # Errors
    /// As [`OutputFolder::put_in_place`].
    pub fn put_in(&self, output: &OutputFolder) -> Result<(), Error> {
        output.put_in_place(&[], [self.page(), self.json()])
    }

    /// Writes `comparison.html` and `comparison.json` into a folder, in place of an earlier
    /// comparison there.
    ///
    /// # Errors
    /// An error if the folder cannot be written; an earlier comparison is then unchanged.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        self.put_in(&OutputFolder::open(folder.as_ref(), COMPARISON, &[])?)
    }

    /// The figures of the page, to be drawn for a paper.
    pub fn figures(&self) -> Figures {
        Figures::of_page("comparison".into(), &self.page())
    }

    /// A figure of the page by its name.
    ///
    /// # Errors
    /// [`Error::Figure`] if no figure has this name.
    pub fn plot(&self, figure: &str) -> Result<Figure, Error> {
        self.figures().figure(figure, Panels::Auto)
    }
}

/// The requested laws, or `own` if none are requested.
fn chosen(
    scenario: &Scenario,
    own: &[String],
    asked: &[impl AsRef<str>],
) -> Result<Vec<String>, ScenarioError> {
    let asked: Vec<&str> = asked.iter().map(AsRef::as_ref).collect();
    asked.iter().filter(|name| **name != ALL).try_for_each(|name| {
        scenario.check_law(name).map_err(|mut wrong| {
            wrong.diagnostics.iter_mut().for_each(|one| one.file = "laws".to_string());
            wrong
        })
    })?;
    let registry = || ratewire_laws::list().iter().map(|info| info.name.to_string());
    // Laws of the kernel are other laws again, in integers.
    let contends = |name: &String| {
        name != NO_CONTENDER
            && !name.contains('@')
            && (name != FOR_PAUSED || scenario.has_pauses())
            // An ensemble refuses laws whose headers a switch cannot split.
            && scenario.plan(Some(name), None).is_ok()
    };
    let contenders = || registry().filter(contends).collect();
    let expand = |name: &str| if name == ALL { contenders() } else { vec![name.to_string()] };
    Ok(if asked.is_empty() { own.to_vec() } else { asked.into_iter().flat_map(expand).collect() })
}

/// Groups results by law, and separates the runs that failed.
///
/// Laws are compared seed by seed, so a law that lacks a run is left out. The other laws remain.
fn by_law<T>(jobs: &[Job<'_>], results: Vec<Result<T, Error>>) -> (Vec<OfLaw<T>>, Vec<Failed>) {
    let law = |job: &Job<'_>| job.plan().law.clone();
    let mut whole = Vec::new();
    let mut failures = Vec::new();
    let mut results = results.into_iter();
    for of_law in jobs.chunk_by(|one, next| law(one) == law(next)) {
        let mut own = Vec::new();
        for (job, result) in of_law.iter().zip(results.by_ref()) {
            match result {
                Ok(done) => own.push(done),
                Err(error) => failures.push(Failed { run: job.name(), error }),
            }
        }
        if own.len() == of_law.len() {
            whole.push((law(&of_law[0]), own));
        }
    }
    (whole, failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_that_lacks_a_run_is_left_out_alone() {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let experiment = Experiment::load(scenarios.join("three-flows.toml")).expect("a scenario");
        let experiment = experiment.laws(["xcp", "cubic", "newreno"]).seeds([1, 2]);
        let jobs = experiment.plan().expect("a plan").jobs;
        let results = (0..6).map(|n| if n == 3 { Err(Error::Papers("no".into())) } else { Ok(n) });
        let (whole, failures) = by_law(&jobs, results.collect());
        let expected = [("xcp".to_string(), vec![0, 1]), ("newreno".to_string(), vec![4, 5])];
        assert_eq!(whole, expected);
        let failed: Vec<String> = failures.into_iter().map(|failed| failed.run).collect();
        assert_eq!(failed, ["cubic, seed 2"]);
    }
}
