//! Keys of records and expectations.

use super::{Key, KeyKind, REQUIRED, key};

const fn of(
    applies: &'static [&'static str],
    name: &'static str,
    kind: KeyKind,
    default: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key { table: "expect", name, kind, default, applies, doc, example }
}

/// Names of the metrics, in the order of the reference.
pub(crate) const METRIC_NAMES: &[&str] = &[
    "utilisation",
    "throughput",
    "queue_mean",
    "queue_max",
    "queue_p99",
    "drops",
    "marks",
    "pauses",
    "paused",
    "overflows",
    "deadlock",
    "late_acks",
    "goodput",
    "share",
    "ratio",
    "jain",
    "retransmitted",
    "clamps",
    "refused",
    "window_mean",
    "window_max",
    "rtt_mean",
    "rtt_min",
    "rtt_max",
    "completion_time",
    "convergence_time",
    "reference_error",
    "sent",
    "received",
    "sender_spread",
    "delivery_time",
    "waiting_mean",
    "waiting_max",
    "price_mean",
    "price_max",
    "control_share",
    "optimum_ratio",
];

/// Metrics with one value for each of several flows, samples or messages.
pub(crate) const OF_SEVERAL: [&str; 3] = ["completion_time", "reference_error", "delivery_time"];

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("record", "interval", KeyKind::Time, "(a thousandth of the duration, rounded up to 1, 2 or 5 times a power of ten, at least 1 ms, and less where a `during` needs it)", "Interval at which flows and links are sampled.", "\"10 ms\""),
    key("record", "rates_at", KeyKind::Text, "(none)", "A link at which the rate of each listed flow is sampled, too: network-layer bits of its data that reach the link's far end, for the plot `at-link` and the column `at_link_bps`.", "\"bottleneck\""),
    key("record", "slowdown", KeyKind::Word(&["alone", "hpcc"]), "alone", "What completion times are divided by: \"alone\", the time that the flow takes alone (docs/how-to/compare-laws.md); \"hpcc\", as HPCC's simulator has it: propagation both ways, a full packet's payload at each link, and all bytes at the slowest (Li et al., SIGCOMM 2019).", "\"hpcc\""),

    key("expect", "metric", KeyKind::Word(METRIC_NAMES), REQUIRED, "The metric.", "\"utilisation\""),
    of(&["utilisation", "throughput", "queue_mean", "queue_max", "queue_p99", "drops", "marks", "pauses", "paused", "overflows", "late_acks"], "link", KeyKind::Text, "(required; for drops, marks, pauses and overflows: all links together)", "The measured link.", "\"bottleneck\""),
    of(&["throughput", "goodput", "share", "ratio", "jain", "retransmitted", "clamps", "refused", "window_mean", "window_max", "rtt_mean", "rtt_min", "rtt_max", "completion_time", "convergence_time", "reference_error"], "flow", KeyKind::Other("a flow's name, a pattern with one `*`, or a list of them"), "(all listed flows; for throughput: all packets)", "The measured flows. In an ensemble, the default counts each byte once: metrics of delivered data measure the edges that end at hosts, and metrics of sent data (windows, round trips, completion) the edges that begin at hosts.", "\"s1->d1\""),
    of(&["share", "ratio"], "of", KeyKind::Other("as `flow`"), "(all listed flows)", "The flows that `flow` is compared with.", "[\"s1->d1\", \"s2->d2\"]"),
    of(&["late_acks"], "late_by", KeyKind::Time, "1 ms", "Excess over the shortest round trip from which a round trip is late.", "\"1 ms\""),
    of(&["completion_time"], "traffic", KeyKind::Text, "(none)", "The measured class of arriving traffic, in place of `flow`.", "\"web\""),
    of(&["sent", "received", "sender_spread", "delivery_time"], "group", KeyKind::Other("a group's name, a pattern with one `*`, or a list of them"), "(all groups)", "The measured groups of the overlay.", "\"ace\""),
    of(&["received"], "node", KeyKind::Text, "(each that receives)", "The node of the overlay where messages are counted.", "\"e\""),
    of(&["waiting_mean", "waiting_max", "price_mean", "price_max"], "connection", KeyKind::Text, "(required)", "The measured connection of the overlay.", "\"a=>b\""),
    of(&OF_SEVERAL, "statistic", KeyKind::Word(&["mean", "p50", "p95", "p99", "max"]), "max", "The statistic of several flows' values, or of the errors, that must meet the bound.", "\"p99\""),
    of(&["utilisation", "throughput", "queue_mean", "queue_max", "queue_p99", "drops", "marks", "pauses", "paused", "late_acks", "goodput", "share", "ratio", "jain", "retransmitted", "window_mean", "window_max", "rtt_mean", "rtt_min", "rtt_max", "convergence_time", "reference_error", "sent", "received", "sender_spread", "waiting_mean", "waiting_max", "price_mean", "price_max", "control_share", "optimum_ratio"], "during", KeyKind::Other("two times such as \"5 s .. 30 s\""), "(the whole run)", "The measured part of the run. Both times must be multiples of the sampling interval. For `convergence_time` the clock starts at the first.", "\"5 s .. 30 s\""),
    of(&["convergence_time"], "within", KeyKind::Other("a share such as \"10 %\""), "10 %", "Allowed distance from an equal share, which each flow must keep until `during` ends.", "\"10 %\""),
    of(&["convergence_time", "reference_error"], "average", KeyKind::Time, "(the sampling interval; for reference_error 1 s)", "Length over which rates are averaged, a multiple of the sampling interval.", "\"100 ms\""),
    of(&["reference_error"], "file", KeyKind::Text, REQUIRED, "A CSV file: a heading line, then one row for each interval. A row has the interval's end in seconds and the rate of each flow in bit/s, in the order of `flow`; further columns are ignored.", "\"ns2.csv\""),
    of(&["reference_error"], "capacity", KeyKind::Rate, REQUIRED, "The rate that the error is a share of.", "\"10 Mbit/s\""),
    of(&["reference_error"], "skip", KeyKind::Time, "0 s", "Time after each flow's start that is left out.", "\"5 s\""),
    of(&["reference_error"], "headers", KeyKind::Switch, "true", "Whether the file's rates include headers; goodput is then scaled to full packets.", "false"),
    key("expect", "min", KeyKind::Other("a quantity of the metric's unit"), "(none)", "Smallest value that passes.", "0.98"),
    key("expect", "max", KeyKind::Other("a quantity of the metric's unit"), "(none)", "Largest value that passes.", "\"20 packets\""),
    key("expect", "equals", KeyKind::Other("a quantity of the metric's unit"), "(none)", "The expected value, within `tolerance`.", "\"33.3 Mbit/s\""),
    key("expect", "tolerance", KeyKind::Other("a share of `equals` such as \"5 %\", or a quantity of its unit"), "0 %", "Allowed distance from `equals`.", "\"5 %\""),
    key("expect", "laws", KeyKind::Other("a law's or variant's name, or a list of them"), "(all)", "The laws that the expectation is about, by the name in `law` or `--law`.", "[\"xcp\"]"),
    key("expect", "basis", KeyKind::Word(&["claim", "derived", "fit", "run", "differs"]), "claim", "The basis of the bound. \"claim\": the source states it. \"derived\": computed from the source's theory or set-up; the source does not state it. \"fit\": the source states it, and a parameter that it does not state was chosen to meet it. \"run\": an earlier run, where the source gives no value. \"differs\": an earlier run that contradicts the source. Bounds of the last three detect a change and prove nothing.", "\"run\""),
    key("expect", "source", KeyKind::Text, "(none)", "Source of the expectation.", "\"SIGCOMM 2002, figure 5\""),
    key("expect", "note", KeyKind::Text, "(none)", "A remark.", "\"The paper's own buffer was larger.\""),
    key("expect", "emulated", KeyKind::Table("emulated"), "(the same bound)", "The bound of emulated runs, where real packets and hosts have another value for a known cause.", "{ equals = \"13.1 Mbit/s\", tolerance = \"2 %\", basis = \"derived\", cause = \"52 bytes of headers for 40\" }"),
    key("emulated", "min", KeyKind::Other("a quantity of the metric's unit"), "(none)", "Smallest value that passes.", "0.95"),
    key("emulated", "max", KeyKind::Other("a quantity of the metric's unit"), "(none)", "Largest value that passes.", "\"30 packets\""),
    key("emulated", "equals", KeyKind::Other("a quantity of the metric's unit"), "(none)", "The expected value, within `tolerance`.", "\"31.9 Mbit/s\""),
    key("emulated", "tolerance", KeyKind::Other("a share of `equals` such as \"5 %\", or a quantity of its unit"), "0 %", "Allowed distance from `equals`.", "\"5 %\""),
    key("emulated", "basis", KeyKind::Word(&["claim", "derived", "fit", "run", "differs"]), REQUIRED, "The basis of this bound, as of `basis` of the expectation.", "\"derived\""),
    key("emulated", "cause", KeyKind::Text, REQUIRED, "Why emulated runs differ. It is shown with their verdict.", "\"a packet has 52 bytes of headers, not 40\""),
];
