//! Simulates the figures of a paper.

use ratewire_report::World;
use ratewire_report::html::papers::PaperSection;
use ratewire_scenario::{Scenario, ScenarioError};

use super::{Paper, draw};
use crate::listen::Listener;
use crate::results::Failed;
use crate::{Error, Job, run_all};

/// Simulates the figures of a paper on all cores, draws them, and holds them against the paper's
/// claims. [`html::papers::render`](ratewire_report::html::papers::render) makes the page.
///
/// Runs that failed are returned beside the section, which has all others.
///
/// # Errors
/// All errors in a scenario of the paper, or in the names that its file uses.
pub fn simulate(
    paper: &Paper,
    listener: &dyn Listener,
) -> Result<(PaperSection, Vec<Failed>), Error> {
    let load = |file: &String| Scenario::load(&paper.folder.join(file));
    let loaded = paper.figures.iter().map(|figure| figure.scenarios.iter().map(load).collect());
    let loaded: Vec<Vec<Scenario>> = loaded.collect::<Result<_, ScenarioError>>()?;
    let wrong = paper.unknown_names(&loaded);
    if !wrong.is_empty() {
        return Err(Error::Scenario(wrong.into()));
    }
    let mut jobs = Vec::new();
    for scenario in loaded.iter().flatten() {
        for law in scenario.laws() {
            let plan = scenario.plan(Some(&law), None)?;
            jobs.push(Job::new(scenario, plan, World::Simulate));
        }
    }
    let mut failures = Vec::new();
    let mut done = jobs.iter().zip(run_all(&jobs, listener, |_, run| run));
    let mut next = |scenario: &Scenario| {
        let mut runs = Vec::new();
        for (job, done) in done.by_ref().take(scenario.laws().len()) {
            match done {
                Ok(run) => runs.push(run),
                Err(error) => failures.push(Failed { run: job.name(), error }),
            }
        }
        runs
    };
    let figures = paper.figures.iter().zip(&loaded).map(|(figure, scenarios)| {
        let results = scenarios.iter().map(|scenario| (scenario, next(scenario)));
        draw(figure, results.collect())
    });
    let section = PaperSection {
        title: paper.title.clone(),
        authors: paper.authors.clone(),
        summary: paper.summary.clone(),
        figures: figures.collect(),
    };
    Ok((section, failures))
}
