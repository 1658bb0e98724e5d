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
        /// Deliveries made or on their way.
        accounted: u64,
    },
}

impl core::fmt::Display for RunError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            RunError::Setup(e) => e.fmt(f),
            RunError::Stopped(at) => write!(f, "stopped at {at}"),
            RunError::Stuck(at) => {
                write!(f, "time stands still at {at}: this is a bug in Ratewire")
            }
            RunError::MessagesLost { owed, accounted } => write!(
                f,
                "an overlay owes {owed} deliveries and accounts for {accounted}: this is a bug in \
                 Ratewire"
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
