//! Values set by path, `bottleneck.rate` for example, applied to the document before the checks.

mod links;
mod lists;
mod path;
#[cfg(test)]
mod tests;
use ratewire_config::nearest;

use crate::diagnostic::{Diagnostic, Severity, Source, Span};
use crate::document::{Entry, Item, Table, Value, parse_value};
use crate::keys::{self, KeyKind};

use links::{is_of_topology, link_near, link_without_list};
use lists::{chosen, is_of_all_links, make_list, take_out_replaced};
pub(crate) use lists::{is_made, is_number_taken, number, selected};
use path::PathKey;
pub use path::whole_path;

/// Name that diagnostics show in place of a file.
const SOURCE: &str = "set";

/// Remedy for a path that begins with a link.
const LINKS_BY_NAME: &str = "the path to a key of a link is `link`, the link's name, and the key";

/// Sets `value` at `path`; its text becomes a source, so that diagnostics can show it.
///
/// # Errors
/// An error if the path selects nothing. Unknown keys are found later, as in a file.
pub(crate) fn apply(
    root: &mut Item,
    sources: &mut Vec<Source>,
    path: &str,
    value: &str,
) -> Result<(), Box<Diagnostic>> {
    let index = sources.len();
    let text = format!("{path}={value}");
    let key_span = Span { source: index, start: 0, end: path.len() };
    sources.push(Source { name: SOURCE.to_string(), text });
    let source = &sources[index];
    let refuse = |message: String, help: &str, nearest: Option<String>| {
        let at = source.diagnostic(Severity::Error, key_span, message);
        Box::new(Diagnostic { help: Some(help.to_string()), nearest, ..at })
    };
    let segments = whole_path(path);
    if segments.iter().any(|segment| segment.text.is_empty()) {
        let help = "for example topology.bottleneck.rate, or flow.2.start for the second flow";
        return Err(refuse(format!("{path:?} is not a path"), help, None));
    }
    let first = &segments[0].text;
    let Value::Table(table) = &mut root.value else { return Ok(()) };
    if let Some((found, link)) = link_without_list(table, &segments) {
        let message = format!("`{found}` is the name of a link, not a key");
        return Err(refuse(message, LINKS_BY_NAME, Some(link)));
    }
    if keys::find("", first).is_none() {
        let message = format!("nothing is called `{first}`");
        let known = keys::keys().filter(|key| key.table.is_empty() || is_of_topology(table, key));
        if let Some(near) = nearest(first, known.map(|key| key.name)) {
            let help = "a path begins with a table of the scenario, or a key of [topology]";
            return Err(refuse(message, help, Some(near)));
        }
        if let Some(link) = link_near(table, &segments) {
            return Err(refuse(message, LINKS_BY_NAME, Some(link)));
        }
    }
    let item = item(source, index, path.len() + 1, kind(&segments));
    make_list(table, &segments, key_span);
    put(table, &segments, &item, key_span).map_err(|Missed { why, help, nearest }| {
        let entries = "entries of a list are chosen by number from 1, by `name`, in quotes where that is a number, \
                       or all by `*`";
        refuse(why, help.as_deref().unwrap_or(entries), nearest)
    })
}

/// Kind of the key at the end of the path, if the table of keys has it.
fn kind(segments: &[PathKey]) -> Option<KeyKind> {
    let mut table = "";
    let mut found = None;
    for PathKey { text, is_name } in segments {
        let of_link = || if table == "link" { keys::find("properties", text) } else { None };
        let key = keys::find(table, text).or_else(of_link).filter(|_| !is_name);
        // This part of the path is the number or name of an entry.
        let Some(key) = key else { continue };
        found = Some(key.kind);
        if let KeyKind::Table(inner) | KeyKind::Tables(inner) = key.kind {
            table = inner;
        }
    }
    found
}

/// The value as TOML, or as text where it is not TOML.
fn item(source: &Source, index: usize, from: usize, kind: Option<KeyKind>) -> Item {
    let text = source.text[from..].trim();
    let span = Span { source: index, start: from, end: source.text.len() };
    let plain = |text: String| Item { value: Value::Text(text), span };
    if kind == Some(KeyKind::Text) && !text.starts_with(['"', '\'']) {
        return plain(text.to_string());
    }
    // `10M` is easier to type in sweeps than `"10 Mbit/s"`.
    let last = text.chars().next_back();
    if kind == Some(KeyKind::Rate)
        && let Some(letter @ ('k' | 'M' | 'G' | 'T')) = last
        && text[..text.len() - 1].trim().parse::<f64>().is_ok()
    {
        return plain(format!("{} {letter}bit/s", &text[..text.len() - 1]));
    }
    match parse_value(source, index, from) {
        Some(Item { value: Value::Other(_), .. }) | None => plain(text.to_string()),
        Some(item) => item,
    }
}

/// Why a path selects nothing, a special remedy if there is one, and the name that was probably
/// meant.
struct Missed {
    why: String,
    help: Option<String>,
    nearest: Option<String>,
}

fn put(table: &mut Table, segments: &[PathKey], item: &Item, span: Span) -> Result<(), Missed> {
    let (segment, rest) = (&segments[0].text, &segments[1..]);
    if rest.is_empty() {
        let put = Entry { key: segment.clone(), key_span: span, item: item.clone() };
        match table.get_mut(segment) {
            Some(entry) => *entry = put,
            None => table.entries.push(put),
        }
        return Ok(());
    }
    if table.get(segment).is_none() {
        let empty = Item { value: Value::Table(Table::default()), span };
        table.entries.push(Entry { key: segment.clone(), key_span: span, item: empty });
    }
    let Some(entry) = table.get_mut(segment) else { return Ok(()) };
    match &mut entry.item.value {
        Value::Table(inner) => put(inner, rest, item, span),
        Value::List(items) => {
            for at in chosen(items, segment, rest)? {
                let number = number(items, at);
                match &mut items[at] {
                    one if rest.len() == 1 => *one = item.clone(),
                    Item { value: Value::Table(inner), .. } => {
                        let is_of_all = is_of_all_links(segment, rest);
                        if is_of_all {
                            take_out_replaced(inner, &rest[1].text);
                        }
                        put(inner, &rest[1..], item, span)?;
                        if is_of_all
                            && let Some(Entry { item: reverse, .. }) = inner.get_mut("reverse")
                            && let Value::Table(reverse) = &mut reverse.value
                        {
                            take_out_replaced(reverse, &rest[1].text);
                            put(reverse, &rest[1..], item, span)?;
                        }
                    }
                    other => return Err(no_table(&format!("{segment}.{number}"), &other.value)),
                }
            }
            Ok(())
        }
        other => Err(no_table(segment, other)),
    }
}

fn no_table(what: &str, value: &Value) -> Missed {
    let why = format!("`{what}` is {}, not a table", value.describe());
    Missed { why, help: None, nearest: None }
}
