//! Routing modules and the keys of frames.

use std::collections::BTreeMap;

use ratewire_sim::setup::{Keys, RoutingSpec};

use crate::document::{Entry, Item, Value};
use crate::section::Section;

/// Bytes of a frame that are simulated: its key.
const CONTENT: usize = 8;

/// Reads `routing` for the members of these names.
pub(super) fn read(section: &Section<'_>, members: &[&str]) -> RoutingSpec {
    section.or_default("routing", |entry| module(section, entry, members))
}

fn module(section: &Section<'_>, entry: &Entry, members: &[&str]) -> Option<RoutingSpec> {
    let table = match &entry.item.value {
        Value::Text(text) if text == "round-robin" => return Some(RoutingSpec::RoundRobin),
        Value::Text(text) if text == "least-outstanding" => {
            return Some(RoutingSpec::LeastOutstanding);
        }
        Value::Text(text) if text == "power-of-two" => return Some(RoutingSpec::PowerOfTwo),
        Value::Table(table) => table,
        _ => {
            section.refuse("routing", &entry.item);
            return None;
        }
    };
    let title = format!("`routing` of {}", section.title);
    let own = Section::new(section.context, &["routing"], title, entry.key_span, table);
    let routing = match own.only(&["hash", "weighted", "prefix"]) {
        Some("hash") => own.section("hash").map(|hash| key_hash(&hash)),
        Some("weighted") => weighted(&own, members),
        Some(_) => prefixes(&own, members),
        None => None,
    };
    own.finish();
    routing
}

fn key_hash(section: &Section<'_>) -> RoutingSpec {
    let offset = section.count_or("offset") as usize;
    let given = section.count("len");
    let len = given.map_or(CONTENT - offset, |len| len.value as usize);
    section.finish();
    if let Some(given) = given
        && offset + len > CONTENT
    {
        let end = offset + len;
        section
            .context
            .error(given.span, format!("no frame has the bytes from {offset} up to {end}"))
            .help(format!(
                "frames are simulated with a key of {CONTENT} bytes; without `len` it is all from {offset} on"
            ));
    }
    RoutingSpec::KeyHash { offset, len }
}

fn weighted(section: &Section<'_>, members: &[&str]) -> Option<RoutingSpec> {
    let list = section.list("weighted")?;
    let number = |item: &Item| match item.value {
        Value::Integer(n) => Some(n as f64),
        Value::Float(n) => Some(n),
        _ => None,
    };
    let is_weight = |n: &f64| *n > 0.0 && n.is_finite();
    let mut weights: Vec<f64> = list.value.iter().filter_map(number).filter(is_weight).collect();
    let are_all_known = !section.context.guesses_network.get();
    if weights.len() != list.value.len() || weights.len() != members.len() && are_all_known {
        section
            .context
            .error(list.span, "`weighted` needs a number above 0 for each member")
            .help(format!("there are {} members", members.len()));
        return None;
    }
    ratewire_statistics::scale(weights.iter_mut());
    Some(RoutingSpec::Weighted(weights))
}

fn prefixes(section: &Section<'_>, members: &[&str]) -> Option<RoutingSpec> {
    let (table, _) = section.table("prefix")?;
    let mut prefixes = Vec::new();
    let mut taken: BTreeMap<Vec<u8>, &str> = BTreeMap::new();
    for entry in &table.value.entries {
        let Some(prefix) = bytes(&entry.key) else {
            section
                .context
                .error(
                    entry.key_span,
                    format!("{:?} are not hexadecimal digits, two a byte", entry.key),
                )
                .help("for example \"00ff\"");
            continue;
        };
        if let Some(other) = taken.insert(prefix.clone(), &entry.key) {
            section
                .context
                .error(entry.key_span, format!("{:?} is the same prefix as {other:?}", entry.key))
                .help("a prefix has one member: leave one of them out");
            continue;
        }
        let name = match &entry.item.value {
            Value::Text(name) => name,
            _ => {
                section.refuse("prefix", &entry.item);
                continue;
            }
        };
        if prefix.len() > CONTENT {
            section
                .context
                .error(entry.key_span, format!("no frame begins with {} bytes", prefix.len()))
                .help(format!("frames are simulated with a key of {CONTENT} bytes"));
            continue;
        }
        match members.iter().position(|member| member == name) {
            Some(member) => prefixes.push((prefix, member)),
            None if section.context.guesses_network.get() => {}
            None => {
                let message = format!("no member is called {name:?}");
                section.context.unknown(entry.item.span, message, name, members.iter().copied());
            }
        }
    }
    Some(RoutingSpec::Prefix(prefixes))
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if digits.is_empty() || !are_digits || digits.len() % 2 == 1 {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}

/// Reads `keys`; an error if this routing does not use keys.
pub(super) fn keys(section: &Section<'_>, routing: &RoutingSpec) -> Keys {
    let reads = matches!(routing, RoutingSpec::KeyHash { .. } | RoutingSpec::Prefix(_));
    if let (Some(entry), false) = (section.get("keys"), reads) {
        section
            .context
            .error(entry.key_span, "`keys` means nothing here")
            .help("only routing by hash or prefix reads what frames contain");
    }
    section.or_default("keys", |entry| distribution(section, entry))
}

fn distribution<'a>(section: &Section<'a>, entry: &'a Entry) -> Option<Keys> {
    let own = section.section_of("keys", entry)?;
    let keys = match own.only(&["uniform", "zipf"]) {
        Some("zipf") => own.section("zipf").map(|zipf| {
            let keys = zipf.count("keys").map_or(1, |at| at.value);
            let exponent = zipf.number_or("exponent");
            zipf.finish();
            Keys::Zipf { keys, exponent }
        }),
        Some(_) => own.count("uniform").map(|at| Keys::Uniform(at.value)),
        None => None,
    };
    own.finish();
    keys
}
