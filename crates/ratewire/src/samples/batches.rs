//! Samples as Arrow record batches.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use ratewire_report::parquet::{self, Row};

use super::{Samples, cannot_read, source};
use crate::Error;

impl<R: Row> Samples<R> {
    /// All rows as Arrow record batches, run by run, in order of time.
    ///
    /// ```
    /// use ratewire::arrow_array::cast::AsArray;
    /// use ratewire::arrow_array::types::{Float64Type, UInt32Type};
    ///
    /// # let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
    /// #   bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n\
    /// #   [[flow]]\nfrom = 's1'\nto = 'd1'\n";
    /// let results = ratewire::Experiment::parse("hello.toml", text)?.run()?;
    /// // Throughput of the first flow over time.
    /// let mut series = Vec::new();
    /// for batch in results.runs()[0].flow_samples().batches()? {
    ///     let flows = batch["flow"].as_primitive::<UInt32Type>().values();
    ///     let times = batch["time_s"].as_primitive::<Float64Type>().values();
    ///     let rates = batch["goodput_bps"].as_primitive::<Float64Type>().values();
    ///     for (row, _) in flows.iter().enumerate().filter(|(_, flow)| **flow == 0) {
    ///         series.push((times[row], rates[row]));
    ///     }
    /// }
    /// assert!(series.len() > 10 && series.iter().any(|(_, rate)| *rate > 9e6));
    /// # Ok::<(), ratewire::Error>(())
    /// ```
    ///
    /// # Errors
    /// An error if a table is in a file that cannot be read.
    pub fn batches(&self) -> Result<Vec<RecordBatch>, Error> {
        let mut all = Vec::new();
        for table in &self.tables {
            all.extend(parquet::batches(source(table)?).map_err(|e| cannot_read(table, e))?);
        }
        Ok(all)
    }

    /// Names and types of the columns, which all batches have.
    ///
    /// # Errors
    /// An error if a table is in a file that cannot be read.
    pub fn schema(&self) -> Result<SchemaRef, Error> {
        let Some(first) = self.tables.first() else { return Ok(parquet::schema::<R>()) };
        parquet::schema_of(source(first)?).map_err(|e| cannot_read(first, e))
    }
}
