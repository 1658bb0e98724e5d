//! Stands in for `data_set.rs` in a build without the feature `parquet`: sweeps have no folder.

use std::sync::Arc;

use ratewire_report::{MeasuredRun, Summary, Sweep, SweepAxis};

use super::store::SweepStore;
use crate::Error;
use crate::observe::files::check_feature;

/// A data set of finished runs, of which there is none.
#[derive(Debug)]
pub(super) enum DataSet {}

impl DataSet {
    /// Refuses a place for results.
    pub(super) fn open(
        store: Arc<dyn SweepStore>,
        _: Vec<SweepAxis>,
        _: Vec<String>,
    ) -> Result<DataSet, Error> {
        Err(check_feature(&store.place().display().to_string()).expect_err("there are no tables"))
    }

    pub(super) fn each(
        &self,
        _: impl Fn(&str) -> bool + Sync,
        _: impl Fn(String, Summary) + Sync,
    ) -> Result<(), Error> {
        match *self {}
    }

    pub(super) fn forget(&mut self) -> Result<(), Error> {
        match *self {}
    }

    pub(super) fn put(&self, _: &str, _: &MeasuredRun) -> Result<(), Error> {
        match *self {}
    }

    pub(super) fn flush(&self) -> Result<(), Error> {
        match *self {}
    }

    pub(super) fn write_table(&self, _: &Sweep, _: &str) -> Result<(), Error> {
        match *self {}
    }
}
