//! All samples and transfers in Parquet files, streamed as they come, for pandas, polars and
//! DuckDB.
//!
//! A [`Table`] is a file of one kind of [`Row`]: samples of flows, links, and of an overlay its
//! groups, connections and senders; transfers. Times are in seconds, units in the column names.
//! Names and laws are dictionary columns, so repeating them on every row costs next to nothing. A
//! row group is written every [`ROW_GROUP`] rows; memory does not grow with the run.

mod columns;
mod sweep;

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringDictionaryBuilder, UInt32Builder, UInt64Builder};
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use ratewire_units::{Duration, Time};

use crate::RunInfo;
pub use sweep::{KeptRun, read_runs, sweep_rows, write_runs, write_sweep};

/// Rows a row group holds.
pub const ROW_GROUP: usize = 65_536;

/// Rows turned into columns at a time.
const BATCH: usize = 8_192;

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file itself: a full disk, a closed pipe, or a broken schema.
    #[error("{}", cause(.0))]
    Parquet(#[from] ParquetError),
    /// Columns that do not fit the schema.
    #[error("cannot lay out the columns: {0}")]
    Arrow(#[from] ArrowError),
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

/// A column: its name, its cells so far, and how to read a cell from a row.
pub struct Column<R> {
    name: Cow<'static, str>,
    cells: Cells<R>,
    /// Whether values hardly repeat, so that a dictionary would be in vain.
    is_varied: bool,
}

enum Cells<R> {
    Float(Float64Builder, fn(&R, &RunInfo) -> f64),
    FloatOrNull(Float64Builder, fn(&R) -> Option<f64>),
    Count(UInt64Builder, fn(&R, &RunInfo) -> u64),
    CountOrNull(UInt64Builder, fn(&R) -> Option<u64>),
    Small(UInt32Builder, fn(&R, &RunInfo) -> u32),
    Name(StringDictionaryBuilder<UInt32Type>, for<'a> fn(&'a R, &'a RunInfo) -> &'a str),
    /// One text in every row.
    Constant(StringDictionaryBuilder<UInt32Type>, String),
}

/// Writes a file of one kind of rows, over all runs.
pub struct Table<R: Row, W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
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
        let (begins, columns) = columns_of::<R>(info);
        let schema = schema_of(&begins, &columns);
        let properties = properties(&columns, std::slice::from_ref(&info.made_by))?;
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
        Ok(Table { writer, schema, begins, columns, rows: 0 })
    }

    /// Adds a row, of the run `info`.
    ///
    /// # Errors
    /// When rows cannot be written.
    pub fn write(&mut self, info: &RunInfo, begins: R::Begins, row: &R) -> Result<(), Error> {
        for column in &mut self.begins {
            column.cells.add(&begins, info)?;
        }
        for column in &mut self.columns {
            column.cells.add(row, info)?;
        }
        self.rows += 1;
        if self.rows >= BATCH { self.write_batch() } else { Ok(()) }
    }

    /// Notes in the metadata that the rows are of a part of the run: `12 s of 30 s`.
    pub fn note_partial(&mut self, part: &str) {
        let pair = KeyValue::new(PARTIAL.to_string(), Some(part.to_string()));
        self.writer.append_key_value_metadata(pair);
    }

    /// Writes the remaining rows and the end of the file, and returns `out`.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn finish(mut self) -> Result<W, Error> {
        self.write_batch()?;
        Ok(self.writer.into_inner()?)
    }

    fn write_batch(&mut self) -> Result<(), Error> {
        if self.rows > 0 {
            let own = self.columns.iter_mut().map(|column| column.cells.take());
            let columns = self.begins.iter_mut().map(|column| column.cells.take()).chain(own);
            let batch = RecordBatch::try_new(self.schema.clone(), columns.collect())?;
            self.writer.write(&batch)?;
            self.rows = 0;
        }
        Ok(())
    }
}

/// The columns of a row, without those of values that were set.
pub fn schema<R: Row>() -> SchemaRef {
    let (begins, columns) = columns_of::<R>(&RunInfo::default());
    schema_of(&begins, &columns)
}

/// The columns of a row of the run `info`: those that it begins with, and its own.
fn columns_of<R: Row>(info: &RunInfo) -> (Vec<Column<R::Begins>>, Vec<Column<R>>) {
    let (mut begins, columns) = (R::Begins::columns(), R::columns());
    begins.extend(columns::run());
    let own = begins.iter().map(Column::name).chain(columns.iter().map(Column::name));
    let values = columns::values(&info.values, &own.collect::<Vec<_>>());
    begins.extend(values);
    (begins, columns)
}

fn schema_of<B, R>(begins: &[Column<B>], columns: &[Column<R>]) -> SchemaRef {
    let fields = begins.iter().map(Column::field).chain(columns.iter().map(Column::field));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Writes batches of rows that [`Table`]s of the same kind wrote into one file on `out`.
///
/// `made_by` says what made each table's run. All runs had values set for the same keys.
///
/// # Errors
/// When rows cannot be written, or are of another kind.
pub fn copy<R: Row, W: Write + Send>(
    batches: &[RecordBatch],
    made_by: &[String],
    out: W,
) -> Result<W, Error> {
    let Some(first) = batches.first() else {
        return Table::<R, W>::new(out, &RunInfo::default())?.finish();
    };
    // The schema of a batch that was read has the file's metadata in it.
    let schema = Arc::new(Schema::new(first.schema().fields().clone()));
    let properties = properties(&R::columns(), made_by)?;
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties))?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.into_inner()?)
}

/// How every file is written, and what its metadata say of the runs' origin.
fn written_by(made_by: &[String]) -> Result<WriterPropertiesBuilder, Error> {
    let known = made_by.iter().map(|text| text.trim_end()).filter(|text| !text.is_empty());
    let made_by = match known.collect::<Vec<_>>()[..] {
        [] => None,
        [one] => Some(one.to_string()),
        ref several => Some(format!("[{}]", several.join(",\n"))),
    };
    let pair = |text| vec![KeyValue::new(MADE_BY.to_string(), Some(text))];
    Ok(WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        // The library's version in the file would change its bytes with every update.
        .set_created_by("ratewire".to_string())
        .set_key_value_metadata(made_by.map(pair)))
}

/// How a file with these columns of its own is written.
fn properties<R>(columns: &[Column<R>], made_by: &[String]) -> Result<WriterProperties, Error> {
    let mut properties = written_by(made_by)?;
    for column in columns.iter().filter(|column| column.is_varied) {
        let path = ColumnPath::from(column.name.as_ref());
        // DuckDB before 2.0 reads byte-stream split of floating-point columns only.
        let encoding = match column.cells {
            Cells::Float(..) | Cells::FloatOrNull(..) => Encoding::BYTE_STREAM_SPLIT,
            _ => Encoding::DELTA_BINARY_PACKED,
        };
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, encoding);
    }
    Ok(properties.build())
}

impl<R> Column<R> {
    fn new(name: &'static str, cells: Cells<R>) -> Column<R> {
        Column { name: name.into(), cells, is_varied: false }
    }

    fn name(&self) -> String {
        self.name.to_string()
    }

    fn field(&self) -> Field {
        let (kind, nullable) = match self.cells {
            Cells::Float(..) => (DataType::Float64, false),
            Cells::FloatOrNull(..) => (DataType::Float64, true),
            Cells::Count(..) => (DataType::UInt64, false),
            Cells::CountOrNull(..) => (DataType::UInt64, true),
            Cells::Small(..) => (DataType::UInt32, false),
            Cells::Name(..) | Cells::Constant(..) => {
                let [number, name] = [DataType::UInt32, DataType::Utf8].map(Box::new);
                (DataType::Dictionary(number, name), false)
            }
        };
        Field::new(self.name.as_ref(), kind, nullable)
    }
}

impl<R> Cells<R> {
    fn add(&mut self, row: &R, info: &RunInfo) -> Result<(), ArrowError> {
        match self {
            Cells::Float(cells, of) => cells.append_value(of(row, info)),
            Cells::FloatOrNull(cells, of) => cells.append_option(of(row)),
            Cells::Count(cells, of) => cells.append_value(of(row, info)),
            Cells::CountOrNull(cells, of) => cells.append_option(of(row)),
            Cells::Small(cells, of) => cells.append_value(of(row, info)),
            Cells::Name(cells, of) => {
                cells.append(of(row, info))?;
            }
            Cells::Constant(cells, text) => {
                cells.append(text.as_str())?;
            }
        }
        Ok(())
    }

    /// Takes the cells so far out of the column.
    fn take(&mut self) -> ArrayRef {
        match self {
            Cells::Float(cells, _) | Cells::FloatOrNull(cells, _) => Arc::new(cells.finish()),
            Cells::Count(cells, _) | Cells::CountOrNull(cells, _) => Arc::new(cells.finish()),
            Cells::Small(cells, _) => Arc::new(cells.finish()),
            Cells::Name(cells, _) | Cells::Constant(cells, _) => Arc::new(cells.finish()),
        }
    }
}
