//! Results of an experiment, in memory or in a folder.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use ratewire::SavedResults;
use ratewire::report::html;

use crate::errors::exception;
use crate::figures::Figures;
use crate::table::Table;

/// Results of an experiment.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Results(Source);

enum Source {
    Ran(Box<ratewire::Results>),
    Saved(Box<SavedResults>),
}

impl Results {
    /// Results of runs.
    pub fn ran(results: ratewire::Results) -> Results {
        Results(Source::Ran(Box::new(results)))
    }

    fn saved(&self) -> Result<SavedResults, ratewire::Error> {
        match &self.0 {
            Source::Ran(results) => results.saved(),
            Source::Saved(saved) => Ok((**saved).clone()),
        }
    }
}

/// A table of either kind of results.
macro_rules! table {
    ($own:expr, $py:expr, $table:ident) => {
        match &$own.0 {
            Source::Ran(results) => Table::of_samples($py, &results.$table()),
            Source::Saved(saved) => Table::of_samples($py, &saved.$table()),
        }
    };
}

#[pymethods]
impl Results {
    /// Reads the results in a folder.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Results> {
        let saved = py.detach(|| SavedResults::load(&folder)).map_err(|e| exception(py, e))?;
        Ok(Results(Source::Saved(Box::new(saved))))
    }

    /// Results from the files of a folder, see [`Results::files`].
    #[staticmethod]
    fn of_files(py: Python<'_>, files: Vec<(String, Bound<'_, PyBytes>)>) -> PyResult<Results> {
        let files = files.into_iter().map(|(name, bytes)| (name, bytes.as_bytes().to_vec()));
        let saved = SavedResults::of_files(files).map_err(|e| exception(py, e))?;
        Ok(Results(Source::Saved(Box::new(saved))))
    }

    /// The files of the results' folder, by path.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = py.detach(|| self.saved()?.files()).map_err(|e| exception(py, e))?;
        let all = PyDict::new(py);
        for (name, bytes) in files {
            all.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok(all)
    }

    /// Writes the results into a folder.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| self.saved()?.save(&folder)).map_err(|e| exception(py, e))
    }

    /// Writes the page.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| match &self.0 {
            Source::Ran(results) => results.report(&path),
            Source::Saved(saved) => saved.report(&path),
        });
        written.map_err(|e| exception(py, e))
    }

    /// The text of `summary.json`.
    fn json(&self) -> String {
        match &self.0 {
            Source::Ran(results) => results.json(),
            Source::Saved(saved) => saved.json().to_string(),
        }
    }

    /// The text of `report.html`.
    fn page(&self, py: Python<'_>) -> String {
        py.detach(|| match &self.0 {
            Source::Ran(results) => html::render(&results.page()),
            Source::Saved(saved) => saved.page().to_string(),
        })
    }

    /// Figures as tables of text; `None` if the results were read from a folder.
    fn table(&self) -> Option<String> {
        match &self.0 {
            Source::Ran(results) => Some(results.table()),
            Source::Saved(_) => None,
        }
    }

    /// Law, seed and answer of each run that was asked why a flow sends as it does.
    fn answers(&self) -> Vec<(String, u64, String)> {
        let Source::Ran(results) = &self.0 else { return Vec::new() };
        let answer =
            |run: &ratewire::Run| Some((run.law().into(), run.seed(), run.why()?.to_string()));
        results.runs().iter().filter_map(answer).collect()
    }

    /// The figures of the page.
    fn figures(&self, py: Python<'_>) -> Figures {
        Figures(py.detach(|| match &self.0 {
            Source::Ran(results) => results.figures(),
            Source::Saved(saved) => saved.figures(),
        }))
    }

    /// Samples of flows.
    fn flows(&self, py: Python<'_>) -> PyResult<Table> {
        table!(self, py, flows)
    }

    /// Samples of links.
    fn links(&self, py: Python<'_>) -> PyResult<Table> {
        table!(self, py, links)
    }

    /// Flows of a given size.
    fn completions(&self, py: Python<'_>) -> PyResult<Table> {
        table!(self, py, completions)
    }

    /// Samples of the groups of an overlay.
    fn groups(&self, py: Python<'_>) -> PyResult<Table> {
        table!(self, py, groups)
    }
}
