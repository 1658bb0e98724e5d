//! Why a link between daemons cannot be used.

use std::fmt;

use ratewire_overlay::membership::FrameError;
use ratewire_units::text::legible;

/// A link between daemons that cannot be used. It must be closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireError {
    /// A frame is longer than allowed: the number of bytes that are.
    TooLong(usize),
    /// A body is not a value of the type expected.
    Malformed(postcard::Error),
    /// A body has this many bytes after its value.
    Trailing(usize),
    /// The bytes are no frame.
    NoFrame(FrameError),
    /// A value cannot be written.
    Unwritable(postcard::Error),
    /// The peer is no daemon.
    NotADaemon,
    /// The peer is a daemon of this other version of the links' format.
    OtherVersion(u32),
    /// The configuration names no daemon that is called as the peer.
    UnknownDaemon(String),
    /// The peer, called so, has another configuration.
    OtherConfiguration(String),
    /// The peer says that it is the first daemon, but is the second.
    OtherDaemon(String, String),
    /// The peer is called as this daemon.
    SameDaemon(String),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::TooLong(most) => write!(f, "a frame has more than {most} bytes"),
            WireError::Malformed(source) => {
                write!(f, "a frame from the other daemon cannot be read: {source}")
            }
            WireError::Trailing(bytes) => {
                write!(f, "a frame from the other daemon has {bytes} bytes too many")
            }
            WireError::NoFrame(source) => {
                write!(f, "a frame from the other daemon cannot be read: {source}")
            }
            WireError::Unwritable(source) => write!(f, "a message cannot be written: {source}"),
            WireError::NotADaemon => f.write_str(
                "the peer is no daemon of Ratewire; check its `address` in groups.toml, and that \
                 both daemons use `certificates` or neither does",
            ),
            WireError::OtherVersion(theirs) => write!(
                f,
                "the other daemon's links have format {theirs}, this daemon's {}; run the same \
                 release on all hosts",
                super::VERSION
            ),
            WireError::UnknownDaemon(name) => write!(
                f,
                "groups.toml has no daemon `{}`; copy the same file to all hosts and restart",
                legible(name)
            ),
            WireError::OtherConfiguration(name) => write!(
                f,
                "daemon `{}` has another groups.toml; copy the same file to all hosts and restart",
                legible(name)
            ),
            WireError::OtherDaemon(claimed, found) => write!(
                f,
                "the peer says that it is daemon `{}`, but is `{}`; check --name and `address` \
                 of both",
                legible(claimed),
                legible(found)
            ),
            WireError::SameDaemon(name) => write!(
                f,
                "another daemon runs as `{}`; give each host its own --name",
                legible(name)
            ),
        }
    }
}

impl std::error::Error for WireError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            WireError::Malformed(source) | WireError::Unwritable(source) => Some(source),
            WireError::NoFrame(source) => Some(source),
            _ => None,
        }
    }
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
