//! Keys of ensembles.

use super::{Key, Kind, REQUIRED, TableInfo, key, table};

const END: Kind = Kind::Other("a node's name, or a table (see \"An end\")");

const MEMBERS: Kind =
    Kind::Other("a list of nodes' names, patterns with one `*`, and tables (see \"An end\")");

const ROUTING: Kind = Kind::Other(
    "\"round-robin\", \"least-outstanding\", { weighted = [...] }, { hash = { ... } } or { prefix = { ... } }",
);

const ROUTING_DOC: &str = "Which member a frame from the peer goes to: one after the other; the one with \
    the least outstanding; each its share, by weights in the order of the members; by a hash of the \
    frame's bytes from `offset` on, `len` of them; by what it begins with: hexadecimal digits and \
    members' names, the longest wins, what has none goes round.";

const KEYS_DOC: &str = "What frames contain, as far as that is simulated: the first eight bytes are a \
    number, the highest byte first, drawn for each frame.";

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("ensemble", "name", Kind::Text, REQUIRED, "Unique name of the connection. Its edges are flows: NAME between peer and switch, NAME.MEMBER between switch and member, both towards the members; with `.out` at the end towards the peer. The flow between peer and switch carries all, those of members their parts; totals count each byte once, where it arrives at a host.", "\"kv\""),
    key("ensemble", "peer", END, REQUIRED, "Whom the ensemble appears to as a single host. A table with a `switch`: another ensemble.", "\"client\""),
    key("ensemble", "switch", Kind::Text, REQUIRED, "The node where the switch is.", "\"switch\""),
    key("ensemble", "members", MEMBERS, REQUIRED, "The members.", "[\"a1\", \"a2\", { node = \"a3\", receive_window = \"50 KB\" }]"),
    key("ensemble", "direction", Kind::Word(&["inbound", "outbound", "both"]), "both", "Who sends: the peer, the members, or all.", "\"inbound\""),
    key("ensemble", "routing", ROUTING, "round-robin", ROUTING_DOC, "{ hash = { offset = 0, len = 8 } }"),
    key("ensemble", "keys", Kind::Table("keys"), "{ uniform = 65536 }", KEYS_DOC, "{ uniform = 1000 }"),
    key("ensemble", "flow_control", Kind::Word(&["strict", "soft"]), "(soft where the law's receivers hold senders back by rate, else strict)", "What switches do with windows. \"strict\": the peer is told the smallest of the members', each member an even part of the peer's; \"soft\": the largest, and all of it (Anypoint, section III-B).", "\"soft\""),
    key("ensemble", "transforms", Kind::Word(&["refusals", "paper"]), "refusals", "How a switch splits and merges feedback in changes of rate (XCP's). \"refusals\": a path's refusals of what packets wished go to all members, the rest of the feedback to the packet's own member; a peer gets the refusals of the strictest path. \"paper\": as Anypoint, sections III-C and IV, has it: all of the peer's feedback is split, an increase evenly among all members and a decrease by rate, and the members' last feedback is merged by the minimum.", "\"paper\""),
    key("ensemble", "shuffle", Kind::Number(0.0, 1.0), "0.1", "Part of what members send that a switch moves between them in a round trip, towards equal rates, where a law feeds back changes of rate. XCP's routers move 0.1 between flows (SIGCOMM 2002, gamma); 0 is Anypoint's switch, whose members stay unequal for long.", "0"),
    key("ensemble", "idle_expiry", Kind::Time, "60 s", "When nothing has passed for so long, and nothing is owed, switches forget the connection but for where its streams are: two numbers a member, and what room receivers have. The next packet sets it up anew. At least 1 ms. The paper's state is soft (Anypoint, section II); the time is ours.", "\"10 s\""),
    key("ensemble", "start", Kind::Time, "0 s", "When it starts.", "\"5 s\""),
    key("ensemble", "stop", Kind::Time, "(never)", "When all its applications stop writing; what is written is still delivered.", "\"20 s\""),
    key("ensemble", "size", Kind::Size, "(unlimited data)", "Payload that each sender sends.", "\"10 MB\""),
    key("ensemble", "app", Kind::Other("as in `[[flow]]`"), "unlimited", "What each sending application writes.", "{ constant = { rate = \"2 Mbit/s\" } }"),
    key("ensemble", "reader", Kind::Other("as in `[[flow]]`"), "immediate", "How receiving applications read.", "{ per_frame = \"1 ms\" }"),
    key("ensemble", "frame", Kind::Size, "(one packet's payload)", "Payload of a frame, which goes whole to one member.", "\"8 KB\""),
    key("ensemble", "law", Kind::Other("a law's or variant's name"), "(that of the scenario)", "Its law. Laws whose packets carry a header that cannot be split and merged are refused.", "\"xcp\""),
    key("ensemble", "options", Kind::Other("a table of the law's options"), "(those of the law)", "As in `[[flow]]`.", "{ flow_control = \"soft\" }"),
    key("ensemble", "transport", Kind::Table("transport"), "(that of the scenario)", "How the connection's ends behave.", "{ receive_window = \"200 KB\" }"),

    key("end", "node", Kind::Text, "(one of `node` and `switch` is required)", "The host.", "\"a3\""),
    key("end", "switch", Kind::Text, "(one of `node` and `switch` is required)", "The node where a further switch is, with members of its own.", "\"s2\""),
    key("end", "members", MEMBERS, "(required with `switch`)", "The members behind it.", "[\"b1\", \"b2\"]"),
    key("end", "routing", ROUTING, "round-robin", "As in `[[ensemble]]`, for the members behind it.", "\"least-outstanding\""),
    key("end", "keys", Kind::Table("keys"), "{ uniform = 65536 }", "As in `[[ensemble]]`.", "{ uniform = 1000 }"),
    key("end", "receive_window", Kind::Size, "(that of the ensemble's transport)", "The host's receive buffer.", "\"50 KB\""),
    key("end", "reader", Kind::Other("as in `[[flow]]`"), "(that of the ensemble)", "How the host's application reads.", "{ per_frame = \"1 ms\" }"),
    key("end", "fails", Kind::Other("a list of times such as \"5 s .. 8 s\""), "(never)", "When the host is down. It then forgets everything, and its switch notices. Not for the peer.", "[\"5 s .. 8 s\"]"),
    key("end", "idle", Kind::Other("a list of times such as \"5 s .. 8 s\""), "(never)", "When its application, with unlimited data, writes nothing.", "[\"5 s .. 8 s\"]"),

    key("keys", "uniform", Kind::Count(1, u64::MAX), "(none)", "So many, each as likely.", "1000"),
    key("keys", "zipf", Kind::Table("zipf"), "(none)", "Some more likely than others.", "{ keys = 1000, exponent = 0.99 }"),
    key("zipf", "keys", Kind::Count(1, 1_000_000), REQUIRED, "How many.", "1000"),
    key("zipf", "exponent", Kind::Number(0.0, 10.0), "0.99", "The n-th is as likely as 1 over n to this power (YCSB: 0.99).", "1.2"),

    key("routing", "hash", Kind::Table("hash"), "(none)", "By a key.", "{ offset = 0, len = 8 }"),
    key("routing", "weighted", Kind::Other("a list of numbers above 0, one a member"), "(none)", "Each its share.", "[3, 1]"),
    key("routing", "prefix", Kind::Other("a table of hexadecimal digits and members' names"), "(none)", "By what frames begin with.", "{ \"00\" = \"a1\", \"0001\" = \"a2\" }"),
    key("hash", "offset", Kind::Count(0, 7), "0", "Where the key begins in the frame, in bytes: of the eight that are simulated.", "0"),
    key("hash", "len", Kind::Count(1, 8), "(up to the eighth byte)", "How long it is, in bytes: it ends at the eighth byte of the frame at the latest.", "8"),
];

pub(super) const TABLES: &[TableInfo] = &[
    table(
        "ensemble",
        "[[ensemble]]",
        "A connection between a peer and an ensemble, which a switch makes look like one host (Anypoint). \
         Frames from the peer are spread over the members, what members send is merged.",
        "[[ensemble]]\nname    = \"kv\"\npeer    = \"client\"\nswitch  = \"switch\"\n\
         members = [\"a*\"]\nrouting = { hash = { len = 8 } }",
    ),
    table(
        "end",
        "An end",
        "The peer, or a member, of an ensemble: a host, or a further switch with members of its own, \
         so that switches make a tree, or face each other.",
        "members = [\"a1\", { switch = \"s2\", members = [\"b1\", \"b2\"] }]",
    ),
    table("keys", "keys = { ... }", "What frames begin with.", "keys = { zipf = { keys = 1000 } }"),
    table(
        "zipf",
        "keys = { zipf = { ... } }",
        "Zipf.",
        "keys = { zipf = { keys = 1000, exponent = 1 } }",
    ),
    table(
        "routing",
        "routing = { ... }",
        "An application-layer routing module with parameters: one of these keys.",
        "routing = { weighted = [3, 1] }",
    ),
    table(
        "hash",
        "routing = { hash = { ... } }",
        "The same key goes to the same member; when one fails, only its keys move.",
        "routing = { hash = { offset = 0, len = 8 } }",
    ),
];
