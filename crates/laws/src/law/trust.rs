//! Trust in headers: hosts write them, and hosts may lie.
//!
//! A law states how its headers can be falsified, their claims that can be checked, and their
//! grants. Liars of a scenario use the first, policers the others.

use ratewire_units::{Duration, Throughput};

/// Dishonesty of the two hosts of a flow; the default is honest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lie {
    /// Ratio of the sender's claimed RTT to the true one.
    pub rtt: f64,
    /// Ratio of the sender's claimed throughput to the true one.
    pub throughput: f64,
    /// Whether the sender ignores feedback that would slow it down.
    pub ignore_feedback: bool,
    /// Factor by which the receiver multiplies the rates and increases that it returns, and divides
    /// decreases.
    pub inflate: f64,
}

impl Default for Lie {
    fn default() -> Lie {
        Lie { rtt: 1.0, throughput: 1.0, ignore_feedback: false, inflate: 1.0 }
    }
}

/// Place at which a header can be falsified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// At the sender, on a packet about to leave.
    Sending,
    /// At the receiver, on an acknowledgement about to leave.
    Returning,
    /// At the sender, on an acknowledgement that has arrived.
    Reading,
}

/// Claim of a packet's header about its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The flow's RTT; zero while unknown.
    pub rtt: Duration,
    /// Time since the flow's packet before: size over throughput. Zero while unknown; `None` if the
    /// law's headers do not state it.
    pub spacing: Option<Duration>,
    /// The sender's round, which changes with each change of its rate; `None` if the law's headers
    /// do not state it.
    pub round: Option<u8>,
}

/// Grant of a departing header to its sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grant {
    /// To send faster by this rate; slower, if negative.
    Change(Throughput),
    /// To send at this rate.
    Rate(Throughput),
    /// To send, from its next round on, at its rate times the first value, plus the second.
    Step(f64, Throughput),
}

/// Claims and grants of a law's headers, and their falsification by dishonest hosts.
///
/// A header of an acknowledgement neither claims nor grants anything.
pub trait Trust {
    /// The congestion header.
    type Header;

    /// Keys of [`Lie`] that have an effect under this law; the other keys change no header.
    fn lies(&self) -> &'static [&'static str];
    /// Falsifies a header as dishonest hosts would.
    fn falsify(&self, header: &mut Self::Header, lie: &Lie, hand: Hand);
    /// Why a policer cannot control these senders; `None` if it can.
    fn unpoliced(&self) -> Option<&'static str> {
        None
    }
    /// Claim of a data header about its flow, which its packets may contradict.
    fn claim(&self, header: &Self::Header) -> Option<Claim>;
    /// Writes into a header the spacing that it should have claimed. Called only if claims have a
    /// spacing.
    fn correct(&self, _header: &mut Self::Header, _spacing: Duration) {}
    /// Grant of a departing data header to its sender.
    fn grant(&self, header: &Self::Header) -> Option<Grant>;
}

/// Why a policer can do nothing with a law without a congestion header.
pub(crate) const CARRIES_NOTHING: &str = "its packets carry no congestion header";
/// Why a policer cannot check headers of a law that does not implement [`Trust`].
pub(crate) const SAYS_NOTHING: &str = "the law does not say what its headers claim and grant";
