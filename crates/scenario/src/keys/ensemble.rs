//! Keys of ensembles.

use super::{Key, KeyKind, REQUIRED, TableInfo, key, table};

const END: KeyKind = KeyKind::Other("a node's name, or a table (see \"An end\")");

const MEMBERS: KeyKind =
    KeyKind::Other("a list of nodes' names, patterns with one `*`, and tables (see \"An end\")");

const ROUTING: KeyKind = KeyKind::Other(
    "\"round-robin\", \"least-outstanding\", \"power-of-two\", { weighted = [...] }, { hash = { ... } } or \
{ prefix = { ... } }",
);

const ROUTING_DOC: &str = "How the switch chooses the member for a frame from the peer. \"round-robin\": one after the other. \
\"least-outstanding\": the member with the fewest frames outstanding. \"power-of-two\": the better of two random \
members by Prequal's rule, by latency unless one has more outstanding than 84 % of the recent draws. `weighted`: by \
shares in the order of the members. `hash`: by a hash of `len` bytes of the frame from `offset` on. `prefix`: by the frame's first \
bytes, in hexadecimal digits; the longest prefix wins, and frames without one go round.";

const KEYS_DOC: &str = "Contents of frames. Only the first eight bytes are simulated: a random number for each frame, \
highest byte first.";

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("ensemble", "name", KeyKind::Text, REQUIRED, "Unique name of the connection. Its edges are flows: NAME from peer to switch, NAME.MEMBER from switch to member, and the same names with `.out` at the end for the other direction. The flow between peer and switch carries all data, those of the members carry their parts. Totals count each byte once, where it reaches a host.", "\"kv\""),
    key("ensemble", "peer", END, REQUIRED, "The host that sees the ensemble as a single host. A table with a `switch` makes the peer another ensemble.", "\"client\""),
    key("ensemble", "switch", KeyKind::Text, REQUIRED, "The node of the switch.", "\"switch\""),
    key("ensemble", "members", MEMBERS, REQUIRED, "The members.", "[\"a1\", \"a2\", { node = \"a3\", receive_window = \"50 KB\" }]"),
    key("ensemble", "direction", KeyKind::Word(&["inbound", "outbound", "both"]), "both", "Who sends: the peer (\"inbound\"), the members (\"outbound\"), or all.", "\"inbound\""),
    key("ensemble", "routing", ROUTING, "round-robin", ROUTING_DOC, "{ hash = { offset = 0, len = 8 } }"),
    key("ensemble", "keys", KeyKind::Table("keys"), "{ uniform = 65536 }", KEYS_DOC, "{ uniform = 1000 }"),
    key("ensemble", "flow_control", KeyKind::Word(&["strict", "soft"]), "(soft where the law's receivers limit senders by a rate, else strict)", "How switches treat windows (Anypoint, section III-B). \"strict\": the peer gets the smallest of the members' windows, and each member an even part of the peer's. \"soft\": the peer gets the largest of the members' windows, and each member all of the peer's.", "\"soft\""),
    key("ensemble", "transforms", KeyKind::Word(&["refusals", "paper"]), "refusals", "How a switch splits and merges feedback that changes rates (XCP's). \"refusals\": what a path refused of the packets' requests goes to all members, the rest of the feedback to the packet's own member; a peer gets the refusals of the strictest path. \"paper\" (Anypoint, sections III-C and IV): all of the peer's feedback is split, an increase evenly among all members and a decrease by rate; the members' last feedback is merged by the minimum.", "\"paper\""),
    key("ensemble", "shuffle", KeyKind::Number(0.0, 1.0), "0.1", "Share of the members' rate that a switch moves between members in a round trip, towards equal rates. It applies to laws whose feedback is a change of rate. XCP's routers move 0.1 between flows (SIGCOMM 2002, gamma). With 0, as in Anypoint's switch, members stay unequal for long.", "0"),
    key("ensemble", "idle_expiry", KeyKind::Time, "60 s", "Time without packets and with nothing outstanding after which switches forget the connection, at least 1 ms. They keep the positions of its streams, two numbers a member, and the free room of receivers. The next packet sets the connection up again. The paper's state is soft (Anypoint, section II); the time is our choice.", "\"10 s\""),
    key("ensemble", "start", KeyKind::Time, "0 s", "Time at which the connection starts.", "\"5 s\""),
    key("ensemble", "stop", KeyKind::Time, "(never)", "Time at which all its applications stop writing; data written before are still delivered.", "\"20 s\""),
    key("ensemble", "size", KeyKind::Size, "(unlimited data)", "Payload that each sender sends.", "\"10 MB\""),
    key("ensemble", "app", KeyKind::Other("as in `[[flow]]`"), "unlimited", "What each sending application writes.", "{ constant = { rate = \"2 Mbit/s\" } }"),
    key("ensemble", "reader", KeyKind::Other("as in `[[flow]]`"), "immediate", "How receiving applications read.", "{ per_frame = \"1 ms\" }"),
    key("ensemble", "frame", KeyKind::Size, "(one packet's payload)", "Payload of a frame; a frame goes to one member as a whole.", "\"8 KB\""),
    key("ensemble", "law", KeyKind::Other("a law's or variant's name"), "(that of the scenario)", "Law of the connection. A law whose header a switch cannot split and merge is an error.", "\"xcp\""),
    key("ensemble", "options", KeyKind::Other("a table of the law's options"), "(those of the law)", "As in `[[flow]]`.", "{ flow_control = \"soft\" }"),
    key("ensemble", "transport", KeyKind::Table("transport"), "(that of the scenario)", "Transport of the connection's ends.", "{ receive_window = \"200 KB\" }"),

    key("end", "node", KeyKind::Text, "(one of `node` and `switch` is required)", "The host.", "\"a3\""),
    key("end", "switch", KeyKind::Text, "(one of `node` and `switch` is required)", "The node of a further switch, which has its own members.", "\"s2\""),
    key("end", "members", MEMBERS, "(required with `switch`)", "The members behind the switch.", "[\"b1\", \"b2\"]"),
    key("end", "routing", ROUTING, "round-robin", "As in `[[ensemble]]`, for the members behind the switch.", "\"least-outstanding\""),
    key("end", "keys", KeyKind::Table("keys"), "{ uniform = 65536 }", "As in `[[ensemble]]`.", "{ uniform = 1000 }"),
    key("end", "receive_window", KeyKind::Size, "(that of the ensemble's transport)", "The host's receive buffer.", "\"50 KB\""),
    key("end", "reader", KeyKind::Other("as in `[[flow]]`"), "(that of the ensemble)", "How the host's application reads.", "{ per_frame = \"1 ms\" }"),
    key("end", "fails", KeyKind::Other("a list of times such as \"5 s .. 8 s\""), "(never)", "Times at which the host is down. It then forgets everything, and its switch notices. Not allowed for the peer.", "[\"5 s .. 8 s\"]"),
    key("end", "idle", KeyKind::Other("a list of times such as \"5 s .. 8 s\""), "(never)", "Times at which the host's application, which has unlimited data, writes nothing.", "[\"5 s .. 8 s\"]"),

    key("keys", "uniform", KeyKind::Count(1, u64::MAX), "(none)", "Number of keys, all equally likely.", "1000"),
    key("keys", "zipf", KeyKind::Table("zipf"), "(none)", "Keys with Zipf's distribution.", "{ keys = 1000, exponent = 0.99 }"),
    key("zipf", "keys", KeyKind::Count(1, 1_000_000), REQUIRED, "Number of keys.", "1000"),
    key("zipf", "exponent", KeyKind::Number(0.0, 10.0), "0.99", "Exponent s: the n-th key has a probability proportional to 1/n^s (YCSB: 0.99).", "1.2"),

    key("routing", "hash", KeyKind::Table("hash"), "(none)", "Member by a hash of a key in the frame.", "{ offset = 0, len = 8 }"),
    key("routing", "weighted", KeyKind::Other("a list of numbers above 0, one a member"), "(none)", "Members by shares.", "[3, 1]"),
    key("routing", "prefix", KeyKind::Other("a table of hexadecimal digits and members' names"), "(none)", "Member by the first bytes of the frame.", "{ \"00\" = \"a1\", \"0001\" = \"a2\" }"),
    key("hash", "offset", KeyKind::Count(0, 7), "0", "First byte of the key in the frame, among the eight that are simulated.", "0"),
    key("hash", "len", KeyKind::Count(1, 8), "(up to the eighth byte)", "Length of the key in bytes; it ends at the frame's eighth byte or before.", "8"),
];

pub(super) const TABLES: &[TableInfo] = &[
    table(
        "ensemble",
        "[[ensemble]]",
        "A connection between a peer and an ensemble, which a switch makes look like one host (Anypoint). \
         The switch spreads frames from the peer over the members, and merges the members' data. \
         In the emulated world the peer, the switch and the members are processes, which speak ACP.",
        "[[ensemble]]\nname    = \"kv\"\npeer    = \"client\"\nswitch  = \"switch\"\n\
         members = [\"a*\"]\nrouting = { hash = { len = 8 } }",
    ),
    table(
        "end",
        "An end",
        "The peer or a member of an ensemble: a host, or a further switch with its own members. \
         Switches can form a tree, or face each other.",
        "members = [\"a1\", { switch = \"s2\", members = [\"b1\", \"b2\"] }]",
    ),
    table(
        "keys",
        "keys = { ... }",
        "The simulated contents of frames: their keys.",
        "keys = { zipf = { keys = 1000 } }",
    ),
    table(
        "zipf",
        "keys = { zipf = { ... } }",
        "Keys with Zipf's distribution.",
        "keys = { zipf = { keys = 1000, exponent = 1 } }",
    ),
    table(
        "routing",
        "routing = { ... }",
        "A routing module of the application layer with parameters: one of these keys.",
        "routing = { weighted = [3, 1] }",
    ),
    table(
        "hash",
        "routing = { hash = { ... } }",
        "A key always goes to the same member; when a member fails, only its keys move.",
        "routing = { hash = { offset = 0, len = 8 } }",
    ),
];
