//! Parts of a file that a reader leaves out.

/// Something in a file that a user should know: a part that its reader does not use, or a value
/// that the file does not state and the reader takes for granted.
///
/// Displayed on one line: `trace.csv:1: the column "rtt" is not used; ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The file's display name, as the caller gave it.
    pub file: String,
    /// The line, counted from 1; `None` when the notice is of the whole file.
    pub line: Option<usize>,
    /// What the reader did.
    pub message: String,
    /// How to have it otherwise.
    pub remedy: String,
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Notice { file, line, message, remedy } = self;
        let line = line.map_or_else(String::new, |line| format!(":{line}"));
        write!(f, "{file}{line}: {message}; {remedy}")
    }
}
