//! The one error type of all readers.

/// Why a file could not be read, with everything a user needs to mend it.
///
/// Displayed on one line: `trace.down:7: found "12.5"; allowed: ...; ...`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}{}: found {found}; allowed: {allowed}; {remedy}",
    line.map_or_else(String::new, |line| format!(":{line}"))
)]
pub struct InputError {
    /// The file's display name, as the caller gave it.
    pub file: String,
    /// The line, counted from 1; `None` when the whole file is at fault (it is empty, say).
    pub line: Option<usize>,
    /// What is there. Long texts are cut.
    pub found: String,
    /// What the format allows there.
    pub allowed: String,
    /// What to do about it.
    pub remedy: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_names_everything() {
        let mut error = InputError {
            file: "a.txt".into(),
            line: Some(7),
            found: "\"x\"".into(),
            allowed: "a number".into(),
            remedy: "write one".into(),
        };
        assert_eq!(error.to_string(), "a.txt:7: found \"x\"; allowed: a number; write one");
        error.line = None;
        assert!(error.to_string().starts_with("a.txt: found"));
    }
}
