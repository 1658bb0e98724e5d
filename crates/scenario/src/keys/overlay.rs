//! Keys of overlays, their groups, and their faults.

use ratewire_overlay::{Benefit, BudgetRule, Price, WEIGHTS};

use super::{Key, KeyKind, REQUIRED, key};

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("overlay", "nodes", KeyKind::Other("a list of nodes' names, or patterns with one `*`"), "(all hosts)", "The hosts that run a node of the overlay, at most 128.", "[\"a\", \"b\", \"c\"]"),
    key("overlay", "links", KeyKind::Other("\"cables\" or a list of [node, node]"), "cables", "Pairs of nodes that are joined by a connection each way, called A=>B. \"cables\" joins the nodes at the two ends of each cable; a host with one router takes the router's place. A list joins the listed pairs.", "[[\"a\", \"b\"], [\"b\", \"c\"]]"),
    key("overlay", "law", KeyKind::Other("a law's or variant's name"), "(that of the scenario)", "Law of the overlay's connections.", "\"newreno\""),
    key("overlay", "options", KeyKind::Other("a table of the law's options"), "(those of the law)", "As in `[[flow]]`.", "{ weight = 2 }"),
    key("overlay", "transport", KeyKind::Table("transport"), "(that of the scenario)", "Transport of the connections' ends.", "{ min_rto = \"1 s\" }"),
    key("overlay", "message", KeyKind::Size, "1 packets", "Size of a client's message in a connection's stream; in packets: full payloads. The paper gives no size; one message per packet is our choice.", "\"1000 B\""),
    key("overlay", "header", KeyKind::Bytes, "0 B", "Part of a message that is not the client's own data. The paper's simulations have none; its Spread system adds about 15 % of the data.", "\"190 B\""),
    key("overlay", "access", KeyKind::Rate, "10 Mbit/s", "Rate of each client's line to its node (CNDS-2001-1, section 6).", "\"100 Mbit/s\""),
    key("overlay", "salary", KeyKind::Number(1e-6, 1e9), "10", "Dollars of each salary payment to a client (CNDS-2001-1, section 6).", "10"),
    key("overlay", "cap", KeyKind::Number(1e-6, 1e9), "20", "S: largest number of dollars a client may hold, and the price of a link at its soft limit (section 6).", "20"),
    key("overlay", "fee", KeyKind::Number(0.0, 1e9), "1", "Dollars that a message costs in addition to the prices of its links (section 4.2.3).", "1"),
    key("overlay", "budget", KeyKind::Word(BudgetRule::NAMES), "paper", "Which messages cost the fee. \"paper\": all (section 4.2.3). \"bursts\", as daemons do unless told otherwise: those beyond `soft_limit` messages or 1 MB of a client (four times as much of all clients of a node) that prices do not show yet, because a node lacks them or has not looked at its queues since. With the layered benefit, all.", "\"bursts\""),
    key("overlay", "soft_limit", KeyKind::Number(0.1, 1000.0), "100", "M: soft limit of the messages that wait for a link (section 6). Only the price enforces it.", "100"),
    key("overlay", "interval", KeyKind::Time, "50 ms", "Time between a node's price updates (section 6; 100 ms on CAIRN, section 7).", "\"100 ms\""),
    key("overlay", "threshold", KeyKind::Number(0.0, 1e9), "15", "Dollars that decide a blocked client's next salaries. If its dearest message cost less, it is paid more often, otherwise half as often (section 4.2.3). The paper gives no value; papers/cost-benefit-multicast sweeps it.", "10"),
    key("overlay", "first_period", KeyKind::Time, "1 s", "Time until a client's second salary; later periods adapt (not in the paper).", "\"200 ms\""),
    key("overlay", "price", KeyKind::Word(Price::NAMES), "exponential", "Price of a link at which x messages wait: S(g^(x/M) - 1)/(g - 1), with g from `price_base`; or S x/M or S(x/M)^2, which the paper rejects (section 4.2.1).", "\"linear\""),
    key("overlay", "price_base", KeyKind::Number(*Price::BASES.start(), *Price::BASES.end()), "2.718281828459045", "Base g of the exponential price. The paper takes e. Theory asks for the greatest benefit over the least, such as 20, with which the price rises too late (section 4.2.1).", "20"),
    key("overlay", "benefit", KeyKind::Word(Benefit::NAMES), "per-message", "Benefit of a message to its sender (section 4.2.2). The sender pays the cost divided by the benefit. The benefit is 1; the number of nodes that receive the message; 1/(1 + n), with n the recent messages of the sender; or what a packet (1,440 bytes) adds to the worth of the sender's stream, whose first 2 KB/s are worth $10 a second, the next 10 KB/s $5, the next 50 KB/s $2, and more nothing (section 4.1).", "\"layered\""),
    key("overlay", "memory", KeyKind::Time, "1 s", "Time constant of \"recent\" in the concave and the layered benefit: a sender's rate is its recent data, its `header` left out, over `memory` (not in the paper, which never forgets).", "\"10 s\""),
    key("overlay", "randomise", KeyKind::Switch, "true", "Whether an affordable message is sent only with probability 1/cost (section 4.2.3).", "false"),
    key("overlay", "second_thought", KeyKind::Time, "(the time of a message on the client's line)", "Time until a message that `randomise` held back is considered again (not in the paper).", "\"10 ms\""),

    key("group", "name", KeyKind::Text, REQUIRED, "Unique name.", "\"ace\""),
    key("group", "service", KeyKind::Word(&["unordered", "fifo", "agreed"]), "fifo", "Order of delivery. \"fifo\": the order of each sender. \"agreed\": one order of all messages and view changes, equal at every node. \"unordered\" is also delivered in each sender's order, because connections keep order.", "\"agreed\""),
    key("group", "receivers", KeyKind::Other("a list of nodes, each a name, a pattern with one `*`, or [name, number of clients]"), "[]", "Members from the start.", "[\"c\", [\"e\", 10]]"),
    key("group", "senders", KeyKind::Other("a list of nodes, each a name, a pattern with one `*`, or [name, number of clients]"), REQUIRED, "Nodes whose clients send to the group. The clients need not be members.", "[[\"a\", 20]]"),
    key("group", "rate", KeyKind::Rate, "(as much as possible)", "Rate of each sender's data, headers of the overlay included.", "\"100 kbit/s\""),
    key("group", "salary", KeyKind::Number(1e-6, 1e9), "(that of `[overlay]`)", "Dollars of each salary payment to a client that sends to the group; what exceeds `cap` is lost. A greater salary gets more of a busy link while salaries are small beside prices (docs/explain/groups.md).", "20"),
    key("group", "weight", KeyKind::Number(*WEIGHTS.start(), *WEIGHTS.end()), "1", "Weight of the benefit of messages to the group (CNDS-2001-1, section 4.1: weighted throughput): the sender pays the cost divided by it. A greater weight goes before a smaller one. `optimum_ratio` leaves weights out.", "2"),
    key("group", "start", KeyKind::Time, "0 s", "Time at which its senders start.", "\"200 s\""),
    key("group", "stop", KeyKind::Time, "(never)", "Time at which its senders stop; messages paid for are still delivered.", "\"400 s\""),
    key("group", "joins", KeyKind::Other("a list of [time, node]"), "[]", "Clients that join during the run.", "[[\"10 s\", \"d\"]]"),
    key("group", "leaves", KeyKind::Other("a list of [time, node]"), "[]", "Members that leave; at each node the longest member leaves first.", "[[\"20 s\", \"d\"]]"),

    key("fault", "at", KeyKind::Time, REQUIRED, "Time of the fault.", "\"10 s\""),
    key("fault", "kind", KeyKind::Word(&["crash", "restart", "cut", "heal"]), REQUIRED, "\"crash\": the node's daemon ends, and its clients with it; its neighbours notice at once. \"restart\": the daemon of a crashed node starts again, and its clients connect and join again. \"cut\": the link carries nothing more, in both directions; both ends notice after 5 s. \"heal\": a cut link has a new connection.", "\"crash\""),
    key("fault", "node", KeyKind::Text, "(none)", "The node of the overlay that crashes or restarts.", "\"b\""),
    key("fault", "link", KeyKind::Other("a list of two nodes"), "(none)", "The link of the overlay that is cut or healed.", "[\"a\", \"b\"]"),
];
