//! What every law implements, and what it is told.

mod header;
pub(crate) mod invariants;
pub mod junction;
mod port;
mod sink;
mod source;
pub mod trust;
#[cfg(test)]
mod trust_tests;

use crate::options::{OptionError, OptionSpec, Options, Size};
use junction::{Divisible, INDIVISIBLE};
use trust::{CARRIES_NOTHING, SAYS_NOTHING, Trust};

pub(crate) use header::NO_BYTES;
pub use header::{HeaderError, HeaderFormat, MAX_HEADER, NoHeader};
pub use invariants::{Books, Invariants, Promises};
pub use port::{LinkContext, NoPort, Port, PortQueue};
pub use sink::{Buffer, NoSink, Sink};
pub use source::{Acked, Congestion, FlowContext, Sending, Signal, Source};

/// A law with its parameters set, and how its three parts are made from them.
///
/// Beyond its parts a law says only what it has: each method with a default stands for something
/// that many laws lack. See [`Named`] for its name and options.
pub trait Law {
    /// The congestion header its packets carry, [`NoHeader`] if they carry none.
    type Header: Copy;
    /// The sender's part.
    type Source: Source<Header = Self::Header>;
    /// The router's part, [`NoPort`] if routers do not take part.
    type Port: Port<Header = Self::Header>;
    /// The receiver's part, [`NoSink`] if it only acknowledges.
    type Sink: Sink<Header = Self::Header>;

    /// The sender's part of a new flow.
    fn source(&self, flow: &FlowContext) -> Self::Source;
    /// The part at the output queue of a link; `None` if routers do not take part.
    fn port(&self, _link: &LinkContext) -> Option<Self::Port> {
        None
    }
    /// The receiver's part of a new flow; `None` if it only acknowledges.
    fn sink(&self, _flow: &FlowContext) -> Option<Self::Sink> {
        None
    }
    /// How its senders go about it, as far as the network and the transport must know.
    fn properties(&self) -> Properties {
        Properties::default()
    }
    /// Whether packets carry a header at all, in bytes of its own or not.
    fn has_header(&self) -> bool {
        size_of::<Self::Header>() > 0
    }
    /// How its header travels and is shown; `None` if packets carry none.
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = Self::Header>> {
        None
    }
    /// What its headers claim and grant.
    ///
    /// # Errors
    /// Why a policer can hold nobody to them, and a liar gain nothing.
    fn trust(&self) -> Result<&dyn Trust<Header = Self::Header>, &'static str> {
        Err(if self.has_header() { SAYS_NOTHING } else { CARRIES_NOTHING })
    }
    /// How its flows are split and merged at a junction.
    ///
    /// # Errors
    /// Why they cannot be. Does not matter where packets carry no header.
    fn junction(&self) -> Result<&dyn Divisible<Header = Self::Header>, &'static str> {
        Err(INDIVISIBLE)
    }
    /// What tests hold it to beyond what they hold every law to.
    fn invariants(&self) -> Option<&dyn Invariants<Header = Self::Header>> {
        None
    }
}

/// A law that is known by a name and made from options.
pub trait Named: Law + Sized {
    /// Name, explanation and parameters.
    const INFO: LawInfo;

    /// Makes the law from its options, each present and within its range.
    ///
    /// # Errors
    /// When options contradict each other.
    fn from_options(options: &Options) -> Result<Self, OptionError>;
}

/// How a law's senders go about it, as far as the network and the transport must know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Properties {
    /// Whether senders go by a pace alone. Their window, of many round trips, then only bounds what
    /// is outstanding when acknowledgements stay away.
    pub goes_by_pace: bool,
    /// What its flows are to get at a bottleneck, beside flows of weight 1; above 0.
    pub weight: f64,
    /// What may wait at its ports before they mark packets (ECN); `None` if they never do.
    pub marks_above: Option<Size>,
    /// Whether queues alone hold its senders back where their own link is paused.
    pub leaves_it_to_queues: bool,
    /// Whether senders slow down when the network cannot carry what they send.
    pub reacts: bool,
}

impl Default for Properties {
    fn default() -> Properties {
        Properties {
            goes_by_pace: false,
            weight: 1.0,
            marks_above: None,
            leaves_it_to_queues: false,
            reacts: true,
        }
    }
}

/// What a law is called, says of itself, and can be told.
#[derive(Debug)]
pub struct LawInfo {
    /// As written in scenarios and on the command line.
    pub name: &'static str,
    /// As written in prose: `XCP`, `NewReno`.
    pub title: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The law in prose: idea, equations, sources, deliberate differences. Printed by
    /// `ratewire explain`.
    pub explanation: &'static str,
    /// What its port works out for a packet, as its papers count: `3 additions`. Empty where
    /// routers take no part or no paper counts.
    pub operations: &'static str,
    /// Its parameters, in the order they are documented.
    pub options: &'static [OptionSpec],
}
