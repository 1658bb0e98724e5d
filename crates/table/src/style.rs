//! How a table is printed.

/// What stands above the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// The titles of its columns and a rule.
    Ruled,
    /// The titles of its columns.
    Plain,
    /// Nothing.
    None,
}

/// How a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; `None` for as wide as it gets (a pipe, a file).
    pub width: Option<usize>,
    /// Whether to use ANSI's escapes for bold, dim and red text.
    pub colour: bool,
    /// What stands above the rows.
    pub heading: Heading,
}

impl Style {
    /// The text in bold.
    pub fn bold(&self, text: &str) -> String {
        self.escaped("1", text)
    }

    /// The text dimmed.
    pub fn dim(&self, text: &str) -> String {
        self.escaped("2", text)
    }

    /// The text in bold red.
    pub fn red(&self, text: &str) -> String {
        self.escaped("1;31", text)
    }

    fn escaped(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.into() }
    }
}

impl Default for Style {
    /// As wide as it gets, without escapes, with a rule below the titles.
    fn default() -> Style {
        Style { width: None, colour: false, heading: Heading::Ruled }
    }
}
