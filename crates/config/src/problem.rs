//! Mistakes in a configuration, with their places and remedies.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::nearest::nearest;

use ratewire_files::FileError;
use ratewire_units::text::legible;

/// Most mistakes that an error lists.
const MOST_SHOWN: usize = 20;

/// A configuration that cannot be used. Nothing has been started.
///
/// Displayed as a list:
///
/// ```text
/// groups.toml:7:1: unknown key `salry` in [flow-control]
///   help: did you mean `salary`?
/// ```
#[derive(Debug, thiserror::Error)]
pub struct ConfigError {
    /// The file; `None` where the configuration is the built-in one.
    pub file: Option<PathBuf>,
    /// Everything that is wrong, in the order of the file.
    pub problems: Vec<Problem>,
    source: Option<FileError>,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line and column in characters, from 1; `None` where the whole configuration is meant.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub message: String,
    /// What is allowed, or what to do.
    pub help: String,
}

impl ConfigError {
    /// An error that lists these mistakes.
    pub(super) fn new(file: Option<&Path>, problems: Vec<Problem>) -> ConfigError {
        ConfigError { file: file.map(Path::to_path_buf), problems, source: None }
    }

    /// An error about the whole configuration, with a remedy. It has no place in the file.
    pub fn general(file: Option<&Path>, message: String, help: String) -> ConfigError {
        ConfigError::new(file, vec![Problem { place: None, message, help }])
    }

    /// An error about a file that cannot be read.
    pub(super) fn unreadable(file: &Path, source: FileError) -> ConfigError {
        let message = format!("cannot be read: {source}");
        let help = source.help().to_string();
        let error = ConfigError::general(Some(file), message, help);
        ConfigError { source: Some(source), ..error }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_ref().map(|file| legible(&file.to_string_lossy()));
        for (number, problem) in self.problems.iter().take(MOST_SHOWN).enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            if let Some(file) = &file {
                write!(f, "{file}:")?;
                if let Some((line, column)) = problem.place {
                    write!(f, "{line}:{column}:")?;
                }
                f.write_str(" ")?;
            }
            write!(f, "{}\n  help: {}", legible(&problem.message), legible(&problem.help))?;
        }
        match self.problems.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// A remedy for an unknown word: the known word that `found` probably means, else all known words.
pub fn known_words(found: &str, known: &[&str]) -> String {
    match nearest(found, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_the_line_and_the_remedy() {
        let problem = |place, message: &str| {
            let help = "do this".to_string();
            Problem { place, message: message.to_string(), help }
        };
        let problems = vec![problem(Some((7, 1)), "wrong\u{1b}"), problem(None, "amiss")];
        let error = ConfigError::new(Some(Path::new("a.toml")), problems.clone());
        let said = "a.toml:7:1: wrong\\u001b\n  help: do this\na.toml: amiss\n  help: do this";
        assert_eq!(error.to_string(), said);
        let error = ConfigError::new(None, vec![problems[1].clone(); 22]);
        assert!(error.to_string().starts_with("amiss\n  help: do this\namiss"));
        assert!(error.to_string().ends_with("\nand 2 more"));
    }

    #[test]
    fn the_word_meant_is_suggested() {
        let known = ["salary", "soft-limit"];
        assert_eq!(known_words("salry", &known), "did you mean `salary`?");
        assert_eq!(known_words("Soft_limit", &known), "did you mean `soft-limit`?");
        assert_eq!(known_words("colour", &known), "known: salary, soft-limit");
        assert_eq!(known_words(&"x".repeat(10_000), &known), "known: salary, soft-limit");
    }
}
