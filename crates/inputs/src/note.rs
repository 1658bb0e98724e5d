//! Parts of a file that a reader leaves out.

/// Something in a file that a user should know: a part that its reader does not use, or a value
/// that the file does not state and the reader takes for granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line, counted from 1; `None` when the note is of the whole file.
    pub line: Option<usize>,
    /// What is not used, or taken for granted.
    pub text: String,
    /// What to do about it.
    pub help: String,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Note { line, text, help } = self;
        let line = line.map_or_else(String::new, |line| format!("line {line}: "));
        write!(f, "{line}{text}; {help}")
    }
}
