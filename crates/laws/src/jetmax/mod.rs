//! JetMax (Zhang, Leonard, Loguinov, INFOCOM 2006; Computer Networks 2008).
//!
//! Each router divides the capacity that other flows leave equally among the flows that it binds.
//! Each source moves towards that part by a fixed share of the way each round trip. The part does
//! not depend on the rates of the flows that the router binds, so no delay can make the law
//! unstable. Units: bytes, seconds, bytes per second.
//!
//! # Router, one port per output queue
//! - three additions a packet: `total += size`; of flows bound here, `w += size`, `gaps += delta`.
//! - each interval `Delta`: `N = gaps / Delta`, `u = (total - w) / Delta`, fair rate
//!   `g = (gamma C - u) / N`, virtual loss `p = 1 - gamma C / (w + u)`.
//! - a packet of a flow bound here leaves with `g`. Any other packet leaves with the largest `p` on
//!   its path, and with the identity and `g` of the router with that `p`: this router proposes
//!   itself.
//!
//! # Source
//! - `x(n) = x(n - D) - tau (x(n - D) - g)` once a round trip `D`: the error is multiplied by
//!   `1 - tau`. Stable for `0 < tau < 2`, monotone up to 1; 0.6 takes 6 round trips to 1 %.
//! - the source approves a proposal by naming the proposing router in its packets.
//!
//! With equal round trips the sum of rates does not exceed `gamma C`, because newcomers grow as
//! fast as the others make room. A newcomer with a shorter round trip grows before the others have
//! made room: with 30 ms against 200 ms on 1 Gbit/s the queue reaches 9100 packets.
//!
//! # Sources
//! The abstracts: three additions a packet, no overshoot, tunable utilisation, 1 % within six round
//! trips at any speed, insensitive to delay. The comparison slides (Jain, Zhang, Loguinov, 2008):
//! the least buffering, and idle capacity with short flows. The papers were not available: the
//! equations are from memory and derivation, and the header and the rules below are this
//! implementation's.
//!
//! # Deliberate choices where the paper is not known
//! - A proposal is approved if its router would give less than the present one (by
//!   `switch_margin`). Suppose that others have filled a downstream link without overload: both
//!   losses are then 0. By the largest `p` alone, a flow bound upstream would stay above that
//!   link's fair rate.
//! - A flow that switches from one router to another makes one step towards the rate proposed. It
//!   then holds its rate until the new router has measured a whole interval with the flow among its
//!   own. Earlier figures of that router leave the flow out, and following them would overshoot.
//!   Without the first step the sum would overshoot, because the others grow meanwhile.
//! - A router that binds no flow states `g = gamma C`, or 0 when it is overloaded beyond
//!   `switch_margin`.
//! - `delta` is the time since the flow's last packet, but at most a packet over the rate. A source
//!   short of data then counts as the part of a flow that it uses, and leaves the rest to others.
//! - A source that its data or its receiver's window holds back does not grow. Otherwise it would
//!   later send at a rate that grew unused, and the sum would be too large until routers have
//!   counted the flow.
//! - `N` is at least 1, so that `g` never exceeds the link.
//! - Losses are answered beside the law (`after_loss`).

mod header;
mod invariants;
mod port;
mod source;
#[cfg(test)]
mod tests;
mod trust;

pub use header::JetmaxHeader;
pub use port::JetmaxPort;
pub use source::JetmaxSource;

use alloc::vec::Vec;

use ratewire_units::Bytes;

use crate::feedback::{self, CAPACITY, Echo, INITIAL_RATE, LONGEST_GAP};
use crate::law::{
    FlowContext, HeaderError, HeaderFormat, Invariants, Law, LawInfo, LinkContext, MAX_HEADER,
    Named, Properties,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part};
use crate::paced::AFTER_LOSS;
use crate::reason::Figure;
use crate::trust::Trust;
use header::HEADER_LEN;

/// JetMax with its parameters.
#[derive(Clone, Debug)]
pub struct Jetmax {
    pub(crate) options: Options,
}

pub(crate) const GAMMA: OptionSpec = OptionSpec {
    name: "gamma",
    kind: OptionKind::Number(0.01, 1.0),
    default: "0.95",
    part: Part::Port,
    doc: "share of the capacity to be used. The paper calls it tunable; 0.95 leaves room for \
          what an interval cannot resolve.",
};

pub(crate) const INTERVAL: OptionSpec = feedback::interval(
    "50 ms",
    "Delta, the time over which flows are counted. A count is off by up to one gap per flow, so \
     shorter intervals are noisier.",
);

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "tau",
        kind: OptionKind::Number(0.001, 4.0),
        default: "0.6",
        part: Part::Source,
        doc: "share of the way to the fair rate taken each round trip; stable below 2, \
              monotone up to 1. 0.6 is the gain for which the abstract's six round trips to 1 % hold.",
    },
    GAMMA,
    INTERVAL,
    OptionSpec {
        name: "switch_margin",
        kind: OptionKind::Number(0.0, 0.5),
        default: "0.02",
        part: Part::Both,
        doc: "how much less than its bottleneck another router must offer before a flow switches \
              to it, as a share; keeps flows from changing between equal routers. Our choice.",
    },
    CAPACITY,
    INITIAL_RATE,
    OptionSpec {
        part: Part::Both,
        doc: "longest time between packets, however low the rate: who sends nothing hears of no \
              better rate. A port counts no gap as longer. Our choice.",
        ..LONGEST_GAP
    },
    AFTER_LOSS,
];

impl Named for Jetmax {
    const INFO: LawInfo = LawInfo {
        name: "jetmax",
        title: "JetMax",
        summary: "each router shares out equally what flows bound elsewhere leave of its link",
        explanation: include_str!("explain.md"),
        operations: "3 additions",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Jetmax, OptionError> {
        feedback::check(o)?;
        Ok(Jetmax { options: o.clone() })
    }
}

impl Law for Jetmax {
    type Header = JetmaxHeader;
    type Source = JetmaxSource;
    type Port = JetmaxPort;
    type Sink = Echo<JetmaxHeader>;

    fn source(&self, flow: &FlowContext) -> JetmaxSource {
        JetmaxSource::new(self, flow)
    }
    fn port(&self, link: &LinkContext) -> Option<JetmaxPort> {
        Some(JetmaxPort::new(self, link))
    }
    fn sink(&self, _: &FlowContext) -> Option<Echo<JetmaxHeader>> {
        Some(Echo::new())
    }
    fn properties(&self) -> Properties {
        Properties { goes_by_pace: true, ..Properties::default() }
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = JetmaxHeader>> {
        Some(self)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = JetmaxHeader>, &'static str> {
        Ok(self)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = JetmaxHeader>> {
        Some(self)
    }
}

impl HeaderFormat for Jetmax {
    type Header = JetmaxHeader;

    fn length(&self) -> Bytes {
        Bytes::new(HEADER_LEN as u64)
    }
    fn encode(&self, header: &JetmaxHeader, _packet: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        header.emit(bytes);
        HEADER_LEN
    }
    fn decode(&self, bytes: &[u8], _packet: Bytes) -> Result<JetmaxHeader, HeaderError> {
        JetmaxHeader::parse(bytes)
    }
    fn fields(&self, header: &JetmaxHeader) -> Vec<Figure> {
        header.fields()
    }
}
