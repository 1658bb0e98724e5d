//! Reads a table of the document with the help of the table of keys.

mod defaults;
mod values;

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::context::{Added, Context};
use crate::diagnostic::Span;
use crate::document::{At, Entry, Item, Table, Value};
use crate::keys::{self, Key, KeyKind, REQUIRED};
use crate::overrides;

/// Tables that are read over another with the same keys, whose values they take where they give
/// none: a link's reverse over its forward direction, a flow's transport over the scenario's. The
/// last of these tables holds the defaults.
const OVER_ANOTHER: [&str; 2] = ["properties", "transport"];

/// A table that is being read; it knows its keys and which of them were read.
pub(crate) struct Section<'a> {
    pub context: &'a Context<'a>,
    /// Tables of the reference whose keys may be here.
    tables: &'static [&'static str],
    /// Keys that are in no table of the reference.
    own: &'static [Key],
    /// Name in messages.
    pub title: String,
    /// Place of the heading or the braces.
    pub span: Span,
    table: &'a Table,
    used: RefCell<BTreeSet<&'a str>>,
    /// Kind of topology, or metric, where this decides which keys are read.
    variety: RefCell<Option<&'static str>>,
}

impl<'a> Section<'a> {
    pub fn new(
        context: &'a Context<'a>,
        tables: &'static [&'static str],
        title: impl Into<String>,
        span: Span,
        table: &'a Table,
    ) -> Section<'a> {
        Section {
            context,
            tables,
            own: &[],
            title: title.into(),
            span,
            table,
            used: RefCell::default(),
            variety: RefCell::default(),
        }
    }

    /// A section without entries, in which each key has its default.
    pub fn empty(context: &'a Context<'a>, tables: &'static [&'static str]) -> Section<'a> {
        static NONE: Table = Table { entries: Vec::new() };
        Section::new(context, tables, "the defaults", Span::default(), &NONE)
    }

    /// A table whose keys are these and not those of the reference.
    pub fn of_keys(
        context: &'a Context<'a>,
        own: &'static [Key],
        title: impl Into<String>,
        span: Span,
        table: &'a Table,
    ) -> Section<'a> {
        Section { own, ..Section::new(context, &[], title, span, table) }
    }

    /// Sets the kind or metric that decides which restricted keys are read.
    pub fn set_variety(&self, variety: &'static str) {
        *self.variety.borrow_mut() = Some(variety);
    }

    fn key(&self, name: &'static str) -> &'static Key {
        // A mistake of this crate; the first test that reads the key finds it.
        self.find(name)
            .unwrap_or_else(|| panic!("the table of keys has no {name} in {:?}", self.tables))
    }

    fn find(&self, name: &str) -> Option<&'static Key> {
        let own = self.own.iter().find(|key| key.name == name);
        own.or_else(|| self.tables.iter().find_map(|table| keys::find(table, name)))
    }

    /// The entry `name`, if given.
    pub fn get(&self, name: &'static str) -> Option<&'a Entry> {
        let key = self.key(name);
        if let Some(variety) = *self.variety.borrow() {
            let fits = key.applies.is_empty() || key.applies.contains(&variety);
            debug_assert!(fits, "{name} is read for {variety}, which its key does not say");
        }
        let entry = self.table.get(name)?;
        self.context.reads.borrow_mut().insert((key.table, key.name));
        self.used.borrow_mut().insert(&entry.key);
        Some(entry)
    }

    /// The entry `name`, if given; notes an error if it is required.
    fn entry(&self, name: &'static str) -> Option<&'a Entry> {
        let found = self.get(name);
        if found.is_none() && self.key(name).default == REQUIRED {
            self.missing(name);
        }
        found
    }

    /// The item `name`, if given; notes an error if it is required.
    pub fn item(&self, name: &'static str) -> Option<&'a Item> {
        self.entry(name).map(|entry| &entry.item)
    }

    /// Notes that `name` is missing.
    pub fn missing(&self, name: &'static str) {
        let key = self.key(name);
        self.context
            .error(self.span, format!("{} needs the key `{name}`", self.title))
            .help(format!("{name}: {}, for example {}", key.kind, key.example));
    }

    /// Whether `name` is given.
    pub fn has(&self, name: &str) -> bool {
        self.table.get(name).is_some()
    }

    /// Notes that `item` is not an allowed value of the key `name`.
    pub fn refuse(&self, name: &'static str, item: &Item) {
        let key = self.key(name);
        let written = match key.kind {
            KeyKind::Table(_) if key.example.starts_with('[') => format!(", {}", key.example),
            _ => String::new(),
        };
        self.context
            .error(item.span, format!("`{name}` cannot be {}", item.value.describe()))
            .help(format!("allowed: {}{written}", key.kind));
    }

    /// Notes an error in the text of `item`.
    pub fn complain(&self, name: &'static str, item: &Item, why: &str) -> Added<'_, 'a> {
        let error = self.context.error(item.span, format!("`{name}`: {why}"));
        error.help(format!("allowed: {}", self.key(name).kind))
    }

    /// The value of a key that has no default, read by `read`.
    pub fn given<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&'a Entry) -> Option<T>,
    ) -> Option<At<T>> {
        let key = self.key(name);
        debug_assert!(
            defaults::of(key).is_none() || OVER_ANOTHER.contains(&key.table),
            "{name} of {} is read without its default",
            self.title
        );
        let entry = self.entry(name)?;
        Some(At { value: read(entry)?, span: entry.item.span })
    }

    /// The value of a key, or its default where the key is missing or has an error, both read by
    /// `read`.
    pub fn or_default<T>(&self, name: &'static str, read: impl Fn(&'a Entry) -> Option<T>) -> T {
        self.entry(name).and_then(&read).unwrap_or_else(|| self.default_of(name, read))
    }

    /// The default of a key, read by `read`. It must be a value of the key whatever other keys say.
    pub fn default_of<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&'a Entry) -> Option<T>,
    ) -> T {
        let key = self.key(name);
        self.context.defaults.borrow_mut().insert((key.table, key.name));
        // A mistake of this crate; the test that reads all defaults finds it.
        defaults::of(key)
            .and_then(read)
            .unwrap_or_else(|| panic!("{:?} is no default of {name}", key.default))
    }

    /// The list `name`.
    pub fn list(&self, name: &'static str) -> Option<At<&'a [Item]>> {
        self.given(name, |entry| self.list_of(name, &entry.item))
    }

    /// The list `name`, or its default.
    pub fn list_or(&self, name: &'static str) -> &'a [Item] {
        self.or_default(name, |entry| self.list_of(name, &entry.item))
    }

    fn list_of(&self, name: &'static str, item: &'a Item) -> Option<&'a [Item]> {
        match &item.value {
            Value::List(items) => Some(items),
            _ => {
                self.refuse(name, item);
                None
            }
        }
    }

    /// One text, or a list of texts.
    pub fn texts(&self, name: &'static str) -> Option<Vec<At<&'a str>>> {
        let item = self.item(name)?;
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        let mut texts = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(text) => texts.push(At { value: text.as_str(), span: item.span }),
                _ => self.refuse(name, item),
            }
        }
        Some(texts)
    }

    /// One text, or a list of texts; an empty list is an error.
    pub fn names(&self, name: &'static str) -> Option<Vec<At<&'a str>>> {
        let names = self.texts(name)?;
        if let Some(Entry { item, .. }) = self.get(name)
            && matches!(&item.value, Value::List(items) if items.is_empty())
        {
            let all = self.key(name).default.trim_matches(['(', ')']);
            self.context
                .error(item.span, format!("`{name}` of {} names nothing", self.title))
                .help(format!("name one, or leave `{name}` out for {all}"));
        }
        Some(names)
    }

    /// The table `name`, and the place of its key.
    pub fn table(&self, name: &'static str) -> Option<(At<&'a Table>, Span)> {
        let entry = self.entry(name)?;
        let table = self.table_of(name, entry)?;
        Some((At { value: table, span: entry.item.span }, entry.key_span))
    }

    fn table_of(&self, name: &'static str, entry: &'a Entry) -> Option<&'a Table> {
        match &entry.item.value {
            Value::Table(table) => Some(table),
            _ => {
                self.refuse(name, &entry.item);
                None
            }
        }
    }

    /// The table `name` as a section.
    pub fn section(&self, name: &'static str) -> Option<Section<'a>> {
        self.section_of(name, self.entry(name)?)
    }

    /// The table of an entry, which is that of the key `name` or its default, as a section.
    pub fn section_of(&self, name: &'static str, entry: &'a Entry) -> Option<Section<'a>> {
        let table = self.table_of(name, entry)?;
        let tables: &'static [&'static str] = match &self.key(name).kind {
            KeyKind::Table(table) => std::slice::from_ref(table),
            _ => &[],
        };
        let title = format!("`{name}` of {}", self.title);
        let title = if self.tables == [""] { format!("[{name}]") } else { title };
        Some(Section::new(self.context, tables, title, entry.key_span, table))
    }

    /// The tables `[[name]]` as sections with the keys of `tables`.
    pub fn sections(
        &self,
        name: &'static str,
        tables: &'static [&'static str],
    ) -> Vec<Section<'a>> {
        let Some(entry) = self.get(name) else { return Vec::new() };
        let items = match &entry.item.value {
            Value::List(items) => items.as_slice(),
            Value::Table(_) => std::slice::from_ref(&entry.item),
            _ => {
                self.refuse(name, &entry.item);
                return Vec::new();
            }
        };
        let mut sections = Vec::new();
        for (i, item) in items.iter().enumerate() {
            match &item.value {
                Value::Table(table) => {
                    // The entry's number in the file, without entries that paths made.
                    let title = format!("[[{name}]] {}", overrides::number(items, i));
                    sections.push(Section::new(self.context, tables, title, item.span, table));
                }
                _ => self.refuse(name, item),
            }
        }
        sections
    }

    /// The only key of a table that selects, such as `{ random = 0.01 }`.
    pub fn only(&self, keys: &[&'static str]) -> Option<&'static str> {
        let given: Vec<&'static str> = keys.iter().copied().filter(|key| self.has(key)).collect();
        if given.len() == 1 {
            return Some(given[0]);
        }
        let what = if given.is_empty() { "none" } else { "several" };
        self.context
            .error(self.span, format!("{} needs one of its keys and has {what}", self.title))
            .help(format!("one of: {}", keys.join(", ")));
        for key in given {
            let _ = self.get(key);
        }
        None
    }

    /// All entries, where users choose the keys.
    pub fn entries(&self) -> &'a [Entry] {
        &self.table.entries
    }

    /// Ends the reading: unknown keys, and keys that were not read, are errors.
    pub fn finish(&self) {
        let used = self.used.borrow();
        for entry in &self.table.entries {
            if used.contains(entry.key.as_str()) {
                continue;
            }
            match self.find(&entry.key) {
                // Another key decides which keys are read, and that key has an error.
                Some(key) if !key.applies.is_empty() && self.variety.borrow().is_none() => {}
                Some(_) if self.context.guesses_network.get() => {}
                Some(key) => self.unused(entry, key),
                None => {
                    let known = self.known();
                    let message = format!("unknown key `{}` in {}", entry.key, self.title);
                    self.context.unknown(entry.key_span, message, &entry.key, known);
                }
            }
        }
    }

    /// Keys that may be here.
    fn known(&self) -> Vec<&'static str> {
        let variety = *self.variety.borrow();
        let fits = |key: &&Key| {
            key.applies.is_empty() || variety.is_none_or(|variety| key.applies.contains(&variety))
        };
        let shared = keys::keys().filter(|key| self.tables.contains(&key.table));
        self.own.iter().chain(shared).filter(fits).map(|key| key.name).collect()
    }

    fn unused(&self, entry: &Entry, key: &Key) {
        let variety = *self.variety.borrow();
        let message = match variety {
            Some(variety) if !key.applies.is_empty() => {
                format!("`{}` means nothing here: {variety} does not read it", entry.key)
            }
            _ => format!("`{}` means nothing here: another key takes its place", entry.key),
        };
        let added = self.context.error(entry.key_span, message);
        let _ = if key.applies.is_empty() {
            added.help(key.doc)
        } else {
            added.help(format!("it belongs to {}", key.applies.join(", ")))
        };
    }
}

impl Section<'_> {
    /// Notes that an entry whose key is a name has a value of the wrong kind.
    pub fn refuse_entry(&self, entry: &Entry, allowed: &str) {
        let found = entry.item.value.describe();
        self.context
            .error(entry.item.span, format!("`{}` of {} cannot be {found}", entry.key, self.title))
            .help(format!("allowed: {allowed}"));
    }
}
