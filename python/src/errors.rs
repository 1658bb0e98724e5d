//! Errors of the library as Python's exceptions, and warnings as Python's warnings.

use std::ffi::CString;

use pyo3::exceptions::{PyException, PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyType;
use ratewire::{Error, Failed, scenario};

use crate::raised;

/// The Python module with the classes of exceptions.
const CLASSES: &str = "ratewire._errors";

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import(CLASSES)?.getattr(name)?.cast_into()?)
}

/// Errors and warnings about a scenario as objects of the package's class.
pub fn diagnostics<'py>(
    py: Python<'py>,
    all: &[scenario::Diagnostic],
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let class = class(py, "Diagnostic")?;
    let place = |n: usize| (n > 0).then_some(n);
    let object = |one: &scenario::Diagnostic| {
        let severity = if one.is_error() { "error" } else { "warning" };
        class.call1((
            severity,
            &one.file,
            place(one.line),
            place(one.column),
            &one.source_line,
            &one.message,
            one.help.as_ref(),
            one.nearest.as_ref(),
            one.to_string(),
        ))
    };
    all.iter().map(object).collect()
}

/// Errors, then warnings, then the number of errors if there are several: as the command prints
/// them.
fn text_of_all(all: &[scenario::Diagnostic]) -> String {
    let (errors, warnings): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.is_error());
    let texts = errors.iter().chain(&warnings).map(ToString::to_string);
    let count: usize = errors.iter().map(|error| error.count).sum();
    let count = (count > 1).then(|| format!("{count} errors"));
    texts.chain(count).collect::<Vec<_>>().join("\n\n")
}

/// The exception for an error of the library.
pub fn exception(py: Python<'_>, error: Error) -> PyErr {
    made(py, error).unwrap_or_else(|while_making| while_making)
}

fn made(py: Python<'_>, error: Error) -> PyResult<PyErr> {
    let text = error.to_string();
    let simple = |name| Ok(caused(py, PyErr::from_value(class(py, name)?.call1((&text,))?), &text));
    match error {
        Error::Scenario(wrong) => {
            let all = wrong.diagnostics;
            let class = class(py, "ScenarioError")?;
            Ok(PyErr::from_value(class.call1((text_of_all(&all), diagnostics(py, &all)?))?))
        }
        Error::Setting { .. } | Error::LawFile(_) | Error::UntrustedLaw { .. } => {
            simple("SettingError")
        }
        Error::Write { source, .. } | Error::Read { source, .. } => {
            let raised = source.get_ref().and_then(|source| source.downcast_ref::<PyErr>());
            let raised = raised.map(|raised| raised.clone_ref(py));
            match raised {
                // Ctrl-C, in a place that Python knows.
                Some(raised) if !raised.is_instance_of::<PyException>(py) => Ok(raised),
                raised => {
                    let error = simple("FileError")?;
                    error.set_cause(py, raised);
                    Ok(error)
                }
            }
        }
        Error::Refused { .. } => simple("FileError"),
        Error::Figure(_) | Error::Papers(_) => simple("SettingError"),
        Error::Nothing(_)
        | Error::Unable { .. }
        | Error::Run(_)
        | Error::Stopped { .. }
        | Error::Law(_)
        | Error::Discipline(_)
        | Error::Incomplete(_) => simple("RunError"),
        _ => Ok(PyRuntimeError::new_err(text)),
    }
}

/// An exception with its cause, if it names an exception in a law; Ctrl-C in a law is itself.
fn caused(py: Python<'_>, error: PyErr, text: &str) -> PyErr {
    match raised::cause(text) {
        Some(cause) if !cause.is_instance_of::<PyException>(py) => return cause,
        Some(cause) => error.set_cause(py, Some(cause)),
        None => {}
    }
    error
}

/// The exception for runs of which some have results: a Python object.
pub fn incomplete<'py>(py: Python<'py>, text: &str, results: Bound<'py, PyAny>) -> PyErr {
    let made = class(py, "IncompleteError").and_then(|class| class.call1((text, results)));
    let made = made.map_or_else(|while_making| while_making, PyErr::from_value);
    caused(py, made, text)
}

/// The text about runs that failed beside others.
pub fn failures_text(failures: &[Failed]) -> String {
    let line = |failed: &Failed| format!("the run of {} failed: {}", failed.run, failed.error);
    failures.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The exception for runs that failed beside others, if any did.
pub fn of_failures(py: Python<'_>, failures: &[Failed]) -> PyResult<()> {
    if failures.is_empty() {
        return Ok(());
    }
    let text = failures_text(failures);
    Err(caused(py, PyErr::from_value(class(py, "RunError")?.call1((&text,))?), &text))
}

/// Warns of a scenario in the name of the code that called the package.
pub fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    warn_as(py, class(py, "ScenarioWarning")?, text)
}

/// Warns of what a figure leaves out in the name of the code that called the package.
pub fn note(py: Python<'_>, text: &str) -> PyResult<()> {
    warn_as(py, py.get_type::<PyUserWarning>(), text)
}

fn warn_as(py: Python<'_>, class: Bound<'_, PyType>, text: &str) -> PyResult<()> {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    PyErr::warn(py, &class, &text, STACK)
}

/// Frames from this module to the code that called the package: a function of the package is
/// between them.
const STACK: i32 = 2;
