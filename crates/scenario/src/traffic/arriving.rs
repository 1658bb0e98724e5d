//! `[[traffic]]`: flows that arrive during the run.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{Arrivals, Sizes, TrafficSpec};
use ratewire_units::{Bytes, Duration, Time, quantity};

use super::between::Pairs;
use super::listed::{self, Within};
use super::load::{self, Load};
use super::{Senders, between, sizes};
use crate::section::Section;
use crate::transport;

/// Most flows of a class: some hundred bytes are kept for each.
const MOST_FLOWS: f64 = 1e7;

/// Reads all `[[traffic]]` tables: each class with the load it is meant to make.
pub(crate) fn read(
    root: &Section<'_>,
    senders: &mut Senders<'_>,
) -> (Vec<TrafficSpec>, Vec<Option<Load>>) {
    let mut list = Vec::new();
    for (i, section) in root.sections("traffic", &["traffic"]).iter().enumerate() {
        list.extend(one(section, senders, i));
        section.finish();
    }
    list.into_iter().unzip()
}

fn one(
    section: &Section<'_>,
    senders: &mut Senders<'_>,
    index: usize,
) -> Option<(TrafficSpec, Option<Load>)> {
    let context = section.context;
    let name = section.name("a class of traffic");
    let default = || if index == 0 { "traffic".into() } else { format!("traffic{}", index + 1) };
    let name_span = name.map_or(section.span, |name| name.span);
    let name: String = name.map_or_else(default, |name| name.value.to_string());
    senders.take_name(context, &name, name_span);
    let law = senders.laws.read_use(section, senders.defaults);
    let law = senders.uses.index(law);
    let config = section
        .section("transport")
        .map_or_else(|| senders.transport.clone(), |own| transport::read(&own, senders.transport));
    let payload = transport::payload(&config);
    let start = section.time_or("start");
    let stop = section.time("stop");
    let end = stop.map_or(senders.duration, |stop| stop.value);
    if end <= start {
        context
            .error(stop.map_or(section.span, |at| at.span), "no flow can arrive")
            .help(format!("arrivals start at {start} and stop at {end}"));
    } else if start >= senders.duration {
        context
            .warning(name_span, format!("the traffic {name:?} never starts"))
            .of_end()
            .help(format!("the run ends at {}", senders.duration));
    }
    let table = section.section("arrivals");
    // This holds even if the file cannot be read, which has its own error.
    let is_file =
        |table: &Section<'_>| table.has("file") && !table.has("poisson") && !table.has("every");
    let from_file = table.as_ref().is_some_and(is_file);
    let within = Within { start, stop: stop.map(|stop| stop.value) };
    let listed = table.map(|table| arrivals_of(&table, senders, within));
    let sizes = match section.section("sizes") {
        Some(table) => {
            let read = sizes::read(&table, payload);
            if from_file {
                context
                    .error(
                        table.span,
                        "`sizes` means nothing here: the file gives each flow's size",
                    )
                    .help("leave it out");
            }
            read
        }
        None if from_file => Some(Sizes::Fixed(Bytes::new(1))),
        None => {
            if section.has("arrivals") || section.has("load") {
                section.missing("sizes");
            }
            None
        }
    };
    let before = context.errors();
    let mut pairs = if from_file { Vec::new() } else { between::read(section, senders) };
    if senders.net.unreachable_help.is_some() && !from_file && between::are_all(section) {
        leave_out_unreachable(section, senders, &mut pairs);
    }
    for (a, b, _) in &pairs {
        // One missing route is enough for an error.
        if context.errors() == before {
            senders.check_route(context, (*a, *b), section.span);
        }
    }
    let fan_in = fan_in(section, senders, &pairs, from_file);
    if section.has("load") == section.has("arrivals") {
        let what = if section.has("load") { "both" } else { "neither" };
        context
            .error(
                section.span,
                format!("{} needs one of `arrivals` and `load` and has {what}", section.title),
            )
            .help("for example arrivals = { poisson = \"5 /s\" }");
    }
    let (arrivals, load) = match (listed, section.section("load")) {
        (Some(listed), _) => (listed, None),
        (None, Some(table)) => {
            let are_demands = between::are_demands(section);
            let (pairs, sizes, config) = (&pairs, sizes.as_ref(), &config);
            let flows = load::Flows { pairs, are_demands, sizes, config };
            load::read(&table, senders, &flows).unzip()
        }
        (None, None) => (None, None),
    };
    let within = end.min(senders.duration).saturating_sub(start);
    if let Some(arrivals) = &arrivals {
        refuse_too_many(section, arrivals, within, fan_in);
    }
    let node = |id: usize| NodeId(id as u32);
    let spec = TrafficSpec {
        name,
        pairs: pairs.into_iter().map(|(a, b, weight)| (node(a), node(b), weight)).collect(),
        arrivals: arrivals?,
        sizes: sizes?,
        fan_in,
        start: Time::ZERO + start,
        stop: Time::ZERO + end,
        law,
        transport: config,
    };
    Some((spec, load))
}

/// Reads how many senders start at once, and checks that each receiver has so many.
fn fan_in(
    section: &Section<'_>,
    senders: &Senders<'_>,
    pairs: &[(usize, usize, f64)],
    from_file: bool,
) -> u32 {
    let (fan_in, context) = (section.count_or("fan_in"), section.context);
    let span = section.get("fan_in").map_or(section.span, |entry| entry.item.span);
    if fan_in > 1 && (from_file || section.has("load")) {
        let what = if from_file { "the file lists each flow" } else { "`load` is of single flows" };
        context
            .error(span, format!("`fan_in` means nothing here: {what}"))
            .help("give `arrivals` as poisson or every");
        return 1;
    }
    let mut to_each: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (from, to, weight) in pairs {
        if *weight > 0.0 {
            to_each.entry(*to).or_default().insert(*from);
        }
    }
    let fewest = to_each.iter().min_by_key(|(_, from)| from.len());
    if let Some((to, from)) = fewest
        && (from.len() as u64) < fan_in
    {
        let name = &senders.net.nodes[*to].name;
        context
            .error(span, format!("{name:?} has {} senders, not {}", from.len(), fan_in))
            .help("lower `fan_in`, or leave out of `between` what has fewer senders");
        return 1;
    }
    fan_in as u32
}

fn refuse_too_many(section: &Section<'_>, arrivals: &Arrivals, within: Duration, fan_in: u32) {
    let times = match arrivals {
        Arrivals::Poisson(per_second) => per_second * within.secs(),
        Arrivals::Periodic(interval) => within.secs() / interval.secs(),
        Arrivals::Listed(_) => return,
    };
    let flows = times * f64::from(fan_in);
    if flows > MOST_FLOWS {
        let key = section.get("arrivals").or_else(|| section.get("load"));
        section
            .context
            .error(
                key.map_or(section.span, |entry| entry.item.span),
                format!("about {flows:.1e} flows would arrive in {within}"),
            )
            .help(format!(
                "allowed: up to {MOST_FLOWS:.0e}; let fewer arrive a second, or `stop` sooner"
            ));
    }
}

fn arrivals_of(
    section: &Section<'_>,
    senders: &mut Senders<'_>,
    within: Within,
) -> Option<Arrivals> {
    let context = section.context;
    let choice = section.only(&["poisson", "every", "file"]);
    let poisson = section.text("poisson");
    let every = section.time("every");
    let file = section.text("file");
    section.finish();
    match choice? {
        "poisson" => {
            let text = poisson?;
            match per_second(text.value) {
                Some(rate) => Some(Arrivals::Poisson(rate)),
                None => {
                    context
                        .error(text.span, format!("`poisson` cannot be {:?}", text.value))
                        .help("allowed: a number above 0 of flows a second such as \"5 /s\"; also /ms, /min, /h");
                    None
                }
            }
        }
        "every" => {
            let time = every?;
            if time.value.is_zero() {
                context.error(time.span, "flows cannot arrive every 0 s").help("allowed: above 0");
                return None;
            }
            Some(Arrivals::Periodic(time.value))
        }
        _ => listed::read(context, senders, file?, within),
    }
}

/// Reads a rate such as `"5 /s"`.
fn per_second(text: &str) -> Option<f64> {
    let (number, unit) = quantity::split(text).ok()?;
    let seconds = match unit.strip_prefix('/')?.trim_start() {
        "s" => 1.0,
        "ms" => 1e-3,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let rate = number / seconds;
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

/// Leaves out pairs that no path joins, in a graph from a file, with a warning. If none is left,
/// all are kept for the error.
fn leave_out_unreachable(section: &Section<'_>, senders: &mut Senders<'_>, pairs: &mut Pairs) {
    let joined: Vec<bool> =
        pairs.iter().map(|(a, b, _)| senders.no_route((*a, *b)).is_none()).collect();
    let Some(first) = joined.iter().position(|joined| !joined) else { return };
    if !joined.contains(&true) {
        return;
    }
    let name = |node: usize| senders.net.nodes[node].name.as_str();
    let count = joined.iter().filter(|joined| !**joined).count();
    let message = format!(
        "{count} of {} pairs of {} are left out: no path joins {:?} and {:?} both ways",
        pairs.len(),
        section.title,
        name(pairs[first].0),
        name(pairs[first].1)
    );
    let help = senders.net.unreachable_help.unwrap_or_default();
    section.context.warning(section.span, message).help(help);
    let mut joined = joined.into_iter();
    pairs.retain(|_| joined.next().unwrap_or(true));
}
