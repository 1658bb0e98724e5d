//! Applications at the ends of flows: what they write, and how fast they read.

use ratewire_transport::{
    App, PauseAfter, Phase, Reader, Spread, TransportConfig, Varying, Writer,
};
use ratewire_units::{Bytes, Duration, Rate};

use crate::context::Context;
use crate::diagnostic::Span;
use crate::document::{At, Entry, Item, Table, Value};
use crate::section::Section;
use crate::transport;

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
    let sizes = Sizes { payload, frame: frame.unwrap_or(payload) };
    let written = section.or_default("app", |entry| writer(section, &entry.item, sizes, duration));
    let writer = match (written, size) {
        (Writer::Unlimited, Some(size)) => Writer::Sized(size.value),
        (writer, _) => writer,
    };
    let reader = section.or_default("reader", |entry| reader(section, entry, duration));
    App { writer, reader, frame, ..App::unlimited() }
}

/// What the readers of an application must know.
#[derive(Clone, Copy)]
struct Sizes {
    /// Payload of a packet, the unit of sizes in packets.
    payload: Bytes,
    /// Payload of a frame.
    frame: Bytes,
}

/// Reads `app`, for a run, or a phase, of this duration.
fn writer(section: &Section<'_>, item: &Item, sizes: Sizes, duration: Duration) -> Option<Writer> {
    let context = section.context;
    let inner = match &item.value {
        Value::Text(text) if text == "unlimited" => return Some(Writer::Unlimited),
        Value::Table(table) if table.entries.len() == 1 => &table.entries[0],
        _ => {
            section.refuse("app", item);
            return None;
        }
    };
    let known = ["on_off", "constant", "phases"];
    match (inner.key.as_str(), &inner.item.value) {
        ("on_off", Value::Table(table)) => {
            let s = Section::new(context, &["on_off"], "`on_off`", inner.key_span, table);
            on_off(&s, sizes.payload, duration)
        }
        ("constant", Value::Table(table)) => {
            let s = Section::new(context, &["constant"], "`constant`", inner.key_span, table);
            constant(&s, sizes.frame, duration)
        }
        ("phases", Value::List(items)) => phases(section, inner.key_span, items, sizes, duration),
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

/// Most phases of an application.
const MOST_PHASES: usize = 100;

fn phases(
    section: &Section<'_>,
    span: Span,
    items: &[Item],
    sizes: Sizes,
    duration: Duration,
) -> Option<Writer> {
    let context = section.context;
    if !(1..=MOST_PHASES).contains(&items.len()) {
        let example = "phases = [{ app = \"silent\", lasts = \"2 s\" }, { app = \"unlimited\" }]";
        context
            .error(span, format!("`phases` cannot have {} entries", items.len()))
            .help(format!("allowed: 1 to {MOST_PHASES}, for example {example}"));
        return None;
    }
    let mut list = Vec::new();
    let mut begins = Duration::ZERO;
    for (i, item) in items.iter().enumerate() {
        let Value::Table(table) = &item.value else {
            section.refuse("app", item);
            return None;
        };
        let title = format!("phase {} of `app`", i + 1);
        let s = Section::new(context, &["phase"], title, item.span, table);
        if i > 0 && begins >= duration {
            context
                .warning(item.span, format!("{} never begins", s.title))
                .of_end()
                .help(format!("the phases before it last {begins}, the run {duration}"));
        }
        let phase = phase(&s, i + 1 == items.len(), sizes, duration.saturating_sub(begins))?;
        s.finish();
        begins += phase.lasts;
        list.push(phase);
    }
    Some(Writer::Phases(list))
}

fn phase(s: &Section<'_>, is_last: bool, sizes: Sizes, left: Duration) -> Option<Phase> {
    let context = s.context;
    let lasts = s.time("lasts");
    if let Some(lasts) = lasts
        && lasts.value.is_zero()
    {
        context.error(lasts.span, "a phase cannot last 0 s").help("allowed: above 0");
        return None;
    }
    let size = s.size("size").map(|at| at.map(|size| size.bytes(sizes.payload)));
    if let (Some(size), Some(app)) = (size, s.get("app")) {
        context
            .error(size.span, "`size` and `app` exclude each other")
            .help(format!("line {} has the `app`", context.line(app.key_span)));
        return None;
    }
    if let Some(size) = size.filter(|size| size.value == Bytes::ZERO) {
        context.error(size.span, "`size` cannot be nothing").help("allowed: at least 1 B");
        return None;
    }
    if lasts.is_none() && !is_last {
        if !s.has("lasts") {
            context
                .error(s.span, format!("{} has no end, and another follows", s.title))
                .help("say how long it `lasts`, for example \"5 s\"");
        }
        return None;
    }
    let lasts = lasts.map_or(Duration::MAX, |at| at.value);
    let writer = s.or_default("app", |entry| match &entry.item.value {
        Value::Text(text) if text == "silent" => Some(Writer::Constant { rate: Rate::ZERO }),
        Value::Table(table) if table.get("phases").is_some() => {
            context
                .error(entry.item.span, "phases cannot stand in a phase")
                .help("list them one after the other");
            None
        }
        _ => writer(s, &entry.item, sizes, lasts.min(left)),
    });
    let writer = size.map_or(writer, |size| Writer::Sized(size.value));
    Some(Phase { writer, lasts })
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
    let burst = s.given("burst", |entry| match &entry.item.value {
        Value::Table(table) => {
            random(s.context, &["random_burst"], entry, table, |section, key| {
                Some(section.size(key)?.map(|size| size.bytes(payload)))
            })
        }
        _ => Some(Varying::from(s.size_of("burst", &entry.item)?.bytes(payload))),
    });
    let pause = s.given("pause", |entry| match &entry.item.value {
        Value::Table(table) => {
            random(s.context, &["random_pause"], entry, table, |section, key| section.time(key))
        }
        _ => s.time_of("pause", &entry.item).map(Varying::from),
    });
    let pause_after = match s.word_or("pause_after") {
        "written" => PauseAfter::Written,
        "sent" => PauseAfter::Sent,
        _ => PauseAfter::Acknowledged,
    };
    let count = s.count("count").map(|at| at.value);
    s.finish();
    let (burst, pause) = (burst?, pause?);
    if burst.value.mean == Bytes::ZERO {
        s.context.error(burst.span, "a burst of nothing").help("allowed: at least 1 B");
        return None;
    }
    if pause.value.mean.is_zero() && pause_after == PauseAfter::Written {
        s.context
            .error(pause.span, "bursts without a pause never let time pass")
            .help("use `app = \"unlimited\"`, or a pause above 0");
        return None;
    }
    if pause_after == PauseAfter::Written {
        // With the other kinds of pause, the next burst waits for the network to take the last one.
        let mean = pause.value.mean.secs();
        let pause_length = match pause.value.spread {
            // With a heavy tail, most pauses are about as long as the least one.
            spread @ Spread::Pareto(_) => spread.at(mean, 0.0),
            Spread::None | Spread::Exponential => mean,
        };
        let bursts = duration.secs() / pause_length;
        let bursts = bursts.min(count.map_or(f64::INFINITY, |count| count as f64));
        refuse_too_many_writes(s.context, pause.span, bursts, duration, "pause for longer");
    }
    Some(Writer::OnOff { burst: burst.value, pause: pause.value, pause_after, count })
}

/// Reads an amount that is drawn anew each time: `{ exponential = MEAN }` or `{ pareto = { shape,
/// mean } }`, whose means `mean` reads.
fn random<'a, T>(
    context: &'a Context<'a>,
    tables: &'static [&'static str],
    entry: &'a Entry,
    table: &'a Table,
    mean: impl Fn(&Section<'a>, &'static str) -> Option<At<T>>,
) -> Option<Varying<T>> {
    let s = Section::new(context, tables, format!("`{}`", entry.key), entry.key_span, table);
    let found = match s.only(&["exponential", "pareto"]) {
        Some("pareto") => s.section("pareto").and_then(|pareto| {
            let (shape, mean) = (pareto.number("shape"), mean(&pareto, "mean"));
            pareto.finish();
            Some(Varying { mean: mean?.value, spread: Spread::Pareto(shape?.value) })
        }),
        Some(key) => {
            debug_assert_eq!(key, "exponential");
            let mean = mean(&s, "exponential");
            mean.map(|mean| Varying { mean: mean.value, spread: Spread::Exponential })
        }
        None => None,
    };
    // Every key is marked as read, also for the test that compares keys with reads.
    for key in ["exponential", "pareto"] {
        let _ = s.get(key);
    }
    s.finish();
    found
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
