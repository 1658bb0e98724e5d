//! Locations in a file, for errors.

use crate::{InputError, Note};

/// A location in a file. Cheap to copy: the line of an offset is only counted once an error needs
/// it, which keeps reading linear in the size of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location<'a> {
    file: &'a str,
    spot: Spot<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Spot<'a> {
    Whole,
    Line(usize),
    Offset(&'a str, usize),
}

impl<'a> Location<'a> {
    /// The file as a whole.
    pub(crate) fn whole(file: &'a str) -> Location<'a> {
        Location { file, spot: Spot::Whole }
    }
    /// A line, from 1.
    pub(crate) fn line(file: &'a str, line: usize) -> Location<'a> {
        Location { file, spot: Spot::Line(line) }
    }
    /// A byte offset into the file's text.
    pub(crate) fn offset(file: &'a str, text: &'a str, offset: usize) -> Location<'a> {
        Location { file, spot: Spot::Offset(text, offset) }
    }
    /// The location `lines` below this one.
    pub(crate) fn below(self, lines: usize) -> Location<'a> {
        match self.line_number() {
            Some(line) => Location::line(self.file, line + lines),
            None => self,
        }
    }

    /// The line, from 1; `None` of the file as a whole.
    pub(crate) fn line_number(self) -> Option<usize> {
        match self.spot {
            Spot::Whole => None,
            Spot::Line(line) => Some(line),
            Spot::Offset(text, offset) => {
                let before = text.as_bytes().iter().take(offset);
                Some(1 + before.filter(|b| **b == b'\n').count())
            }
        }
    }

    /// A note of this location.
    pub(crate) fn note(self, text: impl Into<String>, help: impl Into<String>) -> Note {
        Note { line: self.line_number(), text: text.into(), help: help.into() }
    }

    /// An error at this location.
    pub(crate) fn error(
        self,
        found: impl Into<String>,
        allowed: impl Into<String>,
        remedy: impl Into<String>,
    ) -> InputError {
        InputError {
            file: self.file.to_string(),
            line: self.line_number(),
            found: found.into(),
            allowed: allowed.into(),
            remedy: remedy.into(),
        }
    }
}

/// `text` in quotes, cut to a length that fits a terminal.
pub(crate) fn quoted(text: &str) -> String {
    const KEPT: usize = 60;
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Text found in place of a number, for an error. Text unlike a number is not shown: root may run a
/// scenario of an author who may not read the file, such as `/etc/shadow`.
pub(crate) fn in_place_of_a_number(text: &str) -> String {
    let is_like_one = |c: char| c.is_ascii_digit() || "+-.,eE_:".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match text {
        "" => "nothing".to_string(),
        _ if begins && text.len() <= 32 && text.chars().all(is_like_one) => quoted(text),
        _ => "text that is no number".to_string(),
    }
}

/// A finite number; Rust's parser would also take `inf` and `nan`.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|value| value.is_finite())
}

/// The largest whole number up to which floats hold every whole number: 2^53.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// A whole number, however it is written: `1000`, `1000.0` or `1e3`.
pub(crate) fn whole(text: &str) -> Option<u64> {
    let is_whole = |value: &f64| value.fract() == 0.0 && (0.0..=MAX_WHOLE).contains(value);
    let of_float = || finite(text).filter(is_whole).map(|value| value as u64);
    text.trim().parse().ok().or_else(of_float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_from_one() {
        let text = "a\nbc\nd";
        assert_eq!(Location::offset("f", text, 0).line_number(), Some(1));
        assert_eq!(Location::offset("f", text, 2).line_number(), Some(2));
        assert_eq!(Location::offset("f", text, 5).line_number(), Some(3));
        assert_eq!(Location::offset("f", text, 2).below(1).line_number(), Some(3));
        assert_eq!(Location::whole("f").below(1).line_number(), None);
    }

    #[test]
    fn only_what_is_like_a_number_is_shown() {
        for text in ["12.5", "-1e400", "1:2", "3,5"] {
            assert_eq!(in_place_of_a_number(text), format!("{text:?}"));
        }
        for text in ["root:*:19000:0:99999:7:::", "hunter2", "12 monkeys", &"1".repeat(33)] {
            assert_eq!(in_place_of_a_number(text), "text that is no number");
        }
        assert_eq!(in_place_of_a_number(""), "nothing");
    }

    #[test]
    fn whole_numbers_may_be_written_as_floats() {
        for text in ["1000", "1000.0", "1e3", "1E+3", " 1000 ", "+1000"] {
            assert_eq!(whole(text), Some(1000), "{text}");
        }
        assert_eq!(whole("18446744073709551615"), Some(u64::MAX));
        for text in ["1000.5", "-1", "1e17", "1e999", "nan", "", "1 000", "0x10"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(quoted("ab"), "\"ab\"");
        assert_eq!(quoted(&"é".repeat(100)).chars().count(), 60 + 2 + 3);
    }
}
