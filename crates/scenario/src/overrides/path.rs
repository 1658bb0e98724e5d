//! The parts of the paths by which values are set.

use crate::keys::{self, KeyKind};

/// One part of a dotted path: a key, or a selection of entries of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathKey {
    /// Text without quotes.
    pub text: String,
    /// Whether quotes mark the part as a name, where it could be a number, `*` or a key.
    pub(super) is_name: bool,
}

impl PathKey {
    /// Whether the part selects all entries of a list.
    pub(super) fn is_all(&self) -> bool {
        self.text == "*" && !self.is_name
    }

    /// Number of an entry, if the part may be one.
    pub(super) fn number(&self) -> Option<usize> {
        if self.is_name { None } else { self.text.parse().ok() }
    }
}

/// Splits the path of a value into at least one key or entry; all spellings of a path give the same
/// parts.
///
/// `[topology]` may be left out where the scenario has no such table of its own.
pub fn whole_path(path: &str) -> Vec<PathKey> {
    let mut segments = split(path);
    for at in 0..segments.len() {
        let (before, [segment, after @ ..]) = segments.split_at_mut(at) else { break };
        let could_be_key = || {
            let list = before.last().map_or("", |list| &list.text);
            !after.is_empty() && is_key_of_entries(list, &segment.text)
        };
        segment.is_name &=
            segment.text == "*" || segment.text.parse::<usize>().is_ok() || could_be_key();
    }
    let first = &segments[0].text;
    if keys::find("", first).is_none() && keys::find("topology", first).is_some() {
        segments.insert(0, PathKey { text: "topology".to_string(), is_name: false });
    }
    segments
}

/// Whether entries of the scenario's list `list` have a key `name`.
pub(super) fn is_key_of_entries(list: &str, name: &str) -> bool {
    let Some(KeyKind::Tables(of)) = keys::find("", list).map(|key| key.kind) else { return false };
    keys::find(of, name).is_some() || (of == "link" && keys::find("properties", name).is_some())
}

/// Splits at dots outside double quotes.
fn split(path: &str) -> Vec<PathKey> {
    let empty = || PathKey { text: String::new(), is_name: false };
    let mut done = Vec::new();
    let mut last = empty();
    let mut quoted = false;
    for c in path.trim().chars() {
        match c {
            '"' => {
                quoted = !quoted;
                last.is_name = true;
            }
            '.' if !quoted => done.push(std::mem::replace(&mut last, empty())),
            _ => last.text.push(c),
        }
    }
    done.push(last);
    done
}
