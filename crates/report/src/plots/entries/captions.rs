//! What plots show, in words: each law with its figures. Of many laws the first eight are named.

use crate::figure::{mean, percent, rate, seconds};
use crate::headline::labels;
use crate::{Headline, Run};

/// Laws that are named.
const LAWS: usize = 8;
/// Groups of an overlay that are named.
const GROUPS: usize = 8;

/// The range of goodputs under each law.
pub(super) fn goodputs(runs: &[Run]) -> String {
    each(runs, |run, label| {
        let all = || run.summary.flows.iter().map(|f| f.goodput_bps).filter(|g| g.is_finite());
        let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
        Some(format!("{label}: goodputs from {} to {}", rate(low), rate(high)))
    })
}

/// The mean round-trip time under each law.
pub(super) fn round_trips(runs: &[Run]) -> String {
    each(runs, |run, label| {
        let mean = run.summary.rtt?.mean_s;
        Some(format!("{label}: mean {}", seconds(Some(mean))))
    })
}

/// What each group of an overlay sent under each law.
pub(super) fn groups(runs: &[Run]) -> String {
    each(runs, |run, label| {
        let groups = run.summary.overlay.as_ref()?.groups.iter().take(GROUPS);
        let groups = groups.map(|g| format!("{} sent {}", g.name, rate(g.sent_bps)));
        Some(format!("{label}: {}", groups.collect::<Vec<_>>().join(", ")))
    })
}

/// Utilisation and mean queue of the bottleneck under each law.
pub(super) fn links(runs: &[Run]) -> String {
    let said = Headline::of_all(runs).into_iter().take(LAWS).map(|h| {
        let queue = mean(h.queue_packets_mean.unwrap_or(f64::NAN));
        let busy = percent(h.utilisation.unwrap_or(f64::NAN));
        format!("{}: utilisation {busy}, mean queue {queue} packets", h.law)
    });
    said.collect::<Vec<_>>().join("; ")
}

fn each(runs: &[Run], said: impl Fn(&Run, &str) -> Option<String>) -> String {
    let named = runs.iter().zip(labels(runs)).take(LAWS);
    named.filter_map(|(run, label)| said(run, &label)).collect::<Vec<_>>().join("; ")
}
