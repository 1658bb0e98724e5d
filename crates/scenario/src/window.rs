//! Parts of a run: `during` of the scenario and of expectations, and `warm_up`.

use ratewire_units::{Duration, Time};

use crate::document::At;
use crate::section::Section;

/// Times that must be multiples of the sampling interval, each with its description.
pub(crate) type Edges = Vec<(At<Duration>, &'static str)>;

/// A window is left out after its diagnostic was noted.
pub(crate) struct LeftOut;

/// Reads `during` of a table; `None` if it has none. An end that is left out is that of the run.
pub(crate) fn during(
    section: &Section<'_>,
    duration: Duration,
) -> Result<Option<At<(Duration, Duration)>>, LeftOut> {
    let context = section.context;
    let Some(text) = section.text("during") else { return Ok(None) };
    let end = |text: &str, own: Duration| match text.trim() {
        "" => Ok(own),
        text => text.parse::<Duration>(),
    };
    let times = text.value.split_once("..");
    let times = times.map(|(from, to)| (end(from, Duration::ZERO), end(to, duration)));
    let (from, to) = match times {
        Some((Ok(from), Ok(to))) => (from, to),
        Some((Err(e), _) | (_, Err(e))) => {
            context.error(text.span, format!("`during`: {e}")).help("for example \"5 s .. 30 s\"");
            return Err(LeftOut);
        }
        None => {
            context
                .error(text.span, format!("`during` cannot be {:?}", text.value))
                .help("allowed: two times such as \"5 s .. 30 s\"");
            return Err(LeftOut);
        }
    };
    if from >= duration && text.value.trim().ends_with("..") {
        context
            .error(text.span, format!("at {from} the run has ended"))
            .help(format!("its duration is {duration}"));
        return Err(LeftOut);
    }
    if from >= to {
        context
            .error(text.span, "`during` does not end after it begins")
            .help("for example \"5 s .. 30 s\"");
        return Err(LeftOut);
    }
    Ok(Some(text.map(|_| (from, to))))
}

/// The part of the run in which its figures are measured: `during`, or what follows `warm_up`.
/// `None` for the whole run.
///
/// Of the two keys, one that was set for this run replaces the other of the file; of two that were
/// set, `during` counts.
pub(crate) fn measured(
    root: &Section<'_>,
    duration: Duration,
    has_overlay: bool,
    edges: &mut Edges,
) -> Option<(Time, Time)> {
    let context = root.context;
    let (warm_up, during) = (root.time("warm_up"), during(root, duration).ok()?);
    let given = match (warm_up, during) {
        (Some(warm_up), Some(during)) if !warm_up.span.is_set() && !during.span.is_set() => {
            context
                .error(warm_up.span, "`warm_up` and `during` both say where figures are measured")
                .help("leave one of them out");
            return None;
        }
        (_, Some(during)) if during.span.is_set() || warm_up.is_none() => during,
        (Some(warm_up), _) if !warm_up.value.is_zero() => warm_up.map(|from| (from, duration)),
        _ => return None,
    };
    let (from, to) = given.value;
    if has_overlay {
        context
            .error(given.span, "figures of an overlay are of the whole run")
            .help("leave `warm_up` and `during` out; an [[expect]] can have a `during` of its own");
        return None;
    }
    if to > duration || from >= duration {
        let at = if to > duration { to } else { from };
        context
            .error(given.span, format!("at {at} the run has ended"))
            .help(format!("its duration is {duration}"));
        return None;
    }
    edges.push((given.map(|_| from), "the start of the measured part"));
    if to < duration {
        edges.push((given.map(|_| to), "the end of the measured part"));
    }
    Some((Time::ZERO + from, Time::ZERO + to))
}
