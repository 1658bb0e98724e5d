//! The metrics that an expectation can name, and their units.

use ratewire_units::{Bytes, Duration, Rate, Throughput, quantity};

use crate::document::Value;

/// Unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricUnit {
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
    pub units: &'static [MetricUnit],
    /// Description for the reference.
    pub doc: &'static str,
}

const fn metric(
    name: &'static str,
    subject: Subject,
    units: &'static [MetricUnit],
    doc: &'static str,
) -> MetricInfo {
    MetricInfo { name, subject, units, doc }
}

const QUEUE: &[MetricUnit] = &[MetricUnit::Packets, MetricUnit::Bytes, MetricUnit::Seconds];

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
    metric("utilisation", Subject::Link, &[MetricUnit::Share], "Share of the time in which the link sent."),
    metric("throughput", Subject::Link, &[MetricUnit::BitsPerSecond], "Network-layer bits that the link sent, per second. With `flow`: those of the flows' data that reached the far end of the link."),
    metric("queue_mean", Subject::Link, QUEUE, "Mean backlog of the queue, without the packet in transmission. As a time: the backlog divided by the link's mean rate in the sampling interval (over the whole trace for a Mahimahi trace)."),
    metric("queue_max", Subject::Link, QUEUE, "Largest backlog of the queue."),
    metric("queue_p99", Subject::Link, QUEUE, "99th percentile of the backlogs at the ends of the sampling intervals."),
    metric("drops", Subject::LinkOrAll, &[MetricUnit::Count], "Packets dropped for any reason."),
    metric("marks", Subject::LinkOrAll, &[MetricUnit::Count], "Packets marked."),
    metric("pauses", Subject::LinkOrAll, &[MetricUnit::Count], "Number of times that the far end paused the link."),
    metric("paused", Subject::Link, &[MetricUnit::Share], "Share of the time in which the link was paused."),
    metric("overflows", Subject::LinkOrAll, &[MetricUnit::Count], "Packets dropped in the whole run because the buffer that pauses the link was full."),
    metric("deadlock", Subject::Run, &[MetricUnit::Count], "Paused links in the first deadlocked ring, over the whole run; 0 if there is no deadlock."),
    metric("late_acks", Subject::Link, &[MetricUnit::Share], "Share of late round trips beyond the link's far end. A round trip starts when a data packet passes and ends with the acknowledgement of all bytes up to its end. It is late if it is longer than the shortest by more than `late_by`."),
    metric("goodput", Subject::Flows, &[MetricUnit::BitsPerSecond], "Payload per second of `during` or of the run; the sum over the flows. Over the whole run it is what was delivered in order, with `during` what arrived, in order or not. The time is the same for flows that start late or end early."),
    metric("share", Subject::Flows, &[MetricUnit::Share], "Payload delivered to `flow` as a share of that to `of`."),
    metric("ratio", Subject::Flows, &[MetricUnit::Number], "Payload delivered to `flow` over that to `of`."),
    metric("jain", Subject::Flows, &[MetricUnit::Number], "Jain's index of the flows' goodputs divided by their weights (XCP's option `weight`): 1 when all are equal, 1/n when one flow has everything."),
    metric("retransmitted", Subject::Flows, &[MetricUnit::Bytes], "Payload sent again; the sum over the flows."),
    metric("clamps", Subject::Flows, &[MetricUnit::Count], "Packets that policers corrected or dropped in the whole run; the sum over the flows."),
    metric("refused", Subject::Flows, &[MetricUnit::Count], "Data packets that reached their receiver in the whole run and found its buffer full; the sum over the flows."),
    metric("window_mean", Subject::Flows, &[MetricUnit::Packets, MetricUnit::Bytes], "Mean of the law's window over samples and flows, in packets of payload."),
    metric("window_max", Subject::Flows, &[MetricUnit::Packets, MetricUnit::Bytes], "The largest sample of the law's window."),
    metric("rtt_mean", Subject::Flows, &[MetricUnit::Seconds], "Mean round-trip time over samples and flows."),
    metric("rtt_min", Subject::Flows, &[MetricUnit::Seconds], "Shortest round-trip time."),
    metric("rtt_max", Subject::Flows, &[MetricUnit::Seconds], "Longest round-trip time; with `during`, the longest among the samples."),
    metric("completion_time", Subject::FlowsOrTraffic, &[MetricUnit::Seconds], "Time from a flow's start to the arrival of its last byte; for several flows, their `statistic`. The expectation fails if a listed flow does not complete. In a class of traffic, only completed flows count."),
    metric("convergence_time", Subject::Flows, &[MetricUnit::Seconds], "Time from the start of `during` until each flow has its fair share and keeps it until the end of `during`. A flow has it when its goodput, averaged over `average`, is `within` its share of the sum, by weight. At least the last three averages must be fair, or all if there are fewer."),
    metric("reference_error", Subject::Flows, &[MetricUnit::Share], "Difference between a flow's goodput and its rate in `file`, averaged over `average`, as a share of `capacity`. The value is the `statistic` over all flows and times."),
    metric("sent", Subject::Group, &[MetricUnit::BitsPerSecond], "Own data that the groups' senders paid for, per second; the sum over the groups."),
    metric("received", Subject::Group, &[MetricUnit::BitsPerSecond], "Senders' own data that reached `node`, per second; without `node`, the average over the nodes that got any. The sum over the groups."),
    metric("sender_spread", Subject::Group, &[MetricUnit::Share], "Largest distance of a sender's rate from the mean of its group, as a share of that mean."),
    metric("delivery_time", Subject::Group, &[MetricUnit::Seconds], "Time from the purchase of a message to its delivery at a node, in the whole run; the `statistic` (mean or max)."),
    metric("waiting_mean", Subject::Connection, &[MetricUnit::Number], "Mean number of messages that wait at a node for the connection."),
    metric("waiting_max", Subject::Connection, &[MetricUnit::Number], "Largest number of messages that wait for the connection."),
    metric("price_mean", Subject::Connection, &[MetricUnit::Number], "Price of a message over the connection in dollars, as last announced; mean over samples."),
    metric("price_max", Subject::Connection, &[MetricUnit::Number], "Largest price in dollars at the end of a sample."),
    metric("control_share", Subject::Overlay, &[MetricUnit::Share], "Bytes of control messages between nodes, divided by the bytes of data messages on the connections."),
    metric("optimum_ratio", Subject::Overlay, &[MetricUnit::Number], "Worth of the sent messages, divided by the optimum for messages as long as links carried them. The optimum is that of a linear programme over the trees, with an equal share for each other flow that crosses a link. The ratio exceeds 1 where paid messages pile up in queues, or where a connection gets more than an equal share."),
];

impl MetricUnit {
    /// Reads a bound in one of `units`.
    pub(crate) fn read(value: &Value, units: &[MetricUnit]) -> Option<(f64, MetricUnit)> {
        let bare = units[0];
        match value {
            Value::Integer(n) if bare.takes_bare() => Some((*n as f64, bare)),
            Value::Float(n) if bare.takes_bare() => Some((*n, bare)),
            Value::Text(text) => units.iter().find_map(|unit| Some((unit.parse(text)?, *unit))),
            _ => None,
        }
    }

    fn takes_bare(self) -> bool {
        matches!(self, MetricUnit::Share | MetricUnit::Count | MetricUnit::Number)
    }

    fn parse(self, text: &str) -> Option<f64> {
        let number = |wanted: &[&str]| {
            let (number, unit) = quantity::split(text).ok()?;
            wanted.contains(&unit).then_some(number)
        };
        match self {
            MetricUnit::Share => number(&["%"]).map(|percent| percent / 100.0),
            MetricUnit::BitsPerSecond => text.parse().ok().map(|rate: Rate| rate.bps() as f64),
            MetricUnit::Packets => number(&["packets", "packet"]),
            MetricUnit::Bytes => text.parse().ok().map(Bytes::as_f64),
            MetricUnit::Seconds => text.parse().ok().map(Duration::secs),
            MetricUnit::Count => number(&["", "packets", "packet"]),
            MetricUnit::Number => None,
        }
    }

    /// Symbol of the unit; empty for a share or a number.
    pub fn symbol(self) -> &'static str {
        match self {
            MetricUnit::BitsPerSecond => "bit/s",
            MetricUnit::Packets => "packets",
            MetricUnit::Bytes => "B",
            MetricUnit::Seconds => "s",
            MetricUnit::Share | MetricUnit::Count | MetricUnit::Number => "",
        }
    }

    /// An example of a value, for messages.
    pub fn example(self) -> &'static str {
        match self {
            MetricUnit::Share => "0.98 or \"98 %\"",
            MetricUnit::BitsPerSecond => "\"33.3 Mbit/s\"",
            MetricUnit::Packets => "\"20 packets\"",
            MetricUnit::Bytes => "\"30 KB\"",
            MetricUnit::Seconds => "\"1.5 s\"",
            MetricUnit::Count => "0",
            MetricUnit::Number => "0.999",
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
            MetricUnit::Share => trimmed(4),
            MetricUnit::BitsPerSecond => Throughput::new(value / 8.0).to_string(),
            MetricUnit::Packets => format!("{} packets", trimmed(3)),
            MetricUnit::Bytes => Bytes::new((value + 0.5) as u64).to_string(),
            MetricUnit::Seconds => Duration::from_secs_f64(value).to_string(),
            MetricUnit::Count => trimmed(0),
            MetricUnit::Number => trimmed(5),
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
        assert_eq!(MetricUnit::read(&text("5 ms"), QUEUE), Some((0.005, MetricUnit::Seconds)));
        assert_eq!(MetricUnit::read(&text("5 packets"), QUEUE), Some((5.0, MetricUnit::Packets)));
        assert_eq!(MetricUnit::read(&text("5 KB"), QUEUE), Some((5000.0, MetricUnit::Bytes)));
        assert_eq!(MetricUnit::read(&text("5"), QUEUE), None);
        assert_eq!(MetricUnit::read(&Value::Integer(5), QUEUE), None);
        assert_eq!(
            MetricUnit::read(&Value::Float(0.98), &[MetricUnit::Share]),
            Some((0.98, MetricUnit::Share))
        );
        assert_eq!(
            MetricUnit::read(&text("98 %"), &[MetricUnit::Share]),
            Some((0.98, MetricUnit::Share))
        );
    }

    #[test]
    fn values_are_short() {
        assert_eq!(MetricUnit::Share.show(0.99821), "0.9982");
        assert_eq!(MetricUnit::Share.show(1.0), "1");
        assert_eq!(MetricUnit::Count.show(120.0), "120");
        assert_eq!(MetricUnit::BitsPerSecond.show(3.33e6), "3.33 Mbit/s");
        assert_eq!(MetricUnit::Packets.show(0.465), "0.465 packets");
    }
}
