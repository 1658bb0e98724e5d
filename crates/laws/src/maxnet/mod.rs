//! MaxNet (Wydrowski, Andrew, Zukerman), a baseline of it.
//!
//! Only the most congested router on a flow's path controls the flow: routers keep a price, and
//! packets collect the largest price. Shares are max-min fair if all sources have the same demand.
//! Units: bytes, seconds, bytes per second.
//!
//! # Router, one port per output queue
//! - one addition a packet: `total += size`.
//! - each interval `T`: `p = max(floor, p + k T (y - mu C) / (mu C))`, `y` the arrival rate.
//! - a packet leaves with `q = max(q, p)`.
//!
//! # Source
//! - `x = x_max exp(-q)` at each acknowledgement; the same `x_max` for all.
//!
//! # Equilibrium and stability
//! `q = ln(N x_max / (mu C))`, `x = mu C / N`, no queue. About it, for one round trip `d`, `dq/dt =
//! -k q(t - d)`: stable for `k d < pi / 2`, without oscillation for `k d <= 1 / e`. The price moves
//! by the surplus that arrived, at any speed: a rise by `dq` takes `dq mu C / k` bytes beyond `mu
//! C`. When `M` flows join `N`, the queue grows by `ln((N + M) / N) mu C / k` bytes, less the bytes
//! that the headroom `1 - mu` drains meanwhile.
//!
//! # What is from the papers
//! The abstracts give the maximum, max-min fairness and no state per flow. The papers were not
//! available. These parts are not taken from them:
//! - the demand `exp(-q)`. The published demand divides the exponent by the round trip and has a
//!   slow extra state that restores fairness, which makes it stable for any delay. The demand here
//!   is stable only for `k d < pi / 2`.
//! - the values of `k`, `mu`, `x_max`, the header, and losses being answered beside the law
//!   (`after_loss`).
//! - `floor = ln(x_max / (mu C))`, the price at which one flow fills the link. The published price
//!   goes down to 0 (`floor = "zero"`). An idle link's price would then fall to 0, and the next
//!   flow would send at `x_max` until the price has risen again.
//! - A link without capacity keeps its price. A price never exceeds the one at which a flow sends 1
//!   kB/s, so that it does not wind up.

mod header;
mod invariants;
mod port;
mod source;
#[cfg(test)]
mod tests;
mod trust;

pub use header::MaxnetHeader;
pub use port::MaxnetPort;
pub use source::MaxnetSource;

use alloc::vec;
use alloc::vec::Vec;

use ratewire_units::{Bytes, Rate};

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

/// MaxNet with its parameters.
#[derive(Clone, Debug)]
pub struct Maxnet {
    options: Options,
    /// B/s.
    x_max: f64,
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "x_max",
        kind: OptionKind::Rate(None),
        default: "1 Tbit/s",
        part: Part::Both,
        doc: "what a source would send at price 0. The same for all flows, and more than any link \
              carries. Our choice.",
    },
    OptionSpec {
        name: "k",
        kind: OptionKind::Number(0.001, 1000.0),
        default: "4",
        part: Part::Port,
        doc: "gain of the price, per second. Stable below pi / 2 over the round trip, without \
              oscillation up to 1 / e over it: 390 and 92 ms for 4. Queues after a join go with 1 / k, so \
              networks with short round trips want more. Our choice; a published form has mu.",
    },
    OptionSpec {
        name: "mu",
        kind: OptionKind::Number(0.01, 1.0),
        default: "0.96",
        part: Part::Port,
        doc: "share of the capacity to be used. As remembered of the paper.",
    },
    feedback::interval("10 ms", "T, the time over which the arrival rate is measured."),
    OptionSpec {
        name: "floor",
        kind: OptionKind::Word(&["one-flow", "zero"]),
        default: "one-flow",
        part: Part::Port,
        doc: "least price. \"one-flow\": the one at which a single flow fills the link; \"zero\": \
              0, as published.",
    },
    CAPACITY,
    INITIAL_RATE,
    LONGEST_GAP,
    AFTER_LOSS,
];

impl Named for Maxnet {
    const INFO: LawInfo = LawInfo {
        name: "maxnet",
        title: "MaxNet",
        summary: "routers keep a price, and the largest on a flow's path sets its rate",
        explanation: include_str!("explain.md"),
        operations: "",
        options: OPTIONS,
    };

    fn from_options(o: &Options) -> Result<Maxnet, OptionError> {
        feedback::check(o)?;
        let x_max = o.plain_rate("x_max");
        if x_max == Rate::ZERO {
            return Err(OptionError::new("x_max", "must be above 0: no flow would send"));
        }
        Ok(Maxnet { options: o.clone(), x_max: x_max.throughput().get() })
    }
}

impl Law for Maxnet {
    type Header = MaxnetHeader;
    type Source = MaxnetSource;
    type Port = MaxnetPort;
    type Sink = Echo<MaxnetHeader>;

    fn source(&self, flow: &FlowContext) -> MaxnetSource {
        MaxnetSource::new(self, flow)
    }
    fn port(&self, link: &LinkContext) -> Option<MaxnetPort> {
        Some(MaxnetPort::new(self, link))
    }
    fn sink(&self, _: &FlowContext) -> Option<Echo<MaxnetHeader>> {
        Some(Echo::new())
    }
    fn properties(&self) -> Properties {
        Properties { goes_by_pace: true, ..Properties::default() }
    }
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = MaxnetHeader>> {
        Some(self)
    }
    fn trust(&self) -> Result<&dyn Trust<Header = MaxnetHeader>, &'static str> {
        Ok(self)
    }
    fn invariants(&self) -> Option<&dyn Invariants<Header = MaxnetHeader>> {
        Some(self)
    }
}

impl HeaderFormat for Maxnet {
    type Header = MaxnetHeader;

    fn length(&self) -> Bytes {
        Bytes::new(HEADER_LEN as u64)
    }
    fn encode(&self, header: &MaxnetHeader, _packet: Bytes, bytes: &mut [u8; MAX_HEADER]) -> usize {
        header.emit(bytes);
        HEADER_LEN
    }
    fn decode(&self, bytes: &[u8], _packet: Bytes) -> Result<MaxnetHeader, HeaderError> {
        MaxnetHeader::parse(bytes)
    }
    fn fields(&self, header: &MaxnetHeader) -> Vec<Figure> {
        vec![Figure::one("price", header.price)]
    }
}
