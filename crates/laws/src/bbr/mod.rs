//! BBR, whose sender measures the path's delivery rate and round-trip time and paces at that rate,
//! instead of filling the queue until packets are lost.
//!
//! [`v1`] is version 1, the `bbr` of Linux's kernels. [`v3`] is version 3, the draft of the IETF.
//! Both take their samples and filters from here. Units: payload bytes and seconds.
//!
//! # Deliberate differences of both
//! - The header is the number of the transmission, as in QUIC, which the receiver returns. It
//!   stands for the state that hosts keep with each packet and takes no bytes on the wire.
//!   Acknowledgements of retransmissions are therefore never ambiguous, and samples shorter than
//!   the RTT (draft -06, 4.1.2.3) cannot occur.
//! - Lost packets are inferred from their order: they are the oldest that have not arrived. This is
//!   exact on paths that do not reorder.
//! - If the receiver's window limits the flow, samples are application-limited. The draft treats
//!   that window as part of the path (4.1.1.3). The transport does not tell the two apart.
//! - The send quantum only enters the window: the transport paces every packet by itself, but for
//!   the first ten of a flow where hosts keep small queues.

mod aggregation;
mod delivery;
mod filter;
mod plateau;
mod random;
mod round;
mod sink;
mod sizes;
#[cfg(test)]
mod tests;
pub mod v1;
pub mod v3;

pub use sink::BbrSink;
pub use v1::{Bbr1, Bbr1Source};
pub use v3::{Bbr3, Bbr3Source};

use alloc::vec;
use alloc::vec::Vec;

use crate::reason::Figure;

/// Number of packets that the sender had sent before this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketNumber(pub u64);

impl PacketNumber {
    fn fields(self) -> Vec<Figure> {
        vec![Figure::one("packet_number", self.0 as f64)]
    }
}

/// Why the flows of BBR cannot be split and merged.
const INDIVISIBLE: &str = "it measures how fast single packets are delivered, and through a switch an \
                           acknowledgement may name a packet of another member";

/// Largest window. Above 2^53 bytes an `f64` cannot hold single bytes, and no path is that long.
const MAX_WINDOW: f64 = 9_007_199_254_740_992.0;
/// Least number of packets that keeps a path busy whose receiver acknowledges every second.
const MIN_PIPE: f64 = 4.0;
