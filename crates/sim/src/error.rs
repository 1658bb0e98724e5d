//! Why a run failed.

use ratewire_net::spec::LinkId;
use ratewire_units::Time;

use crate::SetupError;
use crate::outcome::PacketCounts;

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// It cannot start.
    Setup(SetupError),
    /// The recorder asked for the end of the run, at this time
    /// ([`Recorder::progress`](crate::record::Recorder::progress)).
    Stopped(Time),
    /// Time stands still: a bug in Ratewire.
    Stuck(Time),
    /// Packets were made or lost by the engine: a bug in Ratewire.
    NotConserved {
        /// What became of all packets.
        packets: PacketCounts,
        /// A link whose books do not balance, if that is where it shows.
        link: Option<LinkId>,
    },
    /// An overlay lost a message between its nodes: a bug in Ratewire.
    MessagesLost {
        /// Deliveries that messages were owed.
        owed: u64,
        /// Those that were made or are on their way.
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
