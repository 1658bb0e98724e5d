//! Lists of tables: which entries a path takes.

use crate::context::listing;
use crate::diagnostic::{Span, nearest};
use crate::document::{Entry, Item, Table, Value};
use crate::keys::{self, Kind};

use super::Missed;
use super::path::{Segment, is_key_of_entries};

/// The places of the entries of the list `list` that are `wanted`.
pub(super) fn chosen(items: &[Item], list: &str, wanted: &Segment) -> Result<Vec<usize>, Missed> {
    if wanted.is_all() && !items.is_empty() {
        return Ok((0..items.len()).collect());
    }
    let text = &wanted.text;
    let named: Vec<usize> = (0..items.len()).filter(|at| name(&items[*at]) == Some(text)).collect();
    let number = wanted.number().filter(|number| (1..=items.len()).contains(number));
    match (number, named.first()) {
        (None, Some(_)) => Ok(named),
        (Some(number), None) => Ok(vec![number - 1]),
        (Some(number), Some(_)) if named == [number - 1] => Ok(named),
        (Some(number), Some(other)) => Err(Missed {
            why: format!(
                "`{list}.{text}` may be entry {number} or entry {}, whose name is {text:?}",
                other + 1
            ),
            help: Some(format!(
                "--set '{list}.\"{text}\"...' takes the name, --set {list}.0{text}... the number"
            )),
            nearest: None,
        }),
        (None, None) => Err(none_is(items, list, wanted)),
    }
}

/// That no entry is `wanted`, and which there are.
fn none_is(items: &[Item], list: &str, wanted: &Segment) -> Missed {
    let names: Vec<&str> = items.iter().filter_map(name).collect();
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

/// The `name` of an entry of a list.
fn name(item: &Item) -> Option<&str> {
    let Value::Table(table) = &item.value else { return None };
    match &table.get("name")?.item.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Makes a list of what a path takes an entry of: of a single `[flow]`, and of links that no
/// `[[link]]` of the file is of.
pub(super) fn make_list(root: &mut Table, segments: &[Segment], span: Span) {
    let [list, wanted, rest @ ..] = segments else { return };
    let Some(Kind::Tables(of)) = keys::find("", &list.text).map(|key| key.kind) else { return };
    let (list, text) = (&list.text, &wanted.text);
    let is_number = wanted.number().is_some();
    let is_entry = wanted.is_all()
        || is_number
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
    if of == "link"
        && let Some(Entry { item: Item { value: Value::List(links), .. }, .. }) = root.get_mut(list)
        && !is_number
        && (!wanted.is_all() || links.iter().all(|link| link.span.is_set()))
        && !links.iter().any(|link| name(link) == Some(text))
    {
        links.push(named_link(text, span));
    }
}

/// Links have names that no entry need give them, as `a->b`, or `*` for all: an entry of that name changes the link.
/// Whether there is one is known later.
fn named_link(name: &str, span: Span) -> Item {
    let item = Item { value: Value::Text(name.to_string()), span };
    let entries = vec![Entry { key: "name".to_string(), key_span: span, item }];
    Item { value: Value::Table(Table { entries }), span }
}
