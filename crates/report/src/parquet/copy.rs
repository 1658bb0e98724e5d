//! Tables put together into one.

use std::fs::File;
use std::io::Write;
use std::marker::PhantomData;

use bytes::Bytes;
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, TypePtr};

use super::cells::{Cells, Counts, Floats, Smalls, Texts};
use super::fields::ARROW_SCHEMA;
use super::file::RowGroups;
use super::{Error, MADE_BY, ROW_GROUP, Row, Table, fields};
use crate::RunInfo;

/// A table's file.
#[derive(Debug)]
pub enum Source {
    /// An open file.
    File(File),
    /// The bytes of a file.
    Memory(Bytes),
}

impl Source {
    /// What made the rows, as the file's metadata say; empty if they do not.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn made_by(self) -> Result<String, Error> {
        let file = self.open().map_err(Error::Source)?;
        Ok(noted(&*file, MADE_BY).unwrap_or_default())
    }

    fn open(self) -> Result<Box<dyn FileReader>, ParquetError> {
        Ok(match self {
            Source::File(file) => Box::new(SerializedFileReader::new(file)?),
            Source::Memory(bytes) => Box::new(SerializedFileReader::new(bytes)?),
        })
    }
}

/// The text of a key of the metadata.
fn noted(file: &dyn FileReader, key: &str) -> Option<String> {
    let pairs = file.metadata().file_metadata().key_value_metadata();
    let pair = pairs.into_iter().flatten().find(|pair| pair.key == key);
    pair.and_then(|KeyValue { value, .. }| value.clone())
}

/// Writes rows that [`Table`]s of the same kind wrote into one file, a row group at a time.
pub struct TableCopy<R, W: Write + Send> {
    made_by: Vec<String>,
    state: State<W>,
    kind: PhantomData<R>,
}

enum State<W: Write + Send> {
    /// The columns are those of the first table.
    Empty(W),
    Begun(Box<Begun<W>>),
}

struct Begun<W: Write + Send> {
    file: RowGroups<W>,
    schema: TypePtr,
    columns: Vec<Box<dyn Cells + Send>>,
    /// Rows in the columns.
    rows: usize,
}

impl<R: Row, W: Write + Send> TableCopy<R, W> {
    /// A file on `out`. `made_by` says what made each table's run.
    pub fn new(out: W, made_by: Vec<String>) -> TableCopy<R, W> {
        TableCopy { made_by, state: State::Empty(out), kind: PhantomData }
    }

    /// Adds the rows of a table. All tables had values set for the same keys.
    ///
    /// # Errors
    /// [`Error::Source`] or [`Error::Columns`] when the table cannot be read or is of another kind,
    /// [`Error::Parquet`] when rows cannot be written. The file is then incomplete.
    pub fn append(self, table: Source) -> Result<TableCopy<R, W>, Error> {
        let table = table.open().map_err(Error::Source)?;
        let mut begun = match self.state {
            State::Empty(out) => Box::new(Begun::new::<R>(out, &*table, &self.made_by)?),
            State::Begun(begun) => begun,
        };
        begun.add(&*table)?;
        Ok(TableCopy { state: State::Begun(begun), ..self })
    }

    /// Writes the remaining rows and the end of the file, and returns `out`.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn finish(self) -> Result<W, Error> {
        match self.state {
            State::Empty(out) => Table::<R, W>::new(out, &RunInfo::default())?.finish(),
            State::Begun(mut begun) => {
                begun.write()?;
                begun.file.finish()
            }
        }
    }
}

impl<W: Write + Send> Begun<W> {
    /// Starts a file with the columns of `table`.
    fn new<R: Row>(out: W, table: &dyn FileReader, made_by: &[String]) -> Result<Self, Error> {
        let descriptor = table.metadata().file_metadata().schema_descr_ptr();
        let columns =
            descriptor.columns().iter().map(|column| cells(column)).collect::<Result<_, _>>()?;
        let schema = descriptor.root_schema_ptr();
        let schemas = (schema.clone(), noted(table, ARROW_SCHEMA));
        let own: Vec<_> = fields(&R::columns()).collect();
        let file = RowGroups::with_schema(out, schemas, &own, made_by)?;
        Ok(Begun { file, schema, columns, rows: 0 })
    }

    fn add(&mut self, table: &dyn FileReader) -> Result<(), Error> {
        if *table.metadata().file_metadata().schema() != *self.schema {
            return Err(Error::Columns("its columns are not those of the first table".to_string()));
        }
        for index in 0..table.num_row_groups() {
            let group = table.get_row_group(index).map_err(Error::Source)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
            for (place, cells) in self.columns.iter_mut().enumerate() {
                let read = group.get_column_reader(place).and_then(|chunk| cells.read(chunk));
                let read = read.map_err(Error::Source)?;
                if read != rows {
                    let what = format!("a column has {read} rows, and its row group {rows}");
                    return Err(Error::Source(ParquetError::General(what)));
                }
            }
            self.rows += rows;
            while self.rows >= ROW_GROUP {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Writes a row group of the first rows.
    fn write(&mut self) -> Result<(), Error> {
        let rows = self.rows.min(ROW_GROUP);
        self.rows -= rows;
        self.file.write(rows, self.columns.iter_mut().map(|cells| &mut **cells as &mut dyn Cells))
    }
}

/// No cells yet of a column that is read.
fn cells(column: &ColumnDescriptor) -> Result<Box<dyn Cells + Send>, Error> {
    let is_nullable = column.max_def_level() > 0;
    if column.max_rep_level() > 0 || column.max_def_level() > 1 {
        return Err(Error::Columns(format!("the column `{}` is a list or a group", column.path())));
    }
    Ok(match column.physical_type() {
        PhysicalType::DOUBLE => Box::new(Floats::new(is_nullable)),
        PhysicalType::INT64 => Box::new(Counts::new(is_nullable)),
        PhysicalType::INT32 => Box::new(Smalls::new(is_nullable)),
        PhysicalType::BYTE_ARRAY => Box::new(Texts::new(is_nullable)),
        other => {
            let what = format!("the column `{}` has values of the type {other}", column.path());
            return Err(Error::Columns(what));
        }
    })
}
