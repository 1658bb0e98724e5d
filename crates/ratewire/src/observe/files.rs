//! Parquet tables of a run.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ratewire_report::parquet::{Row, Table, When};
use ratewire_report::{
    ConnectionRow, FlowRow, GroupRow, LinkRow, OverlayRows, RunInfo, SenderRow, Transfer,
};
use ratewire_sim::setup::Setup;

use crate::Error;
use crate::folder::at_last;
use crate::results::tables::{
    COMPLETIONS, CONNECTIONS, FLOWS, GROUPS, KeptOverlay, KeptTables, LINKS, SENDERS, Stored,
};

/// Storage of a run's tables.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// Files in a folder that exists.
    Folder(&'a Path),
    /// The process's memory, compressed as in a file.
    Memory,
}

/// The tables of all samples and transfers: `flows.parquet`, `links.parquet` and
/// `completions.parquet`, and for an overlay `groups.parquet`, `connections.parquet` and
/// `senders.parquet`.
pub(crate) struct Files {
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

/// One of the tables.
struct Output<R: Row> {
    path: PathBuf,
    table: Table<R, Sink>,
}

enum Sink {
    File(BufWriter<File>),
    Memory(Vec<u8>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::File(file) => file.write(bytes),
            Sink::Memory(memory) => memory.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::File(file) => file.flush(),
            Sink::Memory(_) => Ok(()),
        }
    }
}

/// Allows a setting that needs tables: this build has the feature `parquet`.
pub(crate) fn check_feature(_: &str) -> Result<(), Error> {
    Ok(())
}

impl Files {
    /// Creates the tables that a run of this setup fills.
    ///
    /// # Errors
    /// An error if a file cannot be created.
    pub(crate) fn create(
        place: Place<'_>,
        setup: &Setup,
        info: &RunInfo,
    ) -> Result<Option<Files>, Error> {
        let overlay = setup.overlay.as_ref().map(|_| OverlayFiles::create(place, info));
        let overlay = overlay.transpose()?;
        Ok(Some(Files {
            flows: Output::create(place, FLOWS, info)?,
            links: Output::create(place, LINKS, info)?,
            completions: Output::create(place, COMPLETIONS, info)?,
            overlay,
        }))
    }

    pub(crate) fn flow(&mut self, info: &RunInfo, sample: &FlowRow) -> Result<(), Error> {
        self.flows.write(info, When { at: sample.at, interval: sample.interval }, sample)
    }

    pub(crate) fn link(&mut self, info: &RunInfo, sample: &LinkRow) -> Result<(), Error> {
        self.links.write(info, When { at: sample.at, interval: sample.interval }, sample)
    }

    pub(crate) fn completion(&mut self, info: &RunInfo, transfer: &Transfer) -> Result<(), Error> {
        self.completions.write(info, (), transfer)
    }

    pub(crate) fn overlay(&mut self, info: &RunInfo, sample: &OverlayRows) -> Result<(), Error> {
        let Some(files) = &mut self.overlay else { return Ok(()) };
        let when = When { at: sample.at, interval: sample.interval };
        sample.groups.iter().try_for_each(|group| files.groups.write(info, when, group))?;
        sample.connections.iter().try_for_each(|c| files.connections.write(info, when, c))?;
        sample.senders.iter().try_for_each(|sender| files.senders.write(info, when, sender))
    }

    /// Notes in all tables that they are of a part of the run: `12 s of 30 s`.
    pub(crate) fn note_partial(&mut self, part: &str) {
        self.flows.table.note_partial(part);
        self.links.table.note_partial(part);
        self.completions.table.note_partial(part);
        if let Some(files) = &mut self.overlay {
            files.groups.table.note_partial(part);
            files.connections.table.note_partial(part);
            files.senders.table.note_partial(part);
        }
    }

    pub(crate) fn finish(self) -> Result<KeptTables, Error> {
        Ok(KeptTables {
            flows: self.flows.finish()?,
            links: self.links.finish()?,
            completions: self.completions.finish()?,
            overlay: self.overlay.map(OverlayFiles::finish).transpose()?,
        })
    }
}

impl OverlayFiles {
    fn create(place: Place<'_>, info: &RunInfo) -> Result<OverlayFiles, Error> {
        Ok(OverlayFiles {
            groups: Output::create(place, GROUPS, info)?,
            connections: Output::create(place, CONNECTIONS, info)?,
            senders: Output::create(place, SENDERS, info)?,
        })
    }

    fn finish(self) -> Result<KeptOverlay, Error> {
        Ok(KeptOverlay {
            groups: self.groups.finish()?,
            connections: self.connections.finish()?,
            senders: self.senders.finish()?,
        })
    }
}

impl<R: Row> Output<R> {
    fn create(place: Place<'_>, name: &str, info: &RunInfo) -> Result<Output<R>, Error> {
        let (path, sink) = match place {
            Place::Folder(folder) => {
                let path = folder.join(name);
                let file = File::create(&path).map_err(|e| Error::write(&path, e))?;
                (path, Sink::File(BufWriter::new(file)))
            }
            Place::Memory => (PathBuf::from(name), Sink::Memory(Vec::new())),
        };
        let table = Table::new(sink, info).map_err(|e| failure(&path, e))?;
        Ok(Output { path, table })
    }

    fn write(&mut self, info: &RunInfo, begins: R::Begins, row: &R) -> Result<(), Error> {
        self.table.write(info, begins, row).map_err(|e| failure(&self.path, e))
    }

    fn finish(self) -> Result<Stored, Error> {
        let mut sink = self.table.finish().map_err(|e| failure(&self.path, e))?;
        sink.flush().map_err(|e| Error::write(&self.path, e))?;
        Ok(match sink {
            Sink::File(_) => Stored::File(at_last(&self.path)),
            Sink::Memory(table) => Stored::Memory(table.into()),
        })
    }
}

fn failure(path: &Path, e: ratewire_report::parquet::Error) -> Error {
    Error::write(path, io::Error::other(e))
}
