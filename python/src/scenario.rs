//! A scenario that was read and checked.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyType;
use ratewire::laws::LawSet;
use ratewire::scenario::{Loader, ScenarioError};
use ratewire::{add_law, know_law_files, scenario};

use crate::errors::{diagnostics, exception};
use crate::law;

/// A scenario that was read and checked.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Scenario(pub scenario::Scenario);

type Read = Result<scenario::Scenario, ScenarioError>;

fn scenario(py: Python<'_>, read: impl FnOnce() -> Read + Send) -> PyResult<Scenario> {
    py.detach(read).map(Scenario).map_err(|wrong| exception(py, wrong.into()))
}

/// A law that a scenario may name: a class, or the file of one in C, whose code is trusted.
#[derive(FromPyObject)]
enum Named<'py> {
    File(String),
    Class(Bound<'py, PyType>),
}

/// Adds laws to a set.
fn add(py: Python<'_>, laws: &mut LawSet, named: Vec<Named<'_>>) -> PyResult<()> {
    named.into_iter().try_for_each(|one| match one {
        Named::File(path) => py.detach(|| add_law(laws, &path)).map_err(|e| exception(py, e)),
        Named::Class(class) => law::register(laws, &[class]),
    })
}

fn law_set(py: Python<'_>, named: Vec<Named<'_>>) -> PyResult<LawSet> {
    let mut laws = LawSet::default();
    add(py, &mut laws, named)?;
    Ok(laws)
}

#[pymethods]
impl Scenario {
    /// Reads the scenario in a file, with values set.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        set: Vec<(String, String)>,
        laws: Vec<Named<'_>>,
    ) -> PyResult<Scenario> {
        let mut laws = law_set(py, laws)?;
        know_law_files(&mut laws, &path, &set);
        scenario(py, || Loader::from(&laws).load(&path, &set))
    }

    /// Reads a scenario from a text that messages call `name`.
    #[staticmethod]
    fn parse(py: Python<'_>, name: &str, text: &str, laws: Vec<Named<'_>>) -> PyResult<Scenario> {
        let laws = law_set(py, laws)?;
        let no_files = |_: &str| {
            let why = "a scenario that is not read from a file has no folder to find files in";
            Err(std::io::Error::new(std::io::ErrorKind::NotFound, why))
        };
        scenario(py, || Loader::from(&laws).parse(name, text, &no_files))
    }

    /// The scenario, which may also name these laws.
    fn knowing(&self, py: Python<'_>, laws: Vec<Named<'_>>) -> PyResult<Scenario> {
        let mut known = self.0.known_laws().clone();
        add(py, &mut known, laws)?;
        scenario(py, || self.0.with_laws(&known))
    }

    /// The scenario with values set.
    fn set(&self, py: Python<'_>, values: Vec<(String, String)>) -> PyResult<Scenario> {
        scenario(py, || self.0.with_overrides(&values))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.duration.secs()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    #[getter]
    fn laws(&self) -> Vec<String> {
        self.0.laws()
    }

    #[getter]
    fn links(&self) -> Vec<String> {
        self.0.links().collect()
    }

    #[getter]
    fn file(&self) -> &str {
        &self.0.file
    }

    #[getter]
    fn text(&self) -> &str {
        &self.0.source_text
    }

    #[getter]
    fn values(&self) -> Vec<(String, String)> {
        self.0.values()
    }

    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        diagnostics(py, &self.0.warnings)
    }
}
