//! Keys of the top of the file, the topology and links.

use super::{Key, KeyKind, REQUIRED, key};

/// The kinds of topology.
pub(crate) const TOPOLOGY_KINDS: &[&str] =
    &["dumbbell", "parking-lot", "chain", "star", "tree", "fat-tree", "custom", "graph"];

const fn of(
    applies: &'static [&'static str],
    name: &'static str,
    kind: KeyKind,
    default: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key { table: "topology", name, kind, default, applies, doc, example }
}

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("", "name", KeyKind::Text, "(the file's name)", "Name of the scenario.", "\"Three flows join\""),
    key("", "description", KeyKind::Text, "(none)", "What the scenario shows, in a few sentences.", "\"Shows how fast XCP converges.\""),
    key("", "duration", KeyKind::Time, REQUIRED, "Simulated time.", "\"30 s\""),
    key("", "seed", KeyKind::Count(0, u64::MAX), "1", "Seed of all random streams; equal seeds give equal results, byte for byte.", "7"),
    key("", "law", KeyKind::Other("a law's or variant's name, or a list of them"), REQUIRED, "Law of every flow and router that has none of its own. A list gives one run for each law. `--law a,b,c` overrides it.", "\"xcp\""),
    key("", "wire", KeyKind::Word(&["decoded", "exact"]), "decoded", "\"exact\" encodes and decodes congestion headers at each hop, which adds their rounding.", "\"exact\""),
    key("", "port_clocks", KeyKind::Word(&["random", "equal"]), "random", "When the control intervals of ports begin: \"random\": each at a random time of its first interval, as in routers that were switched on before the run; \"equal\": all with the run.", "\"equal\""),
    key("", "topology", KeyKind::Table("topology"), REQUIRED, "Nodes and links.", "{ kind = \"dumbbell\", ... }"),
    key("", "node", KeyKind::Tables("node"), "(none)", "Further nodes.", "[[node]]"),
    key("", "link", KeyKind::Tables("link"), "(none)", "Further links, and changes to those of the topology.", "[[link]]"),
    key("", "path", KeyKind::Tables("path"), "(none)", "Given paths.", "[[path]]"),
    key("", "change", KeyKind::Tables("change"), "(none)", "Changes during the run.", "[[change]]"),
    key("", "options", KeyKind::Table("options"), "(none)", "Options of laws, by law.", "[options.xcp]"),
    key("", "variant", KeyKind::Table("variant"), "(none)", "Laws with their own options under new names.", "[variant.naive-xcp]"),
    key("", "transport", KeyKind::Table("transport"), "(none)", "Transport of the ends of all flows.", "[transport]"),
    key("", "flow", KeyKind::Tables("flow"), "(none)", "Listed flows.", "[[flow]]"),
    key("", "traffic", KeyKind::Tables("traffic"), "(none)", "Flows that arrive during the run.", "[[traffic]]"),
    key("", "overlay", KeyKind::Table("overlay"), "(none)", "An overlay that multicasts to groups.", "[overlay]"),
    key("", "group", KeyKind::Tables("group"), "(none)", "Groups of the overlay's clients, and their senders.", "[[group]]"),
    key("", "fault", KeyKind::Tables("fault"), "(none)", "Failures of the overlay's nodes and links.", "[[fault]]"),
    key("", "ensemble", KeyKind::Tables("ensemble"), "(none)", "Connections with many ends.", "[[ensemble]]"),
    key("", "record", KeyKind::Table("record"), "(none)", "Sampling.", "[record]"),
    key("", "expect", KeyKind::Tables("expect"), "(none)", "Expectations about the results.", "[[expect]]"),

    key("topology", "kind", KeyKind::Word(TOPOLOGY_KINDS), REQUIRED, "Kind of topology; `ratewire topologies` lists them.", "\"dumbbell\""),
    of(&["dumbbell", "chain"], "pairs", KeyKind::Count(1, 10_000), "1", "Number of pairs of hosts s1, d1, s2, d2 ...; where `delays` or `rtt` is a list, its length.", "3"),
    of(&["dumbbell"], "bottleneck", KeyKind::Table("properties"), REQUIRED, "The link from r1 to r2.", "{ rate = \"1 Gbit/s\", delay = \"23 ms\" }"),
    of(&["parking-lot", "chain", "star", "tree", "fat-tree", "graph"], "link", KeyKind::Table("properties"), REQUIRED, "The links between routers (in a star: between host and hub). In a graph: the properties that the file does not give; the file's rates (see `file_rates`) and lengths override these.", "{ rate = \"100 Mbit/s\", delay = \"10 ms\" }"),
    of(&["dumbbell", "parking-lot", "chain", "tree", "fat-tree", "graph"], "access", KeyKind::Table("properties"), "(ten times the rate of the fastest other link, no delay)", "The links between hosts and their routers; their queues are unlimited unless given.", "{ rate = \"10 Gbit/s\", delay = \"1 ms\" }"),
    of(&["dumbbell"], "delays", KeyKind::Other("a list of times, one a pair"), "(that of `access`)", "Delay of both access links of each pair.", "[\"5 ms\", \"90 ms\"]"),
    of(&["dumbbell"], "rtt", KeyKind::Other("a time, or a list of times, one a pair"), "(from the delays)", "Propagation round trip of all pairs or of each pair. It sets the delay of both access links of the pair, each way, to (rtt - bottleneck delay there and back) / 4.", "[\"30 ms\", \"200 ms\"]"),
    of(&["parking-lot"], "hops", KeyKind::Count(1, 1_000), "2", "Number of links in a row.", "3"),
    of(&["chain"], "routers", KeyKind::Count(1, 1_000), "2", "Number of routers in a row.", "4"),
    of(&["star"], "hosts", KeyKind::Count(2, 10_000), REQUIRED, "Number of hosts.", "16"),
    of(&["tree"], "depth", KeyKind::Count(1, 12), "2", "Levels of routers, the root included.", "3"),
    of(&["tree"], "fanout", KeyKind::Count(1, 64), "2", "Routers (at the last level: hosts) below each router.", "4"),
    of(&["fat-tree"], "k", KeyKind::Count(2, 16), "4", "Ports of each switch, an even number: k^3 / 4 hosts.", "8"),
    of(&["graph"], "file", KeyKind::Text, REQUIRED, "Topology Zoo GraphML, SNDlib XML or node-link JSON, relative to the scenario.", "\"Abilene.graphml\""),
    of(&["graph"], "file_rates", KeyKind::Switch, "true", "Whether the file's rates are used, with `link.rate` where the file has none. With false, `link.rate` is used everywhere.", "false"),
    of(&["graph"], "external", KeyKind::Switch, "true", "Whether the neighbouring networks in Topology Zoo files are kept.", "false"),

    key("properties", "rate", KeyKind::Rate, "(required unless `trace` is given)", "Rate of the link. A link of rate 0 sends nothing.", "\"1 Gbit/s\""),
    key("properties", "delay", KeyKind::Time, "(required; in a graph: 5 us per km)", "Propagation delay.", "\"20 ms\""),
    key("properties", "overhead", KeyKind::Bytes, "0 B", "Link-layer bytes added to each packet (Ethernet: 38, with preamble and gap).", "\"38 B\""),
    key("properties", "queue", KeyKind::Other("a size (\"64 KB\", \"100 packets\"), a time (\"50 ms\"), \"2 bdp\" or \"unlimited\""), "1 bdp", "Capacity of the queue, without the packet in transmission. A bdp is the link's rate times the longest round-trip propagation delay of the flows and traffic that cross the link in either direction. If none crosses it, all flows count. Each edge of an ensemble, from or to its switch, counts as a flow. A time stands for what the link sends in that time. With a trace, a bdp and a time use the trace's mean rate. The queue holds at least one packet; the report shows its size. The default of access links is \"unlimited\". In topologies without access links, such as a star, hosts have a queue as routers do. In a switch whose inputs are all paused, the key has no effect: packets wait in the buffers of the inputs (see `pause`).", "\"1 bdp\""),
    key("properties", "queue_rtt", KeyKind::Time, "(from the flows)", "Round trip that defines a bdp of `queue`.", "\"100 ms\""),
    key("properties", "discipline", KeyKind::Discipline, "drop-tail", "Queue discipline: decides which packets are dropped or marked. `ratewire disciplines` lists the disciplines.", "{ codel = { ecn = true } }"),
    key("properties", "loss", KeyKind::Other("\"none\", { random = PROBABILITY } or { burst = { ... } }"), "none", "Losses after transmission.", "{ random = 0.01 }"),
    key("properties", "trace", KeyKind::Text, "(none)", "A file with the link's rate over time, in place of `rate`; it repeats until the run ends. One column is a Mahimahi trace (milliseconds at which 1500 bytes may pass), two columns are seconds and Mbit/s.", "\"Verizon-LTE-short.down\""),
    key("properties", "duplex", KeyKind::Word(&["full", "half"]), "full", "\"half\": both directions share one medium and send one at a time. In a `[[link]]`, `duplex` removes the link from its `medium`.", "\"half\""),
    key("properties", "medium", KeyKind::Text, "(none)", "Name of a half-duplex medium, shared with all links that have the same name here.", "\"air\""),
    key("properties", "contention", KeyKind::Word(&["alternate", "random", "backoff"]), "alternate", "Who sends next on a half-duplex medium: the least recent sender, a random one, or the winner of Ethernet's backoff.", "\"backoff\""),
    key("properties", "law", KeyKind::Other("a law's or variant's name, \"none\" or \"strip\""), "(that of the scenario)", "Law of the port at this queue (hosts have queues too). \"none\": the router has no port. \"strip\": the router removes the congestion header of every packet.", "\"none\""),
    key("properties", "police", KeyKind::Other("true, false or { suspects, tolerance }"), "false", "Whether a policer holds senders to their headers' claims and to the port's grants. It corrects headers that claim too long a spacing, and drops packets that are sent too fast. It works for laws whose headers carry grants (XCP, RCP, PIQI-RCP, JetMax, EMKC, MaxNet); under other laws it lets everything pass, with a warning.", "true"),
    key("properties", "reorder", KeyKind::Other("\"none\" or { share, delay }"), "none", "Packets that others overtake.", "{ share = 0.01, delay = \"5 ms\" }"),
    key("properties", "reverse", KeyKind::Table("properties"), "(as forward)", "Properties that differ in the other direction. In a `[[link]]` that changes a link: changes to the other direction, which otherwise stays as it is.", "{ rate = \"2 Mbit/s\" }"),

    key("reorder", "share", KeyKind::Number(0.0, 1.0), REQUIRED, "Probability per packet of arriving late.", "0.01"),
    key("reorder", "delay", KeyKind::Time, REQUIRED, "Additional delay.", "\"5 ms\""),
    key("police", "suspects", KeyKind::Count(1, 1_000_000), "1024", "Largest number of flows watched at once, chosen by the amount they send.", "256"),
    key("police", "tolerance", KeyKind::Number(0.0, 1.0), "0.05", "Share by which a flow may exceed its granted rate before packets are dropped. A flow that ignores feedback and losses can gain this much. The default is our choice: with less, honest flows are mistaken for fast ones.", "0.2"),
    key("burst", "turn_bad", KeyKind::Number(0.0, 1.0), REQUIRED, "Probability per packet of changing to the bad state.", "0.001"),
    key("burst", "turn_good", KeyKind::Number(0.0, 1.0), REQUIRED, "Probability per packet of changing back to the good state.", "0.1"),
    key("burst", "loss_bad", KeyKind::Number(0.0, 1.0), "1", "Loss probability in the bad state.", "0.5"),
    key("burst", "loss_good", KeyKind::Number(0.0, 1.0), "0", "Loss probability in the good state.", "0.0001"),

    key("node", "name", KeyKind::Text, REQUIRED, "Unique name.", "\"a\""),
    key("node", "count", KeyKind::Count(1, 10_000), "(one)", "Number of nodes. The `*` in `name` stands for 1, 2 ... up to this: name = \"s*\" and count = 3 make s1, s2 and s3.", "3"),
    key("node", "host", KeyKind::Switch, "true", "Whether the node is a host; traffic between all hosts includes it.", "false"),
    key("node", "position", KeyKind::Other("a list of two numbers, x to the right and y upwards"), "(laid out)", "Place of the node in drawings.", "[0, 1]"),
    key("link", "name", KeyKind::Text, "(\"from->to\")", "Name of the new link, whose other direction is then NAME.reverse (several are called NAME.1, NAME.2 ...); or name of the links to change, with `*` for any text.", "\"bottleneck\""),
    key("link", "between", KeyKind::Other("a list of two node names"), "(none)", "The ends of a new cable: a link each way. A name may be a pattern with one `*`: [\"s*\", \"r1\"] makes a cable from each node that matches to r1. In two patterns `*` stands for the same text: [\"s*\", \"e*\"] makes s1 to e1, s2 to e2 and so on.", "[\"a\", \"b\"]"),
    key("link", "from", KeyKind::Text, "(none)", "First node of a new one-way link, or a pattern as in `between`.", "\"a\""),
    key("link", "to", KeyKind::Text, "(none)", "Last node of a new one-way link, or a pattern.", "\"b\""),
    key("path", "nodes", KeyKind::Other("a list of node names, from one end to the other"), REQUIRED, "The path.", "[\"a\", \"b\", \"c\"]"),
    key("path", "both", KeyKind::Switch, "true", "Whether packets in the other direction take the same path back.", "false"),
    key("change", "at", KeyKind::Time, REQUIRED, "Time of the change.", "\"10 s\""),
    key("change", "link", KeyKind::Text, REQUIRED, "The link or links that change, with `*` for any text; the other direction is a separate link.", "\"bottleneck*\""),
    key("change", "rate", KeyKind::Rate, "(unchanged)", "The new rate.", "\"5 Mbit/s\""),
    key("change", "delay", KeyKind::Time, "(unchanged)", "The new propagation delay. Even with a shorter delay no packet overtakes another, and paths stay as they are.", "\"80 ms\""),
    key("change", "up", KeyKind::Switch, "(unchanged)", "false: the link goes down, and drops waiting and arriving packets; true: the link comes up.", "false"),
];
