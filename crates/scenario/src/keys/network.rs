//! Keys of the top of the file, the topology and links.

use super::{Key, Kind, REQUIRED, key};

/// The kinds of topology.
pub(crate) const TOPOLOGY_KINDS: &[&str] =
    &["dumbbell", "parking-lot", "chain", "star", "tree", "fat-tree", "custom", "graph"];

const fn of(
    applies: &'static [&'static str],
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key { table: "topology", name, kind, default, applies, doc, example }
}

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("", "name", Kind::Text, "(the file's name)", "What the scenario is called.", "\"Three flows join\""),
    key("", "description", Kind::Text, "(none)", "What it shows, in a few sentences.", "\"Shows how fast XCP converges.\""),
    key("", "duration", Kind::Time, REQUIRED, "How long to simulate.", "\"30 s\""),
    key("", "seed", Kind::Count(0, u64::MAX), "1", "Seed of all random streams: the same seed gives the same bytes out.", "7"),
    key("", "law", Kind::Other("a law's or variant's name, or a list of them"), REQUIRED, "The law of every flow and router that names none of its own; of a list, each is run in turn. `--law a,b,c` takes its place.", "\"xcp\""),
    key("", "wire", Kind::Word(&["decoded", "exact"]), "decoded", "\"exact\" passes congestion headers through their bytes at each hop, so that their rounding is felt.", "\"exact\""),
    key("", "topology", Kind::Table("topology"), REQUIRED, "Nodes and links.", "{ kind = \"dumbbell\", ... }"),
    key("", "node", Kind::Tables("node"), "(none)", "Further nodes.", "[[node]]"),
    key("", "link", Kind::Tables("link"), "(none)", "Further links, and changes to those of the topology.", "[[link]]"),
    key("", "path", Kind::Tables("path"), "(none)", "Given paths.", "[[path]]"),
    key("", "change", Kind::Tables("change"), "(none)", "What changes during the run.", "[[change]]"),
    key("", "options", Kind::Table("options"), "(none)", "Options of laws, by law.", "[options.xcp]"),
    key("", "variant", Kind::Table("variant"), "(none)", "Further names for laws with other options.", "[variant.naive-xcp]"),
    key("", "transport", Kind::Table("transport"), "(none)", "How the ends of all flows behave.", "[transport]"),
    key("", "flow", Kind::Tables("flow"), "(none)", "Flows listed one by one.", "[[flow]]"),
    key("", "traffic", Kind::Tables("traffic"), "(none)", "Flows that arrive.", "[[traffic]]"),
    key("", "overlay", Kind::Table("overlay"), "(none)", "An overlay that multicasts to groups.", "[overlay]"),
    key("", "group", Kind::Tables("group"), "(none)", "Groups of the overlay's clients, and their senders.", "[[group]]"),
    key("", "ensemble", Kind::Tables("ensemble"), "(none)", "Connections with many ends.", "[[ensemble]]"),
    key("", "record", Kind::Table("record"), "(none)", "What is recorded.", "[record]"),
    key("", "expect", Kind::Tables("expect"), "(none)", "What must come out.", "[[expect]]"),

    key("topology", "kind", Kind::Word(TOPOLOGY_KINDS), REQUIRED, "Its shape; `ratewire topologies` lists them.", "\"dumbbell\""),
    of(&["dumbbell", "chain"], "pairs", Kind::Count(1, 10_000), "1", "Number of pairs of hosts s1, d1, s2, d2 ...; where `delays` or `rtt` is a list, its length.", "3"),
    of(&["dumbbell"], "bottleneck", Kind::Table("properties"), REQUIRED, "The link from r1 to r2.", "{ rate = \"1 Gbit/s\", delay = \"23 ms\" }"),
    of(&["parking-lot", "chain", "star", "tree", "fat-tree", "graph"], "link", Kind::Table("properties"), REQUIRED, "The links between routers (in a star: between host and hub). In a graph: what the file does not say; its rates (see `file_rates`) and lengths win.", "{ rate = \"100 Mbit/s\", delay = \"10 ms\" }"),
    of(&["dumbbell", "parking-lot", "chain", "tree", "fat-tree", "graph"], "access", Kind::Table("properties"), "(ten times the rate of the fastest other link, no delay)", "The links between hosts and their routers; their queues are unlimited unless given.", "{ rate = \"10 Gbit/s\", delay = \"1 ms\" }"),
    of(&["dumbbell"], "delays", Kind::Other("a list of times, one a pair"), "(that of `access`)", "Delay of both access links of each pair.", "[\"5 ms\", \"90 ms\"]"),
    of(&["dumbbell"], "rtt", Kind::Other("a time, or a list of times, one a pair"), "(from the delays)", "Propagation round trip of all pairs or of each: sets the delay of both access links of the pair, each way, to (rtt - bottleneck delay there and back) / 4.", "[\"30 ms\", \"200 ms\"]"),
    of(&["parking-lot"], "hops", Kind::Count(1, 1_000), "2", "Number of links in a row.", "3"),
    of(&["chain"], "routers", Kind::Count(1, 1_000), "2", "Number of routers in a row.", "4"),
    of(&["star"], "hosts", Kind::Count(2, 10_000), REQUIRED, "Number of hosts.", "16"),
    of(&["tree"], "depth", Kind::Count(1, 12), "2", "Levels of routers, the root included.", "3"),
    of(&["tree"], "fanout", Kind::Count(1, 64), "2", "Routers (at the last level: hosts) below each router.", "4"),
    of(&["fat-tree"], "k", Kind::Count(2, 16), "4", "Ports of each switch, an even number: k^3 / 4 hosts.", "8"),
    of(&["graph"], "file", Kind::Text, REQUIRED, "Topology Zoo GraphML, SNDlib XML or node-link JSON, relative to the scenario.", "\"Abilene.graphml\""),
    of(&["graph"], "file_rates", Kind::Switch, "true", "Take the rates that the file gives, and `link.rate` where it gives none; else `link.rate` everywhere.", "false"),
    of(&["graph"], "external", Kind::Switch, "true", "Keep the neighbouring networks that Topology Zoo files draw.", "false"),

    key("properties", "rate", Kind::Rate, "(required unless `trace` is given)", "How fast it sends. At rate 0 it sends nothing.", "\"1 Gbit/s\""),
    key("properties", "delay", Kind::Time, "(required; in a graph: 5 us per km)", "Propagation delay.", "\"20 ms\""),
    key("properties", "overhead", Kind::Bytes, "0 B", "Link-layer bytes added to each packet (Ethernet: 38 with preamble and gap).", "\"38 B\""),
    key("properties", "queue", Kind::Other("a size (\"64 KB\", \"100 packets\"), a time (\"50 ms\"), \"2 bdp\" or \"unlimited\""), "1 bdp", "Room for waiting packets, the one being sent not counted. A bdp is the rate times the longest propagation round trip of the flows and traffic over the link, whichever way they cross it (of all of them if none does); the edges of an ensemble are flows of their own there, from or to the switch. The report tells what it comes to, a packet at least. A time is that much at the link's rate; of a trace, both take the mean rate. The default of access links is \"unlimited\"; elsewhere, as in a star, hosts have a queue as routers do. Of no use in a switch all of whose inputs are paused: there packets wait in the buffers of those (see `pause`).", "\"1 bdp\""),
    key("properties", "queue_rtt", Kind::Time, "(from the flows)", "The round trip that a bdp is of.", "\"100 ms\""),
    key("properties", "discipline", Kind::Discipline, "drop-tail", "Which packets are dropped or marked; `ratewire disciplines` lists the disciplines.", "{ codel = { ecn = true } }"),
    key("properties", "loss", Kind::Other("\"none\", { random = PROBABILITY } or { burst = { ... } }"), "none", "Packets lost on the way, after they were sent.", "{ random = 0.01 }"),
    key("properties", "trace", Kind::Text, "(none)", "A file that says how fast it sends, in place of `rate`, repeated until the run ends: one column is a Mahimahi trace (milliseconds at which 1500 bytes may pass), two columns are seconds and Mbit/s.", "\"Verizon-LTE-short.down\""),
    key("properties", "duplex", Kind::Word(&["full", "half"]), "full", "\"half\": both directions share one medium and send one at a time. In a `[[link]]` it takes the link off the `medium` that it had.", "\"half\""),
    key("properties", "medium", Kind::Text, "(none)", "Half-duplex, with all links that name the same medium.", "\"air\""),
    key("properties", "contention", Kind::Word(&["alternate", "random", "backoff"]), "alternate", "Who sends next on a half-duplex medium: the one that has sent least recently, any, or the winner of Ethernet's backoff.", "\"backoff\""),
    key("properties", "law", Kind::Other("a law's or variant's name, \"none\" or \"strip\""), "(that of the scenario)", "The law whose port stands at this queue (hosts have queues too); \"none\" for a router that takes no part, \"strip\" for one that takes the congestion header off every packet.", "\"none\""),
    key("properties", "police", Kind::Other("true, false or { suspects, tolerance }"), "false", "Whether senders are held to what their headers claim and to what the port here grants them: the policer corrects headers that claim too long a spacing, and drops what is sent too fast. For laws whose headers grant (XCP, RCP, PIQI-RCP, JetMax, EMKC, MaxNet); under others it lets everything pass, with a warning.", "true"),
    key("properties", "reorder", Kind::Other("\"none\" or { share, delay }"), "none", "Packets that others overtake.", "{ share = 0.01, delay = \"5 ms\" }"),
    key("properties", "reverse", Kind::Table("properties"), "(as forward)", "What differs in the other direction; in a `[[link]]` that changes a link, what to change of the other direction, which otherwise stays.", "{ rate = \"2 Mbit/s\" }"),

    key("reorder", "share", Kind::Number(0.0, 1.0), REQUIRED, "Probability per packet of arriving late.", "0.01"),
    key("reorder", "delay", Kind::Time, REQUIRED, "How much later.", "\"5 ms\""),
    key("police", "suspects", Kind::Count(1, 1_000_000), "1024", "Most flows that are watched at once; those that send the most are.", "256"),
    key("police", "tolerance", Kind::Number(0.0, 1.0), "0.05", "How much faster than it was granted a flow may send before packets are dropped, as a share: what who ignores feedback and losses can gain. Our choice: less, and honest flows are taken for faster than they are.", "0.2"),
    key("burst", "turn_bad", Kind::Number(0.0, 1.0), REQUIRED, "Probability per packet of turning bad.", "0.001"),
    key("burst", "turn_good", Kind::Number(0.0, 1.0), REQUIRED, "Probability per packet of turning good again.", "0.1"),
    key("burst", "loss_bad", Kind::Number(0.0, 1.0), "1", "Loss while bad.", "0.5"),
    key("burst", "loss_good", Kind::Number(0.0, 1.0), "0", "Loss while good.", "0.0001"),

    key("node", "name", Kind::Text, REQUIRED, "Unique name.", "\"a\""),
    key("node", "host", Kind::Switch, "true", "Whether traffic between all hosts includes it.", "false"),
    key("node", "position", Kind::Other("a list of two numbers, x to the right and y upwards"), "(laid out)", "Where to draw it.", "[0, 1]"),
    key("link", "name", Kind::Text, "(\"from->to\")", "Name of the new link, its other direction is then NAME.reverse; or the links to change, `*` for any text.", "\"bottleneck\""),
    key("link", "between", Kind::Other("a list of two node names"), "(none)", "The ends of a new cable: a link each way.", "[\"a\", \"b\"]"),
    key("link", "from", Kind::Text, "(none)", "Where a new one-way link starts.", "\"a\""),
    key("link", "to", Kind::Text, "(none)", "Where it ends.", "\"b\""),
    key("path", "nodes", Kind::Other("a list of node names, from one end to the other"), REQUIRED, "The path.", "[\"a\", \"b\", \"c\"]"),
    key("path", "both", Kind::Switch, "true", "Whether packets the other way take the same path back.", "false"),
    key("change", "at", Kind::Time, REQUIRED, "When.", "\"10 s\""),
    key("change", "link", Kind::Text, REQUIRED, "Which link or links, `*` for any text; the other direction is a link of its own.", "\"bottleneck*\""),
    key("change", "rate", Kind::Rate, "(unchanged)", "The new rate.", "\"5 Mbit/s\""),
    key("change", "delay", Kind::Time, "(unchanged)", "The new propagation delay; a shorter one lets no packet overtake another. Paths stay as they are.", "\"80 ms\""),
    key("change", "up", Kind::Switch, "(unchanged)", "false: goes down, and drops what waits and arrives; true: comes up.", "false"),
];
