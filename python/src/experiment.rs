//! Runs of a scenario.

use std::path::PathBuf;

use pyo3::prelude::*;
use ratewire::{Error, World, without_repeats};

use crate::asked::Asked;
use crate::errors::{exception, incomplete, warn};
use crate::results::Results;
use crate::scenario::Scenario;
use crate::work::work;

/// Warning of seeds that change nothing.
const VAIN_SEEDS: &str =
    "nothing in this scenario is left to chance: every seed gives the same run";

/// Runs a scenario in worlds, as it is asked.
///
/// `why` asks each run what limited a flow's rate: `FLOW@TIME`.
#[pyfunction]
#[pyo3(signature = (scenario, asked, worlds, why, folder, progress))]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    asked: Asked,
    worlds: Vec<String>,
    why: Option<String>,
    folder: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Results> {
    let worlds = worlds.iter().map(|name| world(py, name)).collect::<PyResult<Vec<World>>>()?;
    let mut experiment = asked.of(py, scenario)?.worlds(worlds);
    if let Some(question) = why {
        experiment = experiment.why(question);
    }
    if let Some(folder) = folder {
        experiment = experiment.folder(folder);
    }
    let planned = py.detach(|| experiment.plan_here()).map_err(|e| exception(py, e))?;
    let warnings = [experiment.scenario().warnings.clone(), planned.warnings.clone()].concat();
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

fn world(py: Python<'_>, name: &str) -> PyResult<World> {
    name.parse().map_err(|_| {
        let known = [World::Simulate, World::Emulate].map(|world| world.to_string());
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        exception(py, Error::unknown("world", "world", name, &known))
    })
}
