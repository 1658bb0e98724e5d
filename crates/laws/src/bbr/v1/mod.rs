//! BBR, version 1, as Linux has it (Cardwell et al., ACM Queue 14(5), 2016; `tcp_bbr.c`).
//!
//! # Model
//! - `max_bw` is the highest delivery rate of the last ten rounds; samples that the application
//!   limits count only if they are higher. `min_rtt` is the lowest RTT of 10 s.
//! - `extra_acked` is the maximum over five to ten rounds of the bytes acknowledged beyond `bw *
//!   time`, and at most what `bw` delivers in 100 ms.
//! - Policers: two intervals in a row of at least four rounds, in each of which a fifth of the
//!   packets was lost, with rates that differ by an eighth or less. Their mean is then `bw` for
//!   48 rounds. Otherwise `bw = max_bw`.
//!
//! # Modes
//!
//! | mode | pace / bw | cwnd / bdp | until |
//! |---|---|---|---|
//! | Startup | 2.885 | 2.885 | three rounds with growth of `max_bw` below 1/4 |
//! | Drain | 1 / 2.885 | 2.885 | no more than the bdp is outstanding |
//! | ProbeBW | 1.25, 0.75, then six times 1 | 2 | |
//! | ProbeRTT | 1 | four packets | 200 ms and a round; begins 10 s after the lowest RTT was seen |
//!
//! - A phase of ProbeBW takes a `min_rtt`. That of 1.25 lasts until 1.25 bdp are outstanding or a
//!   packet is lost, that of 0.75 ends early once the bdp is outstanding. The first phase is
//!   random, and never that of 0.75.
//! - `pacing_rate = 0.99 gain bw`, in Startup never less than before.
//! - `cwnd` grows by the bytes acknowledged, up to `gain bdp + extra_acked + 3 send_quantum`, in
//!   an even number of packets, and two more in the phase of 1.25.
//! - A loss makes the next round one of packet conservation, in which a packet is sent for each
//!   that arrives. `cwnd` is restored at the end of the recovery. Losses change nothing else.
//! - Losses that were none end the search for a policer and restart that for the plateau.
//! - `send_quantum = pacing_rate / 1024 s`, at least two packets, one below 1.2 Mbit/s.
//!
//! # Deliberate differences from Linux
//! Beside those of both versions ([`super`]):
//! - Rates, times and gains are not rounded to the units of the kernel, in which 2.885 is 2.887 and
//!   its inverse 0.344.
//! - The kernel estimates what is outstanding when the next packet leaves the queue of its pacing.
//!   Here packets wait before they count as sent.
//! - The minimum of the RTT takes acknowledgements that the receiver has delayed like others.

mod excess;
mod policer;
mod source;

pub use source::Bbr1Source;

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

/// BBR version 1 with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Bbr1 {
    pub(crate) initial_window: Size,
    pub(crate) high_gain: f64,
    pub(crate) cwnd_gain: f64,
    pub(crate) pacing_margin: f64,
    pub(crate) min_rtt_window: Duration,
    pub(crate) probe_rtt_duration: Duration,
    pub(crate) detect_policers: bool,
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
        name: "high_gain",
        kind: OptionKind::Number(1.0, 10.0),
        default: "2.885",
        part: Part::Source,
        doc: "pace in Startup as a multiple of bw, and window as one of the bdp; 2 / ln 2 doubles the \
              rate each round. Drain paces at its inverse. Linux.",
    },
    OptionSpec {
        name: "cwnd_gain",
        kind: OptionKind::Number(1.0, 10.0),
        default: "2",
        part: Part::Source,
        doc: "window in ProbeBW as a multiple of the bdp. Linux.",
    },
    OptionSpec {
        name: "pacing_margin",
        kind: OptionKind::Number(0.0, 0.5),
        default: "0.01",
        part: Part::Source,
        doc: "share of the pace held back, to keep the queue short. Linux.",
    },
    OptionSpec {
        name: "min_rtt_window",
        kind: OptionKind::Time,
        default: "10 s",
        part: Part::Source,
        doc: "how long a minimum of the RTT is good before ProbeRTT looks for a new one. Linux.",
    },
    OptionSpec {
        name: "probe_rtt_duration",
        kind: OptionKind::Time,
        default: "200 ms",
        part: Part::Source,
        doc: "how long ProbeRTT keeps four packets outstanding, and at least a round. Linux.",
    },
    OptionSpec {
        name: "detect_policers",
        kind: OptionKind::Switch,
        default: "true",
        part: Part::Source,
        doc: "keep to the mean rate of two intervals that lost a fifth of their packets, for 48 rounds. \
              Linux.",
    },
    OptionSpec {
        name: "offload",
        kind: OptionKind::Switch,
        default: "true",
        part: Part::Source,
        doc: "leave room in the window for three send quanta, as hosts with segmentation offload need. \
              Linux.",
    },
];

impl Named for Bbr1 {
    const INFO: LawInfo = LawInfo {
        name: "bbr1",
        title: "BBRv1",
        summary: "BBR version 1, as in Linux: paces at the bandwidth it measures, keeps up to two bdp outstanding",
        explanation: include_str!("explain.md"),
        operations: "",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Bbr1, OptionError> {
        Ok(Bbr1 {
            initial_window: o.plain_size("initial_window"),
            high_gain: o.number("high_gain"),
            cwnd_gain: o.number("cwnd_gain"),
            pacing_margin: o.number("pacing_margin"),
            min_rtt_window: o.time("min_rtt_window"),
            probe_rtt_duration: o.time("probe_rtt_duration"),
            detect_policers: o.switch("detect_policers"),
            offload: o.switch("offload"),
        })
    }
}

impl Law for Bbr1 {
    type Header = PacketNumber;
    type Source = Box<Bbr1Source>;
    type Port = NoPort<PacketNumber>;
    type Sink = BbrSink;

    fn source(&self, flow: &FlowContext) -> Box<Bbr1Source> {
        Box::new(Bbr1Source::new(self, flow))
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

impl Invariants for Bbr1 {
    type Header = PacketNumber;

    /// Shares are unequal, because flows probe in turn, by packets.
    fn promises(&self) -> Promises {
        Promises { equal_shares: false, any_speed: false, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[
                ("offload", "false"),
                ("initial_window", "0 B"),
                ("high_gain", "1"),
                ("cwnd_gain", "1"),
            ],
            &[("high_gain", "10"), ("cwnd_gain", "10"), ("pacing_margin", "0.5")],
            &[
                ("min_rtt_window", "0 s"),
                ("probe_rtt_duration", "0 s"),
                ("detect_policers", "false"),
            ],
        ]
    }
}

impl HeaderFormat for Bbr1 {
    type Header = PacketNumber;

    fn fields(&self, header: &PacketNumber) -> Vec<Figure> {
        header.fields()
    }
}
