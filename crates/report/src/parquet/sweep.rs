//! The runs of a sweep as one table, a row a run.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringDictionaryBuilder, UInt64Builder};
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use parquet::arrow::ArrowWriter;

use super::{Error, written_by};
use crate::{Sweep, SweepAxis, SweepRun};

/// Writes the runs of a sweep, as [`sweep_rows`] has them. `made_by` says what made the runs, for
/// the metadata.
///
/// # Errors
/// When the file cannot be written.
pub fn write_sweep<W: Write + Send>(sweep: &Sweep, made_by: &str, out: W) -> Result<W, Error> {
    let rows = sweep_rows(sweep)?;
    let properties = written_by(&[made_by.to_string()])?.build();
    let mut writer = ArrowWriter::try_new(out, rows.schema(), Some(properties))?;
    writer.write(&rows)?;
    Ok(writer.into_inner()?)
}

/// The runs of a sweep, a row a run: law, seed, the values that were set, and all figures.
///
/// Each axis has a column of its key's name with the values as they were given. If they are
/// quantities of one unit, a column `KEY_UNIT` has them as numbers.
///
/// # Errors
/// When the sweep has more different texts than a dictionary column holds.
pub fn sweep_rows(sweep: &Sweep) -> Result<RecordBatch, Error> {
    let runs = &sweep.runs;
    let mut columns: Vec<(String, ArrayRef, bool)> = vec![
        ("law".into(), texts(runs, |run| text(&sweep.laws, run.law))?, false),
        ("seed".into(), counts(runs, |run| run.seed), false),
    ];
    for (place, axis) in sweep.axes.iter().enumerate() {
        let value = |run: &SweepRun| axis.values.get(*run.point.get(place)?);
        let given = texts(runs, |run| value(run).map_or("", |value| &value.text))?;
        columns.push((axis.key.clone(), given, false));
        if let Some(name) = numbers_of(axis) {
            columns.push((name, floats(runs, |run| value(run)?.number), true));
        }
    }
    for (place, figure) in sweep.figures.iter().enumerate() {
        let values = floats(runs, |run| run.values.get(place).copied().flatten());
        columns.push((figure.name.clone(), values, true));
    }
    let field = |(name, array, nullable): &(String, ArrayRef, bool)| {
        Field::new(name, array.data_type().clone(), *nullable)
    };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let columns = columns.into_iter().map(|(_, array, _)| array).collect();
    Ok(RecordBatch::try_new(schema, columns)?)
}

/// Name of the column with an axis's values as numbers, if they are.
fn numbers_of(axis: &SweepAxis) -> Option<String> {
    let is_all = axis.values.iter().all(|value| value.number.is_some());
    let unit = match axis.unit.as_str() {
        "" => "number",
        "bit/s" => "bps",
        "B" => "bytes",
        unit => unit,
    };
    is_all.then(|| format!("{}_{unit}", axis.key))
}

fn text(all: &[String], index: usize) -> &str {
    all.get(index).map_or("", String::as_str)
}

fn texts<'a>(
    runs: &'a [SweepRun],
    of: impl Fn(&'a SweepRun) -> &'a str,
) -> Result<ArrayRef, ArrowError> {
    let mut cells = StringDictionaryBuilder::<UInt32Type>::new();
    for run in runs {
        cells.append(of(run))?;
    }
    Ok(Arc::new(cells.finish()))
}

fn counts(runs: &[SweepRun], of: impl Fn(&SweepRun) -> u64) -> ArrayRef {
    let mut cells = UInt64Builder::new();
    runs.iter().for_each(|run| cells.append_value(of(run)));
    Arc::new(cells.finish())
}

fn floats(runs: &[SweepRun], of: impl Fn(&SweepRun) -> Option<f64>) -> ArrayRef {
    let mut cells = Float64Builder::new();
    runs.iter().for_each(|run| cells.append_option(of(run)));
    Arc::new(cells.finish())
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use crate::parquet::MADE_BY;
    use crate::sweep::tests::sample;

    #[test]
    fn a_sweep_reads_back_a_row_a_run() {
        let sweep = sample();
        let file = write_sweep(&sweep, "{ \"digest\": 1 }\n", Vec::new()).expect("a file");
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file));
        let reader = reader.expect("a file");
        let pairs = reader.metadata().file_metadata().key_value_metadata().cloned();
        let own = pairs.into_iter().flatten().find(|pair| pair.key == MADE_BY);
        assert_eq!(own.and_then(|pair| pair.value).as_deref(), Some("{ \"digest\": 1 }"));
        let mut batches = reader.build().expect("rows");
        let batch = batches.next().expect("a batch").expect("rows");
        assert_eq!((batch.num_rows(), batches.count()), (sweep.runs.len(), 0));
        let schema = batch.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let first =
            ["law", "seed", "bottleneck.rate", "bottleneck.rate_bps", "bottleneck.discipline"];
        assert_eq!(names[..5], first);
        let rates = batch["bottleneck.rate_bps"].as_primitive::<Float64Type>();
        assert_eq!((rates.value(0), rates.value(14)), (1e6, 1e7));
        assert_eq!(batch["seed"].as_primitive::<UInt64Type>().values()[..3], [1, 2, 1]);
        let laws = batch["law"].as_dictionary::<UInt32Type>();
        let law = |row| laws.values().as_string::<i32>().value(laws.keys().value(row) as usize);
        assert_eq!((law(1), law(2)), ("xcp", "cubic"));
        let utilisation = batch["utilisation"].as_primitive::<Float64Type>();
        assert!((utilisation.value(3) - 0.61).abs() < 1e-12);
    }
}
