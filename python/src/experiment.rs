//! Runs of a scenario.

use std::path::PathBuf;

use pyo3::prelude::*;
use ratewire::{Error, Experiment, World, without_repeats};

use crate::errors::{exception, incomplete, warn};
use crate::results::Results;
use crate::scenario::Scenario;
use crate::work::work;

/// Warning of seeds that change nothing.
const VAIN_SEEDS: &str =
    "nothing in this scenario is left to chance: every seed gives the same run";

/// Runs a scenario under laws, from seeds, in worlds; `None` stands for the scenario's own.
///
/// `why` asks each run what limited a flow's rate: `FLOW@TIME`.
#[pyfunction]
#[pyo3(signature = (scenario, laws, seeds, worlds, why, folder, progress))]
#[allow(clippy::too_many_arguments)]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    laws: Option<Vec<String>>,
    seeds: Option<Vec<u64>>,
    worlds: Vec<String>,
    why: Option<String>,
    folder: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Results> {
    let worlds = worlds.iter().map(|name| world(py, name)).collect::<PyResult<Vec<World>>>()?;
    let mut experiment = experiment_of(py, scenario, laws, seeds)?.worlds(worlds);
    if let Some(question) = why {
        experiment = experiment.why(question);
    }
    if let Some(folder) = folder {
        experiment = experiment.folder(folder);
    }
    let planned = py.detach(|| experiment.plan_here()).map_err(|e| exception(py, e))?;
    let warnings = [scenario.0.warnings.clone(), planned.warnings.clone()].concat();
    for warning in without_repeats(warnings) {
        warn(py, &warning.to_string())?;
    }
    if planned.is_repetition {
        warn(py, VAIN_SEEDS)?;
    }
    let done = work(py, progress.as_ref(), |listener| planned.run(listener))?;
    match done {
        Ok(results) => Ok(Results::ran(results)),
        Err(error) => {
            let text = error.to_string();
            let Error::Incomplete(results) = error else { return Err(exception(py, error)) };
            Err(incomplete(py, &text, Bound::new(py, Results::ran(*results))?.into_any()))
        }
    }
}

/// An experiment with these laws and seeds; `None` stands for the scenario's own.
pub fn experiment_of(
    py: Python<'_>,
    scenario: &Scenario,
    laws: Option<Vec<String>>,
    seeds: Option<Vec<u64>>,
) -> PyResult<Experiment> {
    let mut experiment = Experiment::of(scenario.0.clone());
    if let Some(laws) = laws {
        experiment = known(py, experiment, &laws)?.laws(laws);
    }
    Ok(match seeds {
        Some(seeds) => experiment.seeds(seeds),
        None => experiment,
    })
}

/// The experiment, with the laws of those of these names that are files.
pub fn known(py: Python<'_>, experiment: Experiment, laws: &[String]) -> PyResult<Experiment> {
    py.detach(|| experiment.law_files(laws)).map_err(|e| exception(py, e))
}

fn world(py: Python<'_>, name: &str) -> PyResult<World> {
    name.parse().map_err(|_| {
        let known = [World::Simulate, World::Emulate].map(|world| world.to_string());
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        exception(py, Error::unknown("world", "world", name, &known))
    })
}
