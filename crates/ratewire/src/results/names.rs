//! Names that results are asked for by.

use super::error::Error;

/// An error that results have no `what` of this name.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a String>,
) -> Error {
    let known: Vec<&str> = known.map(String::as_str).collect();
    Error::unknown("results", what, name, &known)
}
