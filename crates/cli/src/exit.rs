//! How the command ends.

use std::process::ExitCode;

/// How the command ends: its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// An expectation does not hold.
    NotMet = 1,
    /// The command line or a scenario is wrong.
    Wrong = 2,
    /// A file cannot be read or written.
    File = 3,
    /// A run failed.
    Failed = 4,
    /// The kernel does not let us.
    Unable = 5,
    /// A run in real time was not true to time.
    Late = 6,
    /// A run used too much memory.
    Memory = 7,
}

impl Exit {
    /// How the whole ends: as the part with the least code of those that are not done.
    pub(crate) fn of(parts: impl IntoIterator<Item = Exit>) -> Exit {
        parts.into_iter().filter(|exit| *exit != Exit::Done).min().unwrap_or(Exit::Done)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
