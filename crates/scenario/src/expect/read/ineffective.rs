//! Warnings about expectations that decide nothing.

use std::collections::BTreeSet;

use ratewire_transport::ReceiveWindow;
use ratewire_units::{Duration, Time};

use super::Named;
use crate::context::Added;
use crate::expect::metrics::MetricInfo;
use crate::expect::{AllowedRange, Measure};
use crate::network::Link;
use crate::section::Section;

/// Warns of a bound that every value or no value meets.
pub(super) fn bound(section: &Section<'_>, info: &MetricInfo, bound: &AllowedRange) {
    let (least, most) = info.range();
    let key = ["equals", "min", "max"].into_iter().find_map(|key| section.get(key));
    let span = key.map_or(section.span, |entry| entry.item.span);
    let (min, max) = (bound.min.unwrap_or(f64::NEG_INFINITY), bound.max.unwrap_or(f64::INFINITY));
    let message = if min <= least && max >= most {
        format!("this expectation of {} cannot fail", info.name)
    } else if min > most || max < least {
        format!("this expectation of {} cannot hold", info.name)
    } else {
        return;
    };
    let help = if most.is_finite() {
        format!("it is from {} to {}", bound.unit.show(least), bound.unit.show(most))
    } else {
        format!("it is never below {}", bound.unit.show(least))
    };
    section.context.warning(span, message).help(help);
}

/// Warns of a bound for emulated runs of what only the simulator measures.
pub(super) fn emulated(section: &Section<'_>, measure: &Measure) {
    let Some(entry) = section.get("emulated").filter(|_| !measure.is_emulated()) else { return };
    section
        .context
        .warning(entry.item.span, "`emulated` has no effect: no emulated run measures this")
        .help("it needs single packets, which only the simulator sees; leave `emulated` out");
}

/// Warns of flows that are expected to complete and never do.
pub(super) fn completion(section: &Section<'_>, named: &Named<'_>, chosen: &[usize]) {
    let end = Time::ZERO + named.duration;
    // A switch stops sending when its input does.
    let writers = chosen.iter().filter(|id| !named.ensembles.begins_at_switch(**id));
    let endless = writers
        .map(|id| &named.flows[*id])
        .filter(|flow| flow.app.writer.is_endless())
        .find(|flow| flow.stop.is_none_or(|stop| stop >= end));
    let Some(flow) = endless else { return };
    let name = &flow.name;
    match flow.stop {
        None => section
            .context
            .warning(section.span, format!("{name:?} never completes: it has no end"))
            .help("give the flow a `size`, or a time to `stop`"),
        Some(_) => section
            .context
            .warning(
                section.span,
                format!("{name:?} does not complete: it stops when the run does"),
            )
            .of_end()
            .help("let it `stop` sooner, or run for longer"),
    };
}

/// Warns of a metric whose value is known, or cannot exist, before anything has run.
pub(super) fn known(
    section: &Section<'_>,
    named: &Named<'_>,
    info: &MetricInfo,
    measure: &Measure,
    during: Option<(Time, Time)>,
) {
    if named.incomplete {
        return;
    }
    let has_warned = times(section, named, measure, during);
    if let Some((value, help)) = always(named, info, measure).filter(|_| !has_warned) {
        let message = format!("{} is always {value} here", info.name);
        section.context.warning(section.span, message).help(help);
    }
}

/// The value that a metric always has, and why.
fn always(named: &Named<'_>, info: &MetricInfo, measure: &Measure) -> Option<(u8, &'static str)> {
    let mut links = match measure.link {
        Some(id) => named.net.links[id..=id].iter(),
        None => named.net.links.iter(),
    };
    let mut flows = measure.flows.iter().map(|id| &named.flows[*id]);
    let is_paused = |link: &Link| named.net.pause(link).is_some();
    let is_policed = |link: &Link| named.net.police(link).is_some();
    let is_unlimited =
        |window| matches!(window, ReceiveWindow::Fixed(size) if size >= ReceiveWindow::UNLIMITED);
    match info.name {
        "pauses" | "paused" | "overflows" | "deadlock" if !links.any(is_paused) => {
            Some((0, "`pause` of a link says that its far end pauses it"))
        }
        "clamps" if !named.net.links.iter().any(is_policed) => {
            Some((0, "`police` of a link says that senders are policed there"))
        }
        "refused" if flows.all(|flow| is_unlimited(flow.transport.receive_window)) => Some((
            0,
            "`receive_window` of [transport] or of a flow says how large its receiver's buffer is",
        )),
        "share" | "ratio" if are_same(&measure.flows, &measure.of) => {
            Some((1, "`flow` and `of` are the same flows: name some of them"))
        }
        "jain" if measure.flows.len() == 1 => Some((1, "the index compares several flows")),
        _ => None,
    }
}

fn are_same(some: &[usize], others: &[usize]) -> bool {
    let set = |flows: &[usize]| flows.iter().copied().collect::<BTreeSet<usize>>();
    set(some) == set(others)
}

/// Warns of windows in which nothing can be measured; returns whether it warned.
fn times(
    section: &Section<'_>,
    named: &Named<'_>,
    measure: &Measure,
    during: Option<(Time, Time)>,
) -> bool {
    let context = section.context;
    let mut has_warned = false;
    let (from, to) = during.unwrap_or((Time::ZERO, Time::ZERO + named.duration));
    let length = to.since(from);
    let mut too_long = |key, message: String| {
        has_warned = true;
        let span = section.get(key).map_or(section.span, |entry| entry.item.span);
        let warning = context.warning(span, message).help(format!("that is {length}"));
        let _ = if during.is_none() { Added::of_end(warning) } else { warning };
    };
    if measure.average > length {
        let average = measure.average;
        too_long("average", format!("an average over {average} is longer than what is measured"));
    }
    let mut starts: Vec<Time> = measure.flows.iter().map(|id| named.flows[*id].start).collect();
    starts.sort_unstable();
    if let Some(reference) = &measure.reference
        && end_of_skipping(&starts, from, reference.skip) >= to
    {
        let each = if starts.len() > 1 { "after each start " } else { "" };
        too_long("skip", format!("to skip {} {each}leaves nothing to measure", reference.skip));
    }
    if let (Some(first), Some(_)) = (starts.first(), during)
        && *first >= to
        && let Some(entry) = section.get("during")
    {
        has_warned = true;
        context
            .warning(entry.item.span, "this ends before any of these flows starts")
            .help(format!("the first starts at {}", first.since(Time::ZERO)));
    }
    has_warned
}

/// End of the skipped time from `from` on, if `skip` follows each of `starts` (in ascending order).
fn end_of_skipping(starts: &[Time], from: Time, skip: Duration) -> Time {
    starts.iter().fold(
        from,
        |until, start| {
            if *start <= until { until.max(*start + skip) } else { until }
        },
    )
}
