//! A place for a sweep's files that Python knows.

use std::io;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ratewire::{Error, SweepStore};

/// An object with the methods of `ratewire._store.Store`.
#[derive(Debug)]
pub struct Store {
    object: Py<PyAny>,
    place: PathBuf,
}

impl Store {
    /// `place` is what messages call it.
    pub fn new(object: Py<PyAny>, place: String) -> Store {
        Store { object, place: place.into() }
    }

    fn unreadable(&self, name: &str, error: PyErr) -> Error {
        Error::Read { path: self.place.join(name), source: io::Error::other(error) }
    }

    fn unwritable(&self, name: &str, error: PyErr) -> Error {
        Error::Write { path: self.place.join(name), source: io::Error::other(error) }
    }
}

impl SweepStore for Store {
    fn place(&self) -> &Path {
        &self.place
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, Error> {
        let call = |py: Python<'_>| self.object.call_method1(py, "list", (folder,))?.extract(py);
        Python::attach(call).map_err(|e| self.unreadable(folder, e))
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let call = |py: Python<'_>| -> PyResult<Option<Vec<u8>>> {
            let read = self.object.call_method1(py, "read", (name,))?;
            let bytes: Option<Bound<'_, PyBytes>> = read.extract(py)?;
            Ok(bytes.map(|bytes| bytes.as_bytes().to_vec()))
        };
        Python::attach(call).map_err(|e| self.unreadable(name, e))
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let call = |py: Python<'_>| {
            self.object.call_method1(py, "write", (name, PyBytes::new(py, content))).map(drop)
        };
        Python::attach(call).map_err(|e| self.unwritable(name, e))
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        let call = |py: Python<'_>| self.object.call_method1(py, "remove", (name,)).map(drop);
        Python::attach(call).map_err(|e| self.unwritable(name, e))
    }
}
