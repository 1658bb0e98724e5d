//! What a link is like, as scenarios write it.

use std::sync::Arc;

use ratewire_inputs::cooked::RateTrace;
use ratewire_inputs::{InputError, cooked, mahimahi};
use ratewire_laws::options::Size;
use ratewire_net::spec::{
    CoDelSpec, Contention, Discipline, Loss, Opportunities, PoliceSpec, RedSpec, Reorder,
};
use ratewire_units::{Bytes, Duration, Rate, quantity};

use crate::document::{Item, Value};
use crate::laws::LawBook;
use crate::pause::Wishes;
use crate::section::{At, Section};

/// Room in a queue, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Queue {
    Unlimited,
    Bytes(Bytes),
    Packets(u32),
    Time(Duration),
    Bdp(f64),
}

/// What a router at a queue has to do with congestion headers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Router {
    /// The port of this law stands there.
    Law(String),
    /// It passes them on unread.
    Legacy,
    /// It takes them off.
    Strips,
}

/// How fast a link with a trace sends.
#[derive(Clone, Debug)]
pub(crate) enum Trace {
    Opportunities(Arc<Opportunities>, Rate),
    Rates(Arc<RateTrace>),
}

impl Trace {
    /// The mean over the trace.
    pub fn mean_rate(&self) -> Rate {
        match self {
            Trace::Opportunities(_, mean) => *mean,
            Trace::Rates(trace) => trace.mean_rate(),
        }
    }
}

/// Properties of a one-way link; `None` is "not said here".
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties {
    pub rate: Option<At<Rate>>,
    pub trace: Option<At<Trace>>,
    pub delay: Option<At<Duration>>,
    pub overhead: Option<Bytes>,
    pub queue: Option<At<Queue>>,
    pub queue_rtt: Option<At<Duration>>,
    pub discipline: Option<Discipline>,
    pub loss: Option<Loss>,
    pub half_duplex: Option<bool>,
    pub medium: Option<String>,
    pub contention: Option<Contention>,
    pub law: Option<Router>,
    /// The inner `None` is "none".
    pub reorder: Option<Option<Reorder>>,
    /// The inner `None` is `false`.
    pub police: Option<Option<PoliceSpec>>,
    pub wishes: Wishes,
    /// Whether an error has already told why there is no rate, or no delay.
    pub told: Told,
}

/// What errors have already told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    pub rate: bool,
    pub delay: bool,
}

/// Properties of both directions of a cable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cable {
    pub forward: Properties,
    pub backward: Properties,
}

impl Properties {
    /// These, and what they do not say from `base`.
    pub fn over(self, base: &Properties) -> Properties {
        // A rate replaces a trace and the other way round.
        let own = self.rate.is_some() || self.trace.is_some();
        Properties {
            rate: if own { self.rate } else { base.rate },
            trace: if own { self.trace } else { base.trace.clone() },
            delay: self.delay.or(base.delay),
            overhead: self.overhead.or(base.overhead),
            queue: self.queue.or(base.queue),
            queue_rtt: self.queue_rtt.or(base.queue_rtt),
            discipline: self.discipline.or_else(|| base.discipline.clone()),
            loss: self.loss.or_else(|| base.loss.clone()),
            half_duplex: self.half_duplex.or(base.half_duplex),
            medium: self.medium.or_else(|| base.medium.clone()),
            contention: self.contention.or(base.contention),
            law: self.law.or_else(|| base.law.clone()),
            reorder: self.reorder.or(base.reorder),
            police: self.police.or(base.police),
            wishes: self.wishes.over(base.wishes),
            told: Told {
                rate: self.told.rate || base.told.rate,
                delay: self.told.delay || base.told.delay,
            },
        }
    }

    /// The rate, or the mean of the trace.
    pub fn mean_rate(&self) -> Option<Rate> {
        match (&self.trace, self.rate) {
            (Some(trace), _) => Some(trace.value.mean_rate()),
            (None, rate) => rate.map(|rate| rate.value),
        }
    }
}

/// What reading properties needs.
pub(crate) struct Reading<'a> {
    pub laws: &'a LawBook,
    /// Size of a full packet, for sizes in packets.
    pub packet: Bytes,
}

impl Reading<'_> {
    /// Reads a table that holds only properties, all of it.
    pub fn cable(&self, section: &Section<'_>) -> Cable {
        let (forward, reverse) = self.both(section);
        section.finish();
        Cable { backward: reverse.over(&forward), forward }
    }

    /// Reads the properties in `section`, and what differs in reverse.
    pub fn both(&self, section: &Section<'_>) -> (Properties, Properties) {
        let forward = self.one_way(section);
        let reverse = section.section("reverse").map(|reverse| {
            let properties = self.one_way(&reverse);
            if let Some(entry) = reverse.get("reverse") {
                section.context.error(entry.key_span, "`reverse` cannot stand in `reverse`");
            }
            reverse.finish();
            properties
        });
        (forward, reverse.unwrap_or_default())
    }

    fn one_way(&self, section: &Section<'_>) -> Properties {
        let rate = section.rate("rate");
        let trace = section.text("trace").and_then(|name| trace(section, name));
        if section.has("rate") && section.has("trace") {
            let entry = section.get("trace").map(|entry| entry.key_span);
            section
                .context
                .error(entry.unwrap_or(section.span), "`trace` and `rate` exclude each other")
                .help("a trace says how fast the link sends");
        }
        let law = section.text("law").and_then(|name| match name.value {
            "none" => Some(Router::Legacy),
            "strip" => Some(Router::Strips),
            _ => self.laws.check(section.context, name).map(Router::Law),
        });
        let delay = section.time("delay");
        let rate_given = section.has("rate") || section.has("trace");
        Properties {
            told: Told {
                rate: rate_given && rate.is_none() && trace.is_none(),
                delay: section.has("delay") && delay.is_none(),
            },
            rate,
            trace,
            delay,
            overhead: section.bytes("overhead").map(|at| at.value),
            queue: self.queue(section),
            queue_rtt: section.time("queue_rtt"),
            discipline: self.discipline(section),
            loss: loss(section),
            half_duplex: section.word("duplex").map(|word| word.value == "half"),
            medium: section.text("medium").map(|text| text.value.to_string()),
            contention: section.word("contention").map(|word| match word.value {
                "random" => Contention::Random,
                "backoff" => Contention::Backoff,
                _ => Contention::Alternate,
            }),
            law,
            reorder: reorder(section),
            police: police(section),
            wishes: Wishes::read(section, self.packet),
        }
    }

    fn queue(&self, section: &Section<'_>) -> Option<At<Queue>> {
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
                // The port holds one more packet, the one being sent: less room is no room.
                Ok(size) if size < self.packet => {
                    return refused(format!(
                        "{size} is less than a full packet ({}): nothing could ever wait; \
                         write \"0 packets\" if that is meant",
                        self.packet
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

    fn discipline(&self, section: &Section<'_>) -> Option<Discipline> {
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
        let size = |size: Size| size.bytes(self.packet);
        let spec = RedSpec {
            min: size(s.size_or("min")),
            max: size(s.size_or("max")),
            max_probability: s.number_or("max_probability"),
            weight: s.number_or("weight"),
            ecn: s.switch_or("ecn"),
        };
        s.finish();
        if spec.min >= spec.max {
            context.error(
                span,
                format!("`min` of RED ({}) must be below `max` ({})", spec.min, spec.max),
            );
        }
        Some(Discipline::Red(spec))
    }
}

fn loss(section: &Section<'_>) -> Option<Loss> {
    let item = &section.get("loss")?.item;
    let table = match &item.value {
        Value::Text(text) if text == "none" => return Some(Loss::None),
        Value::Table(table) if table.entries.len() == 1 => table,
        _ => {
            section.refuse("loss", item);
            return None;
        }
    };
    let entry = &table.entries[0];
    match (entry.key.as_str(), &entry.item.value) {
        ("random", value) => match probability(value) {
            Some(p) => Some(Loss::Random(p)),
            None => {
                section
                    .context
                    .error(entry.item.span, format!("`random` cannot be {}", value.describe()))
                    .help("allowed: a probability from 0 to 1");
                None
            }
        },
        ("burst", Value::Table(inner)) => {
            let s = Section::new(section.context, &["burst"], "`burst`", entry.key_span, inner);
            let (turn_bad, turn_good) = (s.number("turn_bad"), s.number("turn_good"));
            let (loss_bad, loss_good) = (s.number_or("loss_bad"), s.number_or("loss_good"));
            s.finish();
            let (turn_bad, turn_good) = (turn_bad?.value, turn_good?.value);
            Some(Loss::Burst { turn_bad, turn_good, loss_bad, loss_good })
        }
        ("burst", _) => {
            section.refuse("loss", &entry.item);
            None
        }
        (other, _) => {
            let message = format!("unknown key `{other}` in `loss`");
            section.context.unknown(entry.key_span, message, other, ["random", "burst"]);
            None
        }
    }
}

fn reorder(section: &Section<'_>) -> Option<Option<Reorder>> {
    let entry = section.get("reorder")?;
    let table = match &entry.item.value {
        Value::Text(text) if text == "none" => return Some(None),
        Value::Table(table) => table,
        _ => {
            section.refuse("reorder", &entry.item);
            return None;
        }
    };
    let inner = Section::new(section.context, &["reorder"], "`reorder`", entry.key_span, table);
    let (share, delay) = (inner.number("share"), inner.time("delay"));
    inner.finish();
    Some(Some(Reorder { share: share?.value, delay: delay?.value }))
}

fn police(section: &Section<'_>) -> Option<Option<PoliceSpec>> {
    let entry = section.get("police")?;
    let empty = crate::document::Table::default();
    let table = match &entry.item.value {
        Value::Switch(false) => return Some(None),
        Value::Switch(true) => &empty,
        Value::Table(table) => table,
        _ => {
            section.refuse("police", &entry.item);
            return None;
        }
    };
    let inner = Section::new(section.context, &["police"], "`police`", entry.key_span, table);
    let suspects = inner.count_or("suspects") as u32;
    let tolerance = inner.number_or("tolerance");
    inner.finish();
    Some(Some(PoliceSpec { suspects, tolerance }))
}

fn probability(value: &Value) -> Option<f64> {
    let p = match value {
        Value::Integer(n) => *n as f64,
        Value::Float(n) => *n,
        _ => return None,
    };
    (0.0..=1.0).contains(&p).then_some(p)
}

fn trace(section: &Section<'_>, name: At<&str>) -> Option<At<Trace>> {
    let parse = |file: &str, text: &str| -> Result<Trace, InputError> {
        let first = text.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with('#'));
        let columns = first.map_or(0, |line| line.split_whitespace().count());
        if columns > 1 {
            return cooked::parse(file, text).map(|trace| Trace::Rates(Arc::new(trace)));
        }
        let trace = mahimahi::parse(file, text)?;
        let opportunities = Opportunities {
            at: trace.opportunities.iter().map(|ms| Duration::from_millis(*ms)).collect(),
            period: trace.period,
            bytes: mahimahi::OPPORTUNITY,
        };
        Ok(Trace::Opportunities(Arc::new(opportunities), trace.mean_rate()))
    };
    let value = section.context.read(name.value, name.span, parse)?;
    Some(At { value, span: name.span })
}

/// A name's text, or an error.
pub(crate) fn name_of<'a>(
    section: &Section<'_>,
    key: &'static str,
    item: &'a Item,
) -> Option<&'a str> {
    match &item.value {
        Value::Text(text) => Some(text),
        _ => {
            section.refuse(key, item);
            None
        }
    }
}
