//! Cells of a column, held until their row group is whole.

use bytes::Bytes;
use parquet::column::reader::{ColumnReader, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;

/// Rows handed to the library at a time. Its writers encode as many at once.
const BATCH: usize = 1024;

/// Cells of one column, of any type.
pub(super) trait Cells {
    /// Writes the first rows as a column chunk, and forgets them.
    fn write(&mut self, rows: usize, out: &mut SerializedColumnWriter) -> Result<(), ParquetError>;

    /// Adds all cells of a column chunk, which must have the type of these. Returns their number.
    fn read(&mut self, chunk: ColumnReader) -> Result<usize, ParquetError>;
}

/// Which rows have a value: 1 for a value, 0 for null. None in a column without nulls.
#[derive(Clone)]
struct Levels(Option<Vec<i16>>);

/// Cells of numbers.
#[derive(Clone)]
pub(super) struct Numbers<T: DataType> {
    /// Without the nulls.
    values: Vec<T::T>,
    levels: Levels,
}

/// Times, rates and shares.
pub(super) type Floats = Numbers<DoubleType>;
/// Numbers of 64 bits without a sign, in the bits that Parquet has for those with one.
pub(super) type Counts = Numbers<Int64Type>;
/// Numbers of 32 bits without a sign, likewise.
pub(super) type Smalls = Numbers<Int32Type>;

/// Cells of texts.
#[derive(Clone)]
pub(super) struct Texts {
    /// The texts, one after the other.
    bytes: Vec<u8>,
    /// End of each text in `bytes`, without the nulls.
    ends: Vec<usize>,
    levels: Levels,
}

impl Levels {
    fn new(is_nullable: bool) -> Levels {
        Levels(is_nullable.then(Vec::new))
    }

    fn push(&mut self, is_value: bool) {
        if let Some(levels) = &mut self.0 {
            levels.push(i16::from(is_value));
        }
    }

    /// Number of values in the next rows.
    fn values(&self, rows: std::ops::Range<usize>) -> usize {
        match &self.0 {
            Some(levels) => levels[rows].iter().filter(|level| **level > 0).count(),
            None => rows.len(),
        }
    }

    fn of(&self, rows: std::ops::Range<usize>) -> Option<&[i16]> {
        self.0.as_ref().map(|levels| &levels[rows])
    }

    fn forget(&mut self, rows: usize) {
        if let Some(levels) = &mut self.0 {
            levels.drain(..rows);
        }
    }
}

impl<T: DataType> Numbers<T> {
    /// No cells yet.
    pub(super) fn new(is_nullable: bool) -> Numbers<T> {
        Numbers { values: Vec::new(), levels: Levels::new(is_nullable) }
    }

    /// Adds a cell; null only in a column that may have nulls.
    pub(super) fn push(&mut self, value: Option<T::T>) {
        self.levels.push(value.is_some());
        self.values.extend(value);
    }
}

impl<T: DataType> Cells for Numbers<T> {
    fn write(&mut self, rows: usize, out: &mut SerializedColumnWriter) -> Result<(), ParquetError> {
        let values = self.levels.values(0..rows);
        out.typed::<T>().write_batch(&self.values[..values], self.levels.of(0..rows), None)?;
        self.values.drain(..values);
        self.levels.forget(rows);
        Ok(())
    }

    fn read(&mut self, chunk: ColumnReader) -> Result<usize, ParquetError> {
        let mut chunk = get_typed_column_reader::<T>(chunk);
        let mut rows = 0;
        loop {
            let levels = self.levels.0.as_mut();
            match chunk.read_records(BATCH, levels, None, &mut self.values)?.0 {
                0 => return Ok(rows),
                read => rows += read,
            }
        }
    }
}

impl Texts {
    /// No cells yet.
    pub(super) fn new(is_nullable: bool) -> Texts {
        Texts { bytes: Vec::new(), ends: Vec::new(), levels: Levels::new(is_nullable) }
    }

    /// Adds a cell.
    pub(super) fn push(&mut self, text: &str) {
        self.levels.push(true);
        self.add(text.as_bytes());
    }

    fn add(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }
}

impl Cells for Texts {
    fn write(&mut self, rows: usize, out: &mut SerializedColumnWriter) -> Result<(), ParquetError> {
        let all = Bytes::from(std::mem::take(&mut self.bytes));
        let mut start = 0;
        let mut ends = self.ends.iter();
        for first in (0..rows).step_by(BATCH) {
            let part = first..rows.min(first + BATCH);
            let next = ends.by_ref().take(self.levels.values(part.clone())).map(|end| {
                let text = all.slice(start..*end);
                start = *end;
                ByteArray::from(text)
            });
            let texts: Vec<ByteArray> = next.collect();
            out.typed::<ByteArrayType>().write_batch(&texts, self.levels.of(part), None)?;
        }
        self.bytes = all[start..].to_vec();
        self.ends = ends.map(|end| end - start).collect();
        self.levels.forget(rows);
        Ok(())
    }

    fn read(&mut self, chunk: ColumnReader) -> Result<usize, ParquetError> {
        let mut chunk = get_typed_column_reader::<ByteArrayType>(chunk);
        let (mut rows, mut texts) = (0, Vec::new());
        loop {
            let levels = self.levels.0.as_mut();
            match chunk.read_records(BATCH, levels, None, &mut texts)?.0 {
                0 => return Ok(rows),
                read => rows += read,
            }
            texts.drain(..).for_each(|text| self.add(text.data()));
        }
    }
}
