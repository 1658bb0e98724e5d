//! Application-layer routing modules: they choose the member that a frame goes to.
//!
//! | module | chooses |
//! |---|---|
//! | [`RoundRobin`] | one member after the other |
//! | [`Weighted`] | members by shares |
//! | [`LeastOutstanding`] | the member that owes the least |
//! | [`PowerOfTwo`] | the better of two random members, by load and latency |
//! | [`KeyHash`] | members by a hash of a key in the frame |
//! | [`Prefix`] | members by the first bytes of the frame |
//!
//! A service brings a module of its own by implementing [`Routing`]. A module in an
//! `Arc<Mutex<_>>` is a module too: its owner can read or change it while a switch uses it.

mod key_hash;
mod least_outstanding;
mod power_of_two;
mod prefix;
mod round_robin;
mod shared;
#[cfg(test)]
mod testing;
mod weighted;

use core::fmt;

use ratewire_units::{Bytes, Duration};

pub use key_hash::KeyHash;
pub use least_outstanding::LeastOutstanding;
pub use power_of_two::PowerOfTwo;
pub use prefix::Prefix;
pub use round_robin::RoundRobin;
pub use weighted::Weighted;

/// A frame from the peer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Number of the frame in the peer's stream, from 0.
    pub number: u64,
    /// First bytes of the frame; empty for a frame that is only known to exist.
    pub content: &'a [u8],
}

/// A member, as routing modules see it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    /// Whether frames may go to the member.
    pub is_up: bool,
    /// Payload sent to the member that is not acknowledged.
    pub outstanding: Bytes,
    /// Smoothed time from a frame's leaving to its acknowledgement; [`Duration::ZERO`] while
    /// unknown.
    pub latency: Duration,
}

impl Member {
    /// Takes a measurement of the latency into the mean. The first one is the mean, a later one
    /// counts 1/8, as in TCP's SRTT (RFC 6298, section 2).
    pub(crate) fn measure(&mut self, latency: Duration) {
        self.latency = match self.latency {
            Duration::ZERO => latency,
            mean => Duration::from_ps(mean.ps() - mean.ps() / 8 + latency.ps() / 8),
        };
    }
}

/// Chooses members for frames.
pub trait Routing: fmt::Debug + Send {
    /// The member that a frame goes to, among those that are up; `None` if there is none.
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize>;
    /// Whether the module reads frames. A frame that was lost on its way to the switch then gets
    /// its place only when it comes.
    fn reads_content(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_is_the_mean_of_tcp() {
        let mut member = Member::default();
        for (measured, mean) in [(800, 800), (1600, 900), (100, 800)] {
            member.measure(Duration::from_micros(measured));
            assert_eq!(member.latency, Duration::from_micros(mean));
        }
    }
}
