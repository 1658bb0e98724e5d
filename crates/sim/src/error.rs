//! Errors of a run.

use ratewire_net::spec::LinkId;
use ratewire_units::Time;

use crate::SetupError;
use crate::outcome::PacketCounts;

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The run cannot start.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The recorder ended the run at this time
    /// ([`Recorder::progress`](crate::record::Recorder::progress)).
    #[error("stopped at {0}")]
    Stopped(Time),
    /// Time does not advance: a bug in Ratewire.
    #[error("time stands still at {0}: this is a bug in Ratewire")]
    Stuck(Time),
    /// The timer of a law's port did not advance
    /// ([`Port::next_timer`](ratewire_laws::Port::next_timer)).
    #[error(
        "law \"{law}\": the timer of the port at link \"{link}\" does not advance beyond {at}\n  \
         help: after `Port::on_timer(now)`, `Port::next_timer` must return a time later than `now`"
    )]
    TimerStalled {
        /// Name of the law.
        law: String,
        /// Name of the link.
        link: String,
        /// Time of the timer.
        at: Time,
    },
    /// The pace of a flow is negative, endless or not a number
    /// ([`Source::pacing`](ratewire_laws::Source::pacing)).
    #[error(
        "law \"{law}\": the pace of flow \"{flow}\" at {at} is negative, endless or not a number\n  \
         help: `Source::pacing` must return a finite rate of 0 or more, or `None`"
    )]
    WrongPace {
        /// Name of the law.
        law: String,
        /// Name of the flow.
        flow: String,
        /// Time at which the pace was noticed.
        at: Time,
    },
    /// A part of a law has done what no law may do
    /// ([`Source::fault`](ratewire_laws::Source::fault)).
    #[error("law \"{law}\", {place}, noticed at {at}: {what}")]
    LawFault {
        /// Name of the law.
        law: String,
        /// Where its part is: `flow "s1->d1"`, `link "bottleneck"`.
        place: String,
        /// Time at which it was noticed.
        at: Time,
        /// What it has done.
        what: String,
    },
    /// The engine made or lost packets: a bug in Ratewire.
    #[error("packets are not conserved ({packets:?}, link {link:?}): this is a bug in Ratewire")]
    NotConserved {
        /// Counts of all packets.
        packets: PacketCounts,
        /// A link whose counters do not balance, if there is one.
        link: Option<LinkId>,
    },
    /// An overlay lost a message between its nodes: a bug in Ratewire.
    #[error(
        "an overlay owes {owed} deliveries and accounts for {accounted}: this is a bug in Ratewire"
    )]
    MessagesLost {
        /// Deliveries owed to messages.
        owed: u64,
        /// Deliveries made, on their way, or lost with failures.
        accounted: u64,
    },
    /// A sender's messages to this group came in another order: a bug in Ratewire.
    #[error("messages of group {0:?} have overtaken earlier ones: this is a bug in Ratewire")]
    MessagesOvertook(String),
}
