//! Samples as Arrow streams, by the PyCapsule interface: no row is copied.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use ratewire::Samples;
use ratewire::report::parquet::Row;

use crate::errors::exception;

/// A table in Arrow's columns.
#[pyclass(frozen, module = "ratewire")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// The table of one batch.
    pub fn of(batch: RecordBatch) -> Table {
        Table { schema: batch.schema(), batches: vec![batch] }
    }

    /// The table of all samples.
    pub fn of_samples<R: Row + Sync>(py: Python<'_>, samples: &Samples<R>) -> PyResult<Table> {
        let read = py.detach(|| {
            let (schema, batches) = (samples.schema()?, samples.batches()?);
            // The metadata of a batch that was read are those of its run.
            let plain = |batch: RecordBatch| batch.with_schema(Arc::clone(&schema));
            let batches = batches.into_iter().map(plain).collect::<Result<Vec<_>, _>>();
            Ok((schema.clone(), batches))
        });
        let (schema, batches) = read.map_err(|e| exception(py, e))?;
        Ok(Table { schema, batches: batches.map_err(wrong)? })
    }
}

fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// The table as an Arrow stream. A wish for other types is not met, which the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(wrong)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Names of the columns, in their order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.__len__(), self.column_names().join(", "))
    }
}
