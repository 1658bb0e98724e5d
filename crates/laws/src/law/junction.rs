//! Treatment of headers at a junction: a switch that splits one flow into many, or merges many into
//! one.
//!
//! A law reads and writes the declarations of its data headers and the feedback of its
//! acknowledgements. The junction splits and merges flows by the same rules for all laws.

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

/// Declaration of a data header about its flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Declared {
    /// Rate of the flow, or its desired rate if the law feeds back rates; zero while unknown.
    pub rate: Throughput,
    /// The flow's round-trip time; zero while unknown.
    pub rtt: Duration,
    /// Part of this packet's wish that the path so far has left, if the law feeds back changes.
    pub wish: Throughput,
}

/// Kind of feedback in acknowledgements.
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

    /// Kind of feedback in the law's acknowledgements.
    fn feedback(&self) -> Feedback;
    /// Declaration of the data header of a packet of `packet` network-layer bytes; `None` for a
    /// header without one.
    fn declared(&self, header: &Self::Header, packet: Bytes) -> Option<Declared>;
    /// Changes a data header into that of a flow `factor` times as fast with the round trip `rtt`.
    fn redeclare(&self, header: &mut Self::Header, factor: f64, rtt: Duration);
    /// Changes the data header of a packet into that of a part with this share of its bytes. Only
    /// headers that are about their packet change: the parts' say together what the packet's says.
    fn part(&self, _header: &mut Self::Header, _share: f64) {}
    /// Changes a part's data header into that of a packet that also carries another part of the
    /// flow: the opposite of [`Divisible::part`].
    fn join(&self, _header: &mut Self::Header, _other: &Self::Header) {}
    /// Feedback in an acknowledgement's header, in the unit of [`Divisible::feedback`].
    fn fed_back(&self, header: &Self::Header) -> Throughput;
    /// Writes the feedback of an acknowledgement's header.
    fn feed_back(&self, header: &mut Self::Header, feedback: Throughput);
}

/// Why a junction cannot split or merge headers of a law that does not implement [`Divisible`].
pub(crate) const INDIVISIBLE: &str = "what its headers say holds for one flow from end to end, and \
                                      cannot be split among members or merged";
