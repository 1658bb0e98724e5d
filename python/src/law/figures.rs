//! Numbers by which objects of Python explain themselves, and the books that read them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use ratewire::laws::{Books, Figure, Reason};
use ratewire::units::Bytes;

use super::{ConfiguredLaw, PythonHeader};

/// The figures that an object's method `figures` gives.
pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Vec<Figure>> {
    let given: BTreeMap<String, f64> =
        object.py().get_type::<PyDict>().call1((object.call_method0("figures")?,))?.extract()?;
    Ok(given.into_iter().map(|(name, value)| Figure::one(kept(name), value)).collect())
}

/// A name for the rest of the process, as figures have it.
fn kept(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name: &'static str = name.leak();
    names.insert(name);
    name
}

/// Books of a law's class `Books`, on one port or one receiver.
pub struct PythonBooks {
    /// Or why they cannot be made.
    object: Result<Py<PyAny>, String>,
    length: usize,
}

impl PythonBooks {
    pub fn new(law: &ConfiguredLaw) -> PythonBooks {
        let object = Python::attach(|py| {
            let made = law.info.get().class.bind(py).getattr("Books").and_then(|c| c.call0());
            made.map(Bound::unbind).map_err(|error| format!("`Books` raised {error}"))
        });
        PythonBooks { object, length: law.what.header_length }
    }

    /// # Panics
    /// When the method raises, or there are no books.
    fn balance(&self, call: impl for<'a> FnOnce(&Bound<'a, PyAny>) -> PyResult<Bound<'a, PyAny>>) {
        let object = self.object.as_ref().unwrap_or_else(|wrong| panic!("{wrong}"));
        let wrong = Python::attach(|py| call(object.bind(py)).err().map(|e| e.to_string()));
        if let Some(wrong) = wrong {
            panic!("{wrong}");
        }
    }

    fn bytes<'py>(&self, py: Python<'py>, header: &PythonHeader) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &header.0[..self.length])
    }
}

fn by_name(reason: &Reason) -> BTreeMap<&'static str, f64> {
    reason.figures.iter().map(|figure| (figure.name, figure.value)).collect()
}

impl Books for PythonBooks {
    type Header = PythonHeader;

    fn departed(
        &mut self,
        size: Bytes,
        (was, before): (&PythonHeader, &Reason),
        (is, after): (&PythonHeader, &Reason),
    ) {
        self.balance(|object| {
            let [was, is] = [was, is].map(|header| self.bytes(object.py(), header));
            let arguments = (size.get(), was, is, by_name(before), by_name(after));
            object.call_method1("departed", arguments)
        });
    }

    fn timer(&mut self, before: &Reason, after: &Reason) {
        self.balance(|object| object.call_method1("interval", (by_name(before), by_name(after))));
    }

    fn received(&mut self, header: &PythonHeader) {
        self.balance(|object| object.call_method1("received", (self.bytes(object.py(), header),)));
    }

    fn answered(&mut self, header: &PythonHeader) {
        self.balance(|object| object.call_method1("answered", (self.bytes(object.py(), header),)));
    }
}
