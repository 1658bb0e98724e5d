//! Defaults of keys as values: the table of keys states them, and no reader states them again.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::document::{Entry, value_or_text};
use crate::keys::{self, Key};

/// The defaults that are values, by table and name of their keys.
static DEFAULTS: LazyLock<BTreeMap<(&str, &str), Entry>> = LazyLock::new(|| {
    let with_value = keys::keys().filter(|key| !key.default.starts_with('('));
    with_value.map(|key| ((key.table, key.name), entry(key))).collect()
});

fn entry(key: &Key) -> Entry {
    let item = value_or_text(key.default);
    Entry { key: key.name.to_string(), key_span: item.span, item }
}

/// The default of a key, as if a file had it; `None` where words in brackets describe it.
pub(super) fn of(key: &Key) -> Option<&'static Entry> {
    DEFAULTS.get(&(key.table, key.name))
}
