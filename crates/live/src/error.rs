//! Errors and their remedies.

use std::borrow::Cow;
use std::fmt;

/// Why something could not be attached, read or detached.
#[derive(Debug, thiserror::Error)]
pub struct Error {
    /// The failed action.
    what: String,
    /// The kernel's reason.
    why: Option<String>,
    /// The remedy.
    remedy: Cow<'static, str>,
}

impl Error {
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<Cow<'static, str>>) -> Error {
        Error { what: what.into(), why: None, remedy: remedy.into() }
    }
    /// The failed action and the remedy.
    pub(crate) fn into_parts(self) -> (String, Cow<'static, str>) {
        let remedy = self.remedy.clone();
        (Error { remedy: Cow::Borrowed(""), ..self }.to_string(), remedy)
    }
    pub(crate) fn because(self, why: impl fmt::Display) -> Error {
        Error { why: Some(why.to_string()), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(why) = &self.why {
            write!(f, ": {why}")?;
        }
        if !self.remedy.is_empty() {
            write!(f, "\n  help: {}", self.remedy)?;
        }
        Ok(())
    }
}
