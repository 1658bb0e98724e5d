//! Keys of records and expectations.

use super::{Key, Kind, REQUIRED, key};
use crate::expect::OF_SEVERAL;

const fn of(
    applies: &'static [&'static str],
    name: &'static str,
    kind: Kind,
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

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("record", "interval", Kind::Time, "(a thousandth of the duration, rounded up to 1, 2 or 5 times a power of ten, at least 1 ms, and less where a `during` needs it)", "How often flows and links are sampled.", "\"10 ms\""),

    key("expect", "metric", Kind::Word(METRIC_NAMES), REQUIRED, "What is measured.", "\"utilisation\""),
    of(&["utilisation", "throughput", "queue_mean", "queue_max", "queue_p99", "drops", "marks", "pauses", "paused", "overflows", "late_acks"], "link", Kind::Text, "(required; for drops, marks, pauses and overflows: all links together)", "Of which link.", "\"bottleneck\""),
    of(&["goodput", "share", "ratio", "jain", "retransmitted", "clamps", "refused", "window_mean", "window_max", "rtt_mean", "rtt_min", "rtt_max", "completion_time", "convergence_time", "reference_error"], "flow", Kind::Other("a flow's name, a pattern with one `*`, or a list of them"), "(all listed flows)", "Of which listed flows. All of them are, of an ensemble, the flows at whose hosts the thing measured happens: those that end at hosts for what is delivered, those that begin at hosts for what is sent (windows, round trips, completion), so that each byte counts once.", "\"s1->d1\""),
    of(&["share", "ratio"], "of", Kind::Other("as `flow`"), "(all listed flows)", "The flows that `flow` is compared with.", "[\"s1->d1\", \"s2->d2\"]"),
    of(&["late_acks"], "late_by", Kind::Time, "1 ms", "How much longer than the shortest a round trip is late.", "\"1 ms\""),
    of(&["completion_time"], "traffic", Kind::Text, "(none)", "Of which class of arriving traffic, in place of `flow`.", "\"web\""),
    of(&["sent", "received", "sender_spread", "delivery_time"], "group", Kind::Other("a group's name, a pattern with one `*`, or a list of them"), "(all groups)", "Of which groups of the overlay.", "\"ace\""),
    of(&["received"], "node", Kind::Text, "(each that receives)", "At which node of the overlay.", "\"e\""),
    of(&["waiting_mean", "waiting_max", "price_mean", "price_max"], "connection", Kind::Text, "(required)", "Of which connection of the overlay.", "\"a=>b\""),
    of(&OF_SEVERAL, "statistic", Kind::Word(&["mean", "p50", "p95", "p99", "max"]), "max", "Which of the values of several flows, or of the errors, is held against the bound.", "\"p99\""),
    of(&["utilisation", "throughput", "queue_mean", "queue_max", "queue_p99", "drops", "marks", "pauses", "paused", "late_acks", "goodput", "share", "ratio", "jain", "retransmitted", "window_mean", "window_max", "rtt_mean", "rtt_min", "rtt_max", "convergence_time", "reference_error", "sent", "received", "sender_spread", "waiting_mean", "waiting_max", "price_mean", "price_max", "control_share", "optimum_ratio"], "during", Kind::Other("two times such as \"5 s .. 30 s\""), "(the whole run)", "When. Both ends must be multiples of the sampling interval. Of `convergence_time`, the first is when the clock starts.", "\"5 s .. 30 s\""),
    of(&["convergence_time"], "within", Kind::Other("a share such as \"10 %\""), "10 %", "How near to an equal share each flow must stay until `during` ends.", "\"10 %\""),
    of(&["convergence_time", "reference_error"], "average", Kind::Time, "(the sampling interval; for reference_error 1 s)", "Length over which rates are averaged, a multiple of the sampling interval.", "\"100 ms\""),
    of(&["reference_error"], "file", Kind::Text, REQUIRED, "A CSV file: a heading line, then rows of the end of an interval in seconds and the rate of each flow over it in bit/s, in the order of `flow`; further columns are left out.", "\"ns2.csv\""),
    of(&["reference_error"], "capacity", Kind::Rate, REQUIRED, "The rate that the error is a share of.", "\"10 Mbit/s\""),
    of(&["reference_error"], "skip", Kind::Time, "0 s", "Leave out this long after each start of one of the flows.", "\"5 s\""),
    of(&["reference_error"], "headers", Kind::Switch, "true", "Whether the file's rates count headers: goodput is then scaled to full packets.", "false"),
    key("expect", "min", Kind::Other("a quantity of the metric's unit"), "(none)", "The least that passes.", "0.98"),
    key("expect", "max", Kind::Other("a quantity of the metric's unit"), "(none)", "The most that passes.", "\"20 packets\""),
    key("expect", "equals", Kind::Other("a quantity of the metric's unit"), "(none)", "What it must be, give or take `tolerance`.", "\"33.3 Mbit/s\""),
    key("expect", "tolerance", Kind::Other("a share of `equals` such as \"5 %\", or a quantity of its unit"), "0 %", "How far from `equals` still passes.", "\"5 %\""),
    key("expect", "laws", Kind::Other("a law's or variant's name, or a list of them"), "(all)", "The laws that this is expected of, by the name that `law` or `--law` gives.", "[\"xcp\"]"),
    key("expect", "basis", Kind::Word(&["claim", "derived", "run", "differs"]), "claim", "What the bound rests on. \"claim\": the source states it. \"derived\": computed from the source's theory or set-up; the source does not state it. \"run\": an earlier run, where the source gives no value. \"differs\": an earlier run that contradicts the source. Bounds of the last two detect a change and prove nothing.", "\"run\""),
    key("expect", "source", Kind::Text, "(none)", "Where the expectation comes from.", "\"SIGCOMM 2002, figure 5\""),
    key("expect", "note", Kind::Text, "(none)", "What else there is to say.", "\"The paper's own buffer was larger.\""),
];
