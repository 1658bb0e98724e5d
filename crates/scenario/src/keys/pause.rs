//! Keys of links that are paused, and of hosts' own queues.

use super::{Key, KeyKind, REQUIRED, TableInfo, key, table};

#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("properties", "pause", KeyKind::Other("true, false or a table"), "false", "Whether the far end pauses this link when its buffer for the link fills (802.3x, PFC). Packets that arrived over such a link wait in that buffer, and not in the `queue` of the link by which they leave.", "true"),
    key("properties", "sockets", KeyKind::Word(&["drop", "in-turn", "random", "on-ack"]), "drop", "What the sockets of the sending host do when this link's `queue`, which is the driver's, is full. \"drop\": they do not wait, and packets are dropped. \"in-turn\" and \"random\": they wait, and free room goes to the sockets in turn or at random. \"on-ack\": each waits until its own next acknowledgement, as in Linux 2.4.", "\"in-turn\""),
    key("properties", "bursts", KeyKind::Other("\"none\" or { packets, every }"), "none", "Bursts in which packets leave the host, as with a network card that coalesces interrupts.", "{ packets = 35, every = \"4 ms\" }"),

    key("pause", "mode", KeyKind::Word(&["voq", "fifo", "flows"]), "voq", "Queues in the nodes at both ends. \"fifo\": one for each input, whose head blocks all packets behind it. \"voq\": one for each input and output (virtual output queues). \"flows\": `queues` at each output, assigned by flow and paused one by one (backpressure flow control, NSDI 2022). Inputs, or queues, take turns.", "\"fifo\""),
    key("pause", "queues", KeyKind::Count(1, 128), "32", "With \"flows\": number of queues at each output (NSDI 2022: 32).", "16"),
    key("pause", "hop_rtt", KeyKind::Time, "(a packet each way, a frame, both delays and `reaction`)", "With \"flows\": time until a pause takes effect. The threshold of a queue is the data that the link sends in this time and 1 us, divided by the number of active queues.", "\"2 us\""),
    key("pause", "frames", KeyKind::Word(&["pause", "pfc"]), "pause", "\"pause\": 802.3x, with one buffer for all traffic. \"pfc\": 802.1Qbb, with a buffer for each priority class (`class` of [transport]), each paused separately.", "\"pfc\""),
    key("pause", "buffer", KeyKind::Size, "(`xoff` and the headroom)", "Size of the buffer for packets that arrived over the link; with \"pfc\" for each class. The headroom is the data that may arrive after the decision to pause: two full packets, and the data sent while the frame waits for a packet of the other direction, is sent, propagates, and takes effect.", "\"64 KB\""),
    key("pause", "xoff", KeyKind::Size, "(`buffer` less the headroom; without `buffer` 20 packets)", "Backlog above which the link is paused. With less headroom than computed, packets may be dropped, and a warning says so.", "\"32 KB\""),
    key("pause", "xon", KeyKind::Size, "(half of `xoff`)", "Backlog at or below which the link resumes.", "\"16 KB\""),
    key("pause", "quanta", KeyKind::Count(1, 65_535), "65535", "Pause time in a frame, in units of 512 bit times; the pause is renewed after half of it.", "1000"),
    key("pause", "reaction", KeyKind::Time, "(what 802.3, 31B.3.7, allows: 512 bit times up to 100 Mbit/s, 2 x 512 at 1 Gbit/s, 60 x at 10, 118 x at 40, 394 x beyond)", "Time until the transmitter reacts to a frame.", "\"1 us\""),
    key("pause", "intake", KeyKind::Time, "0 s", "Time for which the far end processes each packet before it is delivered or forwarded. It models a host that is slower than its link.", "\"20 us\""),
    key("bursts", "packets", KeyKind::Count(1, 1_000_000), REQUIRED, "Number of waiting packets at which they are released.", "35"),
    key("bursts", "every", KeyKind::Time, REQUIRED, "Waiting time of the first packet after which all waiting packets are released, however few.", "\"4 ms\""),
];

pub(super) const TABLES: &[TableInfo] = &[
    table(
        "pause",
        "pause = { ... }",
        "A buffer that pauses the link that fills it. Only for full-duplex links with a `rate` and a link back, \
         which carries the pause frames.",
        "access = { rate = \"1 Gbit/s\", pause = { buffer = \"64 KB\", mode = \"fifo\" } }",
    ),
    table(
        "bursts",
        "bursts = { ... }",
        "Packets that leave a host in bursts.",
        "bursts = { packets = 35, every = \"4 ms\" }",
    ),
];
