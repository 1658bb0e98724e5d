//! `[[client]]`: what clients get, and what their messages are worth, by their names.

use ratewire_config::{At, Section};
use ratewire_overlay::{Dollars, WEIGHTS};

use super::by_name::ByName;
use super::settings::SALARIES;
use crate::spread::ClientName;

/// Title of the tables.
pub(super) const TITLE: &str = "[[client]]";
/// Keys of the tables.
pub(super) const KEYS: &[&str] = &["name", "salary", "weight"];

/// What a client gets, and what its messages are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Money that the client gets at a time; `None` for that of all clients.
    pub salary: Option<Dollars>,
    /// Weight of the benefit of the client's messages, above zero.
    pub weight: f64,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms { salary: None, weight: 1.0 }
    }
}

/// The terms of all clients.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clients {
    terms: ByName<Terms>,
}

impl Clients {
    /// The terms of the client with this name at its daemon: those of its name, else those of the
    /// longest prefix, else the usual ones.
    pub fn of(&self, client: &str) -> Terms {
        self.terms.of(client.as_bytes()).copied().unwrap_or_default()
    }

    /// Names and prefixes with their terms, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Terms)> {
        self.terms.iter()
    }
}

/// Reads the terms.
pub(super) fn read(root: &Section<'_>) -> Clients {
    let mut terms = ByName::default();
    for section in root.tables(TITLE, KEYS) {
        let name = name(&section);
        let salary = section.has("salary").then(|| section.number("salary", 1.0, SALARIES));
        let weight = section.number("weight", 1.0, WEIGHTS);
        if !section.has("salary") && !section.has("weight") {
            section.missing("salary", "write what these clients get at a time, or their `weight`");
        }
        let Some(At { value, span }) = name else { continue };
        if !terms.insert(value, Terms { salary: salary.map(Dollars::new), weight }) {
            let message = format!("two [[client]] are called {value:?}");
            root.note(&span, message, "take one of them away");
        }
    }
    Clients { terms }
}

fn name<'a>(section: &Section<'a>) -> Option<At<&'a str>> {
    let allowed = "1 to 10 of the characters from `$` to `~`; a `*` at the end stands for any rest";
    if !section.has("name") {
        section.missing("name", &format!("write a client's name: {allowed}"));
    }
    let name = section.text("name", allowed)?;
    let start = name.value.strip_suffix('*');
    let is_allowed = start == Some("") || start.unwrap_or(name.value).parse::<ClientName>().is_ok();
    if !is_allowed {
        let message = format!("no client can be called {:?}", name.value);
        section.note(&name.span, message, format!("allowed: {allowed}"));
        return None;
    }
    Some(name)
}
