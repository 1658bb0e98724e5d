//! Rules by name, or by the start of a name.

use std::collections::BTreeMap;

/// Values by name, or by prefix with a `*` at the end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ByName<T>(BTreeMap<String, T>);

impl<T> Default for ByName<T> {
    fn default() -> ByName<T> {
        ByName(BTreeMap::new())
    }
}

impl<T> ByName<T> {
    /// Adds a value. Returns whether the name or prefix is new.
    pub(super) fn insert(&mut self, name: &str, value: T) -> bool {
        self.0.insert(name.to_string(), value).is_none()
    }

    /// The value of a name: its own, else that of the longest prefix.
    pub(super) fn of(&self, name: &[u8]) -> Option<&T> {
        let fits = |known: &str| match known.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix.as_bytes()),
            None => name == known.as_bytes(),
        };
        let fitting = self.0.iter().filter(|(known, _)| fits(known));
        let best = fitting.max_by_key(|(known, _)| (!known.ends_with('*'), known.len()));
        best.map(|(_, value)| value)
    }

    /// Names and prefixes with their values, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}
