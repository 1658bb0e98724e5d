//! How a peer may break the protocol.

use super::name::InvalidName;

/// How a message breaks the protocol. Its connection is unusable, because the end of the message
/// may not be known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The kind has none of the known bits, or several that exclude each other.
    #[error("kind {0:#x} of a message is not exactly one of those known")]
    Kind(u32),
    /// The message has more names than allowed.
    #[error("a message has {names} names, at most {most} are allowed")]
    TooManyNames {
        /// Names in the message.
        names: usize,
        /// Names that it may have.
        most: usize,
    },
    /// Names and data are longer than allowed.
    #[error("names and data of a message have {size} bytes, at most {most} are allowed")]
    TooLong {
        /// Bytes of names and data.
        size: usize,
        /// Bytes that they may have.
        most: usize,
    },
    /// The hint has bits beside the application's 16 and the byte order.
    #[error("hint {0:#x} has bits outside 0x00ffff00")]
    Hint(u32),
    /// The sender is not the client of the connection.
    #[error("sender {0:?} of a message is not the client of the connection")]
    Sender(String),
    /// A name is not valid.
    #[error("a name in a message is not valid")]
    Name(#[from] InvalidName),
    /// A request to join or leave names no group.
    #[error("a request to join or leave names no group")]
    NoGroup,
    /// A client joins or leaves the private name of a client.
    #[error("{0:?} is the private name of a client, which no one joins or leaves")]
    PrivateGroup(String),
    /// A membership notice contradicts itself or ends too early.
    #[error("a membership notice is malformed: {0}")]
    Notice(&'static str),
}
