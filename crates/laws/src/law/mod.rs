//! Traits that every law implements, and the types of their arguments.

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
pub use port::{Draw, LinkContext, NoPort, Port, PortQueue};
pub use sink::{Buffer, NoSink, Sink};
pub use source::{Acked, Congestion, FlowContext, Sending, Signal, Source};

/// A law with its parameters set, which makes its three parts.
///
/// Methods with a default stand for features that many laws lack. See [`Named`] for name and
/// options.
///
/// Source and port explain themselves by a [`Reason`](crate::Reason): an equation, and a figure for
/// each of its symbols.
pub trait Law {
    /// The congestion header that packets carry, [`NoHeader`] if they carry none.
    type Header: Copy;
    /// The sender's part.
    type Source: Source<Header = Self::Header>;
    /// The router's part, [`NoPort`] if routers do not take part.
    type Port: Port<Header = Self::Header>;
    /// The receiver's part, [`NoSink`] if receivers only acknowledge.
    type Sink: Sink<Header = Self::Header>;

    /// The sender's part of a new flow.
    fn source(&self, flow: &FlowContext) -> Self::Source;
    /// The part at the output queue of a link; `None` if routers do not take part.
    fn port(&self, _link: &LinkContext) -> Option<Self::Port> {
        None
    }
    /// The receiver's part of a new flow; `None` if receivers only acknowledge.
    fn sink(&self, _flow: &FlowContext) -> Option<Self::Sink> {
        None
    }
    /// Properties of the law's senders and ports that the network and the transport must know.
    fn properties(&self) -> Properties {
        Properties::default()
    }
    /// Whether packets carry a header at all, in bytes of its own or not.
    fn has_header(&self) -> bool {
        size_of::<Self::Header>() > 0
    }
    /// Format of the header; `None` if packets carry none. A law that has a header must return one.
    fn headers(&self) -> Option<&dyn HeaderFormat<Header = Self::Header>> {
        None
    }
    /// Claims and grants of headers.
    ///
    /// # Errors
    /// Why headers make no claims and grants that a policer could enforce or a liar exploit.
    fn trust(&self) -> Result<&dyn Trust<Header = Self::Header>, &'static str> {
        Err(if self.has_header() { SAYS_NOTHING } else { CARRIES_NOTHING })
    }
    /// How flows are split and merged at a junction.
    ///
    /// # Errors
    /// Why flows cannot be split or merged. The reason does not matter if packets carry no header.
    fn junction(&self) -> Result<&dyn Divisible<Header = Self::Header>, &'static str> {
        Err(INDIVISIBLE)
    }
    /// Promises of this law that tests check, beyond those of every law.
    fn invariants(&self) -> Option<&dyn Invariants<Header = Self::Header>> {
        None
    }
}

/// A law that is known by a name and made from options.
pub trait Named: Law + Sized {
    /// Name, explanation and parameters.
    const INFO: LawInfo;
    /// Another name that stands for this law, if it has one.
    const ALIAS: Option<&'static str> = None;

    /// Makes the law from its options, each present and within its range.
    ///
    /// # Errors
    /// When options contradict each other.
    fn from_options(options: &Options) -> Result<Self, OptionError>;
}

/// Properties of a law's senders and ports that the network and the transport must know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Properties {
    /// Whether a pace alone controls senders. Their window of many round trips then only bounds
    /// outstanding data when acknowledgements fail to arrive.
    pub goes_by_pace: bool,
    /// Intended share of a flow at a bottleneck, relative to flows of weight 1; above 0.
    pub weight: f64,
    /// Queue above which ports mark packets (ECN); `None` if they never do.
    pub marks_above: Option<Size>,
    /// Whether queues alone hold senders back, if their own link is paused.
    pub leaves_it_to_queues: bool,
    /// Whether senders slow down when the network cannot carry what they send.
    pub reacts: bool,
    /// Whether senders are regular until a packet is lost, so that only losses distinguish flows.
    pub goes_by_losses: bool,
    /// Number of ports that a header has room for, of the last on a path; `None` for any number.
    pub most_ports: Option<usize>,
    /// Whether hosts hold senders back while their own queue has enough of the flow, as those of a
    /// kernel's TCP are (TCP Small Queues). A transport may decide otherwise.
    pub small_queues: bool,
}

impl Default for Properties {
    fn default() -> Properties {
        Properties {
            goes_by_pace: false,
            weight: 1.0,
            marks_above: None,
            leaves_it_to_queues: false,
            reacts: true,
            goes_by_losses: false,
            most_ports: None,
            small_queues: false,
        }
    }
}

/// A law's name, explanation and options.
#[derive(Debug)]
pub struct LawInfo {
    /// Name as written in scenarios and on the command line.
    pub name: &'static str,
    /// Name as written in prose: `XCP`, `NewReno`.
    pub title: &'static str,
    /// The law in one line.
    pub summary: &'static str,
    /// The law in prose: idea, equations, sources, deliberate differences. Printed by
    /// `ratewire explain`.
    pub explanation: &'static str,
    /// Operations of a port for a packet, as the law's papers count them: `3 additions`. Empty
    /// where routers take no part or no paper counts.
    pub operations: &'static str,
    /// Parameters, in the order in which they are documented.
    pub options: &'static [OptionSpec],
}
