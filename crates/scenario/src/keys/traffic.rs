//! Keys of flows, arriving traffic and the transport.

use super::{Key, Kind, REQUIRED};

const fn key(
    table: &'static str,
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key { table, name, kind, default, applies: &[], doc, example }
}

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("variant", "law", Kind::Other("a law's name"), REQUIRED, "The law it is a variant of.", "\"xcp\""),

    key("transport", "packet", Kind::Bytes, "1500 B", "Network-layer size of a full data packet, all headers included, up to 65535 B.", "\"1000 B\""),
    key("transport", "headers", Kind::Bytes, "40 B", "Network and transport headers of a data packet, without the congestion header.", "\"52 B\""),
    key("transport", "ack", Kind::Bytes, "40 B", "Network-layer size of an acknowledgement, without the congestion header.", "\"52 B\""),
    key("transport", "handshake", Kind::Switch, "true", "Whether a flow starts with an exchange of two empty packets, as TCP does.", "false"),
    key("transport", "delayed_ack", Kind::Other("a time such as \"40 ms\", or \"none\""), "none", "Acknowledge every second packet, others after this time.", "\"40 ms\""),
    key("transport", "receive_window", Kind::Other("a size such as \"64 KB\" or \"40 packets\", \"unlimited\", or { initial, max, packets_per_ack }"), "unlimited", "The receiver's buffer, or a window that opens by itself.", "\"64 KB\""),
    key("transport", "min_rto", Kind::Time, "200 ms", "Shortest retransmission timeout (RFC 6298: 1 s; Linux: 200 ms).", "\"1 s\""),
    key("transport", "tail_loss_probe", Kind::Switch, "true", "Whether a probe is sent before the retransmission timer fires.", "false"),
    key("transport", "ecn", Kind::Switch, "false", "Whether packets may be marked instead of dropped, and marks are echoed.", "true"),
    key("receive_window", "initial", Kind::Size, REQUIRED, "First window, payload.", "\"4 packets\""),
    key("receive_window", "max", Kind::Size, REQUIRED, "Largest window, payload.", "\"4 MB\""),
    key("receive_window", "packets_per_ack", Kind::Count(1, 1_000), "2", "By how many full payloads it opens with each data packet in order (Linux 2.6: 2).", "2"),

    key("flow", "from", Kind::Text, REQUIRED, "The node that sends, or a pattern with one `*`.", "\"s1\""),
    key("flow", "to", Kind::Text, REQUIRED, "The node that receives. With a `*` in both, it stands for the same text.", "\"d1\""),
    key("flow", "name", Kind::Text, "(\"FROM->TO\")", "Unique name; of several flows alike, they are NAME.1, NAME.2 ...", "\"bulk\""),
    key("flow", "start", Kind::Time, "0 s", "When it starts.", "\"5 s\""),
    key("flow", "stop", Kind::Time, "(never)", "When its application stops writing; what is written is still delivered.", "\"20 s\""),
    key("flow", "count", Kind::Count(1, 100_000), "1", "Number of equal flows between each pair of nodes.", "10"),
    key("flow", "stagger", Kind::Time, "0 s", "Each of the flows that this table makes starts (and stops) this much after the one before.", "\"10 ms\""),
    key("flow", "size", Kind::Size, "(unlimited data)", "Payload to send, then the flow is over; in packets: full payloads.", "\"10 MB\""),
    key("flow", "app", Kind::Other("\"unlimited\", { on_off = { ... } } or { constant = { ... } }"), "unlimited", "What the sending application writes.", "{ constant = { rate = \"2 Mbit/s\" } }"),
    key("flow", "reader", Kind::Other("\"immediate\" or { per_frame = TIME }"), "immediate", "How the receiving application reads: at once, or a frame at a time, each taking this long.", "{ per_frame = \"1 ms\" }"),
    key("flow", "frame", Kind::Size, "(one packet's payload)", "Payload of a frame; a frame is delivered whole, and packets do not span frames.", "\"8 KB\""),
    key("flow", "law", Kind::Other("a law's or variant's name"), "(that of the scenario)", "Its law, whatever `--law` says.", "\"cubic\""),
    key("flow", "options", Kind::Other("a table of the law's options"), "(those of the law)", "Options of its source and sink. Without a `law` here, a law that has no such option leaves it out, with a warning.", "{ weight = 2 }"),
    key("flow", "transport", Kind::Table("transport"), "(that of the scenario)", "How its ends behave.", "{ receive_window = \"64 KB\" }"),
    key("on_off", "burst", Kind::Size, REQUIRED, "Payload of a burst.", "\"1 MB\""),
    key("on_off", "pause", Kind::Time, REQUIRED, "Pause after each.", "\"2 s\""),
    key("on_off", "pause_after", Kind::Word(&["written", "sent", "acknowledged"]), "acknowledged", "When the pause begins: when the burst was written, or its last byte first sent or acknowledged.", "\"sent\""),
    key("on_off", "count", Kind::Count(1, u64::MAX), "(no end)", "Number of bursts.", "10"),
    key("constant", "rate", Kind::Rate, REQUIRED, "Payload rate.", "\"2 Mbit/s\""),

    key("traffic", "name", Kind::Text, "(traffic, traffic2 ...)", "Unique name; its flows are NAME.1, NAME.2 ...", "\"web\""),
    key("traffic", "arrivals", Kind::Table("arrivals"), "(one of `arrivals` and `load` is required)", "When flows arrive.", "{ poisson = \"5 /s\" }"),
    key("traffic", "load", Kind::Table("load"), "(one of `arrivals` and `load` is required)", "How many flows arrive, by the load they make.", "{ fraction = 0.6 }"),
    key("traffic", "sizes", Kind::Table("sizes"), "(required unless arrivals come from a file)", "How large they are.", "{ fixed = \"100 KB\" }"),
    key("traffic", "between", Kind::Other("\"pairs\", \"all\", \"demands\" or a list of [from, to] or [from, to, weight]"), "pairs", "Between whom, drawn by weight: the topology's own pairs (see `ratewire topologies`), all hosts with each other, the demands of a topology file, or those listed. Names may be patterns as in `[[flow]]`.", "[[\"s1\", \"d1\", 3], [\"s2\", \"d2\", 1]]"),
    key("traffic", "start", Kind::Time, "0 s", "First possible arrival.", "\"1 s\""),
    key("traffic", "stop", Kind::Time, "(the end)", "No arrivals from here on.", "\"20 s\""),
    key("traffic", "law", Kind::Other("a law's or variant's name"), "(that of the scenario)", "The law of its flows.", "\"cubic\""),
    key("traffic", "options", Kind::Other("a table of the law's options"), "(those of the law)", "As in `[[flow]]`.", "{ weight = 2 }"),
    key("traffic", "transport", Kind::Table("transport"), "(that of the scenario)", "How the flows' ends behave.", "{ min_rto = \"10 ms\" }"),
    key("arrivals", "poisson", Kind::Other("a number of flows a second such as \"5 /s\""), "(none)", "Poisson, this many on average.", "\"5 /s\""),
    key("arrivals", "every", Kind::Time, "(none)", "One every so often.", "\"100 ms\""),
    key("arrivals", "file", Kind::Text, "(none)", "At the times, between the nodes and of the sizes that a file lists: lines of start in seconds, from, to, bytes.", "\"flows.txt\""),
    key("load", "fraction", Kind::Number(1e-9, 10.0), "(none)", "Share of the link's rate.", "0.6"),
    key("load", "link", Kind::Text, "(the link this traffic loads most)", "The link that `fraction` is of.", "\"bottleneck\""),
    key("load", "demands", Kind::Number(1e-9, 1000.0), "(none)", "Share of the demands of a topology file, with `between = \"demands\"`.", "0.5"),
    key("sizes", "fixed", Kind::Size, "(none)", "All the same.", "\"100 KB\""),
    key("sizes", "pareto", Kind::Table("pareto"), "(none)", "Pareto.", "{ shape = 1.4, mean = \"100 packets\" }"),
    key("sizes", "lognormal", Kind::Table("lognormal"), "(none)", "Log-normal.", "{ mean = \"50 KB\", sigma = 1.5 }"),
    key("sizes", "cdf", Kind::Text, "(none)", "A file with a distribution: size in bytes, and the share of flows no larger than that, up to 1 or 100.", "\"websearch.txt\""),
    key("pareto", "shape", Kind::Number(1.000_001, 1000.0), REQUIRED, "Tail index; the closer to 1, the heavier the tail.", "1.4"),
    key("pareto", "mean", Kind::Size, REQUIRED, "Mean.", "\"100 packets\""),
    key("lognormal", "mean", Kind::Size, REQUIRED, "Mean.", "\"50 KB\""),
    key("lognormal", "sigma", Kind::Number(0.0, 10.0), REQUIRED, "Standard deviation of the natural logarithm.", "1.5"),
];
