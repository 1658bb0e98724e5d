//! Errors and warnings about a scenario, with their place and remedy.

use std::fmt;
use std::ops::Range;

use ratewire_config::nearest;
use ratewire_units::text::{legible, steers};

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The scenario cannot run.
    Error,
    /// The scenario can run, but probably does not do what was meant.
    Warning,
}

/// Something wrong with a scenario: where, what, and what is allowed.
///
/// Displayed as a block of lines without colour:
///
/// ```text
/// error: unknown key `bandwith` in [topology.bottleneck]
///  --> lan.toml:7:16
///   |
/// 7 | bottleneck = { bandwith = "1 Gbit/s" }
///   |                ^^^^^^^^
///   = help: did you mean `rate`?
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Display name of the file, or of the setting.
    pub file: String,
    /// Whether `file` names a setting that replaces what the file says, as `set` or `law`.
    pub is_setting: bool,
    /// Line, from 1; 0 when the whole file, or no file, is meant.
    pub line: usize,
    /// Column in characters, from 1; 0 as for the line.
    pub column: usize,
    /// Bytes of the file that the diagnostic is about.
    pub span: Range<usize>,
    /// Source line on which the span starts; empty when no line is meant.
    pub source_line: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The allowed values, or the remedy.
    pub help: Option<String>,
    /// The valid word nearest to the one found.
    pub nearest: Option<String>,
    /// Whether the diagnostic is due to the run's end.
    pub is_of_end: bool,
    /// Number of diagnostics this stands for; more than 1 where it counts those not listed.
    pub count: usize,
}

impl Diagnostic {
    /// Whether the diagnostic keeps the scenario from running.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// An error about a span of a text that names scenarios and their parts.
    pub fn about(file: &str, text: &str, span: Range<usize>, message: String) -> Diagnostic {
        let source = Source { name: file.to_string(), text: text.to_string() };
        let span = Span { source: 0, start: span.start, end: span.end };
        source.diagnostic(Severity::Error, span, message)
    }

    /// Adds the known words as help, and the one nearest to `found`.
    #[must_use]
    pub fn knowing(self, found: &str, known: &[&str]) -> Diagnostic {
        let shown = known.len().min(MOST_KNOWN);
        let rest = match known.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let help = match known {
            [] => "there is none".to_string(),
            _ => format!("known: {}{rest}", known[..shown].join(", ")),
        };
        Diagnostic { help: Some(help), nearest: nearest(found, known.iter().copied()), ..self }
    }

    /// A warning that has no place in the text.
    pub(crate) fn warning(
        file: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let severity = Severity::Warning;
        Diagnostic {
            severity,
            help: Some(help.into()),
            ..Diagnostic::general(file, message.into())
        }
    }

    /// An error about a setting that replaces what the file says.
    pub(crate) fn of_setting(setting: &str, message: String) -> Diagnostic {
        Diagnostic { is_setting: true, ..Diagnostic::general(setting, message) }
    }

    /// An error that has no place in the text.
    pub(crate) fn general(file: &str, message: String) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            file: file.to_string(),
            is_setting: false,
            line: 0,
            column: 0,
            span: 0..0,
            source_line: String::new(),
            message,
            help: None,
            nearest: None,
            is_of_end: false,
            count: 1,
        }
    }
}

/// A name in quotes, and how many more there are.
pub(crate) fn and_more(name: &str, more: usize) -> String {
    if more > 0 { format!("{name:?} and {more} more") } else { format!("{name:?}") }
}

/// A comma-separated list, cut where it would be long.
pub(crate) fn listing(words: &[&str]) -> String {
    const SHOWN: usize = 24;
    let mut text = words.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if words.len() > SHOWN {
        text.push_str(&format!(" and {} more", words.len() - SHOWN));
    }
    text
}

/// Most known words that are listed.
const MOST_KNOWN: usize = 16;

/// Longest part of a source line that is shown, in characters.
const SHOWN: usize = 120;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_error() { "error" } else { "warning" };
        let file = legible(&self.file);
        writeln!(f, "{word}: {}", legible(&self.message))?;
        if self.line == 0 {
            write!(f, " --> {file}")?;
            return self.write_help(f, " ");
        }
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "{margin}--> {file}:{}:{}", self.line, self.column)?;
        // Each character is replaced by exactly one, so that the carets line up.
        let shown = |c: char| match c {
            '\t' => ' ',
            c if steers(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        };
        let line: Vec<char> = self.source_line.chars().map(shown).collect();
        let start = (self.column - 1).min(line.len());
        let first = if start + 20 > SHOWN { start - 20 } else { 0 };
        let last = line.len().min(first + SHOWN);
        let shown: String = line[first..last].iter().collect();
        let carets = self.width().min(last.saturating_sub(start)).max(1);
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", shown.trim_end())?;
        write!(f, "{margin} | {}{}", " ".repeat(start - first), "^".repeat(carets))?;
        self.write_help(f, &margin)
    }
}

impl Diagnostic {
    /// Number of characters to underline on the first line.
    fn width(&self) -> usize {
        let before: usize =
            self.source_line.chars().take(self.column - 1).map(char::len_utf8).sum();
        let rest = self.source_line.get(before..).unwrap_or("");
        let wanted = self.span.end.saturating_sub(self.span.start);
        rest.char_indices().take_while(|(at, _)| *at < wanted).count()
    }

    fn write_help(&self, f: &mut fmt::Formatter<'_>, margin: &str) -> fmt::Result {
        if let Some(nearest) = &self.nearest {
            write!(f, "\n{margin} = help: did you mean `{}`?", legible(nearest))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n{margin} = help: {}", legible(help))?;
        }
        Ok(())
    }
}

/// A byte range in one of the texts that a scenario is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Span {
    /// Index of the text: 0 is the scenario's file, the others are values set in it.
    pub source: usize,
    pub start: usize,
    pub end: usize,
}

impl Span {
    /// Whether the span is in a value set in the scenario, not in its file.
    pub fn is_set(self) -> bool {
        self.source > 0
    }
}

/// A text that spans point into.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    /// A diagnostic about `span` of this text.
    pub fn diagnostic(&self, severity: Severity, span: Span, message: String) -> Diagnostic {
        let floor = |at: usize| {
            let mut at = at.min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (floor(span.start), floor(span.end.max(span.start)));
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |at| start + at);
        Diagnostic {
            severity,
            file: self.name.clone(),
            is_setting: span.is_set(),
            line: self.text[..start].matches('\n').count() + 1,
            column: self.text[line_start..start].chars().count() + 1,
            span: start..end,
            source_line: self.text[line_start..line_end].trim_end_matches('\r').to_string(),
            message,
            help: None,
            nearest: None,
            is_of_end: false,
            count: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, start: usize, end: usize) -> String {
        let source = Source { name: "a.toml".into(), text: text.into() };
        source
            .diagnostic(Severity::Error, Span { source: 0, start, end }, "wrong".into())
            .to_string()
    }

    #[test]
    fn what_is_known_is_listed_but_not_without_end() {
        let wrong = |known: &[&str]| {
            Diagnostic::about("a.toml", "x = [\n  \"rat\"]", 8..13, "no rat".into())
                .knowing("rat", known)
                .to_string()
        };
        assert_eq!(
            wrong(&["rate", "delay"]),
            "error: no rat\n --> a.toml:2:3\n  |\n2 |   \"rat\"]\n  |   ^^^^^\n  \
             = help: did you mean `rate`?\n  = help: known: rate, delay"
        );
        assert!(wrong(&[]).ends_with("help: there is none"));
        assert!(wrong(&["x"; 20]).ends_with("x, x and 4 more"));
    }

    #[test]
    fn carets_stand_under_the_text() {
        assert_eq!(
            at("x = 1\n\tyé = 22\r\n", 7, 10),
            "error: wrong\n --> a.toml:2:2\n  |\n2 |  yé = 22\n  |  ^^"
        );
        assert!(at("x", 1, 1).ends_with("1 | x\n  |  ^"));
        assert!(at("a\nb", 0, 3).ends_with("1 | a\n  | ^"));
        assert!(at("", 0, 9).ends_with("1 | \n  | ^"));
    }

    #[test]
    fn what_it_says_cannot_steer_a_terminal() {
        let source =
            Source { name: "a\u{1b}.toml".into(), text: "\"x\u{202e}\u{9b}y\" = 1".into() };
        let message = "unknown key `x\u{1b}[31m\ny`".to_string();
        let span = Span { source: 0, start: 0, end: 9 };
        let said = source.diagnostic(Severity::Error, span, message).knowing("x\n", &["x\ny"]);
        assert_eq!(
            said.to_string(),
            "error: unknown key `x\\u001b[31m\\ny`\n --> a\\u001b.toml:1:1\n  |\n\
             1 | \"x\u{fffd}\u{fffd}y\" = 1\n  | ^^^^^^\n  \
             = help: did you mean `x\\ny`?\n  = help: known: x\\ny"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}HERE{}", "a".repeat(500), "b".repeat(500));
        let shown = at(&text, 500, 504);
        assert!(shown.contains("HERE") && shown.lines().all(|line| line.len() < 140), "{shown}");
        assert!(shown.lines().last().unwrap().ends_with("    ^^^^"));
    }
}
