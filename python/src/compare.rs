//! Comparisons of laws over several seeds.

use std::path::PathBuf;

use pyo3::prelude::*;
use ratewire::{Compare, ComparisonResults};

use crate::asked::Asked;
use crate::errors::{exception, of_failures, warn};
use crate::figures::Figures;
use crate::scenario::Scenario;
use crate::work::work;

/// A finished comparison.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Comparison(ComparisonResults);

/// Compares laws over seeds, as it is asked; without seeds, over five.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    scenario: &Scenario,
    asked: Asked,
    progress: Option<Py<PyAny>>,
) -> PyResult<Comparison> {
    let experiment = asked.of(py, scenario)?;
    let (laws, seeds) = (asked.laws.unwrap_or_default(), asked.seeds.unwrap_or_default());
    let compare = py.detach(|| Compare::of(experiment, &laws, &seeds));
    let compare = compare.map_err(|e| exception(py, e))?;
    let planned = py.detach(|| compare.plan()).map_err(|e| exception(py, e))?;
    planned.warnings.iter().try_for_each(|warning| warn(py, &warning.to_string()))?;
    let results = work(py, progress.as_ref(), |listener| planned.run(listener))?;
    of_failures(py, results.failures())?;
    Ok(Comparison(results))
}

#[pymethods]
impl Comparison {
    /// The text of `comparison.json`.
    fn json(&self) -> String {
        self.0.json()
    }

    /// The comparison as a table of text.
    fn table(&self) -> String {
        self.0.table()
    }

    /// The text of `comparison.html`.
    fn page(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.page())
    }

    /// Writes the page.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.report(&path)).map_err(|e| exception(py, e))
    }

    /// Writes the page and `comparison.json` into a folder.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(&folder)).map_err(|e| exception(py, e))
    }

    /// The figures of the page.
    fn figures(&self, py: Python<'_>) -> Figures {
        Figures(py.detach(|| self.0.figures()))
    }
}
