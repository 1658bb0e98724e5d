//! Errors as fields of events.

use std::error::Error;
use std::fmt::Write as _;

/// Longest reason, in bytes.
const LONGEST: usize = 300;

/// An error and its causes on one line of at most about 300 bytes. Control characters are escaped,
/// because peers may have written parts of the error.
pub fn reason(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // Some errors already name their cause.
        if !text.contains(&more) {
            _ = write!(text, ": {more}");
        }
        cause = error.source();
    }
    let mut line = String::new();
    for character in text.chars() {
        if line.len() >= LONGEST {
            break;
        }
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_short_line_with_all_causes() {
        let error = std::io::Error::other("a\nb".to_string() + &"c".repeat(1000));
        assert_eq!(reason(&error).len(), LONGEST);
        assert!(reason(&error).starts_with("a\\nbcc"));
    }
}
