//! Attributes of nodes and links: what is read from them, and what is left.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ratewire_units::{Duration, Rate};

use crate::InputError;
use crate::labels::read_like_rates;
use crate::location::{Location, quoted};
use crate::tally::{Departure, Tally};
use crate::vocabulary::{Meaning, Part, Quantity, meaning};

/// An attribute as its file states it.
#[derive(Clone)]
pub(crate) struct Attribute<'a> {
    pub(crate) name: Cow<'a, str>,
    /// Empty if the file gives no value.
    pub(crate) value: Cow<'a, str>,
    /// Whether the value has parts: a list or an object.
    pub(crate) is_compound: bool,
    pub(crate) at: Location<'a>,
}

impl<'a> Attribute<'a> {
    /// An attribute with one value.
    pub(crate) fn new(
        name: impl Into<Cow<'a, str>>,
        value: impl Into<Cow<'a, str>>,
        at: Location<'a>,
    ) -> Attribute<'a> {
        Attribute { name: name.into(), value: value.into(), is_compound: false, at }
    }

    fn says_nothing(&self) -> bool {
        matches!(self.value.trim(), "" | "[]" | "{}")
    }

    /// Whether the value says that a link does not exist, or not yet.
    fn is_of_no_link(&self) -> bool {
        let of_word = |c: char| c.is_alphabetic();
        let words =
            ["future", "planned", "proposed", "construction", "decommissioned", "abandoned"];
        let mut of_value = self.value.split(|c| !of_word(c));
        of_value.any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
    }

    /// Whether the value is the role of a node in a network.
    fn is_role(&self) -> bool {
        let roles = ["host", "server", "client", "router", "switch"];
        roles.iter().any(|role| self.value.trim().eq_ignore_ascii_case(role))
    }

    /// Whether the value stands for one that is missing, in a place where text is none.
    fn is_missing(&self) -> bool {
        let names = ["null", "none", "nan", "n/a", "unknown", "?"];
        names.iter().any(|name| self.value.trim().eq_ignore_ascii_case(name))
    }

    /// The number, and the unit behind it.
    fn split(&self) -> Option<(f64, &str)> {
        let text = self.value.trim();
        let is_of_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let end = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
        // The `E` of `10Erlang` belongs to the unit.
        let end = text[..end].trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.').len();
        Some((crate::location::finite(&text[..end])?, text[end..].trim()))
    }

    fn error(&self, allowed: impl Into<String>, remedy: &str) -> InputError {
        let name = quoted(&self.name);
        let name = name.trim_matches('"');
        self.at.error(format!("{name} {}", quoted(&self.value)), allowed, remedy)
    }
}

/// Units of numbers that state none, where the file says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Units {
    pub(crate) rate: Option<f64>,
    pub(crate) delay: Option<f64>,
    pub(crate) length: Option<f64>,
}

impl Units {
    fn set(&mut self, quantity: Quantity, size: f64) {
        match quantity {
            Quantity::Rate => self.rate = Some(size),
            Quantity::Delay => self.delay = Some(size),
            Quantity::Length => self.length = Some(size),
        }
    }

    fn of(self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Rate => self.rate,
            Quantity::Delay => self.delay,
            Quantity::Length => self.length,
        }
    }
}

/// What the attributes of a node say.
#[derive(Default)]
pub(crate) struct NodeFacts {
    pub(crate) label: Option<String>,
    /// Longitude, latitude.
    pub(crate) position: Option<(f64, f64)>,
    pub(crate) is_external: bool,
}

/// Reads the attributes of a node.
pub(crate) fn of_node<'a>(
    attributes: Vec<Attribute<'a>>,
    tally: &mut Tally<'a>,
) -> Result<NodeFacts, InputError> {
    let mut facts = NodeFacts::default();
    let mut label = Best::default();
    let (mut longitude, mut latitude) = (None, None);
    for attribute in attributes {
        if attribute.says_nothing() {
            continue;
        }
        match meaning_of(Part::Node, &attribute) {
            Some(Meaning::Label(rank)) => drop(label.offer(rank, attribute)),
            Some(Meaning::Longitude | Meaning::Latitude) if attribute.is_missing() => {}
            Some(Meaning::Longitude) => longitude = Some(attribute),
            Some(Meaning::Latitude) => latitude = Some(attribute),
            Some(Meaning::Internal) => facts.is_external = !flag(&attribute)?,
            // The Topology Zoo's types are of symbols; these would say which nodes send.
            Some(Meaning::Remark) if attribute.is_role() => {
                tally.unused(Part::Node, &attribute.name, attribute.at);
            }
            Some(Meaning::Remark) => {}
            _ => tally.unused(Part::Node, &attribute.name, attribute.at),
        }
    }
    facts.label = label.taken().map(|label| label.value.into_owned());
    facts.position = match (longitude, latitude) {
        (Some(longitude), Some(latitude)) => Some((degrees(&longitude)?, degrees(&latitude)?)),
        (None, None) => None,
        (Some(lone), None) | (None, Some(lone)) => {
            tally.unused(Part::Node, &lone.name, lone.at);
            None
        }
    };
    Ok(facts)
}

/// What the attributes of a link say.
#[derive(Default)]
pub(crate) struct LinkFacts {
    pub(crate) rate: Option<Rate>,
    /// Whether the rate's unit is assumed.
    pub(crate) is_rate_assumed: bool,
    pub(crate) delay: Option<Duration>,
    pub(crate) length_km: Option<f64>,
    pub(crate) label: Option<String>,
}

/// Reads the attributes of a link; `units` are those of the whole file.
pub(crate) fn of_link<'a>(
    attributes: Vec<Attribute<'a>>,
    units: Units,
    tally: &mut Tally<'a>,
) -> Result<LinkFacts, InputError> {
    let mut label = Best::default();
    let mut best: BTreeMap<Quantity, Best<'a>> = BTreeMap::new();
    let mut beside: BTreeMap<Quantity, Attribute<'a>> = BTreeMap::new();
    for attribute in attributes {
        if attribute.says_nothing() {
            continue;
        }
        match meaning_of(Part::Link, &attribute) {
            Some(Meaning::Label(rank)) => drop(label.offer(rank, attribute)),
            Some(Meaning::Quantity { .. }) if attribute.is_missing() => {}
            Some(Meaning::Quantity { quantity, rank, .. }) => {
                let worse = best.entry(quantity).or_default().offer(rank, attribute);
                // The Topology Zoo states LinkSpeedRaw in other units, too.
                if let Some(worse) = worse.filter(|worse| !is_speed(worse)) {
                    tally.unused(Part::Link, &worse.name, worse.at);
                }
            }
            Some(Meaning::Unit(quantity)) => drop(beside.insert(quantity, attribute)),
            Some(Meaning::Status) if attribute.is_of_no_link() => {
                tally.departs(Departure::NoLink, attribute.at);
            }
            // The Topology Zoo's other statuses are of links that exist.
            Some(Meaning::Status) if attribute.name.eq_ignore_ascii_case("LinkStatus") => {}
            Some(Meaning::Remark) => {}
            _ => tally.unused(Part::Link, &attribute.name, attribute.at),
        }
    }
    let mut value = |quantity| match best.remove(&quantity).and_then(Best::taken) {
        None => Ok(None),
        Some(attribute) => {
            let mut units = units;
            if let Some(unit) = beside.get(&quantity) {
                units.set(quantity, unit_of(quantity, unit)?);
            }
            measure(quantity, &attribute, units, tally).map(Some)
        }
    };
    // Files say 0 for "not known".
    let rate = value(Quantity::Rate)?;
    let is_rate_assumed = rate.is_some_and(|(_, is_assumed)| is_assumed);
    let rate = rate.map(|(bps, _)| rate_of(bps)).filter(|rate| *rate != Rate::ZERO);
    let delay = value(Quantity::Delay)?.map(|(secs, _)| Duration::from_secs_f64(secs));
    let length_km = value(Quantity::Length)?.map(|(km, _)| km);
    let label = label.taken();
    if let (Some(label), None) = (&label, rate)
        && read_like_rates(&label.value)
    {
        tally.departs(Departure::RateAsLabel, label.at);
    }
    let label = label.map(|label| label.value.into_owned());
    Ok(LinkFacts { rate, is_rate_assumed, delay, length_km, label })
}

fn is_speed(attribute: &Attribute<'_>) -> bool {
    attribute.name.eq_ignore_ascii_case("LinkSpeed")
}

/// Reads the attributes of the graph itself: its name, and units of quantities in `units`.
pub(crate) fn of_graph<'a>(
    attributes: Vec<Attribute<'a>>,
    units: &mut Units,
    tally: &mut Tally<'a>,
) -> Result<Option<String>, InputError> {
    let mut name = Best::default();
    for attribute in attributes {
        if attribute.says_nothing() {
            continue;
        }
        match meaning_of(Part::Graph, &attribute) {
            Some(Meaning::Label(rank)) => drop(name.offer(rank, attribute)),
            Some(Meaning::Unit(quantity)) => {
                units.set(quantity, unit_of(quantity, &attribute)?);
            }
            Some(Meaning::Remark) => {}
            _ => tally.unused(Part::Graph, &attribute.name, attribute.at),
        }
    }
    Ok(name.taken().map(|name| name.value.into_owned()))
}

/// A rate that a demand or a module states.
pub(crate) fn rate<'a>(
    attribute: &Attribute<'a>,
    units: Units,
    tally: &mut Tally<'a>,
) -> Result<Option<Rate>, InputError> {
    let rate = rate_of(measure(Quantity::Rate, attribute, units, tally)?.0);
    Ok(Some(rate).filter(|rate| *rate != Rate::ZERO))
}

fn rate_of(bps: f64) -> Rate {
    Rate::from_bps((bps + 0.5) as u64)
}

/// A quantity in bit/s, seconds or km, and whether its unit is assumed.
fn measure<'a>(
    quantity: Quantity,
    attribute: &Attribute<'a>,
    units: Units,
    tally: &mut Tally<'a>,
) -> Result<(f64, bool), InputError> {
    let (usual, usual_size) = quantity.usual();
    let named = match meaning(Part::Link, &attribute.name) {
        Some(Meaning::Quantity { unit, .. }) => unit,
        _ => None,
    };
    let known = named.or(units.of(quantity));
    let (most, limit) = quantity.most();
    let value = attribute.split().and_then(|(number, unit)| {
        let size = if unit.is_empty() { known.or(Some(usual_size)) } else { quantity.unit(unit) };
        Some((number * size?, unit.is_empty() && known.is_none()))
    });
    match value.filter(|(value, _)| (0.0..=most).contains(value)) {
        Some((value, is_assumed)) => {
            if is_assumed {
                tally.assumed(quantity, &attribute.name, attribute.at, value);
            }
            Ok((value, is_assumed))
        }
        None => {
            let unit = match known {
                Some(1.0) if quantity == Quantity::Rate => "bit/s",
                _ => usual,
            };
            let allowed = format!("a number of {unit}, or one with its unit; 0 or more{limit}");
            Err(attribute.error(allowed, "correct the number, or leave it out"))
        }
    }
}

fn unit_of(quantity: Quantity, attribute: &Attribute<'_>) -> Result<f64, InputError> {
    let text = attribute.value.trim();
    quantity.unit(text).ok_or_else(|| {
        let allowed = match quantity {
            Quantity::Rate => "bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s (also MBITPERSEC, Mbps, G)",
            Quantity::Delay => "s, ms, us or ns",
            Quantity::Length => "km, m or miles",
        };
        attribute.error(allowed, "convert the numbers, and name their unit")
    })
}

fn degrees(attribute: &Attribute<'_>) -> Result<f64, InputError> {
    crate::location::finite(&attribute.value).ok_or_else(|| {
        attribute.error("a number of degrees", "correct the number, or leave the coordinates out")
    })
}

fn flag(attribute: &Attribute<'_>) -> Result<bool, InputError> {
    match attribute.value.trim() {
        "0" | "0.0" | "false" | "False" => Ok(false),
        "1" | "1.0" | "true" | "True" => Ok(true),
        _ => Err(attribute.error(
            "1 (a node of this network) or 0 (a neighbour's)",
            "correct the flag, or leave it out",
        )),
    }
}

fn meaning_of(part: Part, attribute: &Attribute<'_>) -> Option<Meaning> {
    let found = meaning(part, &attribute.name);
    found.filter(|found| !attribute.is_compound || *found == Meaning::Remark)
}

/// The attribute of the lowest rank so far.
#[derive(Default)]
struct Best<'a>(Option<(usize, Attribute<'a>)>);

impl<'a> Best<'a> {
    /// Offers an attribute; returns the one that lost.
    fn offer(&mut self, rank: usize, attribute: Attribute<'a>) -> Option<Attribute<'a>> {
        match &self.0 {
            Some((best, _)) if *best <= rank => Some(attribute),
            _ => self.0.replace((rank, attribute)).map(|(_, worse)| worse),
        }
    }

    fn taken(self) -> Option<Attribute<'a>> {
        self.0.map(|(_, attribute)| attribute)
    }
}
