//! EMKC, Exponential Max-min Kelly Control (Zhang, Kang, Loguinov, SIGCOMM 2004 and after).
//!
//! Kelly's rate control with the largest price on the path instead of the sum of prices. The price
//! is negative while a link has spare capacity, so that rates grow exponentially. Units: bytes,
//! seconds, bytes per second.
//!
//! # Router, one port per output queue
//! - one addition a packet: `total += size`.
//! - each interval: `p = (S - gamma C) / S`, `S` the arrival rate.
//! - a packet leaves with the larger of its `p` and the router's, and with the identity and the
//!   interval's number of the router that stated it.
//!
//! # Source
//! - `x(n) = x(n - D) + alpha - beta p x(n - D)` once a round trip `D`, `p` the price that the rate
//!   `x(n - D)` has caused. Stable at any delay for `0 < beta < 2`.
//!
//! # Equilibrium
//! `x = gamma C / N + alpha / beta`, `p = (N alpha / beta) / (gamma C + N alpha / beta)`: the sum
//! exceeds `gamma C` by `alpha / beta` for each flow, 0.4 Mbit/s by default, for as long as there
//! are flows. The sum's error shrinks by `1 - beta` each round trip. Differences between flows
//! shrink only by `1 - beta p`, which is slow if `p` is small.
//!
//! # Sources
//! The abstracts state stability at any delay and number of hops. JetMax's abstract adds
//! "undesirable equilibrium properties and slow convergence". The papers were not available: the
//! equations and constants are from memory, the equilibrium is derived, and the header is this
//! implementation's.
//!
//! # Deliberate choices where the paper is not known
//! - The capacity is virtual, `gamma` 0.9 by default. The real queue does not grow while `N alpha /
//!   beta < (1 - gamma) C`, which is `N` up to `C / 4 Mbit/s`. Beyond, or with `gamma` 1, queues
//!   fill and overflow: this is the law's standing overload, not an error.
//! - A price counts as caused by a rate if the router measured it over a whole interval after a
//!   packet of that rate had passed. The header's marker and number show this. A round therefore
//!   lasts a round trip and up to two intervals.
//! - An idle link counts as carrying a packet an interval, so that `p` is finite. A source that
//!   uses its rate then never grows by more than `alpha + beta gamma C` at once. A source short of
//!   data sees a negative price, and grows towards its own link's rate.
//! - Losses are answered beside the law (`after_loss`).

mod header;
mod invariants;
mod port;
mod source;
#[cfg(test)]
mod tests;
mod trust;

pub use header::EmkcHeader;
pub use port::EmkcPort;
pub use source::EmkcSource;

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

/// EMKC with its parameters.
#[derive(Clone, Debug)]
pub struct Emkc {
    options: Options,
    /// B/s.
    alpha: f64,
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "alpha",
        kind: OptionKind::Rate(None),
        default: "200 kbit/s",
        part: Part::Source,
        doc: "by how much the rate grows each round trip. As remembered of the paper.",
    },
    OptionSpec {
        name: "beta",
        kind: OptionKind::Number(0.001, 4.0),
        default: "0.5",
        part: Part::Source,
        doc: "share of the price taken off the rate each round trip; stable below 2. As \
              remembered of the paper.",
    },
    OptionSpec {
        name: "gamma",
        kind: OptionKind::Number(0.01, 1.0),
        default: "0.9",
        part: Part::Port,
        doc: "share of the capacity that the price is reckoned with. At equilibrium the link \
              carries gamma C and alpha / beta for each flow: 0.9 has room for a flow per 4 Mbit/s. \
              1 is the paper's, and overflows. Our choice.",
    },
    feedback::interval("20 ms", "the time over which the arrival rate is measured."),
    CAPACITY,
    INITIAL_RATE,
    LONGEST_GAP,
    AFTER_LOSS,
];

impl Named for Emkc {
    const INFO: LawInfo = LawInfo {
        name: "emkc",
        title: "EMKC",
        summary: "Exponential Max-min Kelly Control: sources react to the largest overload on their path",
        explanation: include_str!("explain.md"),
        operations: "",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Emkc, OptionError> {
        feedback::check(o)?;
        let alpha = o.plain_rate("alpha").throughput().get();
        Ok(Emkc { options: o.clone(), alpha })
    }
}

impl Law for Emkc {
    type Header = EmkcHeader;
    type Source = EmkcSource;
    type Port = EmkcPort;
    type Sink = Echo<EmkcHeader>;

    fn source(&self, flow: &FlowContext) -> EmkcSource {
        EmkcSource::new(self, flow)
    }
    fn port(&self, link: &LinkContext) -> Option<EmkcPort> {
        Some(EmkcPort::new(self, link))
    }
    fn sink(&self, _: &FlowContext) -> Option<Echo<EmkcHeader>> {
        Some(Echo::new())
    }
    fn properties(&self) -> Properties {
        Properties { goes_by_pace: true, ..Properties::default() }
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = EmkcHeader>> {
        Some(self)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = EmkcHeader>, &'static str> {
        Ok(self)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = EmkcHeader>> {
        Some(self)
    }
}

impl HeaderFormat for Emkc {
    type Header = EmkcHeader;

    fn length(&self) -> Bytes {
        Bytes::new(HEADER_LEN as u64)
    }
    fn encode(&self, header: &EmkcHeader, _packet: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        header.emit(bytes);
        HEADER_LEN
    }
    fn decode(&self, bytes: &[u8], _packet: Bytes) -> Result<EmkcHeader, HeaderError> {
        EmkcHeader::parse(bytes)
    }
    fn fields(&self, header: &EmkcHeader) -> Vec<Figure> {
        header.fields()
    }
}
