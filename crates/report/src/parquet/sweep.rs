//! The runs of a sweep as tables, a row a run: one of all, and files of a data set as runs end.

use std::io::Write;

use bytes::Bytes;
use parquet::basic::Type as PhysicalType;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::cells::{Cells, Counts, Floats, Texts};
use super::fields::{Field, Kind};
use super::file::RowGroups;
use super::{Error, ROW_GROUP};
use crate::{MeasuredRun, Summary, Sweep, SweepAxis, SweepRun};

/// Writes the runs of a sweep, a row a run: law, seed, the values that were set, and all figures.
///
/// Each axis has a column of its key's name with the values as they were given. If they are
/// quantities of one unit, a column `KEY_UNIT` has them as numbers. `made_by` says what made the
/// runs, for the metadata.
///
/// # Errors
/// When the file cannot be written.
pub fn write_sweep<W: Write + Send>(sweep: &Sweep, made_by: &str, out: W) -> Result<W, Error> {
    write(&sweep.runs, |runs| of_sweep(sweep, runs), &[made_by.to_string()], out)
}

/// Writes rows of runs, whose columns `columns` makes.
fn write<R, W: Write + Send>(
    runs: &[R],
    columns: impl Fn(&[R]) -> Vec<Named>,
    made_by: &[String],
    out: W,
) -> Result<W, Error> {
    let fields: Vec<Field> = columns(&[]).into_iter().map(|(field, _)| field).collect();
    let mut file = RowGroups::new(out, &fields, made_by)?;
    for runs in runs.chunks(ROW_GROUP) {
        let mut columns = columns(runs);
        let cells = columns.iter_mut().map(|(_, cells)| &mut **cells as &mut dyn Cells);
        file.write(runs.len(), cells)?;
    }
    file.finish()
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
/// Columns: `digest`, `version`, `seed`, the axes as in [`write_sweep`], the figures that every run
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
    let figures: Vec<&String> =
        runs.iter().take(1).flat_map(|run| &run.figures).map(|(name, _)| name).collect();
    let columns = |runs: &[KeptRun]| {
        let mut columns = vec![
            texts("digest", Kind::Text, runs, |run| &run.digest),
            texts("version", Kind::Text, runs, |run| &run.version),
            counts("seed", runs, |run| run.seed),
        ];
        add_axes(&mut columns, axes, runs, |run| &run.point);
        for (place, name) in figures.iter().enumerate() {
            columns.push(floats(name, runs, |run| run.figures[place].1));
        }
        columns.push(texts("summary", Kind::Text, runs, |run| &run.summary));
        columns
    };
    write(runs, columns, &[], out)
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
    let file = SerializedFileReader::new(Bytes::from(file))?;
    let mut runs = Vec::new();
    for index in 0..file.num_row_groups() {
        let group = file.get_row_group(index)?;
        let [digests, versions, summaries] =
            ["digest", "version", "summary"].map(|name| column(&*group, name));
        for ((digest, version), summary) in digests?.iter().zip(&versions?).zip(&summaries?) {
            let digest = digest.as_utf8()?;
            if is_wanted(digest, version.as_utf8()?)
                && let Ok(summary) = serde_json::from_slice(summary.data())
            {
                runs.push((digest.to_string(), summary));
            }
        }
    }
    Ok(runs)
}

/// The texts of a column of a row group.
fn column(group: &dyn RowGroupReader, name: &str) -> Result<Vec<ByteArray>, Error> {
    let metadata = group.metadata();
    let place = metadata.columns().iter().position(|column| {
        let column = column.column_descr();
        column.path().parts() == [name]
            && column.physical_type() == PhysicalType::BYTE_ARRAY
            && (column.max_rep_level(), column.max_def_level()) <= (0, 1)
    });
    let lacks = || Error::Columns(format!("no column `{name}` of texts"));
    let mut chunk = get_typed_column_reader::<ByteArrayType>(
        group.get_column_reader(place.ok_or_else(lacks)?)?,
    );
    let (mut texts, mut levels) = (Vec::new(), Vec::new());
    while chunk.read_records(ROW_GROUP, Some(&mut levels), None, &mut texts)?.0 > 0 {}
    let rows = usize::try_from(metadata.num_rows()).unwrap_or_default();
    if texts.len() == rows { Ok(texts) } else { Err(lacks()) }
}

/// The columns of a sweep, with rows of some of its runs.
fn of_sweep(sweep: &Sweep, runs: &[SweepRun]) -> Vec<Named> {
    let mut columns = vec![
        texts("law", Kind::Name, runs, |run| text(&sweep.laws, run.law)),
        counts("seed", runs, |run| run.seed),
    ];
    add_axes(&mut columns, &sweep.axes, runs, |run| &run.point);
    for (place, figure) in sweep.figures.iter().enumerate() {
        let value = |run: &SweepRun| run.values.get(place).copied().flatten();
        columns.push(floats(&figure.name, runs, value));
    }
    columns
}

/// A column, and its cells.
type Named = (Field, Box<dyn Cells>);

/// Adds the columns of the axes.
fn add_axes<R>(
    columns: &mut Vec<Named>,
    axes: &[SweepAxis],
    runs: &[R],
    point: impl Fn(&R) -> &[usize],
) {
    for (place, axis) in axes.iter().enumerate() {
        let value = |run: &R| axis.values.get(*point(run).get(place)?);
        let given = |run: &R| value(run).map_or("", |value| value.text.as_str());
        columns.push(texts(&axis.key, Kind::Name, runs, given));
        if let Some(name) = numbers_of(axis) {
            columns.push(floats(&name, runs, |run| value(run)?.number));
        }
    }
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

fn texts<'a, R>(name: &str, kind: Kind, runs: &'a [R], of: impl Fn(&'a R) -> &'a str) -> Named {
    let mut cells = Texts::new(false);
    runs.iter().for_each(|run| cells.push(of(run)));
    (Field::new(name.to_string(), kind), Box::new(cells))
}

fn counts<R>(name: &str, runs: &[R], of: impl Fn(&R) -> u64) -> Named {
    let mut cells = Counts::new(false);
    runs.iter().for_each(|run| cells.push(Some(of(run).cast_signed())));
    (Field::new(name.to_string(), Kind::Count), Box::new(cells))
}

fn floats<R>(name: &str, runs: &[R], of: impl Fn(&R) -> Option<f64>) -> Named {
    let mut cells = Floats::new(true);
    runs.iter().for_each(|run| cells.push(of(run)));
    (Field::or_null(name.to_string(), Kind::Float), Box::new(cells))
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use crate::parquet::MADE_BY;
    use crate::sweep::tests::sample;

    #[test]
    fn a_sweep_reads_back_a_row_a_run() {
        let sweep = sample();
        let file = write_sweep(&sweep, "{ \"digest\": 1 }\n", Vec::new()).expect("a file");
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file));
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
