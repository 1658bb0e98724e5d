//! Tables and keys of queue disciplines, made from their registry.

use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};

use ratewire_laws::options::{self, OptionSpec};
use ratewire_net::queue::{DisciplineInfo, list};

use super::{Key, KeyKind, TableInfo, table};

static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    list().iter().flat_map(|info| info.options.iter().map(|o| key(info, o))).collect()
});

static TABLES: LazyLock<Vec<TableInfo>> = LazyLock::new(|| {
    let with_options = list().iter().filter(|info| !info.options.is_empty());
    with_options
        .map(|info| {
            let heading = format!("discipline = {{ {} = {{ ... }} }}", info.name);
            table(info.name, heading.leak(), format!("{}.", info.summary).leak(), info.example)
        })
        .collect()
});

/// The options of all disciplines, each in the table of its discipline's name.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter()
}

/// The options of a discipline outside the workspace's crates.
///
/// They are kept for the life of the process, as those of all disciplines are, so that reading a
/// scenario again takes no more memory.
pub(crate) fn keys_of(info: &'static DisciplineInfo) -> &'static [Key] {
    static KNOWN: Mutex<Vec<(&DisciplineInfo, &[Key])>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, keys)) = known.iter().find(|(of, _)| std::ptr::eq(*of, info)) {
        return keys;
    }
    let keys: Vec<Key> = info.options.iter().map(|option| key(info, option)).collect();
    let keys: &'static [Key] = keys.leak();
    known.push((info, keys));
    keys
}

/// A table for each discipline that has options.
pub(super) fn tables() -> &'static [TableInfo] {
    &TABLES
}

/// What the key `discipline` may hold, in words.
pub(super) fn allowed(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for info in list() {
        write!(f, "{:?}, ", info.name)?;
    }
    f.write_str("or { NAME = { ... } } with options")
}

fn key(info: &DisciplineInfo, option: &OptionSpec) -> Key {
    Key {
        table: info.name,
        name: option.name,
        kind: kind_of(option.kind),
        default: option.default,
        applies: &[],
        doc: option.doc,
        example: example(option).leak(),
    }
}

/// The values of an option, in the terms of keys.
pub(crate) fn kind_of(kind: options::OptionKind) -> KeyKind {
    match kind {
        options::OptionKind::Switch => KeyKind::Switch,
        options::OptionKind::Number(min, max) => KeyKind::Number(min, max),
        options::OptionKind::Count(min, max) => KeyKind::Count(min, max),
        options::OptionKind::Time => KeyKind::Time,
        options::OptionKind::Rate(None) => KeyKind::Rate,
        options::OptionKind::Size(None) => KeyKind::Size,
        options::OptionKind::Word(words) => KeyKind::Word(words),
        or_a_word @ (options::OptionKind::Rate(Some(_)) | options::OptionKind::Size(Some(_))) => {
            KeyKind::Other(or_a_word.to_string().leak())
        }
    }
}

/// An option's default as a scenario writes it; of a switch the other value.
fn example(option: &OptionSpec) -> String {
    match option.kind {
        options::OptionKind::Switch => (option.default != "true").to_string(),
        options::OptionKind::Number(..) | options::OptionKind::Count(..) => {
            option.default.to_string()
        }
        _ => format!("{:?}", option.default),
    }
}
