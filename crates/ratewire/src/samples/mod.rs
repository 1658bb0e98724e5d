//! Samples of runs as tables.

#[cfg(feature = "arrow")]
mod batches;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::marker::PhantomData;
use std::path::Path;

use ratewire_files::FileError;
use ratewire_report::parquet::{self, Row, Source, TableCopy};
use ratewire_report::{FlowRow, GroupRow, LinkRow, Transfer};

use crate::results::tables::{KeptTables, Stored};
use crate::{Error, Results, Run};

/// Samples of one kind, of one run or several, a row each.
///
/// Column names contain units; `world`, `law` and `seed` name the run in every row, and so does
/// each value that was set, in a column of its key's name. Empty if samples were not kept
/// ([`Experiment::without_samples`](crate::Experiment::without_samples)).
#[derive(Clone, Debug)]
pub struct Samples<R> {
    tables: Vec<Stored>,
    kind: PhantomData<R>,
}

impl<R> Samples<R> {
    pub(crate) fn new(tables: Vec<Stored>) -> Samples<R> {
        Samples { tables, kind: PhantomData }
    }

    /// The samples of `self`, followed by those of `others`.
    fn and(mut self, others: Samples<R>) -> Samples<R> {
        self.tables.extend(others.tables);
        self
    }
}

impl<R: Row> Samples<R> {
    /// Writes all rows into one Parquet file.
    ///
    /// An existing file is replaced, whatever it holds. The folder of `path` must exist:
    /// [`Results::report`](crate::Results::report) creates missing folders, this does not.
    ///
    /// # Errors
    /// An error if the file cannot be written, or if a table is in a file that cannot be read.
    /// Earlier content of `path` is then lost.
    pub fn write_parquet(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let made_by = |table| source(table)?.made_by().map_err(|e| cannot_read(table, e));
        let made_by = self.tables.iter().map(made_by).collect::<Result<_, Error>>()?;
        let own = self.tables.iter().map(|table| apart_from(table, path));
        let tables = own.collect::<Result<Vec<Stored>, Error>>()?;
        let file = File::create(path).map_err(|e| Error::write(path, e))?;
        let mut copy = TableCopy::<R, _>::new(BufWriter::new(file), made_by);
        for table in &tables {
            copy = copy.append(source(table)?).map_err(|e| match e {
                parquet::Error::Parquet(_) => cannot_write(path, e),
                _ => cannot_read(table, e),
            })?;
        }
        let mut out = copy.finish().map_err(|e| cannot_write(path, e))?;
        out.flush().map_err(|e| Error::write(path, e))
    }
}

impl Run {
    /// Samples of every flow at the end of every sampling interval: `flows.parquet`.
    pub fn flow_samples(&self) -> Samples<FlowRow> {
        self.samples(|held| &held.flows)
    }

    /// Samples of every link at the end of every sampling interval: `links.parquet`.
    pub fn link_samples(&self) -> Samples<LinkRow> {
        self.samples(|held| &held.links)
    }

    /// Flows of a given size, complete or not: `completions.parquet`.
    pub fn completions(&self) -> Samples<Transfer> {
        self.samples(|held| &held.completions)
    }

    /// Samples of every group of an overlay: `groups.parquet`. Empty without an overlay.
    pub fn group_samples(&self) -> Samples<GroupRow> {
        let overlay = self.held.iter().filter_map(|held| held.overlay.as_ref());
        Samples::new(overlay.map(|overlay| overlay.groups.clone()).collect())
    }

    fn samples<R>(&self, of: impl Fn(&KeptTables) -> &Stored) -> Samples<R> {
        Samples::new(self.held.iter().map(|held| of(held).clone()).collect())
    }
}

impl Results {
    /// Samples of every flow at the end of every sampling interval, of all runs.
    pub fn flows(&self) -> Samples<FlowRow> {
        self.samples(Run::flow_samples)
    }

    /// Samples of every link at the end of every sampling interval, of all runs.
    pub fn links(&self) -> Samples<LinkRow> {
        self.samples(Run::link_samples)
    }

    /// Flows of a given size, complete or not, of all runs.
    pub fn completions(&self) -> Samples<Transfer> {
        self.samples(Run::completions)
    }

    /// Samples of every group of an overlay, of all runs; empty without an overlay.
    pub fn groups(&self) -> Samples<GroupRow> {
        self.samples(Run::group_samples)
    }

    fn samples<R>(&self, of: impl Fn(&Run) -> Samples<R>) -> Samples<R> {
        self.runs().iter().map(of).fold(Samples::new(Vec::new()), Samples::and)
    }
}

/// A table that is not in the file `path`, which is about to be replaced.
fn apart_from(table: &Stored, path: &Path) -> Result<Stored, Error> {
    match table {
        Stored::File(file) if file.canonicalize().ok() == path.canonicalize().ok() => {
            table.bytes().map(Stored::Memory)
        }
        _ => Ok(table.clone()),
    }
}

/// The file of a table.
fn source(table: &Stored) -> Result<Source, Error> {
    match table {
        Stored::Memory(bytes) => Ok(Source::Memory(bytes.clone())),
        Stored::File(path) => {
            let wrong = |e: FileError| Error::Read { path: path.clone(), source: e.into() };
            ratewire_files::open(path).map(Source::File).map_err(wrong)
        }
    }
}

fn cannot_read(table: &Stored, e: parquet::Error) -> Error {
    let path = match table {
        Stored::File(path) => path.clone(),
        Stored::Memory(_) => "the samples in memory".into(),
    };
    Error::Read { path, source: io::Error::other(e) }
}

fn cannot_write(path: &Path, e: parquet::Error) -> Error {
    Error::write(path, io::Error::other(e))
}
