//! What can go wrong for a client.

use std::fmt;
use std::io;

use super::address::{Address, InvalidAddress};
use crate::spread::{InvalidName, Refusal, Violation};

/// What has gone wrong for a client.
#[derive(Debug)]
pub enum Error {
    /// The text is not the address of a daemon.
    Address(InvalidAddress),
    /// The text is not a valid name.
    Name(InvalidName),
    /// No daemon can be reached at the address.
    Unreachable(Address, io::Error),
    /// The daemon does not accept the client.
    Refused(Refusal),
    /// What answers is no daemon for clients, but a server of this protocol.
    OtherServer(&'static str),
    /// No daemon may accept the request. Nothing was sent; the connection remains usable.
    Request(Violation),
    /// The daemon has broken the protocol. The connection is unusable.
    Daemon(Violation),
    /// The connection has failed. What was sent last may not have reached the daemon.
    Connection(io::Error),
    /// The daemon has ended the connection. What was sent last may not have reached it.
    Closed,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Address(_) => f.write_str("the address of the daemon is not valid"),
            Error::Name(_) => f.write_str("a name is not valid"),
            Error::Unreachable(address, _) => {
                write!(f, "cannot connect to a daemon at {address}")
            }
            Error::Refused(_) => f.write_str("the daemon does not accept the client"),
            Error::OtherServer(protocol) => {
                write!(f, "what answers is no daemon for clients: it speaks {protocol}")
            }
            Error::Request(_) => f.write_str("nothing was sent: the request is not valid"),
            Error::Daemon(_) => f.write_str("the daemon breaks the protocol"),
            Error::Connection(_) => f.write_str("the connection to the daemon has failed"),
            Error::Closed => f.write_str("the daemon has ended the connection"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Closed | Error::OtherServer(_) => None,
            Error::Address(source) => Some(source),
            Error::Name(source) => Some(source),
            Error::Refused(source) => Some(source),
            Error::Request(source) | Error::Daemon(source) => Some(source),
            Error::Unreachable(_, source) | Error::Connection(source) => Some(source),
        }
    }
}

impl From<InvalidAddress> for Error {
    fn from(address: InvalidAddress) -> Error {
        Error::Address(address)
    }
}

impl From<InvalidName> for Error {
    fn from(name: InvalidName) -> Error {
        Error::Name(name)
    }
}
