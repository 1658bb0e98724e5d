//! Properties of links as scenarios write them.

pub(crate) mod pause;
pub(crate) mod queue;
pub(crate) mod varying;

use std::sync::Arc;

use ratewire_inputs::cooked::RateTrace;
use ratewire_inputs::delays::{self, DelayTrace};
use ratewire_inputs::{mahimahi, trace};
use ratewire_laws::LawSet;
use ratewire_net::spec::{AnyDiscipline, Contention, Loss, Opportunities, PoliceSpec, Reorder};
use ratewire_units::{Bytes, Duration, Rate};

use crate::document::{At, Entry, Item, Value};
use crate::laws::LawBook;
use crate::section::Section;
use pause::Wishes;
use queue::Queue;
use varying::Variation;

/// Treatment of congestion headers by the router at a queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Router {
    /// The port of this law processes them.
    Law(String),
    /// The router forwards them unread.
    Legacy,
    /// The router removes them.
    Strips,
}

/// Rate of a link over time, from a trace.
#[derive(Clone, Debug)]
pub(crate) enum Trace {
    Opportunities(Arc<Opportunities>, Rate),
    Rates(Arc<RateTrace>),
}

impl Trace {
    /// Mean rate over the trace.
    pub fn mean_rate(&self) -> Rate {
        match self {
            Trace::Opportunities(_, mean) => *mean,
            Trace::Rates(trace) => trace.mean_rate(),
        }
    }
}

/// Properties of a one-way link; `None` means "not given here".
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties {
    pub rate: Option<At<Rate>>,
    pub trace: Option<At<Trace>>,
    /// With a trace of delays, its mean.
    pub delay: Option<At<Duration>>,
    pub delay_trace: Option<Arc<DelayTrace>>,
    pub overhead: Option<Bytes>,
    pub queue: Option<At<Queue>>,
    pub queue_rtt: Option<At<Duration>>,
    pub discipline: Option<AnyDiscipline>,
    pub loss: Option<Loss>,
    pub half_duplex: Option<bool>,
    pub medium: Option<String>,
    pub contention: Option<Contention>,
    pub law: Option<Router>,
    /// The inner `None` is `"none"`.
    pub reorder: Option<Option<Reorder>>,
    /// The inner `None` is `false`.
    pub police: Option<Option<PoliceSpec>>,
    pub wishes: Wishes,
    pub variation: Variation,
    /// Whether errors about rate and delay have been noted.
    pub reported: Reported,
}

/// Properties whose absence was explained by an error.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reported {
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
    /// These properties, with those not given taken from `base`.
    pub fn over(self, base: &Properties) -> Properties {
        // A rate replaces a trace and vice versa; `duplex` replaces a named medium and vice versa.
        let own = self.rate.is_some() || self.trace.is_some();
        let sharing = self.half_duplex.is_some() || self.medium.is_some();
        Properties {
            rate: if own { self.rate } else { base.rate },
            trace: if own { self.trace } else { base.trace.clone() },
            delay: self.delay.or(base.delay),
            delay_trace: self.delay.map_or(base.delay_trace.clone(), |_| self.delay_trace),
            overhead: self.overhead.or(base.overhead),
            queue: self.queue.or(base.queue),
            queue_rtt: self.queue_rtt.or(base.queue_rtt),
            discipline: self.discipline.or_else(|| base.discipline.clone()),
            loss: self.loss.or_else(|| base.loss.clone()),
            half_duplex: if sharing { self.half_duplex } else { base.half_duplex },
            medium: if sharing { self.medium } else { base.medium.clone() },
            contention: self.contention.or(base.contention),
            law: self.law.or_else(|| base.law.clone()),
            reorder: self.reorder.or(base.reorder),
            police: self.police.or(base.police),
            wishes: self.wishes.over(base.wishes),
            variation: self.variation.over(base.variation),
            reported: Reported {
                rate: self.reported.rate || base.reported.rate,
                delay: self.reported.delay || base.reported.delay,
            },
        }
    }

    /// The rate, or the mean rate of the trace.
    pub fn mean_rate(&self) -> Option<Rate> {
        match (&self.trace, self.rate) {
            (Some(trace), _) => Some(trace.value.mean_rate()),
            (None, rate) => rate.map(|rate| rate.value),
        }
    }
}

/// State needed to read properties.
pub(crate) struct Reading<'a> {
    pub laws: &'a LawBook,
    /// Size of a full packet, for sizes in packets.
    pub packet: Bytes,
}

impl Reading<'_> {
    /// Reads a table that holds only properties.
    pub fn cable(&self, section: &Section<'_>) -> Cable {
        let (forward, reverse) = self.both(section);
        section.finish();
        Cable { backward: reverse.over(&forward), forward }
    }

    /// Reads the properties in `section`, and those that differ in reverse.
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
            _ => {
                let law = self.laws.check_beside(section.context, name, &LawSet::RESERVED);
                law.map(Router::Law)
            }
        });
        let (delay, delay_trace) = delay(section);
        let half_duplex = section.word("duplex").map(|word| word.map(|word| word == "half"));
        let medium = section.text("medium").map(|text| text.value.to_string());
        if let (Some(At { value: false, span }), Some(name)) = (half_duplex, &medium) {
            section
                .context
                .warning(
                    span,
                    format!(
                        "duplex = \"full\" means nothing here: the medium {name:?} is half-duplex"
                    ),
                )
                .help("leave out one of the two");
        }
        let delay_given = section.has("delay") || section.has("delay_trace");
        let rate_given = section.has("rate") || section.has("trace");
        Properties {
            reported: Reported {
                rate: rate_given && rate.is_none() && trace.is_none(),
                delay: delay_given && delay.is_none(),
            },
            rate,
            trace,
            delay,
            delay_trace,
            overhead: section.bytes("overhead").map(|at| at.value),
            queue: section.given("queue", |entry| queue::queue(section, &entry.item, self.packet)),
            queue_rtt: section.time("queue_rtt"),
            discipline: value(
                section.given("discipline", |entry| {
                    queue::discipline(section, &entry.item, self.packet)
                }),
            ),
            loss: value(section.given("loss", |entry| loss(section, &entry.item))),
            half_duplex: value(half_duplex),
            medium,
            contention: section.word("contention").map(|word| contention(word.value)),
            law,
            reorder: value(section.given("reorder", |entry| reorder(section, entry))),
            police: value(section.given("police", |entry| police(section, entry))),
            wishes: Wishes::read(section, self.packet),
            variation: Variation::read(section, self.packet),
        }
    }
}

fn value<T>(at: Option<At<T>>) -> Option<T> {
    at.map(|at| at.value)
}

pub(super) fn contention(word: &str) -> Contention {
    match word {
        "random" => Contention::Random,
        "backoff" => Contention::Backoff,
        _ => Contention::Alternate,
    }
}

pub(super) fn loss(section: &Section<'_>, item: &Item) -> Option<Loss> {
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

/// Reads `reorder`; the inner `None` is `"none"`.
pub(super) fn reorder(section: &Section<'_>, entry: &Entry) -> Option<Option<Reorder>> {
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

/// Reads `police`; the inner `None` is `false`.
pub(super) fn police(section: &Section<'_>, entry: &Entry) -> Option<Option<PoliceSpec>> {
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
    let of_bucket = |entry: &&Entry| ["rate", "burst"].contains(&entry.key.as_str());
    if let Some(other) = table.entries.iter().find(of_bucket) {
        section
            .context
            .error(other.key_span, format!("unknown key `{}` in `police`", other.key))
            .help(
                "`police` holds senders to their congestion headers; a token bucket is `policer`, \
                 with `rate` and `burst`",
            );
        return None;
    }
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

/// Reads `delay` and `delay_trace`: the delay, or the mean of the trace, and the trace.
fn delay(section: &Section<'_>) -> (Option<At<Duration>>, Option<Arc<DelayTrace>>) {
    let delay = section.time("delay");
    let trace = section.text("delay_trace").and_then(|name| {
        let trace = section.context.read_noting(name.value, name.span, delays::parse)?;
        Some(At { value: Arc::new(trace), span: name.span })
    });
    if let (true, Some(entry)) = (section.has("delay"), section.get("delay_trace")) {
        section
            .context
            .error(entry.key_span, "`delay_trace` and `delay` exclude each other")
            .help("a trace says how long packets take");
    }
    let mean = trace.as_ref().map(|trace| At { value: trace.value.mean_delay(), span: trace.span });
    (delay.or(mean), trace.map(|trace| trace.value))
}

fn trace(section: &Section<'_>, name: At<&str>) -> Option<At<Trace>> {
    let value = match section.context.read_noting(name.value, name.span, trace::parse)? {
        trace::Trace::Rates(trace) => Trace::Rates(Arc::new(trace)),
        trace::Trace::Opportunities(trace) => {
            let opportunities = Opportunities {
                at: trace.opportunities.iter().map(|ms| Duration::from_millis(*ms)).collect(),
                period: trace.period,
                bytes: mahimahi::OPPORTUNITY,
            };
            Trace::Opportunities(Arc::new(opportunities), trace.mean_rate())
        }
    };
    Some(At { value, span: name.span })
}
