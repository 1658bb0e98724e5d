//! What is compared, and where a run's summary has it.

use std::collections::BTreeSet;

use ratewire_units::Bytes;

use super::{About, Better, Unit};
use crate::{Headline, SizeSummary, Summary};

/// Reads a figure off a summary.
type Reading = Box<dyn Fn(&Summary) -> Option<f64>>;

/// A figure, and how it is read off a summary.
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) about: About,
    pub(super) unit: Unit,
    pub(super) better: Better,
    pub(super) value: Reading,
}

/// The figures that any of the summaries has.
pub(super) fn figures(all: &[&Summary], bottlenecks: &[u32]) -> Vec<Measured> {
    let mut list = of_run(bottlenecks, utilised(all));
    list.extend(of_sizes(all));
    list.extend(of_changes(all));
    list.retain(|figure| all.iter().any(|summary| (figure.value)(summary).is_some()));
    list
}

/// Which utilisation is better. Where all flows are of given sizes, and complete, the link has the same to carry under each
/// law, and what it carries beyond that are headers and what is sent again.
fn utilised(all: &[&Summary]) -> Better {
    let sized = |s: &&Summary| s.flows.iter().all(|flow| flow.size_bytes.is_some());
    let completed = |s: &&Summary| {
        let completed = s.completions.as_ref().map_or(0, |c| c.flows);
        completed > 0 && s.unfinished_flows.unwrap_or(0) as f64 <= UNDERWAY * completed as f64
    };
    if all.iter().all(|s| sized(s) && completed(s)) { Better::Neither } else { Better::More }
}

/// So many flows beside those that completed are just on their way when the run ends.
const UNDERWAY: f64 = 0.02;

fn of_run(bottlenecks: &[u32], utilised: Better) -> Vec<Measured> {
    let headline = |value: fn(&Headline) -> Option<f64>| {
        let bottlenecks = bottlenecks.to_vec();
        let of = move |s: &Summary| value(&Headline::of(s, String::new(), &bottlenecks));
        Box::new(of) as Reading
    };
    let figure = |name: &str, title: &str, unit, better, value| Measured {
        name: name.into(),
        title: title.into(),
        about: About::Run,
        unit,
        better,
        value,
    };
    use Better::{Less, More};
    use Unit::{Count, Index, Packets, Seconds, Share};
    vec![
        figure("utilisation", "utilisation", Share, utilised, headline(|h| h.utilisation)),
        figure("jain_over_time", "Jain over time", Index, More, Box::new(|s| s.jain_over_time)),
        figure(
            "queue_packets_mean",
            "queue mean",
            Packets,
            Less,
            headline(|h| h.queue_packets_mean),
        ),
        figure("queue_packets_p99", "queue p99", Packets, Less, headline(|h| h.queue_packets_p99)),
        figure(
            "queue_packets_max",
            "queue max",
            Packets,
            Less,
            headline(|h| h.queue_packets_max.map(|n| n as f64)),
        ),
        figure("drops_packets", "drops", Count, Less, headline(|h| Some(h.drops as f64))),
        figure("rtt_max_s", "worst RTT", Seconds, Less, Box::new(|s| s.rtt_max_s)),
        figure(
            "unfinished_flows",
            "unfinished flows",
            Count,
            Less,
            Box::new(|s| s.unfinished_flows.map(|n| n as f64)),
        ),
    ]
}

/// Median and 99th percentile of the slowdown at each size that completed under any law.
fn of_sizes(all: &[&Summary]) -> Vec<Measured> {
    let sizes = all.iter().flat_map(|s| &s.completions).flat_map(|c| &c.by_size);
    let sizes: BTreeSet<(u64, Option<u64>)> =
        sizes.map(|size| (size.from_bytes, size.below_bytes)).collect();
    let mut list = Vec::new();
    for (from, below) in sizes {
        let text = |bytes| Bytes::new(bytes).to_string();
        let what = match below {
            Some(below) if from == 0 => format!("below {}", text(below)),
            Some(below) => format!("{} to {}", text(from), text(below)),
            None => format!("{} and more", text(from)),
        };
        let mut add = |name: &str, title: &str, statistic: fn(&SizeSummary) -> f64| {
            let value = move |s: &Summary| {
                let sizes = &s.completions.as_ref()?.by_size;
                sizes.iter().find(|size| size.from_bytes == from).map(statistic)
            };
            list.push(Measured {
                name: format!("slowdown_{name}_from_{from}_bytes"),
                title: format!("{what}, {title}"),
                about: About::Sizes,
                unit: Unit::Ratio,
                better: Better::Less,
                value: Box::new(value),
            });
        };
        add("median", "p50", |size| size.slowdown_median);
        add("p99", "p99", |size| size.slowdown_p99);
    }
    list
}

/// The time after each change that any run has, in order of the earliest.
fn of_changes(all: &[&Summary]) -> Vec<Measured> {
    let mut events: Vec<(f64, &str)> = Vec::new();
    for settling in all.iter().flat_map(|s| &s.settlings) {
        match events.iter_mut().find(|(_, event)| *event == settling.event) {
            Some((at, _)) => *at = at.min(settling.at_s),
            None => events.push((settling.at_s, &settling.event)),
        }
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    let figure = |(_, event): (f64, &str)| {
        let wanted = event.to_string();
        let value = move |s: &Summary| s.settlings.iter().find(|e| e.event == wanted)?.took_s;
        Measured {
            name: format!("settling_s: {event}"),
            title: event.into(),
            about: About::Changes,
            unit: Unit::Seconds,
            better: Better::Less,
            value: Box::new(value),
        }
    };
    events.into_iter().map(figure).collect()
}
