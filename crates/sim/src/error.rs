//! Errors of a run.

use ratewire_net::spec::LinkId;
use ratewire_units::Time;

use crate::SetupError;
use crate::outcome::PacketCounts;

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The run cannot start.
    Setup(SetupError),
    /// The recorder ended the run at this time
    /// ([`Recorder::progress`](crate::record::Recorder::progress)).
    Stopped(Time),
    /// Time does not advance: a bug in Ratewire.
    Stuck(Time),
    /// The timer of a law's port did not advance
    /// ([`Port::next_timer`](ratewire_laws::Port::next_timer)).
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
    NotConserved {
        /// Counts of all packets.
        packets: PacketCounts,
        /// A link whose counters do not balance, if there is one.
        link: Option<LinkId>,
    },
    /// An overlay lost a message between its nodes: a bug in Ratewire.
    MessagesLost {
        /// Deliveries owed to messages.
        owed: u64,
        /// Deliveries made, on their way, or lost with failures.
        accounted: u64,
    },
    /// A sender's messages to this group came in another order: a bug in Ratewire.
    MessagesOvertook(String),
}

impl core::fmt::Display for RunError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            RunError::Setup(e) => e.fmt(f),
            RunError::Stopped(at) => write!(f, "stopped at {at}"),
            RunError::Stuck(at) => {
                write!(f, "time stands still at {at}: this is a bug in Ratewire")
            }
            RunError::TimerStalled { law, link, at } => write!(
                f,
                "law \"{law}\": the timer of the port at link \"{link}\" does not advance beyond \
                 {at}\n  help: after `Port::on_timer(now)`, `Port::next_timer` must return a time \
                 later than `now`"
            ),
            RunError::WrongPace { law, flow, at } => write!(
                f,
                "law \"{law}\": the pace of flow \"{flow}\" at {at} is negative, endless or not a number\n  \
                 help: `Source::pacing` must return a finite rate of 0 or more, or `None`"
            ),
            RunError::LawFault { law, place, at, what } => {
                write!(f, "law \"{law}\", {place}, noticed at {at}: {what}")
            }
            RunError::MessagesLost { owed, accounted } => write!(
                f,
                "an overlay owes {owed} deliveries and accounts for {accounted}: this is a bug in \
                 Ratewire"
            ),
            RunError::MessagesOvertook(group) => write!(
                f,
                "messages of group {group:?} have overtaken earlier ones: this is a bug in Ratewire"
            ),
            RunError::NotConserved { packets, link } => write!(
                f,
                "packets are not conserved ({packets:?}, link {link:?}): this is a bug in Ratewire"
            ),
        }
    }
}
impl core::error::Error for RunError {}

impl From<SetupError> for RunError {
    fn from(e: SetupError) -> RunError {
        RunError::Setup(e)
    }
}
