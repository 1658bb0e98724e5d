//! Tables of a file.

use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::known_words;
use super::source::Source;
use super::value::{At, described, integer_of, number_of, text_of};

/// A table of a configuration file. A key that is not allowed in it is noted as a mistake.
#[derive(Debug)]
pub struct Section<'a> {
    source: &'a Source<'a>,
    /// Name in messages.
    title: &'static str,
    /// Place of the heading.
    span: Range<usize>,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    /// A table at `span`. Notes its keys that are not among `known`.
    pub(super) fn new(
        source: &'a Source<'a>,
        title: &'static str,
        known: &[&str],
        span: Range<usize>,
        table: &'a DeTable<'a>,
    ) -> Section<'a> {
        for (key, _) in table.iter() {
            if !known.contains(&key.get_ref().as_ref()) {
                let message = format!("unknown key `{}` in {title}", key.get_ref());
                source.note(&key.span(), message, known_words(key.get_ref(), known));
            }
        }
        Section { source, title, span, table }
    }

    /// Notes a mistake at these bytes of the file: what is wrong, and what to do.
    pub fn note(&self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.source.note(span, message, help);
    }

    /// Place of the table's heading, in bytes of the file.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    /// Place of the value of `key`, or of the table's heading if `key` is not given.
    pub fn place(&self, key: &str) -> Range<usize> {
        self.get(key).map_or_else(|| self.span.clone(), Spanned::span)
    }

    /// Whether `key` is given.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Notes that `key` is missing, and that the reader should do as `help` says.
    pub fn missing(&self, key: &str, help: &str) {
        self.note(&self.span, format!("{} needs the key `{key}`", self.title), help);
    }

    fn refuse(&self, key: &str, value: &Spanned<DeValue<'_>>, allowed: &str) {
        let message = format!("`{key}` cannot be {}", described(value.get_ref()));
        self.note(&value.span(), message, format!("allowed: {allowed}"));
    }

    /// A text; `None` if it is not given or wrong. `allowed` says in messages what may stand here.
    pub fn text(&self, key: &str, allowed: &str) -> Option<At<&'a str>> {
        let value = self.get(key)?;
        let text = text_of(value);
        if text.is_none() {
            self.refuse(key, value, allowed);
        }
        text
    }

    /// A list of texts; `None` if it is not given or wrong.
    pub fn texts(&self, key: &str, allowed: &str) -> Option<Vec<At<&'a str>>> {
        let value = self.get(key)?;
        let texts = match value.get_ref() {
            DeValue::Array(list) => list.iter().map(text_of).collect(),
            _ => None,
        };
        if texts.is_none() {
            self.refuse(key, value, allowed);
        }
        texts
    }

    /// A value that is parsed from a text; `None` if it is not given or wrong.
    pub fn parsed<T: FromStr<Err: Display>>(&self, key: &str, allowed: &str) -> Option<At<T>> {
        let At { value, span } = self.text(key, allowed)?;
        match value.parse() {
            Ok(value) => Some(At { value, span }),
            Err(why) => {
                let help = format!("allowed: {allowed}");
                self.note(&span, format!("`{key}` cannot be {value:?}: {why}"), help);
                None
            }
        }
    }

    /// A quantity with its unit; `default` if it is not given or wrong.
    pub fn quantity<T>(&self, key: &str, default: T, range: RangeInclusive<T>) -> T
    where
        T: FromStr<Err: Display> + PartialOrd + Display + Copy,
    {
        let allowed = format!("{} to {}, for example \"{default}\"", range.start(), range.end());
        let found = self.parsed(key, &allowed);
        found.and_then(|found| self.within(key, found, &range)).unwrap_or(default)
    }

    /// A whole number; `default` if it is not given or wrong.
    pub fn count(&self, key: &str, default: u32, range: RangeInclusive<u32>) -> u32 {
        let Some(value) = self.get(key) else { return default };
        let Some(number) = integer_of(value) else {
            let allowed = format!("a whole number from {} to {}", range.start(), range.end());
            self.refuse(key, value, &allowed);
            return default;
        };
        let range = i64::from(*range.start())..=i64::from(*range.end());
        let found = self.within(key, At { value: number, span: value.span() }, &range);
        found.and_then(|number| u32::try_from(number).ok()).unwrap_or(default)
    }

    /// A number; `default` if it is not given or wrong.
    pub fn number(&self, key: &str, default: f64, range: RangeInclusive<f64>) -> f64 {
        let Some(value) = self.get(key) else { return default };
        let Some(number) = number_of(value) else {
            let allowed = format!("a number from {} to {}", range.start(), range.end());
            self.refuse(key, value, &allowed);
            return default;
        };
        self.within(key, At { value: number, span: value.span() }, &range).unwrap_or(default)
    }

    /// True or false; false if it is not given or wrong.
    pub fn flag(&self, key: &str) -> bool {
        self.switch(key, false)
    }

    /// True or false; `default` if it is not given or wrong.
    pub fn switch(&self, key: &str, default: bool) -> bool {
        match self.get(key).map(|value| (value, value.get_ref())) {
            None => default,
            Some((_, DeValue::Boolean(value))) => *value,
            Some((value, _)) => {
                self.refuse(key, value, "true or false");
                default
            }
        }
    }

    /// One of the words `known`; `None` if it is not given or wrong.
    pub fn word(&self, key: &str, known: &[&str]) -> Option<&'a str> {
        let At { value, span } = self.text(key, &known.join(", "))?;
        if !known.contains(&value) {
            self.note(&span, format!("`{key}` cannot be {value:?}"), known_words(value, known));
            return None;
        }
        Some(value)
    }

    /// The table with this title, for example `[limits]`, and the keys that may stand in it; `None`
    /// if it is not given or wrong.
    pub fn table(&self, title: &'static str, known: &[&str]) -> Option<Section<'a>> {
        let key = title.trim_matches(['[', ']']);
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => {
                Some(Section::new(self.source, title, known, value.span(), table))
            }
            _ => {
                self.refuse(key, value, &format!("a table {title}"));
                None
            }
        }
    }

    /// The tables with this title, for example `[[link]]`, and the keys that may stand in each.
    pub fn tables(&self, title: &'static str, known: &[&str]) -> Vec<Section<'a>> {
        let key = title.trim_matches(['[', ']']);
        let Some(value) = self.get(key) else { return Vec::new() };
        let allowed = format!("tables {title}");
        let DeValue::Array(list) = value.get_ref() else {
            self.refuse(key, value, &allowed);
            return Vec::new();
        };
        let table = |value: &'a Spanned<DeValue<'a>>| match value.get_ref() {
            DeValue::Table(table) => {
                Some(Section::new(self.source, title, known, value.span(), table))
            }
            _ => {
                self.refuse(key, value, &allowed);
                None
            }
        };
        list.iter().filter_map(table).collect()
    }

    /// The value, where the range contains it.
    fn within<T>(&self, key: &str, found: At<T>, range: &RangeInclusive<T>) -> Option<T>
    where
        T: PartialOrd + Display,
    {
        if range.contains(&found.value) {
            return Some(found.value);
        }
        let message = format!("`{key}` cannot be {}", found.value);
        let help = format!("allowed: {} to {}", range.start(), range.end());
        self.note(&found.span, message, help);
        None
    }
}
