//! Tables as Arrow record batches.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::{Error, Row, Source, Table, write_sweep};
use crate::{RunInfo, Sweep};

/// The rows of a table.
///
/// # Errors
/// When the file is damaged.
pub fn batches(table: Source) -> Result<Vec<RecordBatch>, Error> {
    let rows = reader(table, None)?;
    Ok(rows.map(|batch| batch.map_err(ParquetError::from)).collect::<Result<_, _>>()?)
}

/// Names and types of the columns of a table, without the metadata of its file.
///
/// # Errors
/// When the file is damaged.
pub fn schema_of(table: Source) -> Result<SchemaRef, Error> {
    Ok(plain(&reader(table, None)?.schema()))
}

/// The columns of a row, without those of values that were set.
pub fn schema<R: Row>() -> SchemaRef {
    let table = Table::<R, _>::new(Vec::new(), &RunInfo::default());
    let file = table.and_then(Table::finish).expect("memory can be written");
    schema_of(Source::Memory(file.into())).expect("the file is whole")
}

/// The runs of a sweep as [`write_sweep`] writes them, in one batch.
///
/// # Errors
/// When the rows cannot be laid out.
pub fn sweep_rows(sweep: &Sweep) -> Result<RecordBatch, Error> {
    let file = Bytes::from(write_sweep(sweep, "", Vec::new())?);
    let mut rows = reader(Source::Memory(file), Some(sweep.runs.len()))?;
    let schema = plain(&rows.schema());
    let batch = match rows.next() {
        Some(batch) => batch.and_then(|batch| batch.with_schema(schema)),
        None => Ok(RecordBatch::new_empty(schema)),
    };
    Ok(batch.map_err(ParquetError::from)?)
}

/// A reader of a table in batches of so many rows, if it is said how many.
fn reader(table: Source, rows: Option<usize>) -> Result<ParquetRecordBatchReader, ParquetError> {
    match table {
        Source::File(file) => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
            rows.into_iter().fold(builder, ParquetRecordBatchReaderBuilder::with_batch_size).build()
        }
        Source::Memory(bytes) => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
            rows.into_iter().fold(builder, ParquetRecordBatchReaderBuilder::with_batch_size).build()
        }
    }
}

/// A schema that was read has the file's metadata in it, which are those of one run.
fn plain(schema: &Schema) -> SchemaRef {
    Arc::new(Schema::new(schema.fields().clone()))
}
