//! Capacity and discipline of a queue.

use ratewire_net::queue::{self, AnyDiscipline};
use ratewire_units::{Bytes, Duration, quantity};

use crate::document::{Item, Table, Value};
use crate::keys::keys_of;
use crate::section::Section;

/// Capacity of a queue, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Queue {
    Unlimited,
    Bytes(Bytes),
    Packets(u32),
    Time(Duration),
    Bdp(f64),
}

/// Reads `queue`; `packet` is the unit of sizes in packets and the least size in bytes.
pub(crate) fn queue(section: &Section<'_>, item: &Item, packet: Bytes) -> Option<Queue> {
    let text = section.text_of("queue", item)?;
    let refused = |why: String| {
        section
            .context
            .error(item.span, format!("`queue`: {why}"))
            .help("allowed: \"64 KB\", \"100 packets\", \"50 ms\", \"2 bdp\" or \"unlimited\"");
        None
    };
    if text == "unlimited" {
        return Some(Queue::Unlimited);
    }
    let (number, unit) = match quantity::split(text) {
        Ok(parts) => parts,
        Err(e) => return refused(e.to_string()),
    };
    Some(match unit {
        "bdp" | "BDP" => Queue::Bdp(number),
        "packet" | "packets" => Queue::Packets((number + 0.5) as u32),
        _ if quantity::TIME_UNITS.iter().any(|(name, _)| *name == unit) => match text.parse() {
            Ok(time) => Queue::Time(time),
            Err(e) => return refused(format!("{e}")),
        },
        _ => match text.parse::<Bytes>() {
            // The port also holds the packet in transmission, so with less room no packet could
            // wait.
            Ok(size) if size < packet => {
                return refused(format!(
                    "{size} is less than a full packet ({}): nothing could ever wait; \
                     write \"0 packets\" if that is meant",
                    packet
                ));
            }
            Ok(size) => Queue::Bytes(size),
            Err(e) if quantity::SIZE_UNITS.iter().any(|(name, _)| *name == unit) => {
                return refused(e.to_string());
            }
            Err(e) => return refused(format!("{e}, packets, bdp, or a time")),
        },
    })
}

/// Reads `discipline`; `packet` is the unit of sizes in packets.
pub(crate) fn discipline(
    section: &Section<'_>,
    item: &Item,
    packet: Bytes,
) -> Option<AnyDiscipline> {
    let empty = Table::default();
    let (name, options, span) = match &item.value {
        Value::Text(name) => (name, &empty, item.span),
        Value::Table(table) => match table.entries.as_slice() {
            [entry] => match &entry.item.value {
                Value::Table(options) => (&entry.key, options, entry.key_span),
                _ => {
                    section.refuse("discipline", &entry.item);
                    return None;
                }
            },
            _ => {
                section.refuse("discipline", item);
                return None;
            }
        },
        _ => {
            section.refuse("discipline", item);
            return None;
        }
    };
    let context = section.context;
    let Some(info) = context.disciplines.find(name) else {
        let known = context.disciplines.list().map(|info| info.name);
        context.unknown(span, format!("`discipline` cannot be {name:?}"), name, known);
        return None;
    };
    let title = format!("`{name}`");
    let inner = if queue::find(name).is_some() {
        Section::new(context, std::slice::from_ref(&info.name), title, span, options)
    } else {
        Section::of_keys(context, keys_of(info), title, span, options)
    };
    let before = context.errors();
    let given = info.options.iter().filter_map(|o| Some((o.name, inner.option(o.name)?)));
    let given: Vec<(&str, String)> = given.collect();
    inner.finish();
    let given: Vec<(&str, &str)> = given.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let made = context.disciplines.make(name, &given, packet);
    // What is wrong with an option by itself has been reported.
    if let Err(e) = &made
        && context.errors() == before
    {
        context.error(span, e.message.clone());
    }
    made.ok()
}
