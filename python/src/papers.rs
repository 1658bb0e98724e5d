//! Figures of papers, run again.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use ratewire::folder::write_page;
use ratewire::papers::{Paper, PaperFigure, choose, read_all, simulate};
use ratewire::report::html::papers::{PaperSection, render};
use ratewire::{Error, Failed};
use serde_json::{Value, json};

use crate::errors::{exception, of_failures};
use crate::work::work;

/// Papers that were run again.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Reproduction {
    names: Vec<String>,
    sections: Vec<PaperSection>,
}

/// Simulates papers and figures by their names, `PAPER` or `PAPER/FIGURE`, in a folder of papers.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    papers: PathBuf,
    names: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Reproduction> {
    type Done = Result<Vec<(PaperSection, Vec<Failed>)>, Error>;
    let chosen = choose(read(py, &papers)?, &names).map_err(|e| exception(py, e))?;
    let done = work(py, progress.as_ref(), |listener| -> Done {
        chosen.iter().map(|paper| simulate(paper, listener)).collect()
    })?;
    let (sections, failures): (Vec<_>, Vec<_>) =
        done.map_err(|e| exception(py, e))?.into_iter().unzip();
    of_failures(py, &failures.into_iter().flatten().collect::<Vec<_>>())?;
    let names = chosen.into_iter().map(|paper| paper.name).collect();
    Ok(Reproduction { names, sections })
}

/// Name, title, and names of the figures of each paper in a folder.
#[pyfunction]
pub fn list_papers(
    py: Python<'_>,
    papers: PathBuf,
) -> PyResult<Vec<(String, String, Vec<String>)>> {
    let row = |paper: Paper| {
        let figures = paper.figures.iter().map(PaperFigure::handle).collect();
        (paper.name, paper.title, figures)
    };
    Ok(read(py, &papers)?.into_iter().map(row).collect())
}

fn read(py: Python<'_>, papers: &Path) -> PyResult<Vec<Paper>> {
    py.detach(|| read_all(papers)).map_err(|e| exception(py, e))
}

#[pymethods]
impl Reproduction {
    /// The claims as JSON, with what was measured.
    fn json(&self) -> String {
        let mut all = Vec::new();
        for (paper, section) in self.names.iter().zip(&self.sections) {
            for figure in &section.figures {
                for claims in &figure.claims {
                    for expectation in &claims.expectations {
                        let mut claim = json!({
                            "paper": paper,
                            "figure": figure.id,
                            "scenario": claims.file,
                            "verdict": expectation.verdict().word(),
                        });
                        if let (Value::Object(claim), Ok(Value::Object(own))) =
                            (&mut claim, serde_json::to_value(expectation))
                        {
                            claim.extend(own);
                        }
                        all.push(claim);
                    }
                }
            }
        }
        Value::Array(all).to_string()
    }

    /// The page of all papers.
    fn page(&self, py: Python<'_>) -> String {
        py.detach(|| render(&self.sections))
    }

    /// Writes the page.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write_page(&path, &render(&self.sections))).map_err(|e| exception(py, e))
    }
}
