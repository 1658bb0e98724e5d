//! Paths and values as `--set` takes them.

use crate::diagnostic::Source;
use crate::document::write::inline;
use crate::document::{Value, parse_value};
use crate::keys::{self, KeyKind};

/// The path of `key` in the table at `path`. `[topology]` is left out where it can be.
pub(super) fn joined(path: &str, key: &str) -> String {
    let is_name = key.is_empty() || key.contains('.') || key.parse::<usize>().is_ok() || key == "*";
    let key = if is_name { format!("\"{key}\"") } else { key.to_string() };
    match path {
        "" => key,
        "topology" if keys::find("", &key).is_none() => key,
        _ => format!("{path}.{key}"),
    }
}

/// Whether a path can be written: quotes cannot stand in names, and an equals sign ends the path.
pub(super) fn is_settable(path: &str) -> bool {
    let names: Vec<&str> = path.split('"').collect();
    // Quotes come in pairs around whole parts.
    names.len() % 2 == 1
        && names.iter().skip(1).step_by(2).all(|name| !name.is_empty())
        && names.iter().step_by(2).skip(1).all(|rest| rest.is_empty() || rest.starts_with('.'))
        && !path.contains(['=', '\n', '\r'])
        && path.trim() == path
}

/// A value of the document as `--set` takes it for a key of this kind.
pub(super) fn settable(value: &Value, kind: KeyKind) -> String {
    let Value::Text(text) = value else { return inline(value) };
    let is_quoted = text.starts_with(['"', '\'']) || text.trim() != text || text.is_empty();
    let is_plain = match kind {
        KeyKind::Text => !is_quoted,
        _ => !is_quoted && !is_toml(text) && !text.contains(['\n', '\r']),
    };
    if is_plain { text.clone() } else { inline(value) }
}

/// An example of the reference as `--set` takes it.
pub(super) fn plain(example: &str, kind: KeyKind) -> String {
    match value_of(example) {
        Some(value) => settable(&value, kind),
        None => example.to_string(),
    }
}

/// Whether `--set` would read the text as a value that is not this text.
fn is_toml(text: &str) -> bool {
    value_of(text).is_some_and(|value| !matches!(value, Value::Other(_)))
}

fn value_of(text: &str) -> Option<Value> {
    let source = Source { name: String::new(), text: text.to_string() };
    parse_value(&source, 0, 0).map(|item| item.value)
}
