//! `[[flow]]`: listed flows.

use ratewire_laws::trust::Lie;
use ratewire_net::spec::NodeId;
use ratewire_sim::setup::FlowSpec;
use ratewire_transport::{App, PauseAfter, Reader, TransportConfig, Writer};
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::{Senders, programs};
use crate::context::Context;
use crate::diagnostic::Span;
use crate::document::{Entry, Item, Value};
use crate::section::Section;
use crate::traffic::starts::{RandomStart, Starts};
use crate::transport;

/// Most listed flows.
const MOST: usize = 100_000;

/// Reads all `[[flow]]` tables.
pub(crate) fn read(root: &Section<'_>, senders: &mut Senders<'_>) -> Vec<FlowSpec> {
    let mut flows = Vec::new();
    for section in root.sections("flow", &["flow"]) {
        one(&section, senders, &mut flows);
        section.finish();
    }
    flows
}

fn one(section: &Section<'_>, senders: &mut Senders<'_>, flows: &mut Vec<FlowSpec>) {
    let context = section.context;
    let (from, to) = (section.text("from"), section.text("to"));
    let name = section.name("a flow");
    let starts = Starts::read(section);
    let stop = section.time("stop");
    let count = section.count_or("count") as usize;
    programs::refuse_lone_keys(section);
    let law = senders.laws.read_use(section, senders.defaults);
    let config = section
        .section("transport")
        .map_or_else(|| senders.transport.clone(), |own| transport::read(&own, senders.transport));
    let app = app(section, &config, senders.duration);
    let lie = lie(section);
    let (latest, is_random) = starts.latest();
    if let Some(stop) = stop
        && stop.value <= latest
    {
        let may = if is_random { "may start" } else { "starts" };
        let message = format!("a flow that {may} at {latest} cannot stop at {}", stop.value);
        context.error(stop.span, message).help("`stop` must be later than `start`");
    }
    let (Some(from), Some(to)) = (from, to) else { return };
    let pairs = senders.pairs(context, from, to);
    let pairs = senders.without_exceptions(section, pairs, |pair| *pair);
    if pairs.len().saturating_mul(count) + flows.len() > MOST {
        context
            .error(section.span, format!("more than {MOST} flows"))
            .help("a class of arriving flows, [[traffic]], may be as large as you like");
        return;
    }
    let many = pairs.len() * count > 1;
    warn_of_vain_stagger(section, senders, pairs.len() * count);
    if !pairs.is_empty() && !senders.net.is_guess {
        starts.check_count(section, pairs.len() * count);
    }
    let law = senders.uses.index(law);
    let mut number = 0;
    for (a, b) in pairs {
        if a == b {
            let node = &senders.net.nodes[a].name;
            context
                .error(from.span, format!("a flow from {node:?} to itself"))
                .help("name two different nodes");
            continue;
        }
        senders.check_route(context, (a, b), from.span);
        for _ in 0..count {
            let name = match name {
                Some(name) if many => format!("{}.{}", name.value, number + 1),
                Some(name) => name.value.to_string(),
                None => unused(senders, a, b),
            };
            senders.take_name(context, &name, section.span);
            let (first, last, later) = starts.of(number);
            let start = Time::ZERO + first;
            if last >= senders.duration {
                let never = first >= senders.duration;
                let never = if never { "never starts" } else { "may not start" };
                context
                    .warning(section.span, format!("the flow {name:?} {never}"))
                    .of_end()
                    .help(format!("the run ends at {}", senders.duration));
            }
            if first < last {
                senders
                    .starts
                    .push(RandomStart { flow: flows.len(), most: last.saturating_sub(first) });
            }
            let flow = FlowSpec {
                name,
                from: NodeId(a as u32),
                to: NodeId(b as u32),
                law,
                start,
                stop: stop.map(|stop| Time::ZERO + stop.value + later),
                app: app.clone(),
                transport: config.clone(),
                lie,
            };
            let program = programs::of_flow(section, &flow, flows.len(), many);
            senders.programs.extend(program);
            flows.push(flow);
            number += 1;
        }
    }
}

fn warn_of_vain_stagger(section: &Section<'_>, senders: &Senders<'_>, flows: usize) {
    if let Some(entry) = section.get("stagger")
        && !section.time_or("stagger").is_zero()
        && flows == 1
        && !senders.net.is_guess
    {
        section
            .context
            .warning(entry.key_span, "`stagger` means nothing here: there is a single flow")
            .help("it is between the flows of one table, made by `count` or `*`; see `start`");
    }
}

/// The next unused name among `a->b`, `a->b#2`, `a->b#3` ...
fn unused(senders: &mut Senders<'_>, a: usize, b: usize) -> String {
    let arrow = format!("{}->{}", senders.net.nodes[a].name, senders.net.nodes[b].name);
    loop {
        let count = senders.arrows.entry((a, b)).or_insert(0);
        *count += 1;
        let name = if *count == 1 { arrow.clone() } else { format!("{arrow}#{count}") };
        if !senders.names.contains_key(&name) {
            return name;
        }
    }
}

fn lie(section: &Section<'_>) -> Option<Lie> {
    let before = section.context.errors();
    let inner = section.section("lie")?;
    let lie = Lie {
        rtt: inner.number_or("rtt"),
        throughput: inner.number_or("throughput"),
        ignore_feedback: inner.switch_or("ignore_feedback"),
        inflate: inner.number_or("inflate"),
    };
    inner.finish();
    if lie == Lie::default() && inner.context.errors() == before {
        inner
            .context
            .warning(inner.span, "`lie` changes nothing: the hosts are honest")
            .help("for example { rtt = 0.1 }, or leave it out");
    }
    Some(lie)
}

/// Reads `size`, `app`, `reader` and `frame`.
pub(crate) fn app(section: &Section<'_>, config: &TransportConfig, duration: Duration) -> App {
    let context = section.context;
    let payload = transport::payload(config);
    let size = section.size("size").map(|at| at.map(|size| size.bytes(payload)));
    let frame = section.size("frame").map(|at| at.map(|size| size.bytes(payload)));
    for (given, what) in [(size, "size"), (frame, "frame")] {
        if let Some(given) = given
            && given.value == Bytes::ZERO
        {
            context
                .error(given.span, format!("`{what}` cannot be nothing"))
                .help("allowed: at least 1 B");
        }
    }
    if let (Some(entry), Some(_)) = (section.get("app"), size)
        && matches!(&entry.item.value, Value::Table(table) if table.entries.len() == 1)
    {
        context
            .error(entry.key_span, "`app` and `size` exclude each other")
            .help("an application writes as it does, `size` writes once");
    }
    let frame = frame.map(|at| at.value);
    let frame_payload = frame.unwrap_or(payload);
    let written = section
        .or_default("app", |entry| writer(section, &entry.item, payload, frame_payload, duration));
    let writer = match (written, size) {
        (Writer::Unlimited, Some(size)) => Writer::Sized(size.value),
        (writer, _) => writer,
    };
    let reader = section.or_default("reader", |entry| reader(section, entry, duration));
    App { writer, reader, frame }
}

/// Reads `app`; `frame` is the payload of a frame.
fn writer(
    section: &Section<'_>,
    item: &Item,
    payload: Bytes,
    frame: Bytes,
    duration: Duration,
) -> Option<Writer> {
    let context = section.context;
    let inner = match &item.value {
        Value::Text(text) if text == "unlimited" => return Some(Writer::Unlimited),
        Value::Table(table) if table.entries.len() == 1 => &table.entries[0],
        _ => {
            section.refuse("app", item);
            return None;
        }
    };
    let known = ["on_off", "constant"];
    match (inner.key.as_str(), &inner.item.value) {
        ("on_off", Value::Table(table)) => {
            let s = Section::new(context, &["on_off"], "`on_off`", inner.key_span, table);
            on_off(&s, payload, duration)
        }
        ("constant", Value::Table(table)) => {
            let s = Section::new(context, &["constant"], "`constant`", inner.key_span, table);
            constant(&s, frame, duration)
        }
        (key, _) if known.contains(&key) => {
            section.refuse("app", &inner.item);
            None
        }
        (key, _) => {
            let message = format!("unknown key `{key}` in `app`");
            context.unknown(inner.key_span, message, key, known);
            None
        }
    }
}

/// Most writes of an application in a run; with more, a run would take hours or never end.
const MOST_WRITES: f64 = 1e10;

fn refuse_too_many_writes(
    context: &Context<'_>,
    at: Span,
    writes: f64,
    duration: Duration,
    remedy: &str,
) {
    if writes > MOST_WRITES {
        context
            .error(at, format!("it would write about {writes:.1e} times in {duration}"))
            .help(format!("allowed: up to {MOST_WRITES:.0e} times; {remedy}"));
    }
}

fn on_off(s: &Section<'_>, payload: Bytes, duration: Duration) -> Option<Writer> {
    let burst = s.size("burst");
    let pause = s.time("pause");
    let pause_after = match s.word_or("pause_after") {
        "written" => PauseAfter::Written,
        "sent" => PauseAfter::Sent,
        _ => PauseAfter::Acknowledged,
    };
    let count = s.count("count").map(|at| at.value);
    s.finish();
    let (burst, pause) = (burst?, pause?);
    let size = burst.value.bytes(payload);
    if size == Bytes::ZERO {
        s.context.error(burst.span, "a burst of nothing").help("allowed: at least 1 B");
        return None;
    }
    if pause.value.is_zero() && pause_after == PauseAfter::Written {
        s.context
            .error(pause.span, "bursts without a pause never let time pass")
            .help("use `app = \"unlimited\"`, or a pause above 0");
        return None;
    }
    if pause_after == PauseAfter::Written {
        // With the other kinds of pause, the next burst waits for the network to take the last one.
        let bursts = duration.secs() / pause.value.secs();
        let bursts = bursts.min(count.map_or(f64::INFINITY, |count| count as f64));
        refuse_too_many_writes(s.context, pause.span, bursts, duration, "pause for longer");
    }
    Some(Writer::OnOff { burst: size, pause: pause.value, pause_after, count })
}

fn constant(s: &Section<'_>, frame: Bytes, duration: Duration) -> Option<Writer> {
    let rate = s.rate("rate");
    s.finish();
    let rate = rate?;
    if rate.value == Rate::ZERO {
        s.context.error(rate.span, "a rate of 0 writes nothing").help("allowed: above 0");
        return None;
    }
    let writes = rate.value.bps() as f64 / 8.0 / frame.as_f64().max(1.0) * duration.secs();
    let remedy = "a lower rate, or a larger `frame`";
    refuse_too_many_writes(s.context, rate.span, writes, duration, remedy);
    Some(Writer::Constant { rate: rate.value })
}

/// Reads `reader`, for a run of this duration.
pub(crate) fn reader(section: &Section<'_>, entry: &Entry, duration: Duration) -> Option<Reader> {
    let item = &entry.item;
    let table = match &item.value {
        Value::Text(text) if text == "immediate" => return Some(Reader::Immediate),
        Value::Table(table) => table,
        _ => {
            section.refuse("reader", item);
            return None;
        }
    };
    let own = Section::new(section.context, &["reader"], "`reader`", item.span, table);
    let paces = times(&own, "per_frame");
    let every = own.time("every");
    own.finish();
    match (paces?.as_slice(), every) {
        ([pace], None) => Some(Reader::Slow(*pace)),
        ([first, second], Some(every)) if !every.value.is_zero() => {
            if every.value >= duration {
                let message = "the reader's second speed is never its own: the first holds longer";
                let warning = section.context.warning(every.span, message).of_end();
                let _ = warning.help(format!("the run ends at {duration}"));
            }
            Some(Reader::Alternating { per_frame: [*first, *second], every: every.value })
        }
        _ => {
            section.context.error(item.span, "a reader has one speed, or two that alternate").help(
                "allowed: { per_frame = \"1 ms\" } or \
                 { per_frame = [\"1 ms\", \"2 ms\"], every = \"5 s\" }",
            );
            None
        }
    }
}

/// Reads one time or a list of times; `None` if one of them has an error.
fn times(section: &Section<'_>, key: &'static str) -> Option<Vec<Duration>> {
    let texts = section.texts(key)?;
    let mut times = Vec::new();
    for text in texts {
        match text.value.parse() {
            Ok(time) => times.push(time),
            Err(e) => {
                section.context.error(text.span, format!("`{key}`: {e}"));
                return None;
            }
        }
    }
    Some(times)
}
