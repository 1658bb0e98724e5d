//! Errors and their remedies.

use std::borrow::Cow;
use std::fmt;

/// Why a run could not be emulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}{}", remedy(help))]
pub struct Error {
    what: String,
    help: Cow<'static, str>,
}

impl Error {
    pub(crate) fn new(what: impl Into<String>, help: impl Into<Cow<'static, str>>) -> Error {
        Error { what: what.into(), help: help.into() }
    }
    /// The error with the system's message.
    pub(crate) fn because(mut self, why: impl fmt::Display) -> Error {
        self.what = format!("{}: {why}", self.what);
        self
    }
    /// The message and the remedy.
    pub(crate) fn parts(self) -> (String, Cow<'static, str>) {
        (self.what, self.help)
    }
}

/// The line with the remedy, where there is one.
fn remedy(help: &str) -> String {
    if help.is_empty() { String::new() } else { format!("\n  help: {help}") }
}
