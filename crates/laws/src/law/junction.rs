//! What a junction may do with headers: a switch that splits one flow into many, or merges many.
//!
//! A law says what its data headers declare of their flow and what its acknowledgements feed back,
//! and writes both. How flows are split and merged is the junction's business, for all laws alike.

use ratewire_units::{Bytes, Duration, Throughput};

/// How a junction treats a law's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Junction {
    /// Packets carry no header: flows are split and merged without coordination.
    Untouched,
    /// Each acknowledgement feeds back a change of rate, its packet's part of the flow's.
    Changes,
    /// Acknowledgements feed back the rate to send at.
    Rates,
    /// Headers hold for one flow from end to end and cannot be split or merged, for this reason.
    Refuses(&'static str),
}

/// What a data header says of its flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Declared {
    /// How fast the flow is, or where the law feeds back rates, would be; zero while unknown.
    pub rate: Throughput,
    /// The flow's round-trip time; zero while unknown.
    pub rtt: Duration,
    /// What the way so far has left of this packet's wish, where the law feeds back changes.
    pub wish: Throughput,
}

/// What acknowledgements feed back to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// A change of rate: the packet's part of the flow's.
    Change,
    /// The rate to send at.
    Rate,
}

/// Headers of flows that a junction can split among members and merge into one.
pub trait Divisible {
    /// The congestion header.
    type Header;

    /// What acknowledgements feed back.
    fn feedback(&self) -> Feedback;
    /// What the data header of a packet of `packet` network-layer bytes says of its flow; `None`
    /// for a header that says nothing.
    fn declared(&self, header: &Self::Header, packet: Bytes) -> Option<Declared>;
    /// Makes a data header that of a flow `factor` times as fast, whose round trip is `rtt`.
    fn redeclare(&self, header: &mut Self::Header, factor: f64, rtt: Duration);
    /// What an acknowledgement's header feeds back, in the unit of [`Divisible::feedback`].
    fn fed_back(&self, header: &Self::Header) -> Throughput;
    /// Writes what an acknowledgement's header feeds back.
    fn feed_back(&self, header: &mut Self::Header, feedback: Throughput);
}

/// Why a junction can do nothing with a header that its law does not say more of.
pub(crate) const INDIVISIBLE: &str = "what its headers say holds for one flow from end to end, and \
                                      cannot be split among members or merged";
