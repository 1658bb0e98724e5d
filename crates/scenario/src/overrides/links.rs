//! Paths that begin with a link's name, where `link` comes first.
use ratewire_config::nearest;

use crate::document::{Table, Value};
use crate::keys::{self, Key};

use super::lists::name;
use super::path::PathKey;

/// The link's name with which a path begins, and the path with `link` before it.
///
/// Such a name is that of a listed link, unless the topology has a key of this name, or a name of
/// two nodes, `a->b`.
pub(super) fn link_without_list(root: &Table, segments: &[PathKey]) -> Option<(String, String)> {
    let (first, rest) = match segments {
        [topology, key, rest @ ..] if topology.text == "topology" => {
            let known = keys::find("topology", &key.text);
            if known.is_some_and(|known| is_of_topology(root, known)) {
                return None;
            }
            (key, rest)
        }
        [first, rest @ ..] if keys::find("", &first.text).is_none() => (first, rest),
        _ => return None,
    };
    let is_link = first.text.contains("->") || links(root).any(|link| link == first.text);
    (is_link && !rest.is_empty()).then(|| (first.text.clone(), path_to(&first.text, rest)))
}

/// The path that was probably meant, if its first part is nearly a listed link's name.
pub(super) fn link_near(root: &Table, segments: &[PathKey]) -> Option<String> {
    let (first, rest) = segments.split_first().filter(|(_, rest)| !rest.is_empty())?;
    Some(path_to(&nearest(&first.text, links(root))?, rest))
}

/// Whether a key is one of the scenario's kind of topology.
pub(super) fn is_of_topology(root: &Table, key: &Key) -> bool {
    let topology = root.get("topology").map(|entry| &entry.item.value);
    let kind = match topology {
        Some(Value::Table(topology)) => topology.get("kind").map(|entry| &entry.item.value),
        _ => None,
    };
    let applies = match kind {
        Some(Value::Text(kind)) => key.applies.is_empty() || key.applies.contains(&kind.as_str()),
        _ => true,
    };
    key.table == "topology" && applies
}

/// Names of the listed links.
fn links(root: &Table) -> impl Iterator<Item = &str> {
    let listed = match root.get("link").map(|entry| &entry.item) {
        Some(item) => match &item.value {
            Value::List(links) => links.as_slice(),
            _ => std::slice::from_ref(item),
        },
        None => &[],
    };
    listed.iter().filter_map(name)
}

fn path_to(link: &str, rest: &[PathKey]) -> String {
    let quote = if link.contains('.') { "\"" } else { "" };
    let keys: Vec<&str> = rest.iter().map(|key| key.text.as_str()).collect();
    format!("link.{quote}{link}{quote}.{}", keys.join("."))
}
