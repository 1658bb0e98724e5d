//! BBR, version 3 (Cardwell, Swett, Beshay, draft-ietf-ccwg-bbr-06, July 2026).
//!
//! Numbers in brackets are sections of the draft.
//!
//! # Model
//! - each acknowledgement (4.1): `delivery_rate = delivered / max(send_elapsed, ack_elapsed)`,
//!   counted from the departure of the newest packet that it covers.
//! - `max_bw` is the highest `delivery_rate` of this and the last ProbeBW cycle (5.5.3); samples
//!   that the application limits count only if they are higher. `min_rtt` is the lowest RTT of 10 s
//!   (5.5.7). `bw = min(max_bw, bw_shortterm)`, `bdp = bw min_rtt`.
//! - `extra_acked` is the maximum over ten rounds of the bytes acknowledged beyond `bw * time`
//!   (5.5.9).
//! - `inflight_longterm`: bytes outstanding when more than 2 % of a probe's packets were lost, at
//!   least `0.7 min(bdp, cwnd)` (5.5.10.2).
//! - each round with losses outside a probe (5.5.10.3): `bw_shortterm = max(bw of the round, 0.7
//!   bw_shortterm)`, `inflight_shortterm = max(delivered in the round, 0.7 inflight_shortterm)`.
//!   Both are reset at the next REFILL.
//!
//! # States (5.3, 5.6.1)
//!
//! | state | pace / bw | cwnd / bdp | until |
//! |---|---|---|---|
//! | Startup | 2.77 | 2 | three rounds with growth of bw below 1/4; or see below |
//! | Drain | 0.5 | 2 | no more than the bdp is outstanding; three rounds |
//! | DOWN | 0.9 | 2 | as Drain, and 15 % below `inflight_longterm` |
//! | CRUISE | 1 | 2 | 2 to 3 s, or `min(bdp, 63 packets)` rounds, since DOWN began |
//! | REFILL | 1 | 2 | one round |
//! | UP | 1.25 | 2.25 | three rounds without growth; more than 2 % lost; or see below |
//! | ProbeRTT | 1 | 0.5 | 200 ms and a round; begins 5 s after the lowest RTT was seen |
//!
//! - Startup also ends with a round in recovery with more than 2 % lost, in six ranges. UP also
//!   ends at `inflight_longterm`, if the last probe lost too much.
//! - `pacing_rate = 0.99 gain bw`, in Startup never less than before (5.6.2).
//! - `max_inflight = max(gain bdp + extra_acked, 3 send_quantum, 4 packets)`, two packets more in
//!   UP (5.6.4.2). `cwnd` grows towards it by the bytes acknowledged, and falls to it at once. It
//!   is bounded by `inflight_longterm` (85 % of it in CRUISE and ProbeRTT) and
//!   `inflight_shortterm`.
//! - Losses that were none (5.5.11) are undone: window and bounds return to where they were, and a
//!   probe that they ended begins again.
//! - `send_quantum = pacing_rate * 1 ms`, from two packets to 64 KB (5.6.3).
//!
//! # Deliberate differences from the draft
//! Beside those of both versions ([`super`]):
//! - Outstanding data counts as having reached `inflight_longterm` (5.3.3.4.3) when no further
//!   packet fits: the transport sends whole packets, and only within the window.
//! - The draft demands a response to marks, but does not specify it (3.7). Here the model counts a
//!   marked packet as lost.
//! - After idling (5.4.1), bytes acknowledged before do not count for `extra_acked`, as in Linux.
//!   The draft only restarts the interval, so bursts of an application with pauses would add up.

mod max_bw;
mod model;
mod source;

pub use source::Bbr3Source;

use alloc::boxed::Box;
use alloc::vec::Vec;

use ratewire_units::Duration;

use super::{BbrSink, INDIVISIBLE, PacketNumber};
use crate::junction::Divisible;
use crate::law::{
    FlowContext, HeaderFormat, Invariants, Law, LawInfo, Named, NoPort, Promises, Properties,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part, Size};
use crate::reason::Figure;
use crate::trust::{CARRIES_NOTHING, Trust};

/// BBR version 3 with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Bbr3 {
    pub(crate) initial_window: Size,
    pub(crate) startup_pacing_gain: f64,
    pub(crate) up_pacing_gain: f64,
    pub(crate) pacing_margin: f64,
    pub(crate) loss_thresh: f64,
    pub(crate) beta: f64,
    pub(crate) headroom: f64,
    pub(crate) probe_wait: Duration,
    pub(crate) probe_rtt_interval: Duration,
    pub(crate) probe_rtt_duration: Duration,
    pub(crate) min_rtt_window: Duration,
    pub(crate) offload: bool,
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "initial_window",
        kind: OptionKind::Size(None),
        default: "10 packets",
        part: Part::Source,
        doc: "window until the first acknowledgement, in payload bytes, at least one packet. RFC 6928, 2.",
    },
    OptionSpec {
        name: "startup_pacing_gain",
        kind: OptionKind::Number(1.0, 10.0),
        default: "2.77",
        part: Part::Source,
        doc: "pace in Startup as a multiple of bw; 4 ln 2 doubles the rate each round. Draft -06, 2.5.",
    },
    OptionSpec {
        name: "up_pacing_gain",
        kind: OptionKind::Number(1.0, 10.0),
        default: "1.25",
        part: Part::Source,
        doc: "pace in ProbeBW_UP as a multiple of bw. Draft -06, 5.6.1.",
    },
    OptionSpec {
        name: "pacing_margin",
        kind: OptionKind::Number(0.0, 0.5),
        default: "0.01",
        part: Part::Source,
        doc: "share of the pace held back, to keep the queue short. Draft -06, 2.5.",
    },
    OptionSpec {
        name: "loss_thresh",
        kind: OptionKind::Number(0.0, 0.5),
        default: "0.02",
        part: Part::Source,
        doc: "share of a round's packets that may be lost while probing. Draft -06, 2.8.",
    },
    OptionSpec {
        name: "beta",
        kind: OptionKind::Number(0.01, 1.0),
        default: "0.7",
        part: Part::Source,
        doc: "share of a bound that a round with losses leaves at least. Draft -06, 2.8.",
    },
    OptionSpec {
        name: "headroom",
        kind: OptionKind::Number(0.0, 0.9),
        default: "0.15",
        part: Part::Source,
        doc: "share of inflight_longterm left to others while cruising. Draft -06, 2.8.",
    },
    OptionSpec {
        name: "probe_wait",
        kind: OptionKind::Time,
        default: "2 s",
        part: Part::Source,
        doc: "shortest wait from the end of a probe for bandwidth to the next; the longest is a second \
              more. Draft -06, 5.3.3.5.3.",
    },
    OptionSpec {
        name: "probe_rtt_interval",
        kind: OptionKind::Time,
        default: "5 s",
        part: Part::Source,
        doc: "how long a minimum of the RTT is good before ProbeRTT looks for a new one. Draft -06, \
              2.16.2.",
    },
    OptionSpec {
        name: "probe_rtt_duration",
        kind: OptionKind::Time,
        default: "200 ms",
        part: Part::Source,
        doc: "how long ProbeRTT keeps half of the bdp outstanding, and at least a round. Draft -06, \
              2.16.2.",
    },
    OptionSpec {
        name: "min_rtt_window",
        kind: OptionKind::Time,
        default: "10 s",
        part: Part::Source,
        doc: "how long min_rtt is held without a lower one. Draft -06, 2.16.1.",
    },
    OptionSpec {
        name: "offload",
        kind: OptionKind::Switch,
        default: "true",
        part: Part::Source,
        doc: "leave room in the window for three send quanta, as hosts with segmentation offload need. \
              Draft -06, 5.5.8.",
    },
];

impl Named for Bbr3 {
    const INFO: LawInfo = LawInfo {
        name: "bbr3",
        title: "BBRv3",
        summary: "BBR version 3: paces at the bandwidth it measures, keeps a bandwidth-delay product outstanding",
        explanation: include_str!("explain.md"),
        operations: "",
        options: OPTIONS,
    };

    const ALIAS: Option<&'static str> = Some("bbr");

    fn from_options(o: &Options) -> Result<Bbr3, OptionError> {
        Ok(Bbr3 {
            initial_window: o.plain_size("initial_window"),
            startup_pacing_gain: o.number("startup_pacing_gain"),
            up_pacing_gain: o.number("up_pacing_gain"),
            pacing_margin: o.number("pacing_margin"),
            loss_thresh: o.number("loss_thresh"),
            beta: o.number("beta"),
            headroom: o.number("headroom"),
            probe_wait: o.time("probe_wait"),
            probe_rtt_interval: o.time("probe_rtt_interval"),
            probe_rtt_duration: o.time("probe_rtt_duration"),
            min_rtt_window: o.time("min_rtt_window"),
            offload: o.switch("offload"),
        })
    }
}

impl Law for Bbr3 {
    type Header = PacketNumber;
    type Source = Box<Bbr3Source>;
    type Port = NoPort<PacketNumber>;
    type Sink = BbrSink;

    fn source(&self, flow: &FlowContext) -> Box<Bbr3Source> {
        Box::new(Bbr3Source::new(self, flow))
    }
    fn sink(&self, _: &FlowContext) -> Option<BbrSink> {
        Some(BbrSink::default())
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = PacketNumber>> {
        Some(self)
    }
    /// The packet's number has no bytes of its own.
    fn trust(&self) -> Result<&dyn Trust<Header = PacketNumber>, &'static str> {
        Err(CARRIES_NOTHING)
    }
    fn junction(&self) -> Result<&dyn Divisible<Header = PacketNumber>, &'static str> {
        Err(INDIVISIBLE)
    }
    fn properties(&self) -> Properties {
        Properties { small_queues: true, ..Properties::default() }
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = PacketNumber>> {
        Some(self)
    }
}

impl Invariants for Bbr3 {
    type Header = PacketNumber;

    /// Shares are unequal, because flows probe in turn, by packets: after a minute 2 to 8 flows
    /// were up to 60 % from their mean.
    fn promises(&self) -> Promises {
        Promises { equal_shares: false, any_speed: false, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("offload", "false"), ("initial_window", "0 B"), ("loss_thresh", "0"), ("beta", "1")],
            &[("loss_thresh", "0.5"), ("headroom", "0.9"), ("probe_rtt_interval", "0 s")],
            &[("probe_wait", "0 s"), ("probe_rtt_duration", "0 s"), ("min_rtt_window", "0 s")],
        ]
    }
}

impl HeaderFormat for Bbr3 {
    type Header = PacketNumber;

    fn fields(&self, header: &PacketNumber) -> Vec<Figure> {
        header.fields()
    }
}
