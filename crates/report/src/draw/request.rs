//! What can be asked of the figures of a page, and why there may be none.

/// Start of the names of heat maps; the measured value follows.
pub(super) const MAP: &str = "map/";

/// Why there is no figure, or no file of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no page of results, or a page of a version that kept no figures.
    #[error("no page of this version of Ratewire, so it holds no figures; run the scenario again")]
    NoPage,
    /// No figure, law, flow or line has this name.
    #[error("no {what} is called {name:?}; known: {}", known.join(", "))]
    Unknown {
        /// What was named: `figure`, `law`, `flow`, `line`.
        what: &'static str,
        /// The name.
        name: String,
        /// Names that there are.
        known: Vec<String>,
    },
    /// A file cannot have this extension.
    #[error("no figure has the extension {0:?}; allowed: svg, pdf, png, csv")]
    Format(String),
    /// A choice that the figure does not offer.
    #[error("{0}")]
    Choice(String),
    /// A size that no figure, or this figure, can have.
    #[error("{0}")]
    Size(String),
    /// A PDF or PNG cannot be made.
    #[error("cannot draw the figure: {0}")]
    Image(String),
}

impl Error {
    pub(super) fn unknown(what: &'static str, name: &str, known: &[&str]) -> Error {
        let known = known.iter().map(|name| name.to_string()).collect();
        Error::Unknown { what, name: name.into(), known }
    }
}

/// Whether a figure has several panels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panels {
    /// A panel a law, or a flow, if a single panel would hold more than three lines.
    #[default]
    Auto,
    /// One panel.
    One,
    /// A panel a law; of a single law a panel a flow.
    Each,
}

/// A figure that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name by which [`Figures::figure`](super::Figures::figure) finds the figure.
    pub name: String,
    /// Title of the figure, with what distinguishes it from others.
    pub title: String,
    /// Unit of the vertical axis; empty for plain numbers.
    pub unit: String,
}
