//! The Parquet files of a run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use ratewire_report::parquet::{Row, Table, When};
use ratewire_report::{
    ConnectionRow, FlowRow, GroupRow, LinkRow, OverlayRows, RunInfo, SenderRow, Transfer,
};
use ratewire_sim::setup::Setup;

use crate::Failure;

/// The files that take every sample and every transfer: `flows.parquet`, `links.parquet` and `completions.parquet` in
/// a folder, and of an overlay `groups.parquet`, `connections.parquet` and `senders.parquet`.
pub struct Files {
    flows: Output<FlowRow>,
    links: Output<LinkRow>,
    completions: Output<Transfer>,
    overlay: Option<OverlayFiles>,
}

struct OverlayFiles {
    groups: Output<GroupRow>,
    connections: Output<ConnectionRow>,
    senders: Output<SenderRow>,
}

/// One of the files.
struct Output<R: Row> {
    path: PathBuf,
    table: Table<R, BufWriter<File>>,
}

impl Files {
    /// Creates the files in a folder that exists, those that a run of this setup fills.
    ///
    /// # Errors
    /// When one cannot be created.
    pub fn create(folder: &Path, setup: &Setup) -> Result<Files, Failure> {
        let overlay = setup.overlay.as_ref().map(|_| OverlayFiles::create(folder)).transpose()?;
        Ok(Files {
            flows: Output::create(folder, "flows.parquet")?,
            links: Output::create(folder, "links.parquet")?,
            completions: Output::create(folder, "completions.parquet")?,
            overlay,
        })
    }

    pub(crate) fn flow(&mut self, info: &RunInfo, sample: &FlowRow) -> Result<(), Failure> {
        self.flows.write(info, When { at: sample.at, interval: sample.interval }, sample)
    }

    pub(crate) fn link(&mut self, info: &RunInfo, sample: &LinkRow) -> Result<(), Failure> {
        self.links.write(info, When { at: sample.at, interval: sample.interval }, sample)
    }

    pub(crate) fn completion(
        &mut self,
        info: &RunInfo,
        transfer: &Transfer,
    ) -> Result<(), Failure> {
        self.completions.write(info, (), transfer)
    }

    pub(crate) fn overlay(&mut self, info: &RunInfo, sample: &OverlayRows) -> Result<(), Failure> {
        let Some(files) = &mut self.overlay else { return Ok(()) };
        let when = When { at: sample.at, interval: sample.interval };
        sample.groups.iter().try_for_each(|group| files.groups.write(info, when, group))?;
        sample.connections.iter().try_for_each(|c| files.connections.write(info, when, c))?;
        sample.senders.iter().try_for_each(|sender| files.senders.write(info, when, sender))
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.flows.finish()?;
        self.links.finish()?;
        self.completions.finish()?;
        self.overlay.map_or(Ok(()), OverlayFiles::finish)
    }
}

impl OverlayFiles {
    fn create(folder: &Path) -> Result<OverlayFiles, Failure> {
        Ok(OverlayFiles {
            groups: Output::create(folder, "groups.parquet")?,
            connections: Output::create(folder, "connections.parquet")?,
            senders: Output::create(folder, "senders.parquet")?,
        })
    }

    fn finish(self) -> Result<(), Failure> {
        self.groups.finish()?;
        self.connections.finish()?;
        self.senders.finish()
    }
}

impl<R: Row> Output<R> {
    fn create(folder: &Path, name: &str) -> Result<Output<R>, Failure> {
        let path = folder.join(name);
        let file = File::create(&path).map_err(|e| failure(&path, e.to_string()))?;
        let table = Table::new(BufWriter::new(file)).map_err(|e| failure(&path, e.to_string()))?;
        Ok(Output { path, table })
    }

    fn write(&mut self, info: &RunInfo, begins: R::Begins, row: &R) -> Result<(), Failure> {
        self.table.write(info, begins, row).map_err(|e| failure(&self.path, e.to_string()))
    }

    fn finish(self) -> Result<(), Failure> {
        let mut out = self.table.finish().map_err(|e| failure(&self.path, e.to_string()))?;
        out.flush().map_err(|e| failure(&self.path, e.to_string()))
    }
}

fn failure(path: &Path, reason: String) -> Failure {
    Failure::File { path: path.to_path_buf(), reason }
}
