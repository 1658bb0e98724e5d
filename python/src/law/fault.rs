//! What Python's laws do wrong: exceptions, and numbers that no law may give.

use std::sync::OnceLock;

use pyo3::prelude::*;

use crate::raised;

/// The first fault of a part; none at first.
#[derive(Debug, Default)]
pub struct Fault {
    first: OnceLock<String>,
    /// A window that is too large without a pace, which other faults go before.
    excess: OnceLock<String>,
}

impl Fault {
    pub fn message(&self) -> Option<String> {
        self.first.get().or_else(|| self.excess.get()).cloned()
    }

    /// Whether the object is not to be called again.
    pub fn is_there(&self) -> bool {
        self.first.get().is_some()
    }

    #[cold]
    pub fn note(&self, what: String) {
        let _ = self.first.set(what);
    }

    /// Notes a window that is too large without a pace, unless there was one before.
    #[cold]
    pub fn note_excess(&self, what: String) {
        let _ = self.excess.set(what);
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
