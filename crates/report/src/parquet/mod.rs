//! All samples and transfers in Parquet files, streamed as they come, for pandas, polars and
//! DuckDB.
//!
//! A [`Table`] is a file of one kind of [`Row`]: samples of flows, links, and of an overlay its
//! groups, connections and senders; transfers. Times are in seconds, units in the column names.
//! Names and laws are dictionary columns, so repeating them on every row costs next to nothing. A
//! row group is written every [`ROW_GROUP`] rows; memory does not grow with the run.
//!
//! With the feature `arrow` tables are read as record batches, too.

#[cfg(feature = "arrow")]
mod arrow;
mod cells;
mod columns;
mod copy;
mod fields;
mod file;
mod sweep;

use std::io::Write;

use parquet::errors::ParquetError;
use ratewire_units::{Duration, Time};

use crate::RunInfo;
#[cfg(feature = "arrow")]
pub use arrow::{batches, schema, schema_of, sweep_rows};
pub use columns::Column;
pub use copy::{Source, TableCopy};
use fields::Field;
use file::RowGroups;
pub use sweep::{KeptRun, read_runs, write_runs, write_sweep};

/// Rows a row group holds.
pub const ROW_GROUP: usize = 65_536;

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file itself: a full disk, a closed pipe, or damage.
    #[error("{}", cause(.0))]
    Parquet(#[from] ParquetError),
    /// A table that was to be copied cannot be read.
    #[error("{}", cause(.0))]
    Source(#[source] ParquetError),
    /// A file that was read has other columns than it should have.
    #[error("{0}")]
    Columns(String),
}

/// The cause of an error, without the library's prefix for errors of the file itself.
fn cause(error: &ParquetError) -> String {
    match error {
        ParquetError::External(own) => own.to_string(),
        other => other.to_string(),
    }
}

/// A row of a table.
pub trait Row: Sized {
    /// The columns before law and seed: [`When`] for a sample.
    type Begins: Begins;

    /// The row's own columns after law and seed, in order and empty.
    fn columns() -> Vec<Column<Self>>;
}

/// The columns that a row begins with.
pub trait Begins: Sized {
    /// The columns, in order and empty.
    fn columns() -> Vec<Column<Self>>;
}

/// The interval that a sample is about.
#[derive(Clone, Copy, Debug)]
pub struct When {
    /// End of the interval.
    pub at: Time,
    /// Length of the interval.
    pub interval: Duration,
}

/// Key of the metadata that say what made the rows: the experiment's JSON, or a list of several.
pub const MADE_BY: &str = "ratewire";

/// Key of the metadata of a table whose run was interrupted: `12 s of 30 s`.
pub const PARTIAL: &str = "ratewire.partial";

/// Writes a file of one kind of rows, over all runs.
pub struct Table<R: Row, W: Write + Send> {
    file: RowGroups<W>,
    /// The columns before law and seed.
    begins: Vec<Column<R::Begins>>,
    columns: Vec<Column<R>>,
    /// Rows in the columns.
    rows: usize,
}

impl<R: Row, W: Write + Send> Table<R, W> {
    /// Starts the file on `out`, for rows of the run `info`.
    ///
    /// Each value of [`RunInfo::values`] has a column after law and seed, and
    /// [`RunInfo::made_by`] is in the metadata.
    ///
    /// # Errors
    /// When the start of the file cannot be written.
    pub fn new(out: W, info: &RunInfo) -> Result<Table<R, W>, Error> {
        let (mut begins, columns) = (R::Begins::columns(), R::columns());
        begins.extend(columns::run());
        let own = names(&begins).chain(names(&columns)).collect::<Vec<_>>();
        let values = columns::values(&info.values, &own);
        begins.extend(values);
        let fields: Vec<Field> = fields(&begins).chain(fields(&columns)).collect();
        let file = RowGroups::new(out, &fields, std::slice::from_ref(&info.made_by))?;
        Ok(Table { file, begins, columns, rows: 0 })
    }

    /// Adds a row, of the run `info`.
    ///
    /// # Errors
    /// When rows cannot be written.
    pub fn write(&mut self, info: &RunInfo, begins: R::Begins, row: &R) -> Result<(), Error> {
        self.begins.iter_mut().for_each(|column| column.add(&begins, info));
        self.columns.iter_mut().for_each(|column| column.add(row, info));
        self.rows += 1;
        if self.rows >= ROW_GROUP { self.write_group() } else { Ok(()) }
    }

    /// Notes in the metadata that the rows are of a part of the run: `12 s of 30 s`.
    pub fn note_partial(&mut self, part: &str) {
        self.file.note(PARTIAL, part);
    }

    /// Writes the remaining rows and the end of the file, and returns `out`.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn finish(mut self) -> Result<W, Error> {
        self.write_group()?;
        self.file.finish()
    }

    fn write_group(&mut self) -> Result<(), Error> {
        let begins = self.begins.iter_mut().map(Column::cells);
        let columns = begins.chain(self.columns.iter_mut().map(Column::cells));
        self.file.write(std::mem::take(&mut self.rows), columns)
    }
}

fn fields<R>(columns: &[Column<R>]) -> impl Iterator<Item = Field> {
    columns.iter().map(|column| column.field.clone())
}

fn names<R>(columns: &[Column<R>]) -> impl Iterator<Item = String> {
    columns.iter().map(|column| column.field.name.to_string())
}
