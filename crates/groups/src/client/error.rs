//! What can go wrong for a client.

use std::io;

use super::address::{Address, InvalidAddress};
use crate::spread::{InvalidName, Refusal, Violation};

/// What has gone wrong for a client.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not the address of a daemon.
    #[error("the address of the daemon is not valid")]
    Address(#[from] InvalidAddress),
    /// The text is not a valid name.
    #[error("a name is not valid")]
    Name(#[from] InvalidName),
    /// No daemon can be reached at the address.
    #[error("cannot connect to a daemon at {0}")]
    Unreachable(Address, #[source] io::Error),
    /// The daemon does not accept the client.
    #[error("the daemon does not accept the client")]
    Refused(#[source] Refusal),
    /// What answers is no daemon for clients, but a server of this protocol.
    #[error("what answers is no daemon for clients: it speaks {0}")]
    OtherServer(&'static str),
    /// No daemon may accept the request. Nothing was sent; the connection remains usable.
    #[error("nothing was sent: the request is not valid")]
    Request(#[source] Violation),
    /// The daemon has broken the protocol. The connection is unusable.
    #[error("the daemon breaks the protocol")]
    Daemon(#[source] Violation),
    /// The connection has failed. What was sent last may not have reached the daemon.
    #[error("the connection to the daemon has failed")]
    Connection(#[source] io::Error),
    /// The daemon has ended the connection. What was sent last may not have reached it.
    #[error("the daemon has ended the connection")]
    Closed,
}
