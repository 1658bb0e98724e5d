//! Expectations that decide nothing, of which a user is warned.

use ratewire_units::Time;

use super::read::Named;
use super::{Bound, Expectation, MetricInfo};
use crate::diagnostic::{Diagnostic, Severity};
use crate::scenario::Scenario;
use crate::section::Section;

impl Scenario {
    /// Warns of expectations only of laws that it does not list: held against its own runs, they decide nothing.
    pub fn unheld(&self) -> Vec<Diagnostic> {
        let is_listed = |law: &String| self.laws.contains(law);
        let never = |e: &&Expectation| !e.laws.is_empty() && !e.laws.iter().any(is_listed);
        let warning = |e: &Expectation| {
            let message = format!(
                "the expectation of {} on line {} is held against no run: it is of {}",
                e.metric,
                e.line,
                e.laws.join(", ")
            );
            let help = Some(format!("`law` lists {}", self.laws.join(", ")));
            let severity = Severity::Warning;
            Diagnostic { severity, help, ..Diagnostic::general(&self.file, message) }
        };
        self.expectations.iter().filter(never).map(warning).collect()
    }
}

/// Warns of a bound that decides nothing.
pub(super) fn bound(section: &Section<'_>, info: &MetricInfo, bound: &Bound) {
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

/// Warns of flows that are to complete and never do.
pub(super) fn completion(section: &Section<'_>, named: &Named<'_>, chosen: &[usize]) {
    let end = Time::ZERO + named.duration;
    // What a switch sends ends with what comes to it.
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
