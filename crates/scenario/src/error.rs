//! Why a scenario cannot be used.

use ratewire_inputs::InputError;

use crate::diagnostic::Diagnostic;

/// Why a scenario cannot be read, or cannot run as asked.
///
/// Displayed as its diagnostics, with an empty line between two of them. The scenario on which a
/// function was called stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", list(diagnostics))]
pub struct ScenarioError {
    /// All errors, and the warnings found with them, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Why the file cannot be read. Boxed, because few errors have it.
    source: Option<Box<InputError>>,
}

impl ScenarioError {
    /// An error about a file that cannot be read.
    pub(crate) fn unreadable(diagnostic: Diagnostic, source: InputError) -> ScenarioError {
        ScenarioError { diagnostics: vec![diagnostic], source: Some(Box::new(source)) }
    }
}

impl From<Vec<Diagnostic>> for ScenarioError {
    fn from(diagnostics: Vec<Diagnostic>) -> ScenarioError {
        ScenarioError { diagnostics, source: None }
    }
}

impl From<Diagnostic> for ScenarioError {
    fn from(diagnostic: Diagnostic) -> ScenarioError {
        ScenarioError::from(vec![diagnostic])
    }
}

fn list(diagnostics: &[Diagnostic]) -> String {
    let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    all.join("\n\n")
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::path::Path;

    use crate::Scenario;

    #[test]
    fn what_cannot_be_read_has_a_cause() {
        let wrong = Scenario::load(Path::new("no/such/folder.toml")).unwrap_err();
        let cause = wrong.source().expect("a cause").to_string();
        assert!(cause.starts_with("no/such/folder.toml: found "), "{cause}");
        assert!(wrong.to_string().contains("cannot read the scenario"), "{wrong}");
    }

    #[test]
    fn all_that_is_wrong_is_reported_at_once() {
        let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let wrong = Scenario::parse("a.toml", "x = 1\ny = 2\n", &no_files).unwrap_err();
        assert!(wrong.source().is_none());
        let texts: Vec<String> = wrong.diagnostics.iter().map(ToString::to_string).collect();
        assert!(texts.len() > 1);
        assert_eq!(wrong.to_string(), texts.join("\n\n"));
    }
}
