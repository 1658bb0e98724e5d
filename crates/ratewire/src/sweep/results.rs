//! The results of a sweep.

use ratewire_report::draw::{Figure, Panels};
use ratewire_report::{html, table};
use serde::Serialize;

use crate::provenance::ExperimentRecord;
use crate::results::Failed;
use crate::{Error, Figures};

/// Figures of a sweep's runs.
#[derive(Debug)]
pub struct SweepResults {
    pub(super) sweep: ratewire_report::Sweep,
    pub(super) record: ExperimentRecord,
    pub(super) failures: Vec<Failed>,
    pub(super) unwritten: Option<Error>,
}

/// The schema of `sweep.json`, whose first key is `generator`.
#[derive(Serialize)]
pub(super) struct SweepFile<'a> {
    pub(super) experiment: &'a ExperimentRecord,
    #[serde(flatten)]
    pub(super) sweep: &'a ratewire_report::Sweep,
}

impl SweepResults {
    /// Figures of the runs that finished.
    pub fn sweep(&self) -> &ratewire_report::Sweep {
        &self.sweep
    }

    /// Runs that failed, or were interrupted.
    pub fn failures(&self) -> &[Failed] {
        &self.failures
    }

    /// Why the sweep's folder could not be written, if so.
    pub fn unwritten(&self) -> Option<&Error> {
        self.unwritten.as_ref()
    }

    /// The figures of the page, to be drawn for a paper.
    pub fn figures(&self) -> Figures {
        Figures::of_page("results".into(), &self.page())
    }

    /// A figure of the page by its name: `utilisation`, against the key with the most values, or
    /// `utilisation/KEY`, against that key.
    ///
    /// # Errors
    /// [`Error::Figure`] if no figure has this name.
    pub fn plot(&self, figure: &str) -> Result<Figure, Error> {
        self.figures().figure(figure, Panels::Auto)
    }

    /// Figures as a table, in the width of the terminal.
    pub fn table(&self) -> String {
        table::sweep(&self.sweep, &table::TableOptions::default())
    }

    /// Figures of every run, as in `sweep.json`.
    pub fn json(&self) -> String {
        ratewire_report::json(&SweepFile { experiment: &self.record, sweep: &self.sweep })
    }

    /// The page: the text of `sweep.html`, without the scenario.
    pub fn page(&self) -> String {
        html::render_sweep(&self.sweep, &[], "")
    }

    /// Figures of every run as an Arrow record batch, a row a run: `sweep.parquet`.
    ///
    /// # Errors
    /// An error if the runs do not fit a table.
    #[cfg(feature = "arrow")]
    pub fn rows(&self) -> Result<arrow_array::RecordBatch, Error> {
        let wrong = |e| Error::Read { path: "the sweep".into(), source: std::io::Error::other(e) };
        ratewire_report::parquet::sweep_rows(self.sweep()).map_err(wrong)
    }
}
