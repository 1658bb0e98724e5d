//! What Python's laws do wrong: exceptions, and numbers that no law may give.

use std::sync::OnceLock;

use pyo3::prelude::*;

use crate::raised;

/// The first fault of a part; none at first.
#[derive(Debug, Default)]
pub struct Fault(OnceLock<String>);

impl Fault {
    pub fn told(&self) -> Option<String> {
        self.0.get().cloned()
    }

    pub fn is_there(&self) -> bool {
        self.0.get().is_some()
    }

    #[cold]
    pub fn note(&self, what: String) {
        let _ = self.0.set(what);
    }

    /// Notes an exception, to be raised as the cause of the run's error.
    #[cold]
    pub fn raise(&self, method: &str, error: PyErr) {
        if self.is_there() {
            return;
        }
        let text = format!("`{method}` raised {error}");
        self.note(text.clone());
        raised::keep(text, error);
    }
}
