//! Reads tables of the file, and notes what is wrong with them.

use std::cell::RefCell;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Problem, known_words};

/// A value and its bytes of the file.
#[derive(Clone, Debug)]
pub(super) struct At<T> {
    pub value: T,
    pub span: Range<usize>,
}

/// The text of the file, and its mistakes as they are found.
pub(super) struct Source<'a> {
    text: &'a str,
    found: RefCell<Vec<(usize, Problem)>>,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str) -> Source<'a> {
        Source { text, found: RefCell::default() }
    }

    /// Notes a mistake.
    pub fn note(&self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        let (message, help) = (message.into(), help.into());
        let problem = Problem { place: Some((line, column)), message, help };
        self.found.borrow_mut().push((span.start, problem));
    }

    /// The mistakes, in the order of the file.
    pub fn into_problems(self) -> Vec<Problem> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(start, _)| *start);
        found.into_iter().map(|(_, problem)| problem).collect()
    }
}

/// A table of the file. Its keys are checked against those that may be there.
pub(super) struct Section<'a> {
    pub source: &'a Source<'a>,
    /// Name in messages.
    title: &'static str,
    /// Place of the heading.
    pub span: Range<usize>,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    /// Notes keys that are not among `known`.
    pub fn new(
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

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    /// Place of the value of `key`; that of the table where it is not given.
    pub fn place(&self, key: &str) -> Range<usize> {
        self.get(key).map_or_else(|| self.span.clone(), Spanned::span)
    }

    /// Whether `key` is given.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Notes that `key` is missing.
    pub fn missing(&self, key: &str, help: &str) {
        self.source.note(&self.span, format!("{} needs the key `{key}`", self.title), help);
    }

    fn refuse(&self, key: &str, value: &Spanned<DeValue<'_>>, allowed: &str) {
        let message = format!("`{key}` cannot be {}", described(value.get_ref()));
        self.source.note(&value.span(), message, format!("allowed: {allowed}"));
    }

    /// A text.
    pub fn text(&self, key: &str, allowed: &str) -> Option<At<&'a str>> {
        let value = self.get(key)?;
        let text = text_of(value);
        if text.is_none() {
            self.refuse(key, value, allowed);
        }
        text
    }

    /// A list of texts.
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

    /// A text in the form of some type.
    pub fn parsed<T: FromStr<Err: Display>>(&self, key: &str, allowed: &str) -> Option<At<T>> {
        let At { value, span } = self.text(key, allowed)?;
        match value.parse() {
            Ok(value) => Some(At { value, span }),
            Err(why) => {
                let help = format!("allowed: {allowed}");
                self.source.note(&span, format!("`{key}` cannot be {value:?}: {why}"), help);
                None
            }
        }
    }

    /// A quantity with its unit, `default` where none is given or it is wrong.
    pub fn quantity<T>(&self, key: &str, default: T, range: RangeInclusive<T>) -> T
    where
        T: FromStr<Err: Display> + PartialOrd + Display + Copy,
    {
        let allowed = format!("{} to {}, for example \"{default}\"", range.start(), range.end());
        let found = self.parsed(key, &allowed);
        found.and_then(|found| self.within(key, found, &range)).unwrap_or(default)
    }

    /// A whole number, `default` where none is given or it is wrong.
    pub fn count(&self, key: &str, default: u32, range: RangeInclusive<u32>) -> u32 {
        let Some(value) = self.get(key) else { return default };
        let number = integer_of(value);
        let Some(number) = number else {
            let allowed = format!("a whole number from {} to {}", range.start(), range.end());
            self.refuse(key, value, &allowed);
            return default;
        };
        let range = i64::from(*range.start())..=i64::from(*range.end());
        let found = self.within(key, At { value: number, span: value.span() }, &range);
        found.and_then(|number| u32::try_from(number).ok()).unwrap_or(default)
    }

    /// A number, `default` where none is given or it is wrong.
    pub fn number(&self, key: &str, default: f64, range: RangeInclusive<f64>) -> f64 {
        let Some(value) = self.get(key) else { return default };
        let number = match value.get_ref() {
            DeValue::Float(n) => n.as_str().replace('_', "").parse().ok(),
            _ => integer_of(value).map(|n| n as f64),
        };
        let Some(number) = number else {
            let allowed = format!("a number from {} to {}", range.start(), range.end());
            self.refuse(key, value, &allowed);
            return default;
        };
        self.within(key, At { value: number, span: value.span() }, &range).unwrap_or(default)
    }

    /// True or false; false where it is not given.
    pub fn switch(&self, key: &str) -> bool {
        match self.get(key).map(|value| (value, value.get_ref())) {
            None => false,
            Some((_, DeValue::Boolean(value))) => *value,
            Some((value, _)) => {
                self.refuse(key, value, "true or false");
                false
            }
        }
    }

    /// The table `[key]`.
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

    /// The tables `[[key]]`.
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
        self.source.note(&found.span, message, help);
        None
    }
}

fn text_of<'a>(value: &'a Spanned<DeValue<'a>>) -> Option<At<&'a str>> {
    match value.get_ref() {
        DeValue::String(text) => Some(At { value: text, span: value.span() }),
        _ => None,
    }
}

fn integer_of(value: &Spanned<DeValue<'_>>) -> Option<i64> {
    match value.get_ref() {
        DeValue::Integer(n) => i64::from_str_radix(&n.as_str().replace('_', ""), n.radix()).ok(),
        _ => None,
    }
}

/// A value in words.
fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(n) => format!("the number {}", n.as_str()),
        DeValue::Float(n) => format!("the number {}", n.as_str()),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "such a list".to_string(),
        DeValue::Table(_) => "a table".to_string(),
    }
}
