//! Whether headers can be trusted: hosts write them, and nothing makes hosts tell the truth.
//!
//! A law says how its headers would be falsified, what they claim that can be checked, and what
//! they grant. Liars of a scenario use the first, policers the others.

use ratewire_units::{Duration, Throughput};

/// How the two hosts of a flow are dishonest; by default they are not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lie {
    /// The RTT the sender claims, over the true one.
    pub rtt: f64,
    /// The throughput the sender claims, over the true one.
    pub throughput: f64,
    /// The sender does not slow down when it is told to.
    pub ignore_feedback: bool,
    /// The receiver multiplies by this the rates and increases that it returns, and divides
    /// decreases by it.
    pub inflate: f64,
}

impl Default for Lie {
    fn default() -> Lie {
        Lie { rtt: 1.0, throughput: 1.0, ignore_feedback: false, inflate: 1.0 }
    }
}

/// Where a header is when it can be falsified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// At the sender, on a packet about to leave.
    Sending,
    /// At the receiver, on an acknowledgement about to leave.
    Returning,
    /// At the sender, on an acknowledgement that has arrived.
    Reading,
}

/// What a packet's header says of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The flow's RTT; zero while unknown.
    pub rtt: Duration,
    /// Time since the flow's packet before: size over throughput; zero while unknown, `None` where
    /// the law's headers do not say.
    pub spacing: Option<Duration>,
    /// The sender's round, another as often as it changes its rate; `None` where the law's headers
    /// do not say.
    pub round: Option<u8>,
}

/// What a header, as a port lets it go, permits its sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grant {
    /// To send so much faster; slower, if negative.
    Change(Throughput),
    /// To send at this rate.
    Rate(Throughput),
    /// To send, from its next round on, so many times its rate and so much more.
    Step(f64, Throughput),
}

/// What a law's headers claim and grant, and how dishonest hosts would falsify them.
///
/// A header of an acknowledgement neither claims nor grants anything.
pub trait Trust {
    /// The congestion header.
    type Header;

    /// The keys of [`Lie`] that the law's hosts can lie with; the other keys change no header.
    fn lies(&self) -> &'static [&'static str];
    /// Falsifies a header as dishonest hosts would.
    fn falsify(&self, header: &mut Self::Header, lie: &Lie, hand: Hand);
    /// Why a policer cannot hold these senders to anything; `None` if it can.
    fn unpoliced(&self) -> Option<&'static str> {
        None
    }
    /// What a data header says of its flow that its packets may belie.
    fn claim(&self, header: &Self::Header) -> Option<Claim>;
    /// Writes into a header the spacing that it should have claimed. Only where claims have one.
    fn correct(&self, _header: &mut Self::Header, _spacing: Duration) {}
    /// What a data header that a port lets go permits its sender.
    fn grant(&self, header: &Self::Header) -> Option<Grant>;
}

/// Why a policer can do nothing with a law without a congestion header.
pub(crate) const CARRIES_NOTHING: &str = "its packets carry no congestion header";
/// Why a policer can do nothing with a header that its law does not say more of.
pub(crate) const SAYS_NOTHING: &str = "the law does not say what its headers claim and grant";
