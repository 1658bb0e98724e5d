//! Exit codes of the programs.

use std::process::ExitCode;

/// Exit code of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// An expectation does not hold, or a group daemon has broken a promise.
    NotMet = 1,
    /// The command line or a scenario has an error.
    Wrong = 2,
    /// A file cannot be read or written.
    File = 3,
    /// A run failed.
    Failed = 4,
    /// The kernel does not support or allow a requirement, or no group daemon serves.
    Unable = 5,
    /// An emulated run was not reliable.
    Late = 6,
    /// A run used too much memory.
    Memory = 7,
    /// Ctrl-C ended the runs: 128 and the signal's number, as shells report it.
    Interrupted = 130,
}

impl Exit {
    /// Exit code of the whole: the least code among the parts that are not done.
    pub fn of(parts: impl IntoIterator<Item = Exit>) -> Exit {
        parts.into_iter().filter(|exit| *exit != Exit::Done).min().unwrap_or(Exit::Done)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
