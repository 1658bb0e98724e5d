//! Rates, delays and queues of links that give none.

use std::collections::BTreeMap;

use ratewire_units::{Duration, Rate};

use crate::context::Context;
use crate::diagnostic::Span;
use crate::document::At;

use super::Net;
use super::properties::queue::Queue;

impl Net {
    /// Fills in defaults of properties; notes errors where there is no default.
    pub fn complete(&mut self, context: &Context<'_>) {
        let known = self.links.iter().filter(|link| !link.access);
        let rates = known.filter_map(|link| link.properties.mean_rate());
        // A link that sends nothing says nothing about those of the hosts.
        let fastest = rates.filter(|rate| *rate > Rate::ZERO).max();
        let access = Rate::from_bps(fastest.map_or(10_000_000_000, |r| r.bps().saturating_mul(10)));
        let mut lacking: BTreeMap<_, Lacking<'_>> = BTreeMap::new();
        for link in &mut self.links {
            let span = link.span;
            let properties = &mut link.properties;
            if link.access {
                if properties.mean_rate().is_none() {
                    properties.rate = Some(At { value: access, span });
                }
                properties.delay.get_or_insert(At { value: Duration::ZERO, span });
                if self.nodes[link.from].is_host {
                    properties.queue.get_or_insert(At { value: Queue::Unlimited, span });
                }
            }
            let lacks_rate = properties.mean_rate().is_none() && !properties.reported.rate;
            let lacks_delay = properties.delay.is_none() && !properties.reported.delay;
            if lacks_rate || lacks_delay {
                let new = || Lacking { span, rate: Vec::new(), delay: Vec::new() };
                let of = lacking.entry((span.source, span.start)).or_insert_with(new);
                of.rate.extend(lacks_rate.then_some(link.name.as_str()));
                of.delay.extend(lacks_delay.then_some(link.name.as_str()));
            }
        }
        for of in lacking.values() {
            of.report(context, self.without_table == Some(of.span));
        }
    }
}

/// Links of one table that lack required properties.
struct Lacking<'n> {
    span: Span,
    rate: Vec<&'n str>,
    delay: Vec<&'n str>,
}

impl Lacking<'_> {
    /// Notes the errors. If the table is missing as a whole, the help shows one with all
    /// properties.
    fn report(&self, context: &Context<'_>, lacks_table: bool) {
        let both = [
            (&self.rate, "rate", "rate = \"10 Mbit/s\""),
            (&self.delay, "delay", "delay = \"20 ms\""),
        ];
        let missing: Vec<_> = both.into_iter().filter(|(links, ..)| !links.is_empty()).collect();
        let all: Vec<&str> = missing.iter().map(|(.., how)| *how).collect();
        for (links, what, how) in &missing {
            let example = if lacks_table {
                format!("link = {{ {} }}", all.join(", "))
            } else {
                how.to_string()
            };
            let message = match links.as_slice() {
                [one] => format!("the link {one:?} has no {what}"),
                [one, other] => format!("the links {one:?} and {other:?} have no {what}"),
                [one, others @ ..] => {
                    format!("the link {one:?} and {} others have no {what}", others.len())
                }
                [] => continue,
            };
            context.error(self.span, message).help(format!("give it one, for example {example}"));
        }
    }
}
