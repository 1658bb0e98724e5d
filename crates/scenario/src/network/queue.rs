//! Capacity and discipline of a queue.

use ratewire_laws::options::Size;
use ratewire_net::spec::{CoDelSpec, Discipline, RedSpec};
use ratewire_units::{Bytes, Duration, quantity};

use crate::document::Value;
use crate::section::{At, Section};

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
pub(super) fn queue(section: &Section<'_>, packet: Bytes) -> Option<At<Queue>> {
    let text = section.text("queue")?;
    let refused = |why: String| {
        section
            .context
            .error(text.span, format!("`queue`: {why}"))
            .help("allowed: \"64 KB\", \"100 packets\", \"50 ms\", \"2 bdp\" or \"unlimited\"");
        None
    };
    if text.value == "unlimited" {
        return Some(text.map(|_| Queue::Unlimited));
    }
    let (number, unit) = match quantity::split(text.value) {
        Ok(parts) => parts,
        Err(e) => return refused(e.to_string()),
    };
    let queue = match unit {
        "bdp" | "BDP" => Queue::Bdp(number),
        "packet" | "packets" => Queue::Packets((number + 0.5) as u32),
        _ if quantity::TIME_UNITS.iter().any(|(name, _)| *name == unit) => {
            match text.value.parse() {
                Ok(time) => Queue::Time(time),
                Err(e) => return refused(format!("{e}")),
            }
        }
        _ => match text.value.parse::<Bytes>() {
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
    };
    Some(text.map(|_| queue))
}

/// Reads `discipline`; `packet` is the unit of sizes in packets.
pub(super) fn discipline(section: &Section<'_>, packet: Bytes) -> Option<Discipline> {
    let item = &section.get("discipline")?.item;
    let empty = crate::document::Table::default();
    let (which, table, span) = match &item.value {
        Value::Text(text) => match text.as_str() {
            "drop-tail" => return Some(Discipline::DropTail),
            "red" | "codel" => (text.as_str(), &empty, item.span),
            other => {
                let message = format!("`discipline` cannot be {other:?}");
                let known = ["drop-tail", "red", "codel"];
                section.context.unknown(item.span, message, other, known);
                return None;
            }
        },
        Value::Table(table) => match table.entries.as_slice() {
            [entry] if matches!(entry.key.as_str(), "red" | "codel") => {
                let Value::Table(inner) = &entry.item.value else {
                    section.refuse("discipline", &entry.item);
                    return None;
                };
                (entry.key.as_str(), inner, entry.key_span)
            }
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
    if which == "codel" {
        let s = Section::new(context, &["codel"], "`codel`", span, table);
        let spec = CoDelSpec {
            target: s.time_or("target"),
            interval: s.time_or("interval"),
            ecn: s.switch_or("ecn"),
        };
        s.finish();
        if spec.interval.is_zero() {
            context.error(span, "the interval of CoDel must be above 0");
        }
        return Some(Discipline::CoDel(spec));
    }
    let s = Section::new(context, &["red"], "`red`", span, table);
    let size = |size: Size| size.bytes(packet);
    let spec = RedSpec {
        min: size(s.size_or("min")),
        max: size(s.size_or("max")),
        max_probability: s.number_or("max_probability"),
        weight: s.number_or("weight"),
        ecn: s.switch_or("ecn"),
    };
    s.finish();
    if spec.min >= spec.max {
        context
            .error(span, format!("`min` of RED ({}) must be below `max` ({})", spec.min, spec.max));
    }
    Some(Discipline::Red(spec))
}
