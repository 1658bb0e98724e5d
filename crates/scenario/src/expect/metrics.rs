//! The metrics that an expectation can name, and their units.

use ratewire_units::{Bytes, Duration, Rate, Throughput, quantity};

use crate::document::Value;

/// Unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A share: `0.98` or `"98 %"`.
    Share,
    /// Bits per second.
    BitsPerSecond,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A number of things.
    Count,
    /// A number without a unit.
    Number,
}

/// Kind of thing that a metric measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One link.
    Link,
    /// One link or all.
    LinkOrAll,
    /// The whole run.
    Run,
    /// Listed flows.
    Flows,
    /// Listed flows or a class of traffic.
    FlowsOrTraffic,
    /// Groups of an overlay.
    Group,
    /// A connection of an overlay.
    Connection,
    /// An overlay as a whole.
    Overlay,
}

/// A metric.
#[derive(Debug)]
pub struct MetricInfo {
    /// Name as written in a scenario.
    pub name: &'static str,
    /// Kind of thing that the metric measures.
    pub subject: Subject,
    /// Allowed units of the bound; a bare number is in the first.
    pub units: &'static [Unit],
    /// Description for the reference.
    pub doc: &'static str,
}

const fn metric(
    name: &'static str,
    subject: Subject,
    units: &'static [Unit],
    doc: &'static str,
) -> MetricInfo {
    MetricInfo { name, subject, units, doc }
}

const QUEUE: &[Unit] = &[Unit::Packets, Unit::Bytes, Unit::Seconds];

impl MetricInfo {
    /// Smallest and largest possible value.
    pub fn range(&self) -> (f64, f64) {
        let most = match self.name {
            "utilisation" | "paused" | "late_acks" | "jain" => 1.0,
            // A ratio of shares may exceed 1.
            _ => f64::INFINITY,
        };
        (0.0, most)
    }
}

/// All metrics.
pub fn metrics() -> &'static [MetricInfo] {
    METRICS
}

#[rustfmt::skip]
const METRICS: &[MetricInfo] = &[
    metric("utilisation", Subject::Link, &[Unit::Share], "Share of the time in which the link was sending."),
    metric("throughput", Subject::Link, &[Unit::BitsPerSecond], "Network-layer bits the link sent, per second."),
    metric("queue_mean", Subject::Link, QUEUE, "Mean of what was waiting, the packet being sent not counted. A time is what was waiting over the link's mean rate in the sampling interval (over the whole of a Mahimahi trace)."),
    metric("queue_max", Subject::Link, QUEUE, "The most that was waiting."),
    metric("queue_p99", Subject::Link, QUEUE, "99th percentile of the sampling intervals' means of what was waiting."),
    metric("drops", Subject::LinkOrAll, &[Unit::Count], "Packets dropped, for whatever reason."),
    metric("marks", Subject::LinkOrAll, &[Unit::Count], "Packets marked."),
    metric("pauses", Subject::LinkOrAll, &[Unit::Count], "How often the link was paused by its far end."),
    metric("paused", Subject::Link, &[Unit::Share], "Share of the time in which the link was paused."),
    metric("overflows", Subject::LinkOrAll, &[Unit::Count], "Packets dropped, over the whole run, because the buffer that pauses the link had no room."),
    metric("deadlock", Subject::Run, &[Unit::Count], "Paused links in the first ring that waits for itself, over the whole run; 0 if none does."),
    metric("late_acks", Subject::Link, &[Unit::Share], "Share of the round trips beyond the link's far end, from a data packet's passing to the acknowledgement of all up to its end, that are longer than the shortest by more than `late_by`."),
    metric("goodput", Subject::Flows, &[Unit::BitsPerSecond], "Payload delivered in order, per second of `during` or of the run, also where a flow starts late or ends early; the sum over the flows."),
    metric("share", Subject::Flows, &[Unit::Share], "Payload delivered to `flow` as a share of that to `of`."),
    metric("ratio", Subject::Flows, &[Unit::Number], "Payload delivered to `flow` over that to `of`."),
    metric("jain", Subject::Flows, &[Unit::Number], "Jain's index of the flows' goodputs over their weights (XCP's option `weight`): 1 when all are equal, 1/n when one has all."),
    metric("retransmitted", Subject::Flows, &[Unit::Bytes], "Payload sent for the second time; the sum over the flows."),
    metric("clamps", Subject::Flows, &[Unit::Count], "Packets that policers corrected or dropped, over the whole run; the sum over the flows."),
    metric("refused", Subject::Flows, &[Unit::Count], "Data packets that reached their receiver and found no room in its buffer, over the whole run; the sum over the flows."),
    metric("window_mean", Subject::Flows, &[Unit::Packets, Unit::Bytes], "Mean over samples and flows of the law's window, in packets of payload."),
    metric("window_max", Subject::Flows, &[Unit::Packets, Unit::Bytes], "The largest sample of the law's window."),
    metric("rtt_mean", Subject::Flows, &[Unit::Seconds], "Mean round trip, over samples and flows."),
    metric("rtt_min", Subject::Flows, &[Unit::Seconds], "The shortest round trip."),
    metric("rtt_max", Subject::Flows, &[Unit::Seconds], "The longest round trip; with `during`, the longest among the samples."),
    metric("completion_time", Subject::FlowsOrTraffic, &[Unit::Seconds], "Time from a flow's start to the arrival of its last byte; of several flows, their `statistic`. A listed flow that does not complete fails; of a class of traffic those count that complete."),
    metric("convergence_time", Subject::Flows, &[Unit::Seconds], "Time from the start of `during` until each flow's goodput, averaged over `average`, is `within` its share of their sum, by weights if they have them, and stays there until the end of `during`, for three averages at least, or all of them where there are fewer."),
    metric("reference_error", Subject::Flows, &[Unit::Share], "Difference between a flow's goodput and its rate in `file`, averaged over `average`, as a share of `capacity`; the `statistic` over all flows and times."),
    metric("sent", Subject::Group, &[Unit::BitsPerSecond], "What the groups' senders paid for of their own data, per second; the sum over the groups."),
    metric("received", Subject::Group, &[Unit::BitsPerSecond], "What came to `node` of the senders' own data, or on average to each node that had any, per second; the sum over the groups."),
    metric("sender_spread", Subject::Group, &[Unit::Share], "How far a sender's rate is from the mean of its group at most, as a share of that mean."),
    metric("delivery_time", Subject::Group, &[Unit::Seconds], "Time from the purchase of a message to its delivery at a node, over the whole run; the `statistic` (mean or max)."),
    metric("waiting_mean", Subject::Connection, &[Unit::Number], "Messages waiting at a node for its connection, mean over time."),
    metric("waiting_max", Subject::Connection, &[Unit::Number], "The most messages waiting."),
    metric("price_mean", Subject::Connection, &[Unit::Number], "Dollars that a message over the connection costs, as last told; mean over samples."),
    metric("price_max", Subject::Connection, &[Unit::Number], "The most that it cost at the end of a sample."),
    metric("control_share", Subject::Overlay, &[Unit::Share], "Bytes that nodes tell each other over those of the messages that the connections carry."),
    metric("optimum_ratio", Subject::Overlay, &[Unit::Number], "What senders sent, by its worth, over the most that any sharing could let them send: a linear programme over the trees, with an equal share for each flow that crosses a link beside the overlay's connections. Above 1 where messages that are paid for pile up in queues, or where a connection gets more than an equal share."),
];

impl Unit {
    /// Reads a bound in one of `units`.
    pub(super) fn read(value: &Value, units: &[Unit]) -> Option<(f64, Unit)> {
        let bare = units[0];
        match value {
            Value::Integer(n) if bare.takes_bare() => Some((*n as f64, bare)),
            Value::Float(n) if bare.takes_bare() => Some((*n, bare)),
            Value::Text(text) => units.iter().find_map(|unit| Some((unit.parse(text)?, *unit))),
            _ => None,
        }
    }

    fn takes_bare(self) -> bool {
        matches!(self, Unit::Share | Unit::Count | Unit::Number)
    }

    fn parse(self, text: &str) -> Option<f64> {
        let number = |wanted: &[&str]| {
            let (number, unit) = quantity::split(text).ok()?;
            wanted.contains(&unit).then_some(number)
        };
        match self {
            Unit::Share => number(&["%"]).map(|percent| percent / 100.0),
            Unit::BitsPerSecond => text.parse().ok().map(|rate: Rate| rate.bps() as f64),
            Unit::Packets => number(&["packets", "packet"]),
            Unit::Bytes => text.parse().ok().map(Bytes::as_f64),
            Unit::Seconds => text.parse().ok().map(Duration::secs),
            Unit::Count => number(&["", "packets", "packet"]),
            Unit::Number => None,
        }
    }

    /// Symbol of the unit; empty for a share or a number.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::BitsPerSecond => "bit/s",
            Unit::Packets => "packets",
            Unit::Bytes => "B",
            Unit::Seconds => "s",
            Unit::Share | Unit::Count | Unit::Number => "",
        }
    }

    /// An example of a value, for messages.
    pub fn example(self) -> &'static str {
        match self {
            Unit::Share => "0.98 or \"98 %\"",
            Unit::BitsPerSecond => "\"33.3 Mbit/s\"",
            Unit::Packets => "\"20 packets\"",
            Unit::Bytes => "\"30 KB\"",
            Unit::Seconds => "\"1.5 s\"",
            Unit::Count => "0",
            Unit::Number => "0.999",
        }
    }

    /// `value` as short text with its unit.
    pub fn show(self, value: f64) -> String {
        let trimmed = |decimals: usize| {
            let text = format!("{value:.decimals$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_string()
            } else {
                text
            }
        };
        match self {
            Unit::Share => trimmed(4),
            Unit::BitsPerSecond => Throughput::new(value / 8.0).to_string(),
            Unit::Packets => format!("{} packets", trimmed(3)),
            Unit::Bytes => Bytes::new((value + 0.5) as u64).to_string(),
            Unit::Seconds => Duration::from_secs_f64(value).to_string(),
            Unit::Count => trimmed(0),
            Unit::Number => trimmed(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::METRIC_NAMES;

    #[test]
    fn the_key_and_the_table_know_the_same_metrics() {
        let names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names, METRIC_NAMES);
    }

    #[test]
    fn bounds_say_their_unit() {
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(Unit::read(&text("5 ms"), QUEUE), Some((0.005, Unit::Seconds)));
        assert_eq!(Unit::read(&text("5 packets"), QUEUE), Some((5.0, Unit::Packets)));
        assert_eq!(Unit::read(&text("5 KB"), QUEUE), Some((5000.0, Unit::Bytes)));
        assert_eq!(Unit::read(&text("5"), QUEUE), None);
        assert_eq!(Unit::read(&Value::Integer(5), QUEUE), None);
        assert_eq!(Unit::read(&Value::Float(0.98), &[Unit::Share]), Some((0.98, Unit::Share)));
        assert_eq!(Unit::read(&text("98 %"), &[Unit::Share]), Some((0.98, Unit::Share)));
    }

    #[test]
    fn values_are_short() {
        assert_eq!(Unit::Share.show(0.99821), "0.9982");
        assert_eq!(Unit::Share.show(1.0), "1");
        assert_eq!(Unit::Count.show(120.0), "120");
        assert_eq!(Unit::BitsPerSecond.show(3.33e6), "3.33 Mbit/s");
        assert_eq!(Unit::Packets.show(0.465), "0.465 packets");
    }
}
