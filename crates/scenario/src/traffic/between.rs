//! `between`: the pairs of nodes between which flows arrive.

use super::Senders;
use crate::diagnostic::Span;
use crate::document::{At, Item, Value};
use crate::section::Section;
use crate::topology::hosts;

/// Most pairs of nodes of a class.
const MOST_PAIRS: usize = 1_000_000;

/// Pairs of nodes with their weights.
pub(super) type Pairs = Vec<(usize, usize, f64)>;

/// Whether the pairs are those of the topology's demands.
pub(super) fn are_demands(section: &Section<'_>) -> bool {
    section.or_default("between", |entry| {
        Some(matches!(&entry.item.value, Value::Text(word) if word == "demands"))
    })
}

/// Whether the pairs are all that the topology has, and not named or demanded.
pub(super) fn are_all(section: &Section<'_>) -> bool {
    section.or_default("between", |entry| {
        Some(matches!(&entry.item.value, Value::Text(word) if word != "demands"))
    })
}

/// Reads the pairs, with weights whose sum is finite.
pub(super) fn read(section: &Section<'_>, senders: &Senders<'_>) -> Pairs {
    let span = section.get("between").map_or(section.span, |entry| entry.item.span);
    let pairs =
        section.or_default("between", |entry| Some(pairs(section, senders, &entry.item, span)));
    let mut pairs = senders.without_exceptions(section, pairs, |(a, b, _)| (*a, *b));
    ratewire_statistics::scale(pairs.iter_mut().map(|(_, _, weight)| weight));
    pairs
}

/// The pairs that `between` describes, none after an error; `span` is the place for errors about
/// the pairs.
fn pairs(section: &Section<'_>, senders: &Senders<'_>, item: &Item, span: Span) -> Pairs {
    let context = section.context;
    let word = match &item.value {
        Value::Text(text) => text.as_str(),
        Value::List(items) => {
            if items.is_empty() {
                context.error(span, format!("{} has nobody to send to", section.title)).help(
                    "for example [[\"s1\", \"d1\"]]; without `between`: the topology's own pairs",
                );
            }
            return items.iter().flat_map(|item| weighted(section, senders, item)).collect();
        }
        _ => {
            section.refuse("between", item);
            return Vec::new();
        }
    };
    let net = senders.net;
    let pairs: Pairs = match word {
        "pairs" if !net.pairs.is_empty() => net.pairs.iter().map(|(a, b)| (*a, *b, 1.0)).collect(),
        "pairs" | "all" => {
            let hosts = hosts(&net.nodes);
            if hosts.len().saturating_mul(hosts.len()) > MOST_PAIRS {
                context
                    .error(span, format!("{} hosts make too many pairs", hosts.len()))
                    .help(format!("at most {MOST_PAIRS} pairs; list those that matter"));
                return Vec::new();
            }
            let others =
                |a: usize| hosts.iter().filter(move |b| **b != a).map(move |b| (a, *b, 1.0));
            hosts.iter().flat_map(|a| others(*a)).collect()
        }
        "demands" => net.demands.clone(),
        other => {
            let message = format!("`between` cannot be {other:?}");
            context.unknown(span, message, other, ["pairs", "all", "demands"]);
            return Vec::new();
        }
    };
    if pairs.is_empty() && !net.is_guess {
        let help = if word == "demands" {
            "the topology has none: SNDlib and TopoHub files have demands"
        } else {
            "traffic needs two hosts or more"
        };
        context.error(span, format!("{} has nobody to send to", section.title)).help(help);
    }
    pairs
}

/// The pairs that `[from, to]` or `[from, to, weight]` describes.
fn weighted(section: &Section<'_>, senders: &Senders<'_>, item: &Item) -> Pairs {
    let context = section.context;
    let parts = match &item.value {
        Value::List(parts) if parts.len() == 2 || parts.len() == 3 => parts,
        _ => {
            section.refuse("between", item);
            return Vec::new();
        }
    };
    let (Value::Text(from), Value::Text(to)) = (&parts[0].value, &parts[1].value) else {
        section.refuse("between", item);
        return Vec::new();
    };
    let weight = match parts.get(2).map(|item| &item.value) {
        None => 1.0,
        Some(Value::Integer(n)) => *n as f64,
        Some(Value::Float(n)) => *n,
        Some(_) => f64::NAN,
    };
    if !weight.is_finite() || weight <= 0.0 {
        context.error(parts[2].span, "a weight must be a number above 0, and finite");
        return Vec::new();
    }
    let from = At { value: from.as_str(), span: parts[0].span };
    let to = At { value: to.as_str(), span: parts[1].span };
    let pairs = senders.pairs(context, from, to);
    if pairs.iter().any(|(a, b)| a == b) {
        context.error(item.span, "a pair of a node with itself").help("name two different nodes");
    }
    pairs.into_iter().map(|(a, b)| (a, b, weight)).collect()
}
