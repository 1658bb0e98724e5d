//! The values of a scenario, each with the path by which it can be set, and the keys that it leaves
//! open. A form for the scenario has a field for each.

#[cfg(test)]
mod tests;
mod text;

use ratewire_laws::OptionSpec;
use ratewire_laws::options::OptionKind;

use crate::document::{Entry, Item, Table, Value};
use crate::keys::{self, Key, KeyKind};
use crate::overrides::{is_made, is_number_taken, number, selected};
use crate::scenario::Scenario;

use text::{is_settable, joined, plain, settable};

/// A value of a scenario, or a key that the scenario leaves to its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Path for [`Scenario::with_overrides`] and `--set`: `bottleneck.rate`, `flow.2.start`.
    pub path: String,
    /// Allowed values.
    pub kind: KeyKind,
    /// Value as [`Scenario::with_overrides`] and `--set` take it; an example where the scenario
    /// has no value and the default is not a single value.
    pub value: String,
    /// Default value as the reference shows it: [`Key::default`].
    pub default: String,
    /// Meaning of the key.
    pub doc: String,
}

/// The settings of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Values that the scenario has, in the order of its text.
    pub given: Vec<Setting>,
    /// Keys that the scenario leaves to their defaults, table by table.
    pub open: Vec<Setting>,
    /// Number of entries of lists whose values and keys are left out.
    pub left_out: usize,
}

impl Scenario {
    /// The values of the scenario with their paths, and the keys that it leaves to defaults.
    ///
    /// A value that no path can set is left out, such as an option of a variant whose name has a
    /// quote. Keys of lists that the scenario does not have are left out too, except those of all
    /// links, `link.*`. `laws` are the laws whose options are listed.
    ///
    /// Lists may have many thousand entries, such as flows. Only the first `entries` of each list
    /// are taken, and the entries in which a value was set by the entry's number or name.
    pub fn settings(&self, laws: &[String], entries: usize) -> Settings {
        let mut walk = Walk { scenario: self, laws, entries, found: Settings::default() };
        if let Value::Table(root) = &self.document.value {
            walk.table("", "", root);
            walk.open_options(root);
            if root.get("link").is_none() {
                for key in keys::keys().filter(|key| key.table == "properties") {
                    walk.open_key("link.*", key);
                }
            }
        }
        walk.found.given.retain(|setting| is_settable(&setting.path));
        walk.found.open.retain(|setting| is_settable(&setting.path));
        walk.found
    }
}

/// A walk over a scenario's document.
struct Walk<'a> {
    scenario: &'a Scenario,
    laws: &'a [String],
    /// Entries of each list that are taken in any case.
    entries: usize,
    found: Settings,
}

impl Walk<'_> {
    /// Notes the values of `table`, whose keys are those of the reference's table `name`, and the
    /// keys that it leaves open.
    fn table(&mut self, path: &str, name: &str, table: &Table) {
        for entry in &table.entries {
            let path = joined(path, &entry.key);
            match &entry.item.value {
                Value::Table(options) if entry.key == "options" && !name.is_empty() => {
                    self.own_options(&path, table, options);
                }
                _ => self.entry(&path, find(name, &entry.key), entry),
            }
        }
        for key in keys::keys().filter(|key| is_of(key, name)) {
            if table.get(key.name).is_none() && applies(key, table) {
                self.open_key(path, key);
            }
        }
    }

    fn entry(&mut self, path: &str, key: Option<&Key>, entry: &Entry) {
        match (key.map(|key| key.kind), &entry.item.value) {
            (Some(KeyKind::Table("options")), Value::Table(laws)) if path == "options" => {
                laws.entries.iter().for_each(|law| self.options(path, &law.key, law));
            }
            (Some(KeyKind::Table("variant")), Value::Table(variants)) => {
                variants.entries.iter().for_each(|variant| self.variant(path, variant));
            }
            (Some(KeyKind::Table(inner)), Value::Table(table)) => self.table(path, inner, table),
            (Some(KeyKind::Tables(inner)), Value::Table(_)) => {
                self.list(path, inner, std::slice::from_ref(&entry.item));
            }
            (Some(KeyKind::Tables(inner)), Value::List(items)) => self.list(path, inner, items),
            // The phases of an application.
            (None, Value::List(items)) if entry.key == "phases" => self.list(path, "phase", items),
            // A discipline with options, a loss, an application and the like.
            (_, Value::Table(inner)) if !inner.entries.is_empty() => {
                let name = match key.map(|key| (key.table, key.name)) {
                    Some(("on_off", "burst")) => "random_burst",
                    Some(("on_off", "pause")) => "random_pause",
                    Some((_, "policer" | "shaper")) => "bucket",
                    _ => &entry.key,
                };
                match keys::keys().any(|key| key.table == name) {
                    true => self.table(path, name, inner),
                    false => inner.entries.iter().for_each(|entry| {
                        self.entry(&joined(path, &entry.key), None, entry);
                    }),
                }
            }
            _ => self.give(path, key, &entry.item.value),
        }
    }

    /// Notes the entries of a list of tables.
    fn list(&mut self, path: &str, name: &str, items: &[Item]) {
        let set = selected(items, path, &self.scenario.overrides);
        for (at, item) in items.iter().enumerate() {
            if at >= self.entries && !set.contains(&at) {
                self.found.left_out += 1;
                continue;
            }
            let Value::Table(table) = &item.value else { continue };
            let path = match (is_made(item), table.get("name").map(|entry| &entry.item.value)) {
                // An entry that a path made is selected by its name.
                (true, Some(Value::Text(link))) if link == "*" => format!("{path}.*"),
                (true, Some(Value::Text(link))) => joined(path, link),
                _ => {
                    let number = number(items, at);
                    // A zero before the digits distinguishes the number from another entry's name.
                    let zero = if is_number_taken(items, at) { "0" } else { "" };
                    format!("{path}.{zero}{number}")
                }
            };
            self.table(&path, name, table);
        }
    }

    /// Notes the `options` of a flow or the like, which are those of its law.
    fn own_options(&mut self, path: &str, table: &Table, options: &Table) {
        let laws = match table.get("law").map(|entry| &entry.item.value) {
            Some(Value::Text(law)) => std::slice::from_ref(law),
            _ => self.laws,
        };
        for option in &options.entries {
            self.option(&joined(path, &option.key), laws.iter().map(String::as_str), option);
        }
    }

    /// Notes the options of a law in `[options]`.
    fn options(&mut self, path: &str, law: &str, entry: &Entry) {
        let Value::Table(table) = &entry.item.value else { return };
        let path = joined(path, law);
        for option in &table.entries {
            self.option(&joined(&path, &option.key), [law], option);
        }
    }

    /// Notes the law and the options of a variant.
    fn variant(&mut self, path: &str, variant: &Entry) {
        let Value::Table(table) = &variant.item.value else { return };
        let path = joined(path, &variant.key);
        let law = match table.get("law").map(|entry| &entry.item.value) {
            Some(Value::Text(law)) => law.as_str(),
            _ => "",
        };
        for option in &table.entries {
            self.option(&joined(&path, &option.key), [law], option);
        }
    }

    /// Notes an option of the first of these laws that has it.
    fn option<'l>(&mut self, path: &str, laws: impl IntoIterator<Item = &'l str>, entry: &Entry) {
        let known = laws.into_iter().filter_map(|law| self.scenario.known_laws().find(law));
        let spec = known.flat_map(|info| info.options).find(|spec| spec.name == entry.key);
        match spec {
            Some(spec) => {
                let value = settable(&entry.item.value, kind_of(spec.kind));
                self.found.given.push(of_option(path, spec, value));
            }
            None => self.give(path, None, &entry.item.value),
        }
    }

    /// Lists the options of the chosen laws that `[options]` does not give.
    fn open_options(&mut self, root: &Table) {
        let given = root.get("options").map(|entry| &entry.item.value);
        let of_law = |law: &str| match given {
            Some(Value::Table(laws)) => match laws.get(law).map(|entry| &entry.item.value) {
                Some(Value::Table(options)) => Some(options),
                _ => None,
            },
            _ => None,
        };
        for info in self.laws.iter().filter_map(|law| self.scenario.known_laws().find(law)) {
            for spec in info.options {
                if of_law(info.name).is_none_or(|given| given.get(spec.name).is_none()) {
                    let path = joined(&joined("options", info.name), spec.name);
                    self.found.open.push(of_option(&path, spec, spec.default.to_string()));
                }
            }
        }
    }

    fn give(&mut self, path: &str, key: Option<&Key>, value: &Value) {
        let kind = key.map_or(KeyKind::Other("a value"), |key| key.kind);
        self.found.given.push(Setting {
            path: path.to_string(),
            kind,
            value: settable(value, kind),
            default: key.map_or(String::new(), |key| key.default.to_string()),
            doc: key.map_or(String::new(), |key| key.doc.to_string()),
        });
    }

    /// Lists a key that has no value; of a table, its own keys.
    fn open_key(&mut self, path: &str, key: &Key) {
        let path = joined(path, key.name);
        match key.kind {
            KeyKind::Table("options" | "variant") | KeyKind::Tables(_) => {}
            // A table in a table of the same kind would never end.
            KeyKind::Table(inner) if inner == key.table => {}
            KeyKind::Table(inner) => {
                let scalars = keys::keys().filter(|key| key.table == inner);
                scalars
                    .filter(|key| !matches!(key.kind, KeyKind::Table(_) | KeyKind::Tables(_)))
                    .for_each(|key| self.open_key(&path, key));
            }
            kind => self.found.open.push(Setting {
                path,
                kind,
                value: if key.default.starts_with('(') {
                    plain(key.example, kind)
                } else {
                    key.default.to_string()
                },
                default: key.default.to_string(),
                doc: key.doc.to_string(),
            }),
        }
    }
}

fn of_option(path: &str, spec: &OptionSpec, value: String) -> Setting {
    Setting {
        path: path.to_string(),
        kind: kind_of(spec.kind),
        value,
        default: spec.default.to_string(),
        doc: spec.description(),
    }
}

fn kind_of(kind: OptionKind) -> KeyKind {
    match kind {
        OptionKind::Rate(Some(_)) => KeyKind::Other("a rate or a word"),
        OptionKind::Size(Some(_)) => KeyKind::Other("a size or a word"),
        kind => keys::kind_of(kind),
    }
}

/// The key `name` of a table; links have the keys of properties too.
fn find(table: &str, name: &str) -> Option<&'static Key> {
    keys::keys().find(|key| is_of(key, table) && key.name == name)
}

fn is_of(key: &Key, table: &str) -> bool {
    key.table == table || (table == "link" && key.table == "properties")
}

/// Whether a key is read in this table: its topology's kind, or its metric, is one that reads it.
fn applies(key: &Key, table: &Table) -> bool {
    let decides = if key.table == "topology" { "kind" } else { "metric" };
    match table.get(decides).map(|entry| &entry.item.value) {
        Some(Value::Text(word)) => key.applies.is_empty() || key.applies.contains(&word.as_str()),
        _ => key.applies.is_empty(),
    }
}
