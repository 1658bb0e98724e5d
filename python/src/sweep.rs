//! Sweeps over a grid of values.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use ratewire::folder::write_page;
use ratewire::{Error, Interrupt, Listener, ReadySweep, SweepResults, SweepTask, TaskDone};

use crate::asked::Asked;
use crate::errors::{exception, failures_text, incomplete, of_failures, warn};
use crate::figures::Figures;
use crate::scenario::Scenario;
use crate::store::Store;
use crate::table::Table;
use crate::work::{quietly, work};

/// A finished sweep.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Sweep(SweepResults);

/// Runs every law and seed at every combination of values, as it is asked.
///
/// Files go into `folder`, or into `store`: a `ratewire._store.Store`, and its name for messages.
/// With `elsewhere`, runs are carried out by others: it gets them as a list, and returns an
/// iterator over the pairs that [`run_tasks`] returns, in any order.
#[pyfunction]
#[pyo3(signature = (scenario, over, asked, folder, store, progress, elsewhere))]
#[allow(clippy::too_many_arguments)]
pub fn sweep(
    py: Python<'_>,
    scenario: &Scenario,
    over: Vec<(String, String)>,
    asked: Asked,
    folder: Option<PathBuf>,
    store: Option<(Py<PyAny>, String)>,
    progress: Option<Py<PyAny>>,
    elsewhere: Option<Py<PyAny>>,
) -> PyResult<Sweep> {
    let mut sweep = ratewire::Sweep::of(asked.of(py, scenario)?);
    for (key, values) in over {
        sweep = sweep.over(&key, &values).map_err(|e| exception(py, e))?;
    }
    if let Some(folder) = folder {
        sweep = sweep.folder(folder);
    }
    // Points of the grid are planned on all cores.
    let planned = quietly(py, || sweep.plan())?.map_err(|e| exception(py, e))?;
    planned.warnings.iter().try_for_each(|warning| warn(py, &warning.to_string()))?;
    let store = store.map(|(object, place)| Arc::new(Store::new(object, place)));
    let open = || match store {
        Some(store) => planned.open_at(store),
        None => planned.open(),
    };
    let mut ready = quietly(py, open)?.map_err(|e| exception(py, e))?;
    if let Some(elsewhere) = elsewhere {
        let taken = take_all(&mut ready, elsewhere.bind(py));
        let kept = quietly(py, || ready.flush())?.map_err(|e| exception(py, e));
        if let Err(error) = taken.and(kept) {
            // The page has what is done, as after Ctrl-C in a sweep of this process.
            let stop = Interrupt::default();
            stop.interrupt();
            quietly(py, || ready.run(&stop))?;
            return Err(error);
        }
    }
    let results = work(py, progress.as_ref(), |listener| ready.run(listener))?;
    let unwritten = results.unwritten().map(ToString::to_string);
    if unwritten.is_none() {
        of_failures(py, results.failures())?;
        return Ok(Sweep(results));
    }
    let failures = failures_text(results.failures());
    let text: Vec<String> = unwritten.into_iter().chain([failures]).collect();
    let results = Bound::new(py, Sweep(results))?.into_any();
    Err(incomplete(py, text.join("\n").trim_end(), results))
}

/// Lets others carry out runs, and takes what they give.
fn take_all(ready: &mut ReadySweep<'_>, elsewhere: &Bound<'_, PyAny>) -> PyResult<()> {
    let tasks: Vec<Task> = ready.tasks().into_iter().map(parts).collect();
    for done in elsewhere.call1((tasks,))?.try_iter()? {
        let (number, text): Figured = done?.extract()?;
        let done: TaskDone = serde_json::from_str(&text)
            .map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))?;
        ready.take(number, done).map_err(|e| exception(elsewhere.py(), e))?;
    }
    Ok(())
}

/// A run of a sweep: its number, values, law and seed.
type Task = (usize, Vec<(String, String)>, String, u64);

/// The number of a run, and its figures as JSON.
type Figured = (usize, String);

fn parts(task: SweepTask) -> Task {
    (task.number, task.values, task.law, task.seed)
}

/// Carries out runs of a sweep of this scenario, one after the other, up to the first that fails.
/// Returns the number of each and its figures as JSON, and the exception.
///
/// `asked` is that of the sweep: a worker has to load laws that are files.
#[pyfunction]
pub fn run_tasks(
    py: Python<'_>,
    scenario: &Scenario,
    asked: Asked,
    tasks: Vec<Task>,
) -> PyResult<(Vec<Figured>, Option<PyErr>)> {
    let experiment = asked.of(py, scenario)?;
    let mut done = Vec::new();
    let all = |listener: &dyn Listener| -> Result<(), Error> {
        for (number, values, law, seed) in tasks {
            let one = SweepTask { number, values, law, seed }.run(&experiment, listener)?;
            done.push((number, serde_json::to_string(&one).expect("figures are JSON")));
        }
        Ok(())
    };
    let ended = work(py, None, all).and_then(|ended| ended.map_err(|e| exception(py, e)));
    Ok((done, ended.err()))
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
