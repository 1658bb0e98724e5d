//! Keys of overlays and their groups.

use super::{Key, Kind, REQUIRED, key};

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("overlay", "nodes", Kind::Other("a list of nodes' names, or patterns with one `*`"), "(all hosts)", "The hosts that run a node of the overlay, at most 128.", "[\"a\", \"b\", \"c\"]"),
    key("overlay", "links", Kind::Other("\"cables\" or a list of [node, node]"), "cables", "Pairs of nodes that are joined by a connection each way, called A=>B. \"cables\" joins the nodes at the two ends of each cable; a host with one router takes the router's place. A list joins the listed pairs.", "[[\"a\", \"b\"], [\"b\", \"c\"]]"),
    key("overlay", "law", Kind::Other("a law's or variant's name"), "(that of the scenario)", "Law of the overlay's connections.", "\"newreno\""),
    key("overlay", "options", Kind::Other("a table of the law's options"), "(those of the law)", "As in `[[flow]]`.", "{ weight = 2 }"),
    key("overlay", "transport", Kind::Table("transport"), "(that of the scenario)", "Transport of the connections' ends.", "{ min_rto = \"1 s\" }"),
    key("overlay", "message", Kind::Size, "1 packets", "Size of a client's message in a connection's stream; in packets: full payloads. The paper gives no size; one message per packet is our choice.", "\"1000 B\""),
    key("overlay", "header", Kind::Bytes, "0 B", "Part of a message that is not the client's own data. The paper's simulations have none; its Spread system adds about 15 % of the data.", "\"190 B\""),
    key("overlay", "access", Kind::Rate, "10 Mbit/s", "Rate of each client's line to its node (CNDS-2001-1, section 6).", "\"100 Mbit/s\""),
    key("overlay", "salary", Kind::Number(1e-6, 1e9), "10", "Dollars of each salary payment to a client (CNDS-2001-1, section 6).", "10"),
    key("overlay", "cap", Kind::Number(1e-6, 1e9), "20", "S: largest number of dollars a client may hold, and the price of a link at its soft limit (section 6).", "20"),
    key("overlay", "fee", Kind::Number(0.0, 1e9), "1", "Dollars that a message costs in addition to the prices of its links (section 4.2.3).", "1"),
    key("overlay", "soft_limit", Kind::Number(0.1, 1000.0), "100", "M: soft limit of the messages that wait for a link (section 6). Only the price enforces it.", "100"),
    key("overlay", "interval", Kind::Time, "50 ms", "Time between a node's price updates (section 6; 100 ms on CAIRN, section 7).", "\"100 ms\""),
    key("overlay", "threshold", Kind::Number(0.0, 1e9), "15", "Dollars that decide a blocked client's next salaries. If its dearest message cost less, it is paid more often, otherwise half as often (section 4.2.3). The paper gives no value; papers/cost-benefit-multicast sweeps it.", "10"),
    key("overlay", "first_period", Kind::Time, "1 s", "Time until a client's second salary; later periods adapt (not in the paper).", "\"200 ms\""),
    key("overlay", "price", Kind::Word(&["exponential", "linear", "square"]), "exponential", "Price of a link at which x messages wait: S(e^(x/M) - 1)/(e - 1); or S x/M or S(x/M)^2, which the paper rejects (section 4.2.1).", "\"linear\""),
    key("overlay", "benefit", Kind::Word(&["per-message", "per-receiver", "concave"]), "per-message", "Benefit of a message to its sender (section 4.2.2). The sender pays the cost divided by the benefit. The benefit is 1; the number of nodes that receive the message; or 1/(1 + n), with n the recent messages of the sender.", "\"concave\""),
    key("overlay", "memory", Kind::Time, "1 s", "Time constant of \"recent\" in the concave benefit (not in the paper, which never forgets).", "\"10 s\""),
    key("overlay", "randomise", Kind::Switch, "true", "Whether an affordable message is sent only with probability 1/cost (section 4.2.3).", "false"),
    key("overlay", "second_thought", Kind::Time, "(the time of a message on the client's line)", "Time until a message that `randomise` held back is considered again (not in the paper).", "\"10 ms\""),

    key("group", "name", Kind::Text, REQUIRED, "Unique name.", "\"ace\""),
    key("group", "service", Kind::Word(&["unordered", "fifo", "agreed"]), "fifo", "Order of delivery. \"fifo\": the order of each sender. \"agreed\": one order of all messages and view changes, equal at every node. \"unordered\" is also delivered in each sender's order, because connections keep order.", "\"agreed\""),
    key("group", "receivers", Kind::Other("a list of nodes, each a name, a pattern with one `*`, or [name, number of clients]"), "[]", "Members from the start.", "[\"c\", [\"e\", 10]]"),
    key("group", "senders", Kind::Other("a list of nodes, each a name, a pattern with one `*`, or [name, number of clients]"), REQUIRED, "Nodes whose clients send to the group. The clients need not be members.", "[[\"a\", 20]]"),
    key("group", "rate", Kind::Rate, "(as much as possible)", "Rate of each sender's data, headers of the overlay included.", "\"100 kbit/s\""),
    key("group", "start", Kind::Time, "0 s", "Time at which its senders start.", "\"200 s\""),
    key("group", "stop", Kind::Time, "(never)", "Time at which its senders stop; messages paid for are still delivered.", "\"400 s\""),
    key("group", "joins", Kind::Other("a list of [time, node]"), "[]", "Clients that join during the run.", "[[\"10 s\", \"d\"]]"),
    key("group", "leaves", Kind::Other("a list of [time, node]"), "[]", "Members that leave; at each node the longest member leaves first.", "[[\"20 s\", \"d\"]]"),
];
