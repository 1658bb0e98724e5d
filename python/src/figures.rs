//! Figures of results, to be drawn.

use std::path::PathBuf;

use pyo3::prelude::*;
use ratewire::{Columns, Figure, Panels, Style};

use crate::errors::exception;

/// The figures of results.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Figures(pub ratewire::Figures);

fn style(two_columns: bool, serif: bool) -> Style {
    let columns = if two_columns { Columns::Two } else { Columns::One };
    Style { columns, serif }
}

impl Figures {
    fn figure(&self, py: Python<'_>, name: &str) -> PyResult<Figure> {
        self.0.figure(name, Panels::Auto).map_err(|e| exception(py, e))
    }
}

#[pymethods]
impl Figures {
    /// Name, title and unit of each figure.
    fn list(&self) -> Vec<(String, String, String)> {
        let row = |listed: ratewire::Listed| (listed.name, listed.title, listed.unit);
        self.0.list().into_iter().map(row).collect()
    }

    /// What can follow a figure's name and a slash.
    fn parts(&self, name: &str) -> Vec<String> {
        self.0.parts(name)
    }

    /// A figure's axes and series as JSON.
    fn json(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let figure = self.figure(py, name)?;
        // Every key is text, so nothing fails to serialise.
        Ok(serde_json::to_string(&figure).unwrap_or_default())
    }

    /// A figure as an SVG document.
    fn svg(&self, py: Python<'_>, name: &str, two_columns: bool, serif: bool) -> PyResult<String> {
        Ok(self.figure(py, name)?.svg(&style(two_columns, serif)))
    }

    /// Writes a figure in the format that the path ends in: svg, pdf, png or csv.
    fn write(
        &self,
        py: Python<'_>,
        name: &str,
        path: PathBuf,
        two_columns: bool,
        serif: bool,
    ) -> PyResult<()> {
        let (figure, style) = (self.figure(py, name)?, style(two_columns, serif));
        py.detach(|| ratewire::Figures::write(&figure, &path, &style)).map_err(|e| exception(py, e))
    }
}
