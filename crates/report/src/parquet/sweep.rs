//! The runs of a sweep as tables, a row a run: one of all, and files of a data set as runs end.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, StringDictionaryBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::{Error, written_by};
use crate::{MeasuredRun, Summary, Sweep, SweepAxis};

/// Writes the runs of a sweep, as [`sweep_rows`] has them. `made_by` says what made the runs, for
/// the metadata.
///
/// # Errors
/// When the file cannot be written.
pub fn write_sweep<W: Write + Send>(sweep: &Sweep, made_by: &str, out: W) -> Result<W, Error> {
    write(&sweep_rows(sweep)?, &[made_by.to_string()], out)
}

fn write<W: Write + Send>(rows: &RecordBatch, made_by: &[String], out: W) -> Result<W, Error> {
    let mut writer = ArrowWriter::try_new(out, rows.schema(), Some(written_by(made_by)?.build()))?;
    writer.write(rows)?;
    Ok(writer.into_inner()?)
}

/// A finished run in the data set of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRun {
    /// SHA-256 of what made the run.
    pub digest: String,
    /// Version of Ratewire that made the run.
    version: String,
    seed: u64,
    point: Vec<usize>,
    figures: Vec<(String, Option<f64>)>,
    /// The summary as JSON.
    summary: String,
}

impl KeptRun {
    /// A run, and the digest of what made it.
    pub fn of(digest: &str, run: &MeasuredRun) -> KeptRun {
        KeptRun {
            digest: digest.to_string(),
            version: run.summary.version.clone(),
            seed: run.summary.seed,
            point: run.point.clone(),
            figures: run.figures(),
            summary: serde_json::to_string(&run.summary).expect("figures are JSON"),
        }
    }
}

/// Writes a file of a data set of finished runs over these axes.
///
/// Columns: `digest`, `version`, `seed`, the axes as in [`sweep_rows`], the figures that every run
/// may have, and `summary`, from which [`read_runs`] reads a run back. All files of a sweep have
/// the same columns.
///
/// # Errors
/// When the file cannot be written.
pub fn write_runs<W: Write + Send>(
    axes: &[SweepAxis],
    runs: &[KeptRun],
    out: W,
) -> Result<W, Error> {
    let mut columns: Vec<Named> = vec![
        ("digest".into(), strings(runs, |run| &run.digest), false),
        ("version".into(), strings(runs, |run| &run.version), false),
        ("seed".into(), counts(runs, |run| run.seed), false),
    ];
    add_axes(&mut columns, axes, runs, |run| &run.point)?;
    let names = runs.first().map(|run| run.figures.iter().map(|(name, _)| name.clone()));
    for (place, name) in names.into_iter().flatten().enumerate() {
        columns.push((name, floats(runs, |run| run.figures[place].1), true));
    }
    columns.push(("summary".into(), strings(runs, |run| &run.summary), false));
    write(&batch(columns)?, &[], out)
}

/// Reads runs of a file of a data set: the digest and the summary of each whose digest and version
/// are wanted. A summary that is damaged is left out.
///
/// # Errors
/// When the file is damaged, or not one of [`write_runs`].
pub fn read_runs(
    file: Vec<u8>,
    is_wanted: impl Fn(&str, &str) -> bool,
) -> Result<Vec<(String, Summary)>, Error> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file))?.build()?;
    let mut runs = Vec::new();
    for batch in reader {
        let batch = batch?;
        let texts = |name: &'static str| {
            let column = batch.column_by_name(name).and_then(|all| all.as_string_opt::<i32>());
            let lacks = || ArrowError::SchemaError(format!("no column `{name}` of texts"));
            column.filter(|all| all.null_count() == 0).ok_or_else(lacks)
        };
        let (digests, versions) = (texts("digest")?, texts("version")?);
        let summaries = texts("summary")?;
        for row in
            (0..batch.num_rows()).filter(|row| is_wanted(digests.value(*row), versions.value(*row)))
        {
            if let Ok(summary) = serde_json::from_str(summaries.value(row)) {
                runs.push((digests.value(row).to_string(), summary));
            }
        }
    }
    Ok(runs)
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
    let mut columns: Vec<Named> = vec![
        ("law".into(), texts(runs, |run| text(&sweep.laws, run.law))?, false),
        ("seed".into(), counts(runs, |run| run.seed), false),
    ];
    add_axes(&mut columns, &sweep.axes, runs, |run| &run.point)?;
    for (place, figure) in sweep.figures.iter().enumerate() {
        let values = floats(runs, |run| run.values.get(place).copied().flatten());
        columns.push((figure.name.clone(), values, true));
    }
    batch(columns)
}

/// Name, values, and whether a value may be null.
type Named = (String, ArrayRef, bool);

fn batch(columns: Vec<Named>) -> Result<RecordBatch, Error> {
    let field =
        |(name, array, nullable): &Named| Field::new(name, array.data_type().clone(), *nullable);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let columns = columns.into_iter().map(|(_, array, _)| array).collect();
    Ok(RecordBatch::try_new(schema, columns)?)
}

/// Adds the columns of the axes.
fn add_axes<'a, R>(
    columns: &mut Vec<Named>,
    axes: &'a [SweepAxis],
    runs: &'a [R],
    point: impl Fn(&'a R) -> &'a [usize],
) -> Result<(), Error> {
    for (place, axis) in axes.iter().enumerate() {
        let value = |run: &'a R| axis.values.get(*point(run).get(place)?);
        let given = texts(runs, |run| value(run).map_or("", |value| &value.text))?;
        columns.push((axis.key.clone(), given, false));
        if let Some(name) = numbers_of(axis) {
            columns.push((name, floats(runs, |run| value(run)?.number), true));
        }
    }
    Ok(())
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

fn texts<'a, R>(runs: &'a [R], of: impl Fn(&'a R) -> &'a str) -> Result<ArrayRef, ArrowError> {
    let mut cells = StringDictionaryBuilder::<UInt32Type>::new();
    for run in runs {
        cells.append(of(run))?;
    }
    Ok(Arc::new(cells.finish()))
}

/// Texts without a dictionary: they seldom repeat, or are few.
fn strings<R>(runs: &[R], of: impl Fn(&R) -> &str) -> ArrayRef {
    let mut cells = StringBuilder::new();
    runs.iter().for_each(|run| cells.append_value(of(run)));
    Arc::new(cells.finish())
}

fn counts<R>(runs: &[R], of: impl Fn(&R) -> u64) -> ArrayRef {
    let mut cells = UInt64Builder::new();
    runs.iter().for_each(|run| cells.append_value(of(run)));
    Arc::new(cells.finish())
}

fn floats<'a, R>(runs: &'a [R], of: impl Fn(&'a R) -> Option<f64>) -> ArrayRef {
    let mut cells = Float64Builder::new();
    runs.iter().for_each(|run| cells.append_option(of(run)));
    Arc::new(cells.finish())
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{Float64Type, UInt64Type};

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

    #[test]
    fn finished_runs_read_back_from_a_data_set() {
        let sweep = sample();
        let runs = [0, 1].map(|at| MeasuredRun {
            point: vec![at, 1],
            law: 0,
            summary: Summary { seed: 5 + at as u64, version: "1".into(), ..Summary::default() },
        });
        let mut kept = vec![KeptRun::of("a", &runs[0]), KeptRun::of("b", &runs[1])];
        kept.push(KeptRun { summary: "{".into(), ..KeptRun::of("damaged", &runs[1]) });
        let file = write_runs(&sweep.axes, &kept, Vec::new()).expect("a file");
        let all = |_: &str, _: &str| true;
        let read = read_runs(file.clone(), all).expect("runs");
        let [one, two] = runs;
        assert_eq!(read, [("a".into(), one.summary), ("b".into(), two.summary.clone())]);
        let some = |digest: &str, version: &str| (digest, version) == ("b", "1");
        let read = read_runs(file.clone(), some).expect("runs");
        assert_eq!(read, [("b".into(), two.summary)]);
        for damaged in [&file[..file.len() / 2], b"PAR1PAR1", b""] {
            read_runs(damaged.to_vec(), all).expect_err("damaged");
        }
        let other = write_sweep(&sweep, "", Vec::new()).expect("a file");
        assert!(read_runs(other, all).is_err_and(|e| e.to_string().contains("`digest`")));
    }
}
