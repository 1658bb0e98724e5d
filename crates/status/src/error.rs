//! What keeps a program from a daemon's state.

use std::fmt;
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
#[derive(Debug)]
pub enum StatusError {
    /// Nothing accepts a connection at the address.
    Unreachable(Asked, io::Error),
    /// The answer does not come in time.
    Late(Asked),
    /// The connection has failed, or the answer is not HTTP, or too long.
    Connection(Asked, io::Error),
    /// The answer has this code and no status.
    Refused(Asked, u16),
    /// The answer is not the status of a daemon of this version.
    Malformed(Asked, serde_json::Error),
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

/// Displayed without its cause and remedy: see [`source`](std::error::Error::source) and
/// [`StatusError::help`].
impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatusError::Unreachable(Asked { program, address }, _) => {
                write!(f, "no {} tells its status at {address}", program.noun)
            }
            StatusError::Late(Asked { program, address }) => {
                let (noun, most) = (program.noun, PATIENCE.as_secs());
                write!(f, "the {noun} at {address} has not answered within {most} s")
            }
            StatusError::Connection(Asked { address, .. }, _) => {
                write!(f, "the answer from {address} is not complete")
            }
            StatusError::Refused(Asked { address, .. }, code) => {
                write!(f, "the answer from {address} is HTTP {code}")
            }
            StatusError::Malformed(Asked { program, address }, _) => {
                let noun = program.noun;
                write!(f, "the answer from {address} is not the status of a {noun} of this version")
            }
        }
    }
}

impl std::error::Error for StatusError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StatusError::Unreachable(_, source) | StatusError::Connection(_, source) => {
                Some(source)
            }
            StatusError::Malformed(_, source) => Some(source),
            StatusError::Late(_) | StatusError::Refused(..) => None,
        }
    }
}
