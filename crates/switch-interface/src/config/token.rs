//! The secret that members show when they register.

use std::fmt;
use std::io;
use std::path::PathBuf;

use ratewire_files::{SECRET, read_text};
use serde::{Deserialize, Serialize};

/// Characters of a token.
const SHORTEST: usize = 16;
const LONGEST: usize = 256;

/// Where a token stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenSource {
    /// In a file, which has nothing else.
    File(PathBuf),
    /// In the variable of the environment with this name.
    Environment(String),
}

impl fmt::Display for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenSource::File(path) => write!(f, "the file {}", path.display()),
            TokenSource::Environment(name) => write!(f, "the environment's {name}"),
        }
    }
}

/// A token. It is never shown: its `Debug` form hides it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// A token that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("the token {}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
    /// The environment has no such variable, or it is not a text.
    #[error("the environment has no token {0}")]
    Unset(String),
    /// The token is too short or too long, or has characters that are not visible.
    #[error("{0} has no token")]
    Malformed(TokenSource),
}

impl TokenError {
    /// What to do.
    pub fn help(&self) -> &'static str {
        "a token is 16 to 256 visible characters of ASCII, the same at the switch and its members; \
         `ratewire-switch key FILE` makes one"
    }
}

impl TokenSource {
    /// Reads the token.
    ///
    /// # Errors
    /// When it is not there or malformed.
    pub fn read(&self) -> Result<Token, TokenError> {
        let text = match self {
            TokenSource::File(path) => read_text(path, SECRET)
                .map_err(|error| TokenError::Io(path.clone(), error.into()))?,
            TokenSource::Environment(name) => {
                std::env::var(name).map_err(|_| TokenError::Unset(name.clone()))?
            }
        };
        Token::new(text.trim()).ok_or_else(|| TokenError::Malformed(self.clone()))
    }
}

impl Token {
    /// A token of 16 to 256 visible characters of ASCII; `None` for another text.
    pub fn new(text: &str) -> Option<Token> {
        let is_good = (SHORTEST..=LONGEST).contains(&text.len())
            && text.chars().all(|c| c.is_ascii_graphic());
        is_good.then(|| Token(text.to_string()))
    }

    /// The secret itself, to be compared in a time that tells nothing of it.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_and_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let source = TokenSource::File(path.clone());
        assert!(matches!(source.read(), Err(TokenError::Io(..))));
        for wrong in
            ["", "short", &"x".repeat(257), "sixteen letters\u{e4}", "two words of a token"]
        {
            std::fs::write(&path, wrong).unwrap();
            assert!(matches!(source.read(), Err(TokenError::Malformed(_))), "{wrong:?}");
        }
        std::fs::write(&path, "0123456789abcdef\n").unwrap();
        let token = source.read().unwrap();
        assert_eq!(token.secret(), "0123456789abcdef");
        assert_eq!(format!("{token:?}"), "Token(..)");
        let unset = TokenSource::Environment("RATEWIRE_NO_SUCH_TOKEN".into());
        assert!(matches!(unset.read(), Err(TokenError::Unset(_))));
    }
}
