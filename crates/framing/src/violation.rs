//! How a client or a server may break a framing.

use std::fmt;

use bytes::Bytes;

/// What is wrong with a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A request or an answer is longer than allowed.
    TooLong {
        /// Bytes that it may have.
        longest: usize,
    },
    /// The bytes break the protocol.
    Malformed(&'static str),
    /// The protocol allows the bytes, and this crate does not support them.
    Unsupported(&'static str),
    /// A server sends bytes that answer no request.
    Unasked,
    /// A server closes its connection within an answer.
    Ended,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::TooLong { longest } => {
                write!(f, "a message is longer than the {longest} bytes allowed")
            }
            Reason::Malformed(what) | Reason::Unsupported(what) => f.write_str(what),
            Reason::Unasked => f.write_str("the server sent bytes that answer no request"),
            Reason::Ended => f.write_str("the server closed the connection within an answer"),
        }
    }
}

/// A stream cannot be cut any further. Its connection must be closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Violation {
    /// What is wrong.
    pub reason: Reason,
    /// What to send to a client before its connection closes, behind the answers to its earlier
    /// requests. Empty for a server, and where the framing has no such message.
    pub answer: Bytes,
}
