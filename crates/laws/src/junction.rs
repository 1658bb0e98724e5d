//! What a junction may do with headers: a switch that splits one flow into many, or merges many.
//!
//! A law says here what its data headers declare of their flow and what its acknowledgements feed back,
//! and writes both. How they are split and merged is the junction's business, the same for all laws.

use ratewire_units::{Duration, Throughput};

/// How a junction treats a law's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Junction {
    /// There are none: flows are split and merged without coordination.
    Untouched,
    /// Each acknowledgement feeds back a change of rate, its packet's part of the flow's.
    Changes,
    /// Acknowledgements feed back the rate to send at.
    Rates,
    /// What they say holds for one flow from end to end: it cannot be split or merged.
    Refuses,
}

/// What a data header says of its flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Declared {
    /// How fast it is, or where the law feeds back rates, how fast it would be; zero while unknown.
    pub rate: Throughput,
    /// Its round-trip time; zero while unknown.
    pub rtt: Duration,
    /// What the way so far has left of this packet's wish, where the law feeds back changes.
    pub wish: Throughput,
}
