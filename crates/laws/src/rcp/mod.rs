//! RCP, the Rate Control Protocol (Dukkipati, McKeown, *Why flow-completion time is the right
//! metric for congestion control*, CCR 36(1), 2006; and its authors' ns-2 code).
//!
//! Each router has one rate `R` for all flows and lowers the rate in each packet to it. The
//! receiver returns the rate that arrives, and the sender sends at it. Units: bytes, seconds, bytes
//! per second.
//!
//! # Router (CCR, equation 1), at the end of each slot of `T = min(d0, slot)`
//! - `R = R (1 + T/d0 (alpha (gamma C - y) - beta q/d0) / (gamma C))`, clipped to
//!   `[min_packets 1000 bytes / d0, gamma C]`; at first `R = initial_rate C`.
//! - `y`: bytes that arrived in the slot over `T`. A packet whose transmission would cross the
//!   slot's end counts in both slots, by parts. `q`: bytes waiting, without the packet being sent.
//! - `d0`: mean RTT of packets, by bytes. Each slot's mean moves it with gain `T/d0` upwards and
//!   `(R/C) (mean/d0) (T/d0)` downwards.
//! - on departure `rate = min(rate, R)`.
//!
//! # Host
//! The packet that opens the flow asks for the first rate; every data packet asks again. Packets
//! are paced at the rate that came back last. Without an opening handshake the first data packet
//! asks, and no other leaves before a rate has come back. The sender does so too if the answer to
//! the opening packet carries no rate.
//!
//! # Stability
//! With `q` free to move and one RTT the loop is XCP's: with
//! `u^2 = (alpha^2 + sqrt(alpha^4 + 4 beta^2)) / 2` its phase margin is
//! `arctan(alpha u / beta) - u`. 12.6 degrees at the defaults (0.4, 0.226); -5.1 at ns-2's (0.4,
//! 0.4), which still settles because the queue cannot go below
//! 0. Queue-free the bound is `alpha < pi/2`.
//!
//! # Deliberate differences from ns-2
//! - beta 0.226, in place of its 0.4 or 1, is within the linear bound.
//! - The RTT in the header is the smoothed one, not the last sample.
//! - There are no header-only REF packets, which ns-2's flows of less than a packet an RTT send
//!   each RTT. Data packets leave at least every `probe`, whatever the rate.
//! - At rate 0 a sender goes on at that pace; ns-2's quits with probability 0.1, or waits.
//! - Losses are repaired by the transport at once and answered (`after_loss`); ns-2's sender
//!   repairs them after the last packet, and does not react otherwise.
//! - Twenty round trips' worth of data may be outstanding; ns-2's senders have no window. The
//!   window binds only when acknowledgements fail to arrive.
//! - The first slot begins at 0; in ns-2 its length is random.

#[cfg(test)]
pub(crate) mod fluid;
mod header;
mod junction;
mod port;
mod rate_law;
mod sink;
mod source;
#[cfg(test)]
mod tests;
mod trust;

pub use header::{Formats, RcpHeader, RcpKind};
pub use port::{RatePort, Rule, Slot};
pub use rate_law::{RateLaw, Variant};
pub use sink::RcpSink;
pub use source::{Ramp, RcpSource};

use alloc::vec;
use alloc::vec::Vec;

use crate::law::LawInfo;
use crate::options::{OptionKind as Of, OptionSpec, Options, Part};
use crate::paced::AFTER_LOSS;
use crate::reason::Figure;

/// Options of RCP and PIQI-RCP alike.
pub(crate) mod shared {
    use super::{Of, OptionSpec, Part};

    pub(crate) const SLOT: OptionSpec = OptionSpec {
        name: "slot",
        kind: Of::Time,
        default: "10 ms",
        part: Part::Port,
        doc: "longest time between two changes of R; the mean RTT where that is shorter. ns-2: \
              10 ms.",
    };
    pub(crate) const INITIAL_RTT: OptionSpec = OptionSpec {
        name: "initial_rtt",
        kind: Of::Time,
        default: "200 ms",
        part: Part::Port,
        doc: "mean RTT before any is known. ns-2: 0.2 s.",
    };
    pub(crate) const INITIAL_RATE: OptionSpec = OptionSpec {
        name: "initial_rate",
        kind: Of::Number(0.0, 1.0),
        default: "0.05",
        part: Part::Port,
        doc: "R at first, as a share of the capacity. ns-2: 0.05.",
    };
    pub(crate) const MIN_PACKETS: OptionSpec = OptionSpec {
        name: "min_packets",
        kind: Of::Number(1e-6, 1e6),
        default: "0.01",
        part: Part::Port,
        doc: "R is not below so many packets of 1000 bytes a mean RTT. ns-2's min_pprtt.",
    };
    pub(crate) const CAPACITY: OptionSpec = OptionSpec {
        name: "capacity",
        kind: Of::Rate(Some("link")),
        default: "link",
        part: Part::Port,
        doc: "capacity it believes in, for network-layer bytes; \"link\" is the link's rate.",
    };
    pub(crate) const DESIRED: OptionSpec = OptionSpec {
        name: "desired",
        kind: Of::Rate(Some("line")),
        default: "line",
        part: Part::Source,
        doc: "the rate it asks for; \"line\" is the rate of the sender's own link.",
    };
    pub(crate) const PROBE: OptionSpec = OptionSpec {
        name: "probe",
        kind: Of::Time,
        default: "0.5 s",
        part: Part::Source,
        doc: "a packet leaves at least this often, however low the rate, to hear of a higher \
              one. ns-2: a header-only packet each RTT, or every 0.5 s where that is shorter.",
    };
}

pub(crate) const ALPHA: OptionSpec = OptionSpec {
    name: "alpha",
    kind: Of::Number(0.0, 2.0),
    default: "0.4",
    part: Part::Port,
    doc: "share of the spare capacity given out per mean RTT. ns-2: 0.4 or 0.1.",
};

pub(crate) const BETA: OptionSpec = OptionSpec {
    name: "beta",
    kind: Of::Number(0.0, 2.0),
    default: "0.226",
    part: Part::Port,
    doc: "share of the queue drained per mean RTT. ns-2: 0.4 or 1.",
};

pub(crate) const GAMMA: OptionSpec = OptionSpec {
    name: "gamma",
    kind: Of::Number(0.01, 1.0),
    default: "1",
    part: Part::Port,
    doc: "share of the capacity to fill.",
};

const OPTIONS: &[OptionSpec] = &[
    ALPHA,
    BETA,
    GAMMA,
    shared::SLOT,
    shared::INITIAL_RTT,
    shared::INITIAL_RATE,
    shared::MIN_PACKETS,
    shared::CAPACITY,
    shared::DESIRED,
    shared::PROBE,
    AFTER_LOSS,
];

/// RCP with its parameters.
pub type Rcp = RateLaw<RcpRule>;

/// `R` grows with spare capacity and shrinks with the queue.
#[derive(Clone, Debug)]
pub struct RcpRule {
    alpha: f64,
    beta: f64,
}

impl Rule for RcpRule {
    const EQUATION: &'static str = "R = R (1 + T/d0 (alpha (gamma C - y) - beta q/d0) / (gamma C))";

    fn figures(&self) -> Vec<Figure> {
        vec![Figure::one("alpha", self.alpha), Figure::one("beta", self.beta)]
    }

    fn growth(&mut self, slot: &Slot) -> f64 {
        let spare = self.alpha * (slot.capacity - slot.input);
        let drain = self.beta * slot.queue / slot.rtt;
        slot.length / slot.rtt * (spare - drain) / slot.capacity
    }
}

impl Variant for RcpRule {
    const INFO: LawInfo = LawInfo {
        name: "rcp",
        title: "RCP",
        summary: "Rate Control Protocol: each router gives all flows the same rate, taken at once",
        explanation: include_str!("explain.md"),
        operations: "2 additions, 2 multiplications",
        options: OPTIONS,
    };
    const FORMATS: Formats = Formats { request: 3, reply: 4 };
    const EXTREMES: &'static [&'static [(&'static str, &'static str)]] = &[
        &[("capacity", "0 bit/s"), ("min_packets", "1000000"), ("after_loss", "ignore")],
        &[("slot", "1 us"), ("initial_rate", "0"), ("probe", "2 us"), ("desired", "1 bit/s")],
    ];

    fn new(options: &Options) -> RcpRule {
        let [alpha, beta] = ["alpha", "beta"].map(|name| options.number(name));
        RcpRule { alpha, beta }
    }
}
