//! How a peer may break the protocol.

use std::fmt;

use super::name::InvalidName;

/// How a message breaks the protocol. Its connection is unusable, because the end of the message
/// may not be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The kind has none of the known bits, or several that exclude each other.
    Kind(u32),
    /// The message has more names than allowed.
    TooManyNames {
        /// Names in the message.
        names: usize,
        /// Names that it may have.
        most: usize,
    },
    /// Names and data are longer than allowed.
    TooLong {
        /// Bytes of names and data.
        size: usize,
        /// Bytes that they may have.
        most: usize,
    },
    /// The hint has bits beside the application's 16 and the byte order.
    Hint(u32),
    /// The sender is not the client of the connection.
    Sender(String),
    /// A name is not valid.
    Name(InvalidName),
    /// A request to join or leave names no group.
    NoGroup,
    /// A client joins or leaves the private name of a client.
    PrivateGroup(String),
    /// A membership notice contradicts itself or ends too early.
    Notice(&'static str),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Kind(kind) => {
                write!(f, "kind {kind:#x} of a message is not exactly one of those known")
            }
            Violation::TooManyNames { names, most } => {
                write!(f, "a message has {names} names, at most {most} are allowed")
            }
            Violation::TooLong { size, most } => write!(
                f,
                "names and data of a message have {size} bytes, at most {most} are allowed"
            ),
            Violation::Hint(hint) => {
                write!(f, "hint {hint:#x} has bits outside 0x00ffff00")
            }
            Violation::Sender(sender) => {
                write!(f, "sender {sender:?} of a message is not the client of the connection")
            }
            Violation::Name(_) => f.write_str("a name in a message is not valid"),
            Violation::NoGroup => f.write_str("a request to join or leave names no group"),
            Violation::PrivateGroup(name) => {
                write!(f, "{name:?} is the private name of a client, which no one joins or leaves")
            }
            Violation::Notice(what) => write!(f, "a membership notice is malformed: {what}"),
        }
    }
}

impl std::error::Error for Violation {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Violation::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl From<InvalidName> for Violation {
    fn from(name: InvalidName) -> Violation {
        Violation::Name(name)
    }
}
