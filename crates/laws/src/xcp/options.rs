//! XCP's parameters.

use crate::options::{OptionKind, OptionSpec, Part};

/// Options of the controllers of ports, and of the controller of soft flow control.
const PORT_AND_SOFT_SINK: Part = Part::PortAndSink { with: ("flow_control", "soft") };

pub(crate) const THROUGHPUT: OptionSpec = OptionSpec {
    name: "throughput",
    kind: OptionKind::Word(&["measured", "outstanding", "cwnd"]),
    default: "measured",
    part: Part::Source,
    doc: "what X and the wish are computed from. \"measured\": the allowed rate while the \
          window is full, else the bytes sent in the last RTT; \"outstanding\": packets in \
          flight / SRTT; \"cwnd\": cwnd / SRTT, a permission (the thesis's naive choice). \
          Draft -03, 4.1.1.",
};

pub(crate) const AGING: OptionSpec = OptionSpec {
    name: "aging",
    kind: OptionKind::Number(0.0, 1.0),
    default: "0.5",
    part: Part::Source,
    doc: "p of the aging of allowed throughput, per RTT in which less was sent than \
          allowed; 0 turns it off. Draft -03, 4.1.3.1.",
};

pub(crate) const PACING: OptionSpec = OptionSpec {
    name: "pacing",
    kind: OptionKind::Switch,
    default: "true",
    part: Part::Source,
    doc: "spread packets at cwnd / SRTT instead of sending on each acknowledgement.",
};

pub(crate) const CAP_TO_RECEIVE_WINDOW: OptionSpec = OptionSpec {
    name: "cap_to_receive_window",
    kind: OptionKind::Switch,
    default: "true",
    part: Part::Source,
    doc: "cwnd = min(cwnd, advertised window). Thesis, 4.1, figure 9.",
};

pub(crate) const ZERO_WISH_WHEN_LIMITED: OptionSpec = OptionSpec {
    name: "zero_wish_when_limited",
    kind: OptionKind::Switch,
    default: "true",
    part: Part::Source,
    doc: "wish 0 while short of data or of receive window. Draft -03, 4.1.1.",
};

pub(crate) const WEIGHT: OptionSpec = OptionSpec {
    name: "weight",
    kind: OptionKind::Number(1e-3, 1e3),
    default: "1",
    part: Part::Source,
    doc: "share relative to flows of weight 1 (the inverse of SIGCOMM 2002's price).",
};

pub(crate) const ALPHA: OptionSpec = OptionSpec {
    name: "alpha",
    kind: OptionKind::Number(0.0, 2.0),
    default: "0.4",
    part: PORT_AND_SOFT_SINK,
    doc: "share of the spare capacity given out per interval; stable below 0.555.",
};

pub(crate) const BETA: OptionSpec = OptionSpec {
    name: "beta",
    kind: OptionKind::Number(0.0, 2.0),
    default: "0.226",
    part: PORT_AND_SOFT_SINK,
    doc: "share of the persistent queue drained per interval; alpha^2 sqrt 2.",
};

pub(crate) const GAMMA: OptionSpec = OptionSpec {
    name: "gamma",
    kind: OptionKind::Number(0.0, 1.0),
    default: "0.1",
    part: Part::Port,
    doc: "share of the traffic shuffled between flows per interval.",
};

pub(crate) const MIN_INTERVAL: OptionSpec = OptionSpec {
    name: "min_interval",
    kind: OptionKind::Time,
    default: "5 ms",
    part: PORT_AND_SOFT_SINK,
    doc: "shortest control interval, and floor of the mean RTT; the link's propagation \
          delay where that is longer. Draft -03: 5 to 10 ms.",
};

pub(crate) const MAX_INTERVAL: OptionSpec = OptionSpec {
    name: "max_interval",
    kind: OptionKind::Time,
    default: "1 s",
    part: Part::Port,
    doc: "largest RTT a packet may claim; the link's propagation delay where that is \
          longer. Flows beyond it are given something after an interval without any too. Draft -03: \
          0.5 to 1 s.",
};

pub(crate) const ALLOWED_QUEUE: OptionSpec = OptionSpec {
    name: "allowed_queue",
    kind: OptionKind::Time,
    default: "2 ms",
    part: Part::Port,
    doc: "shortest interval of the queue estimator (ALLOWED_QUEUE).",
};

pub(crate) const QUEUE_CAP: OptionSpec = OptionSpec {
    name: "queue_cap",
    kind: OptionKind::Size(Some("none")),
    default: "none",
    part: Part::Port,
    doc: "an interval gives at most what fills the queue to 0.6 of this in a mean RTT, in bytes \
          or packets of 1,500 bytes (ModelNet, for the size of its queue).",
};

pub(crate) const QUEUE_LIMIT: OptionSpec = OptionSpec {
    name: "queue_limit",
    kind: OptionKind::Size(Some("none")),
    default: "none",
    part: Part::Port,
    doc: "most that the queue holds, L, in bytes or packets of 1,500 bytes: the persistent queue q \
          counts as max(q, b^2 / L) / (1 - b / L), b the backlog; a full queue as if it had room for \
          a packet. That XCP does not know L is a flaw that the thesis names (4.5); the form is ours.",
};

pub(crate) const MEMORY: OptionSpec = OptionSpec {
    name: "memory",
    kind: OptionKind::Number(0.0, 0.999),
    default: "0",
    part: Part::Port,
    doc: "share, from one control interval to the next, of the rate that flows were permitted, as it \
          came before or was granted since, and that does not come, which still counts as if it came. \
          What flows that end leave free is held back too: at 0.99, half of it for 69 intervals. The \
          thesis (4.6) misses a memory of previous feedback; the form is ours.",
};

pub(super) const OPTIONS: &[OptionSpec] = &[
    THROUGHPUT,
    AGING,
    OptionSpec {
        name: "whole_window",
        kind: OptionKind::Switch,
        default: "false",
        part: Part::Source,
        doc: "X and the wish are computed from the whole packets of the window, at least 1 (ns-2).",
    },
    PACING,
    CAP_TO_RECEIVE_WINDOW,
    ZERO_WISH_WHEN_LIMITED,
    OptionSpec {
        name: "initial_window",
        kind: OptionKind::Size(None),
        default: "2 packets",
        part: Part::Source,
        doc: "window until the first feedback.",
    },
    OptionSpec {
        name: "desired",
        kind: OptionKind::Rate(Some("line")),
        default: "line",
        part: Part::Source,
        doc: "desired throughput; \"line\" is the rate of the sender's own link.",
    },
    WEIGHT,
    OptionSpec {
        name: "after_loss",
        kind: OptionKind::Word(&["return", "stay-reno", "ignore"]),
        default: "return",
        part: Part::Source,
        doc: "after a loss or mark. \"return\": halve, take no increase until the loss is \
              repaired, then XCP again; \"stay-reno\": halve and be Reno for the rest of the flow; \
              \"ignore\": nothing (the thesis's implementation). Draft -03, 4.1.3.2.",
    },
    OptionSpec {
        name: "without_header",
        kind: OptionKind::Word(&["reno", "hold"]),
        default: "reno",
        part: Part::Source,
        doc: "when acknowledgements carry no congestion header, which someone on the path has \
              taken off. \"reno\": grow as Reno until they do again; \"hold\": keep the window. The \
              drafts do not say.",
    },
    ALPHA,
    BETA,
    GAMMA,
    OptionSpec {
        name: "capacity",
        kind: OptionKind::Rate(Some("link")),
        default: "link",
        part: Part::Port,
        doc: "capacity it believes in, for network-layer bytes; \"link\" is the link's rate, \
              without regard to link-layer overhead, as the drafts have it.",
    },
    OptionSpec {
        name: "measure_capacity",
        kind: OptionKind::Switch,
        default: "false",
        part: Part::Port,
        doc: "start from `capacity`, then believe the rate at which packets leave while others \
              wait. For links whose rate nobody can tell, or told wrongly (ns-2 has a metered mode).",
    },
    OptionSpec {
        name: "probe",
        kind: OptionKind::Number(0.0, 1.0),
        default: "0.05",
        part: Part::Port,
        doc: "with measure_capacity, by how much it raises the capacity it believes in when in a \
              control interval as much came and nothing waited; no paper's, a share that the next \
              interval's queue shows without filling a buffer.",
    },
    OptionSpec {
        name: "initial_interval",
        kind: OptionKind::Time,
        default: "50 ms",
        part: PORT_AND_SOFT_SINK,
        doc: "control interval before any RTT is known (ns-2: 50 ms).",
    },
    OptionSpec {
        name: "initial_spread",
        kind: OptionKind::Number(0.0, 1.0),
        default: "0",
        part: Part::Port,
        doc: "standard deviation of the first control interval and of the first queue interval of \
              each port, as a share of `initial_interval` (normal, at least 4 ms or the mean). ns-2: 0.2, so \
              that ports do not act at the same moments.",
    },
    MIN_INTERVAL,
    MAX_INTERVAL,
    OptionSpec {
        name: "packet_limit",
        kind: OptionKind::Word(&["interval", "residue"]),
        default: "interval",
        part: Part::Port,
        doc: "most feedback that a packet gets. \"interval\": all that its control interval had to \
              give, and what is taken has no limit; \"residue\": what the interval has left to give \
              and to take (ns-2).",
    },
    OptionSpec {
        name: "without_x",
        kind: OptionKind::Word(&["zero", "second", "keep"]),
        default: "zero",
        part: Part::Port,
        doc: "after a control interval without X. \"zero\": nothing is given; \"second\": Cp as if \
              the sum of X had been 1 s (ns-2); \"keep\": Cp, Cn, the mean RTT and what is left to \
              give and to take stay as they are (ModelNet).",
    },
    OptionSpec {
        name: "feedback_scale",
        kind: OptionKind::Number(0.1, 10.0),
        default: "1",
        part: Part::Port,
        doc: "factor of Cp and Cn. What is left to give and to take stays the same, and is gone the \
              sooner. ModelNet: 1.1.",
    },
    OptionSpec {
        name: "initial_cp",
        kind: OptionKind::Number(0.0, 1e9),
        default: "0",
        part: Part::Port,
        doc: "Cp until the end of the first control interval (until the first X, with without_x = \
              \"keep\"), in bytes per second per second of X. The least of alpha C and half of queue_cap \
              per initial_interval is there to give. ModelNet: 1000.",
    },
    ALLOWED_QUEUE,
    OptionSpec {
        name: "queue_measure",
        kind: OptionKind::Word(&["min", "mean"]),
        default: "min",
        part: Part::Port,
        doc: "persistent queue as the minimum over the queue interval, or as its mean over \
              departures (thesis, 4.6).",
    },
    QUEUE_CAP,
    QUEUE_LIMIT,
    MEMORY,
    OptionSpec {
        name: "rtt_zero",
        kind: OptionKind::Word(&["separate", "count", "ignore"]),
        default: "separate",
        part: Part::Port,
        doc: "packets that do not know their RTT. \"separate\": counted in the sum of X, not in \
              the mean RTT; \"count\": in both (draft -03); \"ignore\": in neither, and given no \
              feedback (ns-2).",
    },
    OptionSpec {
        name: "flow_control",
        kind: OptionKind::Word(&["credit", "soft"]),
        default: "credit",
        part: Part::Sink,
        doc: "how a receiver holds its sender back. \"credit\": by the window it advertises, as \
              TCP; \"soft\": by rate, with a controller on its buffer (Anypoint, IV-A). It then \
              advertises the whole buffer and drops what finds no room.",
    },
    OptionSpec {
        name: "soft_low",
        kind: OptionKind::Number(0.0, 1.0),
        default: "0.3333333333333333",
        part: Part::Sink,
        doc: "with soft flow control, share of the buffer below which it probes for a higher rate \
              (Anypoint, IV-A: incrthresh, 1/3).",
    },
    OptionSpec {
        name: "soft_high",
        kind: OptionKind::Number(0.0, 1.0),
        default: "0.5",
        part: Part::Sink,
        doc: "with soft flow control, share of the buffer above which it lowers the rate \
              (Anypoint, IV-A: decrthresh, 1/2).",
    },
    OptionSpec {
        name: "soft_decrease",
        kind: OptionKind::Number(0.0, 1.0),
        default: "0.1",
        part: Part::Sink,
        doc: "with soft flow control, by which share it does, each epoch (Anypoint, IV-A: gamma).",
    },
    OptionSpec {
        name: "soft_probe",
        kind: OptionKind::Number(0.0, 1000.0),
        default: "2",
        part: Part::Sink,
        doc: "with soft flow control, by how many segments an epoch it raises the rate \
              (Anypoint, IV-A).",
    },
    OptionSpec {
        name: "draft",
        kind: OptionKind::Word(&["03", "02", "00"]),
        default: "03",
        part: Part::Header,
        doc: "version used with wire = \"exact\" and in packet captures.",
    },
];
