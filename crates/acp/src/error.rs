//! Errors of endpoints.

use std::fmt;
use std::io;

use crate::channel::CloseReason;
use crate::keys::HandshakeError;

/// An error of an endpoint or of one of its connections.
#[derive(Debug)]
pub enum Error {
    /// The socket cannot be used.
    Socket(io::Error),
    /// The kernel gives no random numbers.
    Random,
    /// The handshake cannot begin with these credentials.
    Handshake(HandshakeError),
    /// The server has not answered in time: it does not run, or has other keys.
    NoAnswer,
    /// The endpoint has as many connections as its settings allow.
    TooMany,
    /// The connection is over.
    Closed(CloseReason),
    /// The frame is longer than the other end takes.
    TooLong {
        /// Bytes of the longest frame.
        longest: u64,
    },
    /// This end has said that it sends no more frames.
    Finished,
    /// The endpoint was closed.
    Shut,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Socket(error) => write!(f, "the socket cannot be used: {error}"),
            Error::Random => f.write_str("the kernel gives no random numbers"),
            Error::Handshake(error) => write!(f, "the handshake cannot begin: {error}"),
            Error::NoAnswer => f.write_str(
                "the server has not answered: it does not run, or the keys of the two ends do not fit",
            ),
            Error::TooMany => f.write_str("the endpoint has as many connections as it may have"),
            Error::Closed(reason) => reason.fmt(f),
            Error::TooLong { longest } => {
                write!(f, "the other end takes frames of at most {longest} bytes")
            }
            Error::Finished => f.write_str("this end has sent its last frame"),
            Error::Shut => f.write_str("the endpoint was closed"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Socket(error) => Some(error),
            Error::Handshake(error) => Some(error),
            Error::Closed(reason) => Some(reason),
            _ => None,
        }
    }
}
