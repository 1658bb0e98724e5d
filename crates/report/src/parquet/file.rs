//! A file, written a row group at a time.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, TypePtr};

use super::cells::Cells;
use super::fields::{ARROW_SCHEMA, Field, Kind, arrow_schema, parquet_schema};
use super::{Error, MADE_BY};

/// Writes the row groups of a file.
pub(super) struct RowGroups<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

impl<W: Write + Send> RowGroups<W> {
    /// Starts a file with these columns on `out`. `made_by` says what made the rows, one text a
    /// run.
    pub(super) fn new(out: W, fields: &[Field], made_by: &[String]) -> Result<RowGroups<W>, Error> {
        let (schema, arrow) = (parquet_schema(fields)?, Some(arrow_schema(fields)));
        RowGroups::with_schema(out, (schema, arrow), fields, made_by)
    }

    /// Starts a file whose schema was read: that of Parquet, and the text of Arrow's. `fields` say
    /// how some columns are encoded.
    pub(super) fn with_schema(
        out: W,
        (schema, arrow): (TypePtr, Option<String>),
        fields: &[Field],
        made_by: &[String],
    ) -> Result<RowGroups<W>, Error> {
        let made_by = joined(made_by).map(|text| KeyValue::new(MADE_BY.to_string(), text));
        let arrow = arrow.map(|text| KeyValue::new(ARROW_SCHEMA.to_string(), text));
        let pairs: Vec<KeyValue> = made_by.into_iter().chain(arrow).collect();
        let properties = properties(fields)?.set_key_value_metadata(Some(pairs)).build();
        Ok(RowGroups { file: SerializedFileWriter::new(out, schema, Arc::new(properties))? })
    }

    /// Adds a pair to the metadata.
    pub(super) fn note(&mut self, key: &str, text: &str) {
        self.file.append_key_value_metadata(KeyValue::new(key.to_string(), text.to_string()));
    }

    /// Writes the first rows of all columns as a row group, if there are any.
    pub(super) fn write<'a>(
        &mut self,
        rows: usize,
        columns: impl Iterator<Item = &'a mut dyn Cells>,
    ) -> Result<(), Error> {
        if rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for cells in columns {
            let more = || ParquetError::General("more columns than the schema has".to_string());
            let mut column = group.next_column()?.ok_or_else(more)?;
            cells.write(rows, &mut column)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the end of the file, and returns what it was written on.
    pub(super) fn finish(self) -> Result<W, Error> {
        Ok(self.file.into_inner()?)
    }
}

/// What made the runs of a file: the only text, or a list of several.
fn joined(made_by: &[String]) -> Option<String> {
    let known = made_by.iter().map(|text| text.trim_end()).filter(|text| !text.is_empty());
    match known.collect::<Vec<_>>()[..] {
        [] => None,
        [one] => Some(one.to_string()),
        ref several => Some(format!("[{}]", several.join(",\n"))),
    }
}

/// How a file with these columns is written.
fn properties(fields: &[Field]) -> Result<WriterPropertiesBuilder, Error> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        // The library's version in the file would change its bytes with every update.
        .set_created_by("ratewire".to_string());
    for field in fields.iter().filter(|field| field.is_varied) {
        let path = ColumnPath::from(field.name.as_ref());
        // DuckDB before 2.0 reads byte-stream split of floating-point columns only.
        let encoding = match field.kind {
            Kind::Float => Encoding::BYTE_STREAM_SPLIT,
            _ => Encoding::DELTA_BINARY_PACKED,
        };
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, encoding);
    }
    Ok(properties)
}
