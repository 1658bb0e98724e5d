//! What keeps a daemon from running.

use std::fmt;
use std::io;

use crate::certificates::CertificateError;
use crate::config::Listen;

/// What has kept a daemon from starting.
#[derive(Debug)]
pub enum DaemonError {
    /// The asynchronous runtime cannot start.
    Runtime(io::Error),
    /// An address for clients cannot be used.
    Listen(Listen, io::Error),
    /// The address for other daemons cannot be used.
    Links(std::net::SocketAddr, io::Error),
    /// The address for the status cannot be used.
    Status(std::net::SocketAddr, io::Error),
    /// A certificate or key cannot be used.
    Certificates(CertificateError),
}

impl fmt::Display for DaemonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DaemonError::Runtime(_) => f.write_str("cannot start the asynchronous runtime"),
            DaemonError::Listen(Listen::Tcp(address), _) => {
                write!(f, "cannot listen for clients at {address}")
            }
            DaemonError::Listen(Listen::Unix(path), _) => {
                write!(f, "cannot listen for clients at {}", path.display())
            }
            DaemonError::Links(address, _) => {
                write!(f, "cannot listen for other daemons at {address}")
            }
            DaemonError::Status(address, _) => {
                write!(f, "cannot serve the status at {address}")
            }
            DaemonError::Certificates(_) => f.write_str("cannot use the daemon's certificate"),
        }
    }
}

impl std::error::Error for DaemonError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DaemonError::Runtime(source)
            | DaemonError::Listen(_, source)
            | DaemonError::Links(_, source)
            | DaemonError::Status(_, source) => Some(source),
            DaemonError::Certificates(source) => Some(source),
        }
    }
}
