//! What every law implements, and what it is told.

mod port;
mod sink;
mod source;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use ratewire_units::{Bytes, Duration, Throughput};

use crate::junction::{Declared, Junction};
use crate::options::{OptionError, OptionSpec, Options, Size};
use crate::reason::Figure;
use crate::trust::{Claim, Grant, Hand, Lie};

pub use port::{LinkContext, NoPort, Port, PortQueue};
pub use sink::{Buffer, NoSink, Sink};
pub use source::{Acked, Congestion, FlowContext, Sending, Signal, Source};

/// Bytes that the longest congestion header takes.
pub const MAX_HEADER: usize = 64;

/// A law: its parameters, and how its three parts are made from them.
pub trait Law: Sized {
    /// The congestion header its packets carry, [`NoHeader`] if they carry none.
    type Header: Copy;
    /// The sender's part.
    type Source: Source<Header = Self::Header>;
    /// The router's part, [`NoPort`] if routers do not take part.
    type Port: Port<Header = Self::Header>;
    /// The receiver's part, [`NoSink`] if it only acknowledges.
    type Sink: Sink<Header = Self::Header>;

    /// Name, explanation and parameters.
    const INFO: LawInfo;

    /// Makes the law from its options, each present and within its range.
    ///
    /// # Errors
    /// When options contradict each other.
    fn from_options(options: &Options) -> Result<Self, OptionError>;
    /// The sender's part of a new flow.
    fn source(&self, flow: &FlowContext) -> Self::Source;
    /// The part at the output queue of a link; `None` if routers do not take part.
    fn port(&self, link: &LinkContext) -> Option<Self::Port>;
    /// The receiver's part of a new flow; `None` if it only acknowledges.
    fn sink(&self, flow: &FlowContext) -> Option<Self::Sink>;
    /// Bytes the congestion header adds to each packet.
    fn header_len(&self) -> Bytes {
        Bytes::ZERO
    }
    /// Whether its senders go by a pace alone: their window, of many round trips, only bounds what is outstanding when
    /// acknowledgements stay away.
    fn goes_by_pace(&self) -> bool {
        false
    }
    /// What its flows are to get at a bottleneck, beside flows of weight 1.
    fn weight(&self) -> f64 {
        1.0
    }
    /// What may wait at its ports before they mark packets (ECN); `None` if they never do.
    fn marks_above(&self) -> Option<Size> {
        None
    }
    /// Whether queues alone hold its senders back where their own link is paused.
    fn leaves_it_to_queues(&self) -> bool {
        false
    }
    /// Writes a header of a packet of that size to the front of `bytes`; returns its length, 0 for a
    /// law whose packets carry none on the wire.
    fn encode(&self, _: &Self::Header, _packet: Bytes, _bytes: &mut [u8; MAX_HEADER]) -> usize {
        0
    }
    /// Reads a header.
    ///
    /// # Errors
    /// When the bytes are not one; always for a law without.
    fn decode(&self, _bytes: &[u8], _packet: Bytes) -> Result<Self::Header, HeaderError> {
        Err(HeaderError::new("this law's packets carry no congestion header"))
    }
    /// Passes a header through its bytes, so that quantisation is felt (`wire = "exact"`).
    fn quantise(&self, header: Self::Header, packet: Bytes) -> Self::Header {
        let mut bytes = [0; MAX_HEADER];
        let len = self.encode(&header, packet, &mut bytes);
        if len == 0 { header } else { self.decode(&bytes[..len], packet).unwrap_or(header) }
    }
    /// A header's fields, for people.
    fn fields(&self, _header: &Self::Header) -> Vec<Figure> {
        Vec::new()
    }
    /// The keys of [`Lie`] that its hosts can lie with; the others change nothing.
    fn lies(&self) -> &'static [&'static str] {
        &[]
    }
    /// Why a policer cannot hold its senders to anything; `None` if it can.
    fn unpoliced(&self) -> Option<&'static str> {
        Some("its packets carry no congestion header")
    }
    /// Falsifies a header as dishonest hosts would; what a law's headers do not say cannot be lied about.
    fn falsify(&self, _header: &mut Self::Header, _lie: &Lie, _hand: Hand) {}
    /// What a header says of its flow that its packets may belie; `None` if it says nothing.
    fn claim(&self, _header: &Self::Header) -> Option<Claim> {
        None
    }
    /// Writes into a header the spacing that it should have claimed.
    fn correct(&self, _header: &mut Self::Header, _spacing: Duration) {}
    /// What a header that a port lets go permits its sender; `None` if it says nothing.
    fn grant(&self, _header: &Self::Header) -> Option<Grant> {
        None
    }
    /// How a junction, which splits one flow into many or merges many into one, treats its headers.
    fn junction(&self) -> Junction {
        // A header of no size is one that no packet has.
        if size_of::<Self::Header>() == 0 { Junction::Untouched } else { Junction::Refuses }
    }
    /// Why a junction cannot, where it refuses.
    fn unjoined(&self) -> &'static str {
        "what its headers say holds for one flow from end to end, and cannot be split among members or merged"
    }
    /// What a data header says of its flow to a junction; `None` if it says nothing.
    fn declared(&self, _header: &Self::Header, _packet: Bytes) -> Option<Declared> {
        None
    }
    /// Makes a data header that of a flow `factor` times as fast, whose round trip is `rtt`.
    fn redeclare(&self, _header: &mut Self::Header, _factor: f64, _rtt: Duration) {}
    /// What an acknowledgement's header feeds back; `None` if nothing.
    fn fed_back(&self, _header: &Self::Header) -> Option<Throughput> {
        None
    }
    /// Writes what an acknowledgement's header feeds back.
    fn feed_back(&self, _header: &mut Self::Header, _feedback: Throughput) {}
}

/// Why bytes are not a law's congestion header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderError {
    /// What is wrong.
    pub message: String,
}

impl HeaderError {
    /// An error that says this.
    pub fn new(message: impl Into<String>) -> HeaderError {
        HeaderError { message: message.into() }
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl core::error::Error for HeaderError {}

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
    /// What its port works out for a packet, as its papers count: `3 additions`. Empty where routers
    /// take no part or no paper counts.
    pub operations: &'static str,
    /// Its parameters, in the order they are documented.
    pub options: &'static [OptionSpec],
}

/// For laws whose packets carry no congestion header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoHeader {}
