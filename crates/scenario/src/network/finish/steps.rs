//! Traces that become changes of links.

use ratewire_net::spec::{Change, LinkId};
use ratewire_units::{Duration, Time};

use super::MOST_STEPS;
use crate::context::Context;
use crate::diagnostic::Span;

/// A trace of rates or delays, repeating.
pub(super) struct Steps<'t, T> {
    /// When each step starts, and its value.
    pub steps: &'t [(Duration, T)],
    pub period: Duration,
    /// The value of the link before any change.
    pub first: T,
}

impl<T: Copy + PartialEq> Steps<'_, T> {
    /// The changes of a link in a run of this duration. Notes an error at the trace if there are
    /// too many.
    pub fn changes(
        &self,
        context: &Context<'_>,
        span: Span,
        link: usize,
        duration: Duration,
        change: impl Fn(T) -> Change,
    ) -> Vec<(Time, LinkId, Change)> {
        let count = duration.ps() / self.period.ps().max(1) + 1;
        if count.saturating_mul(self.steps.len() as u64) > MOST_STEPS {
            context
                .error(span, "this trace changes the link more than a million times")
                .help("shorten the run, or use a trace with longer steps");
            return Vec::new();
        }
        let mut changes = Vec::new();
        let (mut from, mut value) = (Duration::ZERO, self.first);
        while from < duration {
            for (start, next) in self.steps {
                let at = from + *start;
                if at < duration && *next != value {
                    value = *next;
                    changes.push((Time::ZERO + at, LinkId(link as u32), change(value)));
                }
            }
            from += self.period;
        }
        changes
    }
}
