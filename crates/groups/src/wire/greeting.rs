//! What daemons say first.

use bytes::BytesMut;
use ratewire_overlay::OverlayNodeId;
use serde::{Deserialize, Serialize};

use super::VERSION;
use super::error::WireError;
use super::frame::{encode_within, read, take};
use crate::config::Config;

/// First bytes of a greeting's body, in all versions. The version follows.
const MAGIC: [u8; 8] = *b"RWGROUPS";

/// Largest length of a greeting's body. A peer that has not introduced itself gets no more memory.
const LONGEST_GREETING: usize = 256;

/// Largest length of an agreement's body, as [`LONGEST_GREETING`].
const LONGEST_AGREEMENT: usize = 2048;

/// First frame in each direction of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// Name of the daemon.
    pub daemon: String,
    /// Start of the daemon, in microseconds since 1970 by its clock.
    pub incarnation: u64,
    /// Fingerprint of the daemon's configuration.
    pub configuration: u64,
}

impl Greeting {
    /// The greeting of a daemon of this configuration.
    pub fn new(config: &Config, daemon: OverlayNodeId, incarnation: u64) -> Greeting {
        let daemon = config.daemon(daemon).name.clone();
        Greeting { daemon, incarnation, configuration: config.fingerprint() }
    }

    /// Appends the greeting to `out`.
    ///
    /// # Errors
    /// If the daemon's name is far longer than allowed.
    pub fn encode(&self, out: &mut BytesMut) -> Result<(), WireError> {
        encode_within(LONGEST_GREETING, &(MAGIC, VERSION, self), out)
    }

    /// Takes a greeting from `input`. `None` if more bytes are needed.
    ///
    /// # Errors
    /// If the peer is no daemon, or one of another version.
    pub fn decode(input: &mut BytesMut) -> Result<Option<Greeting>, WireError> {
        let body = take(LONGEST_GREETING, input).map_err(|_| WireError::NotADaemon)?;
        let Some(body) = body else { return Ok(None) };
        let rest = body.strip_prefix(&MAGIC).ok_or(WireError::NotADaemon)?;
        let (version, rest) = postcard::take_from_bytes(rest).map_err(WireError::Malformed)?;
        if version != VERSION {
            return Err(WireError::OtherVersion(version));
        }
        read(rest).map(Some)
    }

    /// Checks the greeting of a peer of daemon `me`, and returns which daemon the peer is.
    /// `expected` is the daemon that was asked for or whose certificate the peer has, if known.
    /// Whether the configurations fit, an [`Agreement`] says.
    ///
    /// # Errors
    /// If the peer is not a daemon of this configuration, or not the expected one.
    pub fn check(
        &self,
        config: &Config,
        me: OverlayNodeId,
        expected: Option<OverlayNodeId>,
    ) -> Result<OverlayNodeId, WireError> {
        let name = || self.daemon.clone();
        let peer = config.node(&self.daemon).ok_or_else(|| WireError::UnknownDaemon(name()))?;
        if let Some(expected) = expected.filter(|expected| *expected != peer) {
            let expected = config.daemon(expected).name.clone();
            return Err(WireError::OtherDaemon(name(), expected));
        }
        if peer == me {
            return Err(WireError::SameDaemon(name()));
        }
        Ok(peer)
    }

    /// Why a peer whose certificate is that of no daemon of this configuration is not let in.
    pub fn check_unknown(&self, config: &Config) -> WireError {
        match config.node(&self.daemon) {
            Some(_) => WireError::Impostor(self.daemon.clone()),
            None => WireError::UnknownDaemon(self.daemon.clone()),
        }
    }

    /// Whether the peer has this very configuration. If not, both ends send an [`Agreement`], and
    /// check that of the other.
    pub fn has_configuration(&self, config: &Config) -> bool {
        self.configuration == config.fingerprint()
    }
}

/// What daemons must agree on, as they tell each other if their configurations differ: the
/// [fingerprints](Config::link_fingerprints) of the first daemon, the first two, and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement(pub Vec<u64>);

impl Agreement {
    /// The agreement of this configuration.
    pub fn new(config: &Config) -> Agreement {
        Agreement(config.link_fingerprints())
    }

    /// Appends the agreement to `out`.
    ///
    /// # Errors
    /// If it has far more daemons than an overlay may.
    pub fn encode(&self, out: &mut BytesMut) -> Result<(), WireError> {
        encode_within(LONGEST_AGREEMENT, self, out)
    }

    /// Takes an agreement from `input`. `None` if more bytes are needed.
    ///
    /// # Errors
    /// If there is none.
    pub fn decode(input: &mut BytesMut) -> Result<Option<Agreement>, WireError> {
        let Some(body) = take(LONGEST_AGREEMENT, input)? else { return Ok(None) };
        read(&body).map(Some)
    }

    /// Checks the agreement of a peer, called `peer`, of daemon `me`.
    ///
    /// # Errors
    /// If the peer does not know this daemon, or the daemons do not agree.
    pub fn check(
        &self,
        theirs: &Agreement,
        me: OverlayNodeId,
        peer: &str,
    ) -> Result<(), WireError> {
        let known = self.0.len().min(theirs.0.len());
        let is_same = known.checked_sub(1).is_some_and(|last| self.0[last] == theirs.0[last]);
        match is_same {
            false => Err(WireError::OtherConfiguration(peer.to_string())),
            true if me.index() >= known => Err(WireError::UnknownThere(peer.to_string())),
            true => Ok(()),
        }
    }
}
