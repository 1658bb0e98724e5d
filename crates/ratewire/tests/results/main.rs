//! What experiments give out.

mod bottleneck;
mod completions;
mod control;
mod experiment;
mod figures;
mod interrupted;
mod law_files;
mod link_rates;
mod saved;
mod simulation;
mod sweep;
mod window;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ratewire::Samples;
use ratewire::report::parquet::Row;

/// Samples as others read them, from a file.
fn batches<R: Row>(samples: &Samples<R>) -> Vec<RecordBatch> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("samples.parquet");
    samples.write_parquet(&path).expect("a file");
    let file = std::fs::File::open(path).expect("the file");
    let rows = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|file| file.build());
    rows.expect("a table").map(|batch| batch.expect("rows")).collect()
}

/// Batches have the rows and types of the file, also of an empty one.
#[cfg(feature = "arrow")]
#[test]
fn record_batches_are_the_rows_of_the_file() {
    let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
                bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";
    let experiment = ratewire::Experiment::parse("t.toml", text).expect("a scenario");
    let results = experiment.run().expect("results");
    let (own, schema) = (results.links().batches().expect("rows"), results.links().schema());
    let rows = |all: &[RecordBatch]| {
        let columns = all.iter().map(|batch| batch.columns().to_vec());
        columns.collect::<Vec<_>>()
    };
    assert_eq!(rows(&own), rows(&batches(&results.links())));
    assert_eq!(schema.expect("a schema").fields(), own[0].schema().fields());
    let none = experiment.clone().without_samples().run().expect("results").links();
    assert!(none.batches().expect("no rows").is_empty());
    assert_eq!(none.schema().expect("a schema").fields(), own[0].schema().fields());
    let sweep = ratewire::Sweep::of(experiment).over("bottleneck.rate", "1M,2M");
    let rows = sweep.expect("a sweep").run().expect("results").rows().expect("rows");
    assert_eq!(rows.num_rows(), 2);
}
