//! NewReno: TCP's additive increase and multiplicative decrease (RFC 5681, RFC 6582, RFC 6675).
//!
//! Units: payload bytes. `SMSS` is the payload of a full packet. `flight` is the outstanding data
//! when the loss was noticed, at most `cwnd`.
//!
//! # Sender
//! - starts with `cwnd` = 10 packets (RFC 6928) and an infinite `ssthresh` (RFC 5681, 3.1).
//! - slow start, `cwnd < ssthresh`: `cwnd += min(acked, L * SMSS)` for each acknowledgement, L = 2
//!   (RFC 3465, 2.2), so that the window doubles each RTT with delayed acknowledgements too.
//!   L = 1 in the slow start after a timeout (RFC 3465, 2.3).
//! - congestion avoidance: counts acknowledged bytes; whenever `cwnd` of them are counted, `cwnd +=
//!   increase * SMSS`, increase = 1 (RFC 3465, 2.1; recommended by RFC 5681, 3.1). With `count =
//!   "acks"` an acknowledgement counts as one packet (RFC 2581, 3.1, and Linux before 4.0): the
//!   window then grows half as fast with delayed acknowledgements.
//! - loss or mark: `ssthresh = max(beta * flight, 2 SMSS)`, beta = 1/2, `cwnd = ssthresh` (RFC
//!   5681, equation 4; RFC 6675, 5; RFC 3168, 6.1.2).
//! - timeout: `ssthresh` as for a loss, `cwnd = 1 SMSS` (RFC 5681, 3.1). `ssthresh` does not change
//!   while the same packet times out again.
//! - nothing sent for longer than the retransmission timeout: `cwnd = min(cwnd, initial window)`
//!   (RFC 5681, 4.1); `ssthresh` stays.
//! - no growth while a loss is repaired, for one RTT after a mark (RFC 3168, 6.1.2), or while the
//!   application or the receiver's window is the limit (RFC 7661).
//!
//! Mean window with one packet in `1/p` lost: `sqrt(3 / (2 p)) = 1.22 / sqrt(p)` packets, and with
//! other constants `sqrt(increase (1 + beta) / (2 (1 - beta) p))`.
//!
//! # Deliberate differences from the RFCs
//! - No inflation by duplicate acknowledgements and no deflation by partial ones (RFC 5681, 3.2;
//!   RFC 6582, 3.2): the transport counts what is outstanding as RFC 6675 does, so the window is
//!   `ssthresh` throughout the repair and after it.
//! - L = 2; RFC 5681 (3.1) has 1, which doubles the window only if every packet is acknowledged by
//!   itself.
//! - A timeout within a window that has been cut for a loss or a mark lowers `cwnd` and not
//!   `ssthresh` again, as Linux does.
//! - A mark never lowers the window below two packets. RFC 3168 (6.1.2) continues to one packet,
//!   and then sends by the retransmission timer.
//! - The byte limit on the initial window (14,600 in RFC 6928, 2) is not applied: the option sets
//!   the window.
//! - HyStart++ (RFC 9406) is available and off by default, as the RFCs above do not have it.

mod source;
#[cfg(test)]
mod tests;

pub(super) use source::MARK_FLOOR;
pub use source::NewRenoSource;

use super::common::{self, Common};
use crate::law::{
    FlowContext, Invariants, Law, LawInfo, Named, NoHeader, NoPort, NoSink, Promises, Properties,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part};

/// NewReno with its parameters.
#[derive(Clone, Debug)]
pub struct NewReno {
    pub(super) common: Common,
    /// Whether each acknowledgement counts as one packet in congestion avoidance.
    pub(super) counts_acks: bool,
    /// Packets added each RTT in congestion avoidance.
    pub(super) increase: f64,
    /// Share of the window that is kept after a loss or mark.
    pub(super) beta: f64,
}

/// The option `count`.
pub(crate) const COUNT: OptionSpec = OptionSpec {
    name: "count",
    kind: OptionKind::Word(&["bytes", "acks"]),
    default: "bytes",
    part: Part::Source,
    doc: "what congestion avoidance counts up to a window before it adds a packet. \"bytes\": what is \
          acknowledged (RFC 5681, 3.1); \"acks\": acknowledgements, each as a packet, which with \
          delayed ones grows half as fast (RFC 2581, 3.1; Linux before 4.0).",
};

/// The option `increase`.
pub(crate) const INCREASE: OptionSpec = OptionSpec {
    name: "increase",
    kind: OptionKind::Number(0.0, 1000.0),
    default: "1",
    part: Part::Source,
    doc: "packets added each RTT in congestion avoidance: the a of AIMD(a, b). RFC 5681, 3.1: 1.",
};

/// The option `beta`.
pub(crate) const BETA: OptionSpec = OptionSpec {
    name: "beta",
    kind: OptionKind::Number(0.01, 0.99),
    default: "0.5",
    part: Part::Source,
    doc: "share of the window kept after a loss or mark: 1 - b of AIMD(a, b). RFC 5681, equation \
          4: 0.5.",
};

const OPTIONS: &[OptionSpec] = &[
    COUNT,
    INCREASE,
    BETA,
    common::INITIAL_WINDOW,
    common::INITIAL_SSTHRESH,
    common::abc("2"),
    common::HYSTART,
    common::PACING,
    common::IDLE_RESTART,
];

impl Named for NewReno {
    const INFO: LawInfo = LawInfo {
        name: "newreno",
        title: "NewReno",
        summary: "TCP NewReno: one packet more each RTT, half at each loss",
        explanation: include_str!("explain.md"),
        operations: "",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<NewReno, OptionError> {
        Ok(NewReno {
            common: Common::from_options(o),
            counts_acks: o.word("count") == "acks",
            increase: o.number("increase"),
            beta: o.number("beta"),
        })
    }
}

impl Law for NewReno {
    type Header = NoHeader;
    type Source = NewRenoSource;
    type Port = NoPort;
    type Sink = NoSink;

    fn source(&self, flow: &FlowContext) -> NewRenoSource {
        NewRenoSource::new(self, flow)
    }
    fn properties(&self) -> Properties {
        Properties { goes_by_losses: true, small_queues: true, ..Properties::default() }
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = NoHeader>> {
        Some(self)
    }
}

impl Invariants for NewReno {
    type Header = NoHeader;

    /// Shares are unequal, because windows grow by a packet an RTT and chance decides which flows
    /// lose packets. After a minute 2 to 8 flows were up to 13 % from their mean.
    fn promises(&self) -> Promises {
        Promises { equal_shares: false, any_speed: false, ..Promises::default() }
    }
    fn extremes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[
            &[("pacing", "true"), ("hystart", "true"), ("initial_ssthresh", "20 packets")],
            &[("abc", "inf"), ("initial_window", "1 packets"), ("initial_ssthresh", "0 B")],
            &[("initial_window", "0 B"), ("idle_restart", "keep"), ("count", "acks")],
            &[("increase", "1000"), ("beta", "0.99")],
            &[("increase", "0"), ("beta", "0.01")],
        ]
    }
}
