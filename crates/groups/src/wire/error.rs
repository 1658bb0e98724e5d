//! Why a link between daemons cannot be used.

use ratewire_overlay::membership::FrameError;
use ratewire_units::text::legible;

use super::VERSION;

/// A link between daemons that cannot be used. It must be closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A frame is longer than allowed: the number of bytes that are.
    #[error("a frame has more than {0} bytes")]
    TooLong(usize),
    /// A body is not a value of the type expected.
    #[error("a frame from the other daemon cannot be read: {0}")]
    Malformed(#[source] postcard::Error),
    /// A body has this many bytes after its value.
    #[error("a frame from the other daemon has {0} bytes too many")]
    Trailing(usize),
    /// The bytes are no frame.
    #[error("a frame from the other daemon cannot be read: {0}")]
    NoFrame(#[source] FrameError),
    /// A value cannot be written.
    #[error("a message cannot be written: {0}")]
    Unwritable(#[source] postcard::Error),
    /// The peer is no daemon.
    #[error(
        "the peer is no daemon of Ratewire; check its `address` in groups.toml, and that both \
         daemons use `certificates` or neither does"
    )]
    NotADaemon,
    /// The peer is a daemon of this other version of the links' format.
    #[error(
        "the other daemon's links have format {0}, this daemon's {VERSION}; run the same release \
         on all hosts"
    )]
    OtherVersion(u32),
    /// The configuration names no daemon that is called as the peer.
    #[error(
        "groups.toml has no daemon `{}`; write it there behind all others, and reload the file",
        legible(.0)
    )]
    UnknownDaemon(String),
    /// The peer, called so, does not know this daemon.
    #[error(
        "the groups.toml of daemon `{}` does not have this daemon; copy the same file to all hosts, \
         and reload it there",
        legible(.0)
    )]
    UnknownThere(String),
    /// The peer, called so, has another configuration.
    #[error(
        "daemon `{}` has another groups.toml, with other names, links or [flow-control]; copy the \
         same file to all hosts and restart",
        legible(.0)
    )]
    OtherConfiguration(String),
    /// The peer says that it is the first daemon, but is the second.
    #[error(
        "the peer says that it is daemon `{}`, but is `{}`; check --name and `address` of both",
        legible(.0),
        legible(.1)
    )]
    OtherDaemon(String, String),
    /// The peer says that it is this daemon, and has the certificate of none, or of several.
    #[error(
        "the peer says that it is daemon `{}`, but its certificate is of no daemon, or of several",
        legible(.0)
    )]
    Impostor(String),
    /// The peer is called as this daemon.
    #[error("another daemon runs as `{}`; give each host its own --name", legible(.0))]
    SameDaemon(String),
}

impl From<FrameError> for WireError {
    fn from(error: FrameError) -> WireError {
        match error {
            FrameError::TooLong(most) => WireError::TooLong(most),
            FrameError::Malformed(source) => WireError::Malformed(source),
            FrameError::Trailing(bytes) => WireError::Trailing(bytes),
            FrameError::Unwritable(source) => WireError::Unwritable(source),
            FrameError::Unknown(_) | FrameError::BadNumber => WireError::NoFrame(error),
        }
    }
}
