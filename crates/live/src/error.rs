//! What goes wrong, and what to do about it.

use std::borrow::Cow;
use std::fmt;

/// Why something could not be attached, read or detached.
#[derive(Debug)]
pub struct Error {
    /// What could not be done.
    what: String,
    /// Why, as the kernel says.
    why: Option<String>,
    /// What to do.
    remedy: Cow<'static, str>,
}

impl Error {
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<Cow<'static, str>>) -> Error {
        Error { what: what.into(), why: None, remedy: remedy.into() }
    }
    /// What is wrong, and what to do.
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
impl std::error::Error for Error {}
