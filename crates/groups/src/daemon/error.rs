//! What keeps a daemon from running.

use std::io;

use crate::certificates::CertificateError;
use crate::config::Listen;

/// What has kept a daemon from starting.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The asynchronous runtime cannot start.
    #[error("cannot start the asynchronous runtime")]
    Runtime(#[source] io::Error),
    /// An address for clients cannot be used.
    #[error("cannot listen for clients at {}", place(.0))]
    Listen(Listen, #[source] io::Error),
    /// The address for other daemons cannot be used.
    #[error("cannot listen for other daemons at {0}")]
    Links(std::net::SocketAddr, #[source] io::Error),
    /// The address for the status cannot be used.
    #[error("cannot serve the status at {0}")]
    Status(std::net::SocketAddr, #[source] io::Error),
    /// The socket for commands cannot be used.
    #[error("cannot take commands at {}", .0.display())]
    Control(std::path::PathBuf, #[source] io::Error),
    /// A certificate or key cannot be used.
    #[error("cannot use the daemon's certificate")]
    Certificates(#[source] CertificateError),
}

/// An address as the message shows it: a path without `unix:` before it.
fn place(listen: &Listen) -> String {
    match listen {
        Listen::Tcp(address) => address.to_string(),
        Listen::Unix(path) => path.display().to_string(),
    }
}
