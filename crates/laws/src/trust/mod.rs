//! Whether headers can be trusted: hosts write them, and nothing makes hosts tell the truth.
//!
//! A law says here how its headers would be falsified, what they claim that can be checked, and what
//! they grant. Scenarios lie with the first, policers hold senders to the others.

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
    /// Rates, and what speeds the sender up, the receiver returns times this; what slows it down, over
    /// this.
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
    /// Its RTT; zero while unknown.
    pub rtt: Duration,
    /// Time since its packet before: size over throughput; zero while unknown, `None` where the law's
    /// headers do not say.
    pub spacing: Option<Duration>,
    /// The sender's round, another as often as it changes its rate; `None` where the law's headers do
    /// not say.
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

#[cfg(test)]
mod tests;
