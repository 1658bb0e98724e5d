//! The TOML document as a tree whose keys and values know their place.

mod syntax;
pub(crate) mod write;

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Source, Span};

/// A value that was read, and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct At<T> {
    pub value: T,
    pub span: Span,
}

impl<T> At<T> {
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> At<U> {
        At { value: f(self.value), span: self.span }
    }
}

/// A value as the text has it, and its place.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub value: Value,
    pub span: Span,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    /// From -2^63, TOML's least, to 2^64 - 1, the greatest seed.
    Integer(i128),
    Float(f64),
    Switch(bool),
    /// A value that scenarios cannot use, in words: a date, or a number out of range.
    Other(String),
    List(Vec<Item>),
    Table(Table),
}

/// A TOML table, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub item: Item,
}

impl Value {
    /// The value in words, for messages.
    pub fn describe(&self) -> String {
        match self {
            Value::Text(text) => format!("{text:?}"),
            Value::Integer(n) => format!("the number {n}"),
            Value::Float(n) => format!("the number {n:?}"),
            Value::Switch(v) => v.to_string(),
            Value::Other(words) => words.clone(),
            Value::List(items) => described(items),
            Value::Table(_) => "a table".to_string(),
        }
    }

    /// The value of an option as the parser of laws and disciplines takes it; `None` of what no
    /// option holds.
    pub fn as_option(&self) -> Option<String> {
        match self {
            Value::Text(text) => Some(text.clone()),
            Value::Integer(n) => Some(n.to_string()),
            Value::Float(n) => Some(n.to_string()),
            Value::Switch(v) => Some(v.to_string()),
            _ => None,
        }
    }
}

/// A list in words; its elements where it is short and holds no lists or tables.
fn described(items: &[Item]) -> String {
    let is_nested = |item: &Item| matches!(item.value, Value::List(_) | Value::Table(_));
    let words = |item: &Item| item.value.describe();
    match items {
        [] => "an empty list".to_string(),
        _ if items.iter().any(is_nested) => "a list".to_string(),
        [one] => format!("a list of {}", words(one)),
        [one, two] => format!("a list of {} and {}", words(one), words(two)),
        _ => format!("a list of {}", items.len()),
    }
}

impl Table {
    /// The entry called `key`.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
    /// The entry called `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }
}

/// Reads text 0 of the scenario's texts.
///
/// # Errors
/// All syntax errors, in the order of the text. After an error the rest is read as far as possible.
pub(crate) fn parse(source: &Source) -> Result<Item, Vec<Diagnostic>> {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let read = read_table(table.get_ref(), 0);
    if !errors.is_empty() {
        return Err(syntax::explain(source, &read, &errors));
    }
    let span = table.span();
    Ok(Item {
        value: Value::Table(read),
        span: Span { source: 0, start: span.start, end: span.start },
    })
}

/// Reads the value in text `index` from byte `from` on; `None` if it is not a value.
pub(crate) fn parse_value(source: &Source, index: usize, from: usize) -> Option<Item> {
    let value = DeValue::parse(&source.text[from..]).ok()?;
    let mut item = read_item(value.get_ref(), value.span(), index);
    // One span covers the whole value: the text is one short line.
    mark(&mut item, Span { source: index, start: from, end: source.text.len() });
    Some(item)
}

/// The value of a text that no file has: TOML where it can be, or else the text itself.
pub(crate) fn value_or_text(text: &str) -> Item {
    let source = Source { name: String::new(), text: text.to_string() };
    match parse_value(&source, 0, 0) {
        Some(item) if !matches!(item.value, Value::Other(_)) => item,
        _ => Item { value: Value::Text(text.to_string()), span: Span::default() },
    }
}

fn mark(item: &mut Item, span: Span) {
    item.span = span;
    match &mut item.value {
        Value::List(items) => items.iter_mut().for_each(|item| mark(item, span)),
        Value::Table(table) => {
            for entry in &mut table.entries {
                entry.key_span = span;
                mark(&mut entry.item, span);
            }
        }
        _ => {}
    }
}

fn read_table(table: &DeTable<'_>, source: usize) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: Span { source, start: key.span().start, end: key.span().end },
            item: read_item(value.get_ref(), value.span(), source),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    Table { entries }
}

fn read_item(value: &DeValue<'_>, span: Range<usize>, source: usize) -> Item {
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => {
            let digits = n.as_str().replace('_', "");
            let number = i128::from_str_radix(&digits, n.radix()).ok();
            let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
            number.filter(|number| range.contains(number)).map_or_else(
                || {
                    Value::Other(format!(
                        "the number {digits}, which is not from -2^63 to 2^64 - 1"
                    ))
                },
                Value::Integer,
            )
        }
        DeValue::Float(n) => match n.as_str().replace('_', "").parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Float(number),
            _ => Value::Other(format!("the number {}, which is not finite", n.as_str())),
        },
        DeValue::Boolean(v) => Value::Switch(*v),
        DeValue::Datetime(date) => Value::Other(format!("the date {date}")),
        DeValue::Array(list) => {
            let items = list.iter().map(|v| read_item(v.get_ref(), v.span(), source));
            Value::List(items.collect())
        }
        DeValue::Table(table) => Value::Table(read_table(table, source)),
    };
    Item { value, span: Span { source, start: span.start, end: span.end } }
}
