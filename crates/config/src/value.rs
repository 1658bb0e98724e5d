//! Values of TOML.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

/// A value with its place in the file.
#[derive(Clone, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Bytes of the file that state the value, for [`Section::note`](super::Section::note).
    pub span: Range<usize>,
}

/// The value as a text.
pub(super) fn text_of<'a>(value: &'a Spanned<DeValue<'a>>) -> Option<At<&'a str>> {
    match value.get_ref() {
        DeValue::String(text) => Some(At { value: text, span: value.span() }),
        _ => None,
    }
}

/// The value as a whole number.
pub(super) fn integer_of(value: &Spanned<DeValue<'_>>) -> Option<i64> {
    match value.get_ref() {
        DeValue::Integer(n) => i64::from_str_radix(&n.as_str().replace('_', ""), n.radix()).ok(),
        _ => None,
    }
}

/// The value as a number.
pub(super) fn number_of(value: &Spanned<DeValue<'_>>) -> Option<f64> {
    match value.get_ref() {
        DeValue::Float(n) => n.as_str().replace('_', "").parse().ok(),
        _ => integer_of(value).map(|n| n as f64),
    }
}

/// The value in words.
pub(super) fn described(value: &DeValue<'_>) -> String {
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
