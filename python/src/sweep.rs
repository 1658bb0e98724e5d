//! Sweeps over a grid of values.

use std::path::PathBuf;

use pyo3::prelude::*;
use ratewire::folder::write_page;
use ratewire::{Experiment, SweepResults, SweepTask, TaskDone};

use crate::errors::{exception, of_failures, warn};
use crate::experiment::experiment_of;
use crate::figures::Figures;
use crate::scenario::Scenario;
use crate::table::Table;
use crate::work::{quietly, work};

/// A finished sweep.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Sweep(SweepResults);

/// Runs every law and seed at every combination of values; `None` stands for the scenario's own.
///
/// With `elsewhere`, runs are carried out by others: it gets them as a list, and returns an
/// iterator over what [`run_task`] has returned for each, in any order.
#[pyfunction]
#[pyo3(signature = (scenario, over, laws, seeds, folder, progress, elsewhere))]
#[allow(clippy::too_many_arguments)]
pub fn sweep(
    py: Python<'_>,
    scenario: &Scenario,
    over: Vec<(String, String)>,
    laws: Option<Vec<String>>,
    seeds: Option<Vec<u64>>,
    folder: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
    elsewhere: Option<Py<PyAny>>,
) -> PyResult<Sweep> {
    let mut sweep = ratewire::Sweep::of(experiment_of(py, scenario, laws, seeds)?);
    for (key, values) in over {
        sweep = sweep.over(&key, &values).map_err(|e| exception(py, e))?;
    }
    if let Some(folder) = folder {
        sweep = sweep.folder(folder);
    }
    // Points of the grid are planned on all cores.
    let planned = quietly(py, || sweep.plan())?.map_err(|e| exception(py, e))?;
    planned.warnings.iter().try_for_each(|warning| warn(py, &warning.to_string()))?;
    let mut ready = quietly(py, || planned.open())?.map_err(|e| exception(py, e))?;
    if let Some(elsewhere) = elsewhere {
        let tasks: Vec<Task> = ready.tasks().into_iter().map(parts).collect();
        for done in elsewhere.bind(py).call1((tasks,))?.try_iter()? {
            let (number, text): (usize, String) = done?.extract()?;
            let done: TaskDone = serde_json::from_str(&text)
                .map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))?;
            ready.take(number, done).map_err(|e| exception(py, e))?;
        }
    }
    let results = work(py, progress.as_ref(), |listener| ready.run(listener))?;
    of_failures(py, results.failures())?;
    match results.unwritten() {
        Some(error) => Err(pyo3::exceptions::PyOSError::new_err(error.to_string())),
        None => Ok(Sweep(results)),
    }
}

/// A run of a sweep: its number, values, law and seed.
type Task = (usize, Vec<(String, String)>, String, u64);

fn parts(task: SweepTask) -> Task {
    (task.number, task.values, task.law, task.seed)
}

/// Carries out a run of a sweep of this scenario; returns its number and its figures as JSON.
#[pyfunction]
pub fn run_task(py: Python<'_>, scenario: &Scenario, task: Task) -> PyResult<(usize, String)> {
    let (number, values, law, seed) = task;
    let task = SweepTask { number, values, law, seed };
    let experiment = Experiment::of(scenario.0.clone());
    let done = work(py, None, |listener| task.run(&experiment, listener))?;
    let done = done.map_err(|e| exception(py, e))?;
    let text = serde_json::to_string(&done);
    Ok((number, text.map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))?))
}

#[pymethods]
impl Sweep {
    /// The text of `sweep.json`.
    fn json(&self) -> String {
        self.0.json()
    }

    /// The sweep as a table of text.
    fn table(&self) -> String {
        self.0.table()
    }

    /// The text of the page.
    fn page(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.page())
    }

    /// Writes the page.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write_page(&path, &self.0.page())).map_err(|e| exception(py, e))
    }

    /// Figures of every run, a row a run.
    fn runs(&self, py: Python<'_>) -> PyResult<Table> {
        self.0.rows().map(Table::of).map_err(|e| exception(py, e))
    }

    /// The figures of the page.
    fn figures(&self, py: Python<'_>) -> Figures {
        Figures(py.detach(|| self.0.figures()))
    }
}
