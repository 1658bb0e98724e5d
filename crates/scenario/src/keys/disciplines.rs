//! Tables and keys of queue disciplines, made from their registry.

use std::fmt;
use std::sync::LazyLock;

use ratewire_laws::options::{self, OptionSpec};
use ratewire_net::queue::{DisciplineInfo, list};

use super::{Key, Kind, TableInfo, table};

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
        kind: kind(option.kind),
        default: option.default,
        applies: &[],
        doc: option.doc,
        example: example(option).leak(),
    }
}

fn kind(kind: options::Kind) -> Kind {
    match kind {
        options::Kind::Switch => Kind::Switch,
        options::Kind::Number(min, max) => Kind::Number(min, max),
        options::Kind::Count(min, max) => Kind::Count(min, max),
        options::Kind::Time => Kind::Time,
        options::Kind::Rate(None) => Kind::Rate,
        options::Kind::Size(None) => Kind::Size,
        options::Kind::Word(words) => Kind::Word(words),
        or_a_word @ (options::Kind::Rate(Some(_)) | options::Kind::Size(Some(_))) => {
            Kind::Other(or_a_word.to_string().leak())
        }
    }
}

/// An option's default as a scenario writes it; of a switch the other value.
fn example(option: &OptionSpec) -> String {
    match option.kind {
        options::Kind::Switch => (option.default != "true").to_string(),
        options::Kind::Number(..) | options::Kind::Count(..) => option.default.to_string(),
        _ => format!("{:?}", option.default),
    }
}
