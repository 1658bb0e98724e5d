//! Expectations that decide nothing, of which a user is warned.

use ratewire_transport::Writer;
use ratewire_units::Time;

use super::read::Named;
use super::{Bound, MetricInfo};
use crate::section::Section;

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

/// Warns of flows that are to complete and have no end.
pub(super) fn completion(section: &Section<'_>, named: &Named<'_>, chosen: &[usize]) {
    let end = Time::ZERO + named.duration;
    let endless = chosen.iter().map(|id| &named.flows[*id]).find(|flow| {
        flow.app.writer == Writer::Unlimited && flow.stop.is_none_or(|stop| stop >= end)
    });
    if let Some(flow) = endless {
        section
            .context
            .warning(section.span, format!("{:?} never completes: it has no end", flow.name))
            .help("give the flow a `size`, or a time to `stop`");
    }
}
