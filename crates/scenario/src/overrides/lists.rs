//! The entries of a list of tables that a path selects.

use std::collections::BTreeSet;

use ratewire_config::nearest;
use ratewire_units::names;

use crate::diagnostic::{Span, listing};
use crate::document::{Entry, Item, Table, Value};
use crate::keys::{self, KeyKind};

use super::Missed;
use super::path::{PathKey, is_key_of_entries, whole_path};

/// Indices of the entries of `list` that the rest of a path selects.
pub(super) fn chosen(items: &[Item], list: &str, rest: &[PathKey]) -> Result<Vec<usize>, Missed> {
    let wanted = &rest[0];
    let all = || 0..items.len();
    // Numbers select only entries of the file; entries that paths made are selected by name.
    let listed: Vec<usize> = all().filter(|at| !is_made(&items[*at])).collect();
    if wanted.is_all() {
        let taken = if is_of_all_links(list, rest) { all().collect() } else { listed };
        return if taken.is_empty() { Err(none_is(&[], list, wanted)) } else { Ok(taken) };
    }
    let text = &wanted.text;
    let candidates = if wanted.number().is_some() { listed.clone() } else { all().collect() };
    let names = candidates.iter().map(|at| name(&items[*at]).unwrap_or_default());
    let exact = |at: &usize| name(&items[*at]) == Some(text);
    let mut named: Vec<usize> = candidates.iter().copied().filter(exact).collect();
    if named.is_empty() && !text.contains('*') {
        named = names::find(text, names).into_iter().map(|at| candidates[at]).collect();
        let meant: Vec<&str> = named.iter().filter_map(|at| name(&items[*at])).collect();
        if meant.iter().any(|other| *other != meant[0]) {
            let help = Some(names::WRITE_ARROW.to_string());
            return Err(Missed { why: names::ambiguous(text, &meant), help, nearest: None });
        }
    }
    let of_number = |number: usize| listed.get(number.checked_sub(1)?).copied();
    let at = wanted.number().and_then(of_number);
    match (at, named.first()) {
        (None, Some(_)) => Ok(named),
        (Some(at), None) => {
            let again =
                |other: &usize| is_made(&items[*other]) && name(&items[*other]) == name(&items[at]);
            let is_of_link = list == "link" && is_property(rest) && name(&items[at]).is_some();
            Ok([at].into_iter().chain(all().filter(|other| is_of_link && again(other))).collect())
        }
        (Some(at), Some(_)) if named == [at] => Ok(named),
        (Some(at), Some(other)) => Err(Missed {
            why: format!(
                "`{list}.{text}` may be entry {} or entry {}, whose name is {text:?}",
                number(items, at),
                number(items, *other)
            ),
            help: Some(format!(
                "`{list}.\"{text}\"...` takes the name, `{list}.0{text}...` the number"
            )),
            nearest: None,
        }),
        (None, None) => {
            Err(none_is(&listed.iter().map(|at| &items[*at]).collect::<Vec<_>>(), list, wanted))
        }
    }
}

/// Indices of the entries of `list` that paths of set values name one by one.
pub(crate) fn selected(items: &[Item], list: &str, values: &[(String, String)]) -> BTreeSet<usize> {
    let of_value = |(path, _): &(String, String)| match &whole_path(path)[..] {
        [first, rest @ ..] if first.text == list && !rest.is_empty() && !rest[0].is_all() => {
            chosen(items, list, rest).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    values.iter().flat_map(of_value).collect()
}

/// Number of the entry at index `at`, counted without entries that paths made.
pub(crate) fn number(items: &[Item], at: usize) -> usize {
    items[..=at].iter().filter(|item| !is_made(item)).count()
}

/// Whether another entry has the number of that at index `at` as its name.
pub(crate) fn is_number_taken(items: &[Item], at: usize) -> bool {
    let digits = number(items, at).to_string();
    items.iter().enumerate().any(|(other, item)| other != at && name(item) == Some(&digits))
}

/// Whether the rest of a path sets a property of all links, in both directions, even of links
/// without an entry.
pub(super) fn is_of_all_links(list: &str, rest: &[PathKey]) -> bool {
    list == "link" && rest[0].is_all() && is_property(rest)
}

/// Whether the rest of a path is a property, which links have even without an entry.
fn is_property(rest: &[PathKey]) -> bool {
    let is_of_entry =
        |key: &PathKey| key.text == "reverse" || keys::find("link", &key.text).is_some();
    rest.get(1).is_some_and(|key| !is_of_entry(key))
}

/// Removes the property that `key` replaces.
pub(super) fn take_out_replaced(link: &mut Table, key: &str) {
    let replaced = match key {
        "rate" => "trace",
        "trace" => "rate",
        "duplex" => "medium",
        "medium" => "duplex",
        _ => return,
    };
    link.entries.retain(|entry| entry.key != replaced);
}

/// The error that no entry is `wanted`, with the entries that exist.
fn none_is(items: &[&Item], list: &str, wanted: &PathKey) -> Missed {
    let names: Vec<&str> = items.iter().filter_map(|item| name(item)).collect();
    let named = match names[..] {
        [] => String::new(),
        _ => format!("; named are {}", listing(&names)),
    };
    let there_are = match items.len() {
        0 => "there are none".to_string(),
        1 => "there is one, 1".to_string(),
        count => format!("there are 1 to {count}"),
    };
    let of_name = if wanted.is_name { "of the name " } else { "" };
    Missed {
        why: format!("`{list}` has no entry {of_name}{:?}: {there_are}{named}", wanted.text),
        help: None,
        nearest: nearest(&wanted.text, names.iter().copied()),
    }
}

/// The `name` of an entry.
pub(super) fn name(item: &Item) -> Option<&str> {
    let Value::Table(table) = &item.value else { return None };
    match &table.get("name")?.item.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Makes a list where a path selects an entry: of a single `[flow]`, or of links without a
/// `[[link]]` entry.
pub(super) fn make_list(root: &mut Table, segments: &[PathKey], span: Span) {
    let [list, wanted, rest @ ..] = segments else { return };
    let Some(KeyKind::Tables(of)) = keys::find("", &list.text).map(|key| key.kind) else { return };
    let (list, text) = (&list.text, &wanted.text);
    let is_entry = wanted.is_all()
        || wanted.number().is_some()
        || wanted.is_name
        || (!rest.is_empty() && !is_key_of_entries(list, text));
    match root.get_mut(list) {
        Some(Entry { item, .. })
            if matches!(item.value, Value::Table(_)) && (is_entry || name(item) == Some(text)) =>
        {
            item.value = Value::List(vec![item.clone()]);
        }
        None if is_entry => {
            let item = Item { value: Value::List(Vec::new()), span };
            root.entries.push(Entry { key: list.clone(), key_span: span, item });
        }
        _ => {}
    }
    let is_custom = is_custom(root);
    if of == "link"
        && let Some(Entry { item: Item { value: Value::List(links), .. }, .. }) = root.get_mut(list)
    {
        make_link(links, &segments[1..], is_custom, span);
    }
}

/// Makes an entry for the link, or for all links, that the rest of a path selects, if there is
/// none.
fn make_link(links: &mut Vec<Item>, rest: &[PathKey], is_custom: bool, span: Span) {
    let wanted = &rest[0];
    let of_all = links.iter().position(|link| is_made(link) && name(link) == Some("*"));
    if wanted.is_all() {
        // Every link of a custom topology has an entry.
        if of_all.is_none() && !is_custom && is_of_all_links("link", rest) {
            links.push(named_link(&wanted.text, span));
        }
        return;
    }
    let is_numbered = wanted.number().is_some();
    let mut listed = links.iter().filter(|link| !is_made(link));
    let numbered = wanted.number().map(|number| listed.nth(number.saturating_sub(1)));
    let is_listed = is_numbered || links.iter().any(|link| name(link) == Some(&wanted.text));
    let text = numbered.map_or(Some(&*wanted.text), |link| name(link?)).map(str::to_string);
    // Later entries override earlier ones. The entry for all links moves to the front, so that an
    // entry of one link comes after it.
    if let (Some(at), true) = (of_all, is_listed) {
        links[..=at].rotate_right(1);
    }
    let Some(text) = text.filter(|_| !is_numbered || is_property(rest)) else { return };
    // Patterns of the file count too.
    let is_other = |link: &Item| name(link).is_some_and(|n| n.contains('*') && n != text);
    let after = links.iter().rposition(is_other).map_or(0, |at| at + 1);
    if !links[after..].iter().any(|link| name(link) == Some(&*text)) {
        links.push(named_link(&text, span));
    }
}

/// Whether the topology is custom, so that all links have entries.
fn is_custom(root: &Table) -> bool {
    let Some(Value::Table(topology)) = root.get("topology").map(|entry| &entry.item.value) else {
        return false;
    };
    let kind = topology.get("kind").map(|entry| &entry.item.value);
    matches!(kind, Some(Value::Text(kind)) if kind == "custom")
}

/// Whether a path made the entry, so that neither the file nor a value contains it.
pub(crate) fn is_made(item: &Item) -> bool {
    item.span.is_set() && item.span.start == 0
}

/// An entry that changes the link called `name`: `a->b`, a name, or `*` for all links. Whether such
/// a link exists is checked later.
fn named_link(name: &str, span: Span) -> Item {
    let item = Item { value: Value::Text(name.to_string()), span };
    let entries = vec![Entry { key: "name".to_string(), key_span: span, item }];
    Item { value: Value::Table(Table { entries }), span }
}
