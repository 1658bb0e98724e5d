//! `flows.parquet` and `links.parquet`: every sample, streamed as it comes, for pandas, polars and
//! DuckDB.
//!
//! One row a sample, times in seconds, units in the column names. Names and laws are dictionary
//! columns, so repeating them on every row costs next to nothing. A row group is written every
//! [`ROW_GROUP`] rows; memory does not grow with the run.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, Float64Builder, StringDictionaryBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use ratewire_units::{Bytes, Throughput};

use crate::{FlowSample, LinkSample, RunInfo};

/// Rows a row group holds.
pub const ROW_GROUP: usize = 65_536;

/// Rows turned into columns at a time.
const BATCH: usize = 8_192;

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file itself: a full disk, a closed pipe, or a broken schema.
    #[error("cannot write the Parquet file: {0}")]
    Parquet(#[from] ParquetError),
    /// Columns that do not fit the schema.
    #[error("cannot lay out the columns: {0}")]
    Arrow(#[from] ArrowError),
}

/// Writes `flows.parquet`: a row for every [`FlowSample`] of every run given to it.
pub struct FlowWriter<W: Write + Send> {
    file: File<W>,
    columns: FlowColumns,
}

/// Writes `links.parquet`: a row for every [`LinkSample`] of every run given to it.
pub struct LinkWriter<W: Write + Send> {
    file: File<W>,
    columns: LinkColumns,
}

struct File<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
}

type Names = StringDictionaryBuilder<UInt32Type>;

#[derive(Default)]
struct FlowColumns {
    time_s: Float64Builder,
    interval_s: Float64Builder,
    run_law: Names,
    seed: UInt64Builder,
    flow: UInt32Builder,
    name: Names,
    law: Names,
    goodput_bps: Float64Builder,
    cwnd_bytes: UInt64Builder,
    in_flight_bytes: UInt64Builder,
    receive_window_bytes: UInt64Builder,
    srtt_s: Float64Builder,
    pacing_bps: Float64Builder,
    retransmitted_bytes: UInt64Builder,
}

#[derive(Default)]
struct LinkColumns {
    time_s: Float64Builder,
    interval_s: Float64Builder,
    run_law: Names,
    seed: UInt64Builder,
    link: UInt32Builder,
    name: Names,
    utilisation: Float64Builder,
    throughput_bps: Float64Builder,
    queue_packets_mean: Float64Builder,
    queue_packets_max: UInt32Builder,
    queue_bytes_mean: Float64Builder,
    drops: UInt64Builder,
    marks: UInt64Builder,
}

impl<W: Write + Send> FlowWriter<W> {
    /// Starts the file on `out`.
    ///
    /// # Errors
    /// When the start of the file cannot be written.
    pub fn new(out: W) -> Result<FlowWriter<W>, Error> {
        let fields = vec![
            field("time_s", DataType::Float64, false),
            field("interval_s", DataType::Float64, false),
            names("law"),
            field("seed", DataType::UInt64, false),
            field("flow", DataType::UInt32, false),
            names("flow_name"),
            names("flow_law"),
            field("goodput_bps", DataType::Float64, false),
            field("cwnd_bytes", DataType::UInt64, true),
            field("in_flight_bytes", DataType::UInt64, false),
            field("receive_window_bytes", DataType::UInt64, true),
            field("srtt_s", DataType::Float64, true),
            field("pacing_bps", DataType::Float64, true),
            field("retransmitted_bytes", DataType::UInt64, false),
        ];
        Ok(FlowWriter { file: File::new(out, fields)?, columns: FlowColumns::default() })
    }

    /// Adds a row: `sample`, seen in the run `info`. A window without limit, a round-trip time
    /// before the first measurement and a pace nobody asked for are null.
    ///
    /// # Errors
    /// When rows cannot be written.
    pub fn write(&mut self, info: &RunInfo, sample: &FlowSample) -> Result<(), Error> {
        let c = &mut self.columns;
        let flow = info.flows.get(sample.flow as usize);
        let limit = |b: Bytes| (b != Bytes::MAX).then(|| b.get());
        c.time_s.append_value(sample.at.secs());
        c.interval_s.append_value(sample.interval.secs());
        c.run_law.append(&info.law)?;
        c.seed.append_value(info.seed);
        c.flow.append_value(sample.flow);
        c.name.append(flow.map_or("", |f| &f.name))?;
        c.law.append(flow.map_or(&info.law, |f| &f.law))?;
        c.goodput_bps.append_value(sample.goodput.bps());
        c.cwnd_bytes.append_option(limit(sample.cwnd));
        c.in_flight_bytes.append_value(sample.in_flight.get());
        c.receive_window_bytes.append_option(limit(sample.receive_window));
        c.srtt_s.append_option((!sample.srtt.is_zero()).then(|| sample.srtt.secs()));
        c.pacing_bps.append_option(sample.pacing.map(Throughput::bps));
        c.retransmitted_bytes.append_value(sample.retransmitted.get());
        if c.time_s.len() >= BATCH { self.file.write(self.columns.take()) } else { Ok(()) }
    }

    /// Writes what is left and the end of the file, and gives `out` back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<W, Error> {
        self.file.write(self.columns.take())?;
        self.file.finish()
    }
}

impl<W: Write + Send> LinkWriter<W> {
    /// Starts the file on `out`.
    ///
    /// # Errors
    /// When the start of the file cannot be written.
    pub fn new(out: W) -> Result<LinkWriter<W>, Error> {
        let fields = vec![
            field("time_s", DataType::Float64, false),
            field("interval_s", DataType::Float64, false),
            names("law"),
            field("seed", DataType::UInt64, false),
            field("link", DataType::UInt32, false),
            names("link_name"),
            field("utilisation", DataType::Float64, false),
            field("throughput_bps", DataType::Float64, false),
            field("queue_packets_mean", DataType::Float64, false),
            field("queue_packets_max", DataType::UInt32, false),
            field("queue_bytes_mean", DataType::Float64, false),
            field("drops_packets", DataType::UInt64, false),
            field("marks_packets", DataType::UInt64, false),
        ];
        Ok(LinkWriter { file: File::new(out, fields)?, columns: LinkColumns::default() })
    }

    /// Adds a row: `sample`, seen in the run `info`.
    ///
    /// # Errors
    /// When rows cannot be written.
    pub fn write(&mut self, info: &RunInfo, sample: &LinkSample) -> Result<(), Error> {
        let c = &mut self.columns;
        let link = info.topology.links.get(sample.link as usize);
        c.time_s.append_value(sample.at.secs());
        c.interval_s.append_value(sample.interval.secs());
        c.run_law.append(&info.law)?;
        c.seed.append_value(info.seed);
        c.link.append_value(sample.link);
        c.name.append(link.map_or("", |l| &l.name))?;
        c.utilisation.append_value(sample.utilisation);
        c.throughput_bps.append_value(sample.throughput.bps());
        c.queue_packets_mean.append_value(sample.queue_packets_mean);
        c.queue_packets_max.append_value(sample.queue_packets_max);
        c.queue_bytes_mean.append_value(sample.queue_bytes_mean);
        c.drops.append_value(sample.drops);
        c.marks.append_value(sample.marks);
        if c.time_s.len() >= BATCH { self.file.write(self.columns.take()) } else { Ok(()) }
    }

    /// Writes what is left and the end of the file, and gives `out` back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<W, Error> {
        self.file.write(self.columns.take())?;
        self.file.finish()
    }
}

impl FlowColumns {
    /// The columns so far, leaving them empty.
    fn take(&mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.time_s.finish()),
            Arc::new(self.interval_s.finish()),
            Arc::new(self.run_law.finish()),
            Arc::new(self.seed.finish()),
            Arc::new(self.flow.finish()),
            Arc::new(self.name.finish()),
            Arc::new(self.law.finish()),
            Arc::new(self.goodput_bps.finish()),
            Arc::new(self.cwnd_bytes.finish()),
            Arc::new(self.in_flight_bytes.finish()),
            Arc::new(self.receive_window_bytes.finish()),
            Arc::new(self.srtt_s.finish()),
            Arc::new(self.pacing_bps.finish()),
            Arc::new(self.retransmitted_bytes.finish()),
        ]
    }
}

impl LinkColumns {
    /// The columns so far, leaving them empty.
    fn take(&mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.time_s.finish()),
            Arc::new(self.interval_s.finish()),
            Arc::new(self.run_law.finish()),
            Arc::new(self.seed.finish()),
            Arc::new(self.link.finish()),
            Arc::new(self.name.finish()),
            Arc::new(self.utilisation.finish()),
            Arc::new(self.throughput_bps.finish()),
            Arc::new(self.queue_packets_mean.finish()),
            Arc::new(self.queue_packets_max.finish()),
            Arc::new(self.queue_bytes_mean.finish()),
            Arc::new(self.drops.finish()),
            Arc::new(self.marks.finish()),
        ]
    }
}

impl<W: Write + Send> File<W> {
    fn new(out: W, fields: Vec<Field>) -> Result<File<W>, Error> {
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_max_row_group_row_count(Some(ROW_GROUP))
            // The library's own version would make the bytes change with a dependency's update.
            .set_created_by("ratewire".to_string())
            .build();
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
        Ok(File { writer, schema })
    }

    fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), Error> {
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        if batch.num_rows() > 0 {
            self.writer.write(&batch)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<W, Error> {
        Ok(self.writer.into_inner()?)
    }
}

fn field(name: &str, kind: DataType, nullable: bool) -> Field {
    Field::new(name, kind, nullable)
}

fn names(name: &str) -> Field {
    let kind = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
    Field::new(name, kind, false)
}
