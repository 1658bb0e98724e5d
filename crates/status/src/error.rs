//! What keeps a program from a daemon's state.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::program::Program;

/// Time for the whole request.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The daemon whose state a program has asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Words of the daemon.
    pub program: &'static Program,
    /// Address of the daemon's status.
    pub address: SocketAddr,
}

/// What keeps a program from reading a daemon's status.
///
/// Displayed without its cause and remedy: see [`source`](std::error::Error::source) and
/// [`StatusError::help`].
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// Nothing accepts a connection at the address.
    #[error("no {} tells its status at {}", .0.program.noun, .0.address)]
    Unreachable(Asked, #[source] io::Error),
    /// The answer does not come in time.
    #[error(
        "the {} at {} has not answered within {} s",
        .0.program.noun,
        .0.address,
        PATIENCE.as_secs()
    )]
    Late(Asked),
    /// The connection has failed, or the answer is not HTTP, or too long.
    #[error("the answer from {} is not complete", .0.address)]
    Connection(Asked, #[source] io::Error),
    /// The answer has this code and no status.
    #[error("the answer from {} is HTTP {}", .0.address, .1)]
    Refused(Asked, u16),
    /// The answer is not the status of a daemon of this version.
    #[error(
        "the answer from {} is not the status of a {} of this version",
        .0.address,
        .0.program.noun
    )]
    Malformed(Asked, #[source] serde_json::Error),
}

impl StatusError {
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            StatusError::Unreachable(Asked { program, .. }, _) => {
                let Program { noun, file, .. } = program;
                format!("start a {noun}, or name the address that `status` has in its {file}")
            }
            StatusError::Late(asked) => format!("try again, or {}", asked.address_help()),
            StatusError::Connection(asked, _) | StatusError::Refused(asked, _) => {
                asked.address_help()
            }
            StatusError::Malformed(asked, _) => {
                let (noun, help) = (asked.program.noun, asked.address_help());
                format!("run the {noun}'s version of this command, or {help}")
            }
        }
    }
}

impl Asked {
    fn address_help(&self) -> String {
        let Program { noun, file, .. } = self.program;
        format!("name the address that `status` has in the {noun}'s {file}")
    }
}
