//! Keys of what varies on links by itself.

use super::{Key, KeyKind, REQUIRED, TableInfo, key, table};

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("properties", "outages", KeyKind::Other("\"none\" or { up, down }"), "none", "Random outages: the link is up, and then down, for times with an exponential distribution of these means. It is up at the start. While it is down, it drops waiting and arriving packets, as with `up = false` of [[change]]; the packet in transmission still arrives. The seed and the link's name draw the times. The two directions of a cable go down independently, and so do links of one `medium`; those of a cable with duplex = \"half\" go down together.", "{ up = \"5 s\", down = \"1 s\" }"),
    key("properties", "jitter", KeyKind::Other("\"none\", a time, or { mean, deviation }"), "none", "Random delay of each packet in addition to `delay`. A time: uniform from 0 to this. { mean, deviation }: normal, where a delay below 0 becomes 0, which raises the mean if `deviation` is above half of `mean` (a warning says to what). Packets keep their order: one that would overtake others arrives with the last of them, so packets close together are all late. `reorder` lets packets overtake. `jitter` of [transport] is that of hosts.", "\"5 ms\""),
    key("properties", "duplicate", KeyKind::Number(0.0, 1.0), "0", "Probability per packet of arriving twice. The copy arrives right behind its original and takes no time of this link.", "0.01"),
    key("properties", "policer", KeyKind::Other("\"none\" or { rate, burst }"), "none", "A token bucket before the queue: packets that exceed it are dropped, as by rate limits of access networks. `police` is another thing: it checks congestion headers.", "{ rate = \"10 Mbit/s\", burst = \"64 KB\" }"),
    key("properties", "shaper", KeyKind::Other("\"none\" or { rate, burst }"), "none", "A token bucket behind the queue: the next packet waits until the bucket has its tokens, and then leaves at the link's rate. A bdp of `queue`, utilisation and ports of laws refer to the link's rate; fair shares refer to the bucket's. Not on a half-duplex medium.", "{ rate = \"10 Mbit/s\", burst = \"64 KB\" }"),

    key("outages", "up", KeyKind::Time, REQUIRED, "Mean time until the link goes down; above 0.", "\"5 s\""),
    key("outages", "down", KeyKind::Time, REQUIRED, "Mean time until it comes up again; above 0.", "\"1 s\""),
    key("jitter", "mean", KeyKind::Time, REQUIRED, "Mean of the normal distribution.", "\"5 ms\""),
    key("jitter", "deviation", KeyKind::Time, REQUIRED, "Its standard deviation.", "\"1 ms\""),
    key("bucket", "rate", KeyKind::Rate, REQUIRED, "Rate at which tokens arrive; above 0.", "\"10 Mbit/s\""),
    key("bucket", "burst", KeyKind::Size, REQUIRED, "Most tokens that the bucket holds, at least a full packet with the link's `overhead`; at the start it is full.", "\"64 KB\""),
];

pub(super) const TABLES: &[TableInfo] = &[
    table(
        "outages",
        "outages = { ... }",
        "Mean times for which the link is up and down.",
        "outages = { up = \"5 s\", down = \"1 s\" }",
    ),
    table(
        "jitter",
        "jitter = { ... }",
        "A normal delay of each packet, in order.",
        "jitter = { mean = \"5 ms\", deviation = \"1 ms\" }",
    ),
    table(
        "bucket",
        "policer = { ... }, shaper = { ... }",
        "A token bucket. A burst passes at the link's rate, and more at the bucket's rate. Packets count with the link's `overhead`.",
        "policer = { rate = \"10 Mbit/s\", burst = \"64 KB\" }",
    ),
];
