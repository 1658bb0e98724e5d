//! Errors of endpoints.

use std::io;

use crate::channel::CloseReason;
use crate::keys::HandshakeError;
use crate::wire::{LONGEST_APPLICATION, LONGEST_LAW};

/// An error of an endpoint or of one of its connections.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The socket cannot be used.
    #[error("the socket cannot be used: {0}")]
    Socket(#[source] io::Error),
    /// The kernel gives no random numbers.
    #[error("the kernel gives no random numbers")]
    Random,
    /// The handshake cannot begin with these credentials.
    #[error("the handshake cannot begin: {0}")]
    Handshake(#[source] HandshakeError),
    /// A handshake has no room for the law's name and options.
    #[error(
        "the law and its options have {length} bytes, and a handshake has room for {LONGEST_LAW}: leave out options that have their default"
    )]
    LongLaw {
        /// Bytes of the law's name and options.
        length: usize,
    },
    /// A handshake has no room for the application's name.
    #[error("the application's name has {length} bytes, and may have {LONGEST_APPLICATION}")]
    LongApplication {
        /// Bytes of the name.
        length: usize,
    },
    /// The server is for another application.
    #[error("the server is for {other:?}, and this end for {own:?}: give both the same")]
    OtherApplication {
        /// What this end takes frames to hold.
        own: String,
        /// What the server does.
        other: String,
    },
    /// The server has not answered in time: it does not run, or has other keys.
    #[error("the server has not answered: it does not run, or the keys of the two ends do not fit")]
    NoAnswer,
    /// The endpoint has as many connections as its settings allow.
    #[error("the endpoint has as many connections as it may have")]
    TooMany,
    /// The connection is over.
    #[error("{0}")]
    Closed(#[source] CloseReason),
    /// The frame is longer than the other end takes.
    #[error("the other end takes frames of at most {longest} bytes")]
    TooLong {
        /// Bytes of the longest frame.
        longest: u64,
    },
    /// This end has said that it sends no more frames.
    #[error("this end has sent its last frame")]
    Finished,
    /// The endpoint was closed.
    #[error("the endpoint was closed")]
    Shut,
}
