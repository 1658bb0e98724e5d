//! Stands in for `files.rs` in a build without the feature `parquet`: runs have no tables.

use std::path::Path;

use ratewire_report::{FlowRow, LinkRow, OverlayRows, RunInfo, Transfer};
use ratewire_sim::setup::Setup;

use crate::Error;
use crate::results::error::lacking;
use crate::results::tables::KeptTables;

/// Storage of a run's tables.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    Folder(&'a Path),
    Memory,
}

/// Tables of a run, of which there are none.
pub(crate) enum Files {}

/// Refuses a setting that needs tables.
pub(crate) fn check_feature(setting: &str) -> Result<(), Error> {
    let what = "this build writes no tables, which a folder of results has";
    Err(lacking(setting, what, "parquet"))
}

impl Files {
    /// Keeps nothing in memory, and refuses a folder.
    pub(crate) fn create(place: Place<'_>, _: &Setup, _: &RunInfo) -> Result<Option<Files>, Error> {
        match place {
            Place::Memory => Ok(None),
            Place::Folder(folder) => check_feature(&folder.display().to_string()).map(|()| None),
        }
    }

    pub(crate) fn flow(&mut self, _: &RunInfo, _: &FlowRow) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn link(&mut self, _: &RunInfo, _: &LinkRow) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn completion(&mut self, _: &RunInfo, _: &Transfer) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn overlay(&mut self, _: &RunInfo, _: &OverlayRows) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn note_partial(&mut self, _: &str) {
        match *self {}
    }

    pub(crate) fn finish(self) -> Result<KeptTables, Error> {
        match self {}
    }
}
