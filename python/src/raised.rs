//! Exceptions that laws in Python have raised, until the error of their run is raised.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

/// Exceptions of runs whose errors were not raised yet, each with its text. A few at most are kept.
static RAISED: Mutex<Vec<(String, PyErr)>> = Mutex::new(Vec::new());
const KEPT: usize = 16;

fn raised() -> MutexGuard<'static, Vec<(String, PyErr)>> {
    RAISED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The exception that an error of a run names, if it was one of a law.
pub fn cause(error: &str) -> Option<PyErr> {
    let mut raised = raised();
    let at = raised.iter().position(|(text, _)| error.contains(text.as_str()))?;
    Some(raised.swap_remove(at).1)
}

/// Keeps an exception, which the error of its run will name in these words.
pub fn keep(text: String, error: PyErr) {
    let mut raised = raised();
    if raised.len() == KEPT {
        raised.remove(0);
    }
    raised.push((text, error));
}
