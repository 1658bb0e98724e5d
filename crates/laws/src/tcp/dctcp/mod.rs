//! DCTCP: the window is cut by the share of marked packets (Alizadeh et al., SIGCOMM 2010; RFC
//! 8257).
//!
//! Units: payload bytes at the sender, packets or bytes of queue at the port.
//!
//! # Port (SIGCOMM 2010, section 3.1)
//! - marks each arriving packet that finds a queue above `K`. The queue is the present one, not a
//!   mean. `K > C RTT / 7` keeps the link busy (section 3.3): 20 packets at 1 Gbit/s and 65 at 10
//!   Gbit/s in the paper's data centre.
//!
//! # Receiver (RFC 8257, 3.2)
//! - done by the transport: an acknowledgement covers either marked or unmarked packets.
//!
//! # Sender (RFC 8257, 3.3)
//! - counts acknowledged bytes, and those whose acknowledgement was marked; once a window of data
//!   `alpha = (1 - g) alpha + g marked / acknowledged`, `alpha = 1` at first and `g = 1/16`.
//! - at most once a window, after a mark: `cwnd = cwnd (1 - alpha / 2)`.
//! - everything else is as under NewReno (3.4, 3.5): see [`super::newreno`]. The window grows with
//!   what is acknowledged unmarked, in the RTT after a mark, too.
//!
//! # Steady state under marks of probability `p`
//! - `W = 2 / p` packets if marks are evenly spaced (RFC 9332, A.1 and appendix C); a third more if
//!   they are random.
//!
//! # Sender in the profile `linux`
//! - the window does not grow in the RTT after a mark (the state CWR), and counts a full window of
//!   data anew after it.
//! - alpha is in 1/1024 and the window in packets: `alpha -= floor(g alpha)`, or becomes 0 where
//!   that is nothing; `alpha += floor(1024 g marked / acknowledged)`;
//!   `cwnd -= floor(cwnd alpha / 2)`.
//! - where marks are rarer than one in some 64, alpha rounds to next to nothing, cuts to no packet,
//!   and the window creeps up for as long as the flow lasts.
//!
//! # Steady state (SIGCOMM 2010, section 3.3)
//! `N` flows of one RTT, each with the window `W = (C RTT + K) / N` in packets when marks begin:
//! - `alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2`, so `alpha = sqrt(2 / W)`.
//! - queue from `K + N - A` to `K + N`, `A = N (W + 1) alpha / 2`, every `(W + 1) alpha / 2` RTTs.
//! - `g < 1.386 / sqrt(2 (C RTT + K))`, or `alpha` does not outlast a period.
//!
//! # Deliberate differences
//! - A loss in the RTT after a mark cuts the window to half of its size before the mark, not to
//!   half of the already reduced window.
//! - A mark never lowers the window below two packets, as in Linux; RFC 8257 leaves it open.

mod port;
mod source;
#[cfg(test)]
mod tests;

pub use port::DctcpPort;
pub use source::DctcpSource;

use super::common::{self, Profile};
use super::newreno::{self, NewReno};
use crate::law::{
    FlowContext, Invariants, Law, LawInfo, LinkContext, Named, NoHeader, NoSink, Promises,
    Properties,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part, Size};

/// DCTCP with its parameters.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: NewReno,
    profile: Profile,
    g: f64,
    initial_alpha: f64,
    threshold: Size,
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "threshold",
        kind: OptionKind::Size(None),
        default: "65 packets",
        part: Part::Port,
        doc: "K; a packet that finds more than this waiting is marked. At least C RTT / 7: 20 \
              packets at 1 Gbit/s, 65 at 10 Gbit/s in the paper's data centre (SIGCOMM 2010, 3.4).",
    },
    OptionSpec {
        name: "profile",
        kind: OptionKind::Word(&["rfc", "linux"]),
        default: "rfc",
        part: Part::Source,
        doc: "whose rules. \"rfc\": the window grows in rounds with marks, too (RFC 8257, 3.4); \
              \"linux\": it does not, as in Linux 6, and alpha and the window are whole numbers.",
    },
    OptionSpec {
        name: "g",
        kind: OptionKind::Number(1e-6, 1.0),
        default: "0.0625",
        part: Part::Source,
        doc: "weight of the last window's marks in alpha. SIGCOMM 2010, 4.1: 1/16.",
    },
    OptionSpec {
        name: "initial_alpha",
        kind: OptionKind::Number(0.0, 1.0),
        default: "1",
        part: Part::Source,
        doc: "alpha before the first window of data has been acknowledged. RFC 8257, 3.3: 1, \
              so that the first mark halves the window.",
    },
    newreno::COUNT,
    newreno::INCREASE,
    newreno::BETA,
    common::INITIAL_WINDOW,
    common::INITIAL_SSTHRESH,
    common::abc("2"),
    common::HYSTART,
    common::PACING,
    common::IDLE_RESTART,
];

impl Named for Dctcp {
    const INFO: LawInfo = LawInfo {
        name: "dctcp",
        title: "DCTCP",
        summary: "Data Center TCP: routers mark above a short queue, senders slow down by how many marks there were",
        explanation: include_str!("explain.md"),
        operations: "1 comparison",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Dctcp, OptionError> {
        Ok(Dctcp {
            reno: NewReno::from_options(o)?,
            profile: Profile::from_options(o),
            g: o.number("g"),
            initial_alpha: o.number("initial_alpha"),
            threshold: o.plain_size("threshold"),
        })
    }
}

impl Law for Dctcp {
    type Header = NoHeader;
    type Source = DctcpSource;
    type Port = DctcpPort;
    type Sink = NoSink;

    fn source(&self, flow: &FlowContext) -> DctcpSource {
        DctcpSource::new(self, flow)
    }
    fn port(&self, _: &LinkContext) -> Option<DctcpPort> {
        Some(DctcpPort::new(self.threshold))
    }
    fn properties(&self) -> Properties {
        Properties {
            marks_above: Some(self.threshold),
            small_queues: true,
            ..Properties::default()
        }
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = NoHeader>> {
        Some(self)
    }
}

impl Invariants for Dctcp {
    type Header = NoHeader;

    /// Shares are unequal, because windows grow by a packet an RTT and are cut in turn. After a
    /// minute 2 to 8 flows were up to 30 % from their mean.
    fn promises(&self) -> Promises {
        Promises { equal_shares: false, any_speed: false, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("pacing", "true"), ("g", "1"), ("initial_alpha", "0"), ("threshold", "0 B")],
            &[("threshold", "1 packets"), ("g", "0.0625"), ("profile", "linux")],
        ]
    }
}
