//! Keys of overlays and their groups.

use super::{Key, Kind, REQUIRED, key};

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("overlay", "nodes", Kind::Other("a list of nodes' names, or patterns with one `*`"), "(all hosts)", "The hosts that run a node of the overlay, at most 128.", "[\"a\", \"b\", \"c\"]"),
    key("overlay", "links", Kind::Other("\"cables\" or a list of [node, node]"), "cables", "Which nodes are joined by a connection each way, called A=>B: those on the two ends of a cable, where a host that hangs on a router stands for the router, or those listed.", "[[\"a\", \"b\"], [\"b\", \"c\"]]"),
    key("overlay", "law", Kind::Other("a law's or variant's name"), "(that of the scenario)", "The law of its connections.", "\"newreno\""),
    key("overlay", "options", Kind::Other("a table of the law's options"), "(those of the law)", "As in `[[flow]]`.", "{ weight = 2 }"),
    key("overlay", "transport", Kind::Table("transport"), "(that of the scenario)", "How the ends of its connections behave.", "{ min_rto = \"1 s\" }"),
    key("overlay", "message", Kind::Size, "1 packets", "What a client's message takes of a connection's stream; in packets: full payloads. The paper does not say; a message to a packet is ours.", "\"1000 B\""),
    key("overlay", "header", Kind::Bytes, "0 B", "How much of that is not the client's own data. The paper's simulations count none; its Spread adds about 15 % of the data.", "\"190 B\""),
    key("overlay", "access", Kind::Rate, "10 Mbit/s", "Rate of each client's line to its node (CNDS-2001-1, section 6).", "\"100 Mbit/s\""),
    key("overlay", "salary", Kind::Number(1e-6, 1e9), "10", "Dollars a client is paid at a time (CNDS-2001-1, section 6).", "10"),
    key("overlay", "cap", Kind::Number(1e-6, 1e9), "20", "S: the most dollars a client may hold, and the price of a link at its soft limit (section 6).", "20"),
    key("overlay", "fee", Kind::Number(0.0, 1e9), "1", "Dollars a message costs beside its links (section 4.2.3).", "1"),
    key("overlay", "soft_limit", Kind::Number(0.1, 1000.0), "100", "M: messages that are meant to wait for a link at most (section 6). Only the price limits them.", "100"),
    key("overlay", "interval", Kind::Time, "50 ms", "Time between a node's cost updates (section 6; 100 ms on CAIRN, section 7).", "\"100 ms\""),
    key("overlay", "threshold", Kind::Number(0.0, 1e9), "15", "A client that was blocked is paid more often if the dearest message it bought cost less than this many dollars, else half as often (section 4.2.3, which does not say how much it is; papers/cost-benefit-multicast sweeps it).", "10"),
    key("overlay", "first_period", Kind::Time, "1 s", "Time to a client's second salary; periods adapt from there (not in the paper).", "\"200 ms\""),
    key("overlay", "price", Kind::Word(&["exponential", "linear", "square"]), "exponential", "How a link's cost grows with the messages that wait for it: S(e^(x/M) - 1)/(e - 1), or S x/M or S(x/M)^2, which the paper rejects (section 4.2.1).", "\"linear\""),
    key("overlay", "benefit", Kind::Word(&["per-message", "per-receiver", "concave"]), "per-message", "What a message is worth to its sender, who pays its cost over this: 1; the number of nodes that receive it; or 1/(1 + n) with n the messages it has sent of late (section 4.2.2).", "\"concave\""),
    key("overlay", "memory", Kind::Time, "1 s", "How long \"of late\" is for the concave benefit: a time constant (not in the paper, which never forgets).", "\"10 s\""),
    key("overlay", "randomise", Kind::Switch, "true", "Whether an affordable message is sent only with probability one over its cost (section 4.2.3).", "false"),
    key("overlay", "second_thought", Kind::Time, "(as long as a message takes on the client's line)", "When a message that chance kept back is thought of again (not in the paper).", "\"10 ms\""),

    key("group", "name", Kind::Text, REQUIRED, "Unique name.", "\"ace\""),
    key("group", "service", Kind::Word(&["unordered", "fifo", "agreed"]), "fifo", "In which order messages are delivered: each sender's own, or one order of all senders' and of all view changes, the same at every node. Connections keep order, so that \"unordered\" comes in each sender's order too.", "\"agreed\""),
    key("group", "receivers", Kind::Other("a list of nodes, each a name, a pattern with one `*`, or [name, number of clients]"), "[]", "Who is a member from the start.", "[\"c\", [\"e\", 10]]"),
    key("group", "senders", Kind::Other("a list of nodes, each a name, a pattern with one `*`, or [name, number of clients]"), REQUIRED, "Whose clients send to it. They need not be members.", "[[\"a\", 20]]"),
    key("group", "rate", Kind::Rate, "(as much as they can)", "What each sender has to send, headers of the overlay included.", "\"100 kbit/s\""),
    key("group", "start", Kind::Time, "0 s", "When its senders begin.", "\"200 s\""),
    key("group", "stop", Kind::Time, "(never)", "When they stop; what they have paid for is still delivered.", "\"400 s\""),
    key("group", "joins", Kind::Other("a list of [time, node]"), "[]", "Clients that join in the course of the run.", "[[\"10 s\", \"d\"]]"),
    key("group", "leaves", Kind::Other("a list of [time, node]"), "[]", "Members that leave: of a node's, the one that has been there longest.", "[[\"20 s\", \"d\"]]"),
];
