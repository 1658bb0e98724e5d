//! The handshake: two messages of Noise (noiseprotocol.org, revision 34).
//!
//! With a shared key the pattern is NNpsk0, with key pairs IK: the client knows the server's public
//! key, and the server learns the client's in the first message.

use std::fmt;

use ring::hmac;
use snow::{Builder, HandshakeState};

use super::seal::{Keys, Open, Seal};
use crate::wire::{Params, WireError};

const SHARED: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
const PAIRS: &str = "Noise_IK_25519_ChaChaPoly_BLAKE2s";
/// Bound to the handshake: other protocols that use the same keys cannot be confused with this one.
const PROLOGUE: &[u8] = b"ACP1";
/// Longest message of a handshake.
const LONGEST: usize = 1024;

/// How the ends of a connection know each other.
#[derive(Clone)]
pub enum Credentials {
    /// Both have the same 32 random bytes.
    Shared([u8; 32]),
    /// Each has a key pair.
    Pair {
        /// This end's key pair.
        own: KeyPair,
        /// Public keys of the others. A client connects to the first. A server accepts all of
        /// these, and with none of them anybody.
        others: Vec<[u8; 32]>,
    },
}

impl Credentials {
    /// A key that follows from this end's secret: the same after a restart.
    pub(crate) fn key_for(&self, purpose: &[u8]) -> hmac::Key {
        let secret = match self {
            Credentials::Shared(key) => key,
            Credentials::Pair { own, .. } => &own.private,
        };
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), purpose);
        hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref())
    }
}

/// A key pair (X25519).
#[derive(Clone)]
pub struct KeyPair {
    /// The secret key.
    pub private: [u8; 32],
    /// The public key.
    pub public: [u8; 32],
}

impl KeyPair {
    /// A new key pair.
    ///
    /// # Errors
    /// When the kernel gives no random numbers.
    pub fn generate() -> Result<KeyPair, HandshakeError> {
        let pair = builder(PAIRS)?.generate_keypair()?;
        let array = |bytes: Vec<u8>| bytes.try_into().map_err(|_| HandshakeError::Keys);
        Ok(KeyPair { private: array(pair.private)?, public: array(pair.public)? })
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair").field("public", &self.public).finish_non_exhaustive()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Credentials::Shared(_) => f.write_str("Shared(..)"),
            Credentials::Pair { own, others } => {
                f.debug_struct("Pair").field("own", own).field("others", others).finish()
            }
        }
    }
}

/// A handshake that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The other end has other keys, or its message was changed on the way.
    #[error("the keys of the two ends do not fit")]
    Keys,
    /// The client's public key is not among those that the server accepts.
    #[error("the server does not accept the client's key")]
    Stranger,
    /// What the other end said with it cannot be read.
    #[error("the other end's parameters: {0}")]
    Params(WireError),
}

impl From<snow::Error> for HandshakeError {
    fn from(_: snow::Error) -> HandshakeError {
        HandshakeError::Keys
    }
}

fn builder<'a>(pattern: &str) -> Result<Builder<'a>, HandshakeError> {
    Ok(Builder::new(pattern.parse()?).prologue(PROLOGUE)?)
}

fn begin(credentials: &Credentials, is_client: bool) -> Result<HandshakeState, HandshakeError> {
    let state = match credentials {
        Credentials::Shared(key) => {
            let builder = builder(SHARED)?.psk(0, key)?;
            if is_client { builder.build_initiator()? } else { builder.build_responder()? }
        }
        Credentials::Pair { own, others } => {
            let builder = builder(PAIRS)?.local_private_key(&own.private)?;
            match others.first().filter(|_| is_client) {
                Some(server) => builder.remote_public_key(server)?.build_initiator()?,
                None if is_client => return Err(HandshakeError::Keys),
                None => builder.build_responder()?,
            }
        }
    };
    Ok(state)
}

fn write(state: &mut HandshakeState, params: &Params) -> Result<Vec<u8>, HandshakeError> {
    let mut message = vec![0; LONGEST];
    let length = state.write_message(&params.encode(), &mut message)?;
    message.truncate(length);
    Ok(message)
}

fn read(state: &mut HandshakeState, message: &[u8]) -> Result<Params, HandshakeError> {
    let mut payload = vec![0; message.len()];
    let length = state.read_message(message, &mut payload)?;
    Params::read(&payload[..length]).map_err(HandshakeError::Params)
}

/// Keys of one end of a handshake that is over.
fn keys(mut state: HandshakeState, is_client: bool) -> Keys {
    let (to_server, to_client) = state.dangerously_get_raw_split();
    let (own, other) = if is_client { (to_server, to_client) } else { (to_client, to_server) };
    Keys { seal: Seal::new(&own), open: Open::new(&other) }
}

/// The client's part.
pub struct ClientHandshake(HandshakeState);

impl ClientHandshake {
    /// Begins, and returns the first message.
    ///
    /// # Errors
    /// When the credentials name no server, or hold no usable keys.
    pub fn begin(
        credentials: &Credentials,
        params: &Params,
    ) -> Result<(ClientHandshake, Vec<u8>), HandshakeError> {
        let mut state = begin(credentials, true)?;
        let message = write(&mut state, params)?;
        Ok((ClientHandshake(state), message))
    }

    /// Reads the server's answer. After an error, another answer may still be right.
    ///
    /// # Errors
    /// When the answer is not one of this server to this client.
    pub fn finish(&mut self, message: &[u8]) -> Result<Params, HandshakeError> {
        read(&mut self.0, message)
    }

    /// The keys, after [`ClientHandshake::finish`].
    pub fn keys(self) -> Keys {
        keys(self.0, true)
    }
}

/// The server's part.
pub struct ServerHandshake(HandshakeState);

impl ServerHandshake {
    /// Reads a client's first message.
    ///
    /// # Errors
    /// When the client has other keys, or one that is not accepted.
    pub fn read(
        credentials: &Credentials,
        message: &[u8],
    ) -> Result<(ServerHandshake, Params), HandshakeError> {
        let mut state = begin(credentials, false)?;
        let params = read(&mut state, message)?;
        if let Credentials::Pair { others, .. } = credentials
            && !others.is_empty()
            && !others.iter().any(|key| state.get_remote_static() == Some(&key[..]))
        {
            return Err(HandshakeError::Stranger);
        }
        Ok((ServerHandshake(state), params))
    }

    /// Ends the handshake: the answer, and the keys.
    ///
    /// # Errors
    /// When the kernel gives no random numbers.
    pub fn answer(mut self, params: &Params) -> Result<(Vec<u8>, Keys), HandshakeError> {
        let message = write(&mut self.0, params)?;
        Ok((message, keys(self.0, false)))
    }
}

impl fmt::Debug for ClientHandshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientHandshake(..)")
    }
}
impl fmt::Debug for ServerHandshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerHandshake(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ConnectionId, EndKind, Target};

    fn params(connection: u64) -> Params {
        Params {
            connection: ConnectionId(connection),
            longest_frame: 1 << 20,
            idle_timeout_ms: 30_000,
            law: "xcp".into(),
            kind: [EndKind::Host, EndKind::Switch, EndKind::SwitchAfter][connection as usize % 3],
            reset_token: [3; 16],
            application: ["", "resp"][connection as usize % 2].into(),
            target: Target::Ensemble,
        }
    }

    /// Sends a packet of the client to the server by the keys that both get.
    fn pass(client: &Credentials, server: &Credentials) -> Result<Vec<u8>, HandshakeError> {
        let (mut client, first) = ClientHandshake::begin(client, &params(1))?;
        let (server, heard) = ServerHandshake::read(server, &first)?;
        assert_eq!(heard, params(1));
        let (second, server) = server.answer(&params(2))?;
        assert_eq!(client.finish(&second)?, params(2));
        let mut packet = b"head and parts".to_vec();
        client.keys().seal.seal(0, &mut packet, 0, 4, 4);
        let length = server.open.open(0, &mut packet, 4, 4).ok_or(HandshakeError::Keys)?;
        Ok(packet[4..4 + length].to_vec())
    }

    #[test]
    fn ends_that_know_each_other_get_keys() {
        let shared = |byte| Credentials::Shared([byte; 32]);
        assert_eq!(pass(&shared(1), &shared(1)), Ok(b" and parts".to_vec()));
        assert_eq!(pass(&shared(1), &shared(2)), Err(HandshakeError::Keys));
        let (one, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let pair = |own: &KeyPair, others: &[&KeyPair]| Credentials::Pair {
            own: own.clone(),
            others: others.iter().map(|key| key.public).collect(),
        };
        let client = pair(&one, &[&other]);
        assert_eq!(pass(&client, &pair(&other, &[])), Ok(b" and parts".to_vec()));
        assert_eq!(pass(&client, &pair(&other, &[&one])), Ok(b" and parts".to_vec()));
        assert_eq!(pass(&client, &pair(&other, &[&other])), Err(HandshakeError::Stranger));
        assert_eq!(pass(&client, &pair(&one, &[])), Err(HandshakeError::Keys));
        assert_eq!(pass(&pair(&one, &[]), &pair(&other, &[])), Err(HandshakeError::Keys));
    }

    #[test]
    fn a_false_answer_does_not_end_a_handshake() {
        let shared = Credentials::Shared([1; 32]);
        let (mut client, first) = ClientHandshake::begin(&shared, &params(1)).unwrap();
        let (server, _) = ServerHandshake::read(&shared, &first).unwrap();
        let (second, _) = server.answer(&params(2)).unwrap();
        let mut changed = second.clone();
        changed[40] ^= 1;
        assert_eq!(client.finish(&changed), Err(HandshakeError::Keys));
        assert_eq!(client.finish(&second), Ok(params(2)));
    }
}
