//! What varies on a link by itself: outages, duplicates, jitter, token buckets.

use ratewire_net::spec::{LinkJitter, TokenBucket};
use ratewire_units::{Bytes, Duration, Rate};

use crate::document::{At, Entry, Table, Value};
use crate::section::Section;

/// Means of the exponential times for which a link is up and down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outages {
    pub up: Duration,
    pub down: Duration,
}

/// Keys of what varies on a link; `None` means "not given here", an inner `None` is `"none"`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Variation {
    pub outages: Option<At<Option<Outages>>>,
    pub duplicate: Option<At<f64>>,
    pub jitter: Option<At<Option<LinkJitter>>>,
    pub policer: Option<At<Option<TokenBucket>>>,
    pub shaper: Option<At<Option<TokenBucket>>>,
}

impl Variation {
    /// Reads the keys; `packet` is the unit of sizes in packets.
    pub fn read(section: &Section<'_>, packet: Bytes) -> Variation {
        let bucket = |key| section.given(key, |entry| bucket(section, key, entry, packet));
        Variation {
            outages: section.given("outages", |entry| outages(section, entry)),
            duplicate: section.number("duplicate"),
            jitter: section.given("jitter", |entry| jitter(section, entry)),
            policer: bucket("policer"),
            shaper: bucket("shaper"),
        }
    }

    /// These keys, with those not given taken from `base`.
    pub fn over(self, base: Variation) -> Variation {
        Variation {
            outages: self.outages.or(base.outages),
            duplicate: self.duplicate.or(base.duplicate),
            jitter: self.jitter.or(base.jitter),
            policer: self.policer.or(base.policer),
            shaper: self.shaper.or(base.shaper),
        }
    }
}

/// What links do that give no keys of what varies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualVariation {
    pub outages: Option<Outages>,
    pub duplicate: f64,
    pub jitter: Option<LinkJitter>,
    pub policer: Option<TokenBucket>,
    pub shaper: Option<TokenBucket>,
}

impl UsualVariation {
    /// Takes the defaults from the table of keys.
    pub fn read(section: &Section<'_>, packet: Bytes) -> UsualVariation {
        let bucket = |key| section.or_default(key, |entry| bucket(section, key, entry, packet));
        UsualVariation {
            outages: section.or_default("outages", |entry| outages(section, entry)),
            duplicate: section.number_or("duplicate"),
            jitter: section.or_default("jitter", |entry| jitter(section, entry)),
            policer: bucket("policer"),
            shaper: bucket("shaper"),
        }
    }
}

/// The table of a key whose other value is `"none"`, which is the inner `None`.
fn table<'a>(
    section: &Section<'_>,
    key: &'static str,
    entry: &'a Entry,
) -> Option<Option<&'a Table>> {
    match &entry.item.value {
        Value::Text(text) if text == "none" => Some(None),
        Value::Table(table) => Some(Some(table)),
        _ => {
            section.refuse(key, &entry.item);
            None
        }
    }
}

/// Reads `outages`.
fn outages(section: &Section<'_>, entry: &Entry) -> Option<Option<Outages>> {
    let Some(table) = table(section, "outages", entry)? else { return Some(None) };
    let s = Section::new(section.context, &["outages"], "`outages`", entry.key_span, table);
    let (up, down) = (s.time("up"), s.time("down"));
    s.finish();
    let (up, down) = (up?, down?);
    for (key, time) in [("up", up), ("down", down)] {
        if time.value.is_zero() {
            section
                .context
                .error(time.span, format!("`{key}` of `outages` cannot be 0 s"))
                .help("allowed: a mean time above 0 such as \"5 s\"");
            return None;
        }
    }
    Some(Some(Outages { up: up.value, down: down.value }))
}

/// Reads `jitter`; a time is the most of a uniform delay.
fn jitter(section: &Section<'_>, entry: &Entry) -> Option<Option<LinkJitter>> {
    if let Value::Text(text) = &entry.item.value
        && text != "none"
    {
        return match text.parse::<Duration>() {
            Ok(most) => Some((!most.is_zero()).then_some(LinkJitter::Uniform(most))),
            Err(e) => {
                section.complain("jitter", &entry.item, &e.to_string());
                None
            }
        };
    }
    let Some(table) = table(section, "jitter", entry)? else { return Some(None) };
    let s = Section::new(section.context, &["jitter"], "`jitter`", entry.key_span, table);
    let (mean, deviation) = (s.time("mean"), s.time("deviation"));
    s.finish();
    let (mean, deviation) = (mean?, deviation?);
    warn_of_clipping(section, mean, deviation);
    Some(Some(LinkJitter::Normal { mean: mean.value, deviation: deviation.value }))
}

/// Warns if more than some 2 % of normal delays would be below 0, and are 0: their mean rises.
fn warn_of_clipping(section: &Section<'_>, mean: At<Duration>, deviation: At<Duration>) {
    if deviation.value <= mean.value / 2 {
        return;
    }
    let (m, s) = (mean.value.secs(), deviation.value.secs());
    let below = libm::erfc(m / s / core::f64::consts::SQRT_2) / 2.0;
    let density = libm::exp(-m * m / (2.0 * s * s)) / libm::sqrt(core::f64::consts::TAU);
    let real = m * (1.0 - below) + s * density;
    // Three digits are enough to see how far off it is.
    let digit = libm::pow(10.0, libm::floor(libm::log10(real)) - 2.0);
    let real = Duration::from_secs_f64(libm::round(real / digit) * digit);
    section
        .context
        .warning(
            deviation.span,
            format!("the mean of this jitter is {real}, and not {}", mean.value),
        )
        .help(format!(
            "no delay is below 0, and {:.0} % would be; make `deviation` at most half of `mean`",
            below * 100.0
        ));
}

/// Reads `policer` or `shaper`.
fn bucket(
    section: &Section<'_>,
    key: &'static str,
    entry: &Entry,
    packet: Bytes,
) -> Option<Option<TokenBucket>> {
    let Some(table) = table(section, key, entry)? else { return Some(None) };
    let s = Section::new(section.context, &["bucket"], format!("`{key}`"), entry.key_span, table);
    let (rate, burst) = (s.rate("rate"), s.size("burst"));
    s.finish();
    let (rate, burst) = (rate?, burst?.value.bytes(packet));
    if rate.value == Rate::ZERO {
        section
            .context
            .error(rate.span, format!("`rate` of `{key}` cannot be 0"))
            .help("allowed: a rate above 0 such as \"10 Mbit/s\"");
        return None;
    }
    Some(Some(TokenBucket { rate: rate.value, burst }))
}
