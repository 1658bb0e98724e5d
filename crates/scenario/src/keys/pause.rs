//! Keys of links that are paused, and of hosts' own queues.

use super::{Key, Kind, REQUIRED, TableInfo, key, table};

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("properties", "pause", Kind::Other("true, false or a table"), "false", "Whether the far end pauses this link when what it has brought finds no room (802.3x, PFC). What came by a paused link waits in a buffer of its own, and not in the `queue` of the link by which it leaves.", "true"),
    key("properties", "sockets", Kind::Word(&["drop", "in-turn", "random", "on-ack"]), "drop", "What the sockets of the host that sends on this link do when its `queue`, that of the driver, is full. \"drop\": nothing, packets are dropped. Else they wait: \"in-turn\" and \"random\" say which of them gets the room for the next packet; \"on-ack\": each tries again when its own next acknowledgement comes, as in Linux 2.4.", "\"in-turn\""),
    key("properties", "bursts", Kind::Other("\"none\" or { packets, every }"), "none", "Packets leave the host in bursts, as a network card that coalesces interrupts makes them.", "{ packets = 35, every = \"4 ms\" }"),

    key("pause", "mode", Kind::Word(&["voq", "fifo", "flows"]), "voq", "How the nodes at both ends keep what waits: \"fifo\": a queue for each input, whose head blocks all behind it; \"voq\": for each input and output (virtual output queues); \"flows\": so many queues at each output, told apart by flow and paused one by one (backpressure flow control, NSDI 2022). Inputs, or queues, take turns.", "\"fifo\""),
    key("pause", "queues", Kind::Count(1, 128), "32", "With \"flows\": queues at each output (NSDI 2022: 32).", "16"),
    key("pause", "hop_rtt", Kind::Time, "(a packet each way, a frame, both delays and `reaction`)", "With \"flows\": time until a pause is felt; a queue that holds what is sent meanwhile and in 1 us more, shared by the queues that are active, is too long.", "\"2 us\""),
    key("pause", "frames", Kind::Word(&["pause", "pfc"]), "pause", "\"pause\": 802.3x, all traffic in one buffer; \"pfc\": 802.1Qbb, a buffer for each class of priority (`class` of [transport]), each paused by itself.", "\"pfc\""),
    key("pause", "buffer", Kind::Size, "(`xoff` and the headroom)", "Room for what the link has brought, with \"pfc\" for each class. The headroom is what may come after the decision to pause: two full packets, and what the link sends while the frame waits for a packet the other way, is sent, travels, and is obeyed.", "\"64 KB\""),
    key("pause", "xoff", Kind::Size, "(`buffer` less the headroom; without `buffer` 20 packets)", "The link is paused when more waits. With less headroom than is worked out, packets may be dropped: a warning.", "\"32 KB\""),
    key("pause", "xon", Kind::Size, "(half of `xoff`)", "It goes on when this or less waits.", "\"16 KB\""),
    key("pause", "quanta", Kind::Count(1, 65_535), "65535", "For how long a frame pauses, in 512 bit times; it is said again after half of that.", "1000"),
    key("pause", "reaction", Kind::Time, "(what 802.3, 31B.3.7, allows: 512 bit times up to 100 Mbit/s, 2 x 512 at 1 Gbit/s, 60 x at 10, 118 x at 40, 394 x beyond)", "How long the transmitter takes to obey.", "\"1 us\""),
    key("pause", "intake", Kind::Time, "0 s", "How long the far end takes to take each packet in, before it is delivered or forwarded: a host that is slower than its link.", "\"20 us\""),
    key("bursts", "packets", Kind::Count(1, 1_000_000), REQUIRED, "They are released when so many wait.", "35"),
    key("bursts", "every", Kind::Time, REQUIRED, "They are released, however few, when the first since the last release has waited for so long.", "\"4 ms\""),
];

pub(super) const TABLES: &[TableInfo] = &[
    table(
        "pause",
        "pause = { ... }",
        "A buffer that pauses the link that fills it. Only for full-duplex links with a rate and a way back, \
         which carries the frames.",
        "access = { rate = \"1 Gbit/s\", pause = { buffer = \"64 KB\", mode = \"fifo\" } }",
    ),
    table(
        "bursts",
        "bursts = { ... }",
        "Packets that leave a host in bursts.",
        "bursts = { packets = 35, every = \"4 ms\" }",
    ),
];
