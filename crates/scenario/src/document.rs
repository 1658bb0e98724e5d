//! The TOML document as a tree in which every key and value knows where it stands.

use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Severity, Source, Span};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub value: Value,
    pub span: Span,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Switch(bool),
    /// TOML has dates; scenarios have no use for them.
    Date(String),
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
    /// What it is, for messages.
    pub fn describe(&self) -> String {
        match self {
            Value::Text(text) => format!("{text:?}"),
            Value::Integer(n) => format!("the number {n}"),
            Value::Float(n) => format!("the number {n}"),
            Value::Switch(v) => v.to_string(),
            Value::Date(text) => format!("the date {text}"),
            Value::List(_) => "a list".to_string(),
            Value::Table(_) => "a table".to_string(),
        }
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

/// Reads text 0 of `sources`.
///
/// # Errors
/// All errors of syntax: what follows one is read as well as can be.
pub(crate) fn parse(source: &Source) -> Result<Item, Vec<Diagnostic>> {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    if !errors.is_empty() {
        let diagnostics = errors.iter().map(|error| {
            let span = error.span().unwrap_or(0..0);
            let span = Span { source: 0, start: span.start, end: span.end };
            source.diagnostic(Severity::Error, span, format!("not TOML: {}", error.message()))
        });
        return Err(diagnostics.collect());
    }
    let span = table.span();
    let mut diagnostics = Vec::new();
    let reading = Reading { source, index: 0 };
    let value = Value::Table(reading.table(table.get_ref(), &mut diagnostics));
    let item = Item { value, span: Span { source: 0, start: span.start, end: span.start } };
    if diagnostics.is_empty() { Ok(item) } else { Err(diagnostics) }
}

/// Reads one value; `None` if it is none.
pub(crate) fn parse_value(source: &Source, index: usize, from: usize) -> Option<Item> {
    let value = DeValue::parse(&source.text[from..]).ok()?;
    let mut diagnostics = Vec::new();
    let reading = Reading { source, index };
    let mut item = reading.item(value.get_ref(), value.span(), &mut diagnostics);
    // A single span for all of it: the text is one short line.
    mark(&mut item, Span { source: index, start: from, end: source.text.len() });
    diagnostics.is_empty().then_some(item)
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

struct Reading<'a> {
    source: &'a Source,
    index: usize,
}

impl Reading<'_> {
    fn span(&self, span: std::ops::Range<usize>) -> Span {
        Span { source: self.index, start: span.start, end: span.end }
    }

    fn table(&self, table: &DeTable<'_>, diagnostics: &mut Vec<Diagnostic>) -> Table {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref().to_string(),
                key_span: self.span(key.span()),
                item: self.item(value.get_ref(), value.span(), diagnostics),
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_span.start);
        Table { entries }
    }

    fn item(
        &self,
        value: &DeValue<'_>,
        span: std::ops::Range<usize>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Item {
        let span = self.span(span);
        let mut refuse = |message: &str| {
            let found = self.source.diagnostic(Severity::Error, span, message.to_string());
            diagnostics.push(found);
        };
        let value = match value {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(n) => {
                let digits = n.as_str().replace('_', "");
                Value::Integer(i64::from_str_radix(&digits, n.radix()).unwrap_or_else(|_| {
                    refuse("a whole number must lie within 64 bits");
                    0
                }))
            }
            DeValue::Float(n) => {
                let parsed: Option<f64> = n.as_str().replace('_', "").parse().ok();
                Value::Float(parsed.filter(|n| n.is_finite()).unwrap_or_else(|| {
                    refuse("a number must be finite");
                    0.0
                }))
            }
            DeValue::Boolean(v) => Value::Switch(*v),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(list) => Value::List(
                list.iter().map(|v| self.item(v.get_ref(), v.span(), diagnostics)).collect(),
            ),
            DeValue::Table(table) => Value::Table(self.table(table, diagnostics)),
        };
        Item { value, span }
    }
}
