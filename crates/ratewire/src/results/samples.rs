//! Samples of runs as tables.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use ratewire_report::parquet::{MADE_BY, Row, copy, schema};

use crate::Error;
use crate::observe::Stored;

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
    pub(super) fn and(mut self, others: Samples<R>) -> Samples<R> {
        self.tables.extend(others.tables);
        self
    }
}

impl<R: Row> Samples<R> {
    /// All rows as Arrow record batches, run by run, in order of time.
    ///
    /// ```
    /// use ratewire::arrow_array::cast::AsArray;
    /// use ratewire::arrow_array::types::{Float64Type, UInt32Type};
    ///
    /// # let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
    /// #   bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n\
    /// #   [[flow]]\nfrom = 's1'\nto = 'd1'\n";
    /// let results = ratewire::Experiment::parse("hello.toml", text)?.run()?;
    /// // Throughput of the first flow over time.
    /// let mut series = Vec::new();
    /// for batch in results.runs()[0].flow_samples().batches()? {
    ///     let flows = batch["flow"].as_primitive::<UInt32Type>().values();
    ///     let times = batch["time_s"].as_primitive::<Float64Type>().values();
    ///     let rates = batch["goodput_bps"].as_primitive::<Float64Type>().values();
    ///     for (row, _) in flows.iter().enumerate().filter(|(_, flow)| **flow == 0) {
    ///         series.push((times[row], rates[row]));
    ///     }
    /// }
    /// assert!(series.len() > 10 && series.iter().any(|(_, rate)| *rate > 9e6));
    /// # Ok::<(), ratewire::Error>(())
    /// ```
    ///
    /// # Errors
    /// An error if a table is in a file that cannot be read.
    pub fn batches(&self) -> Result<Vec<RecordBatch>, Error> {
        let mut all = Vec::new();
        for table in &self.tables {
            let read = reader(table)
                .and_then(|rows| rows.map(|batch| batch.map_err(ParquetError::from)).collect());
            all.extend::<Vec<RecordBatch>>(read.map_err(|e| cannot_read(table, e))?);
        }
        Ok(all)
    }

    /// Names and types of the columns, which all batches have.
    ///
    /// # Errors
    /// An error if a table is in a file that cannot be read.
    pub fn schema(&self) -> Result<SchemaRef, Error> {
        let Some(first) = self.tables.first() else { return Ok(schema::<R>()) };
        let read = reader(first).map_err(|e| cannot_read(first, e))?;
        // A schema that was read has the file's metadata in it, which are those of one run.
        Ok(Arc::new(Schema::new(read.schema().fields().clone())))
    }

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
        let batches = self.batches()?;
        let made_by = self.made_by()?;
        let file = File::create(path).map_err(|e| Error::write(path, e))?;
        let mut out = copy::<R, _>(&batches, &made_by, BufWriter::new(file))
            .map_err(|e| Error::write(path, io::Error::other(e)))?;
        out.flush().map_err(|e| Error::write(path, e))
    }
}

impl<R> Samples<R> {
    /// What made the runs, one text a table.
    fn made_by(&self) -> Result<Vec<String>, Error> {
        let of = |table| made_by(table).map_err(|e| cannot_read(table, e));
        self.tables.iter().map(of).collect()
    }
}

fn reader(table: &Stored) -> Result<ParquetRecordBatchReader, ParquetError> {
    match table {
        Stored::Memory(bytes) => ParquetRecordBatchReaderBuilder::try_new(bytes.clone())?.build(),
        Stored::File(path) => ParquetRecordBatchReaderBuilder::try_new(open(path)?)?.build(),
    }
}

/// What made the run of a table, as the table's metadata say.
fn made_by(table: &Stored) -> Result<String, ParquetError> {
    let read = ParquetMetaDataReader::new();
    let metadata = match table {
        Stored::Memory(bytes) => read.parse_and_finish(bytes)?,
        Stored::File(path) => read.parse_and_finish(&open(path)?)?,
    };
    let pairs = metadata.file_metadata().key_value_metadata();
    let own = pairs.into_iter().flatten().find(|pair| pair.key == MADE_BY);
    Ok(own.and_then(|pair| pair.value.clone()).unwrap_or_default())
}

fn open(path: &Path) -> Result<File, ParquetError> {
    File::open(path).map_err(|e| ParquetError::External(Box::new(e)))
}

fn cannot_read(table: &Stored, e: ParquetError) -> Error {
    let path = match table {
        Stored::File(path) => path.clone(),
        Stored::Memory(_) => "the samples in memory".into(),
    };
    Error::Read { path, source: io::Error::other(e) }
}
