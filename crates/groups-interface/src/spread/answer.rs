//! The rest of the handshake, after [`Hello`](super::Hello).

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::hello::Version;
use super::name::PrivateName;
use super::refusal::Refusal;

/// The only way of authentication: none.
const METHOD: &[u8] = b"NULL";
/// Bytes of a client's choice: room for three names.
const CHOICE_SIZE: usize = 3 * METHOD_SIZE;
const METHOD_SIZE: usize = 30;
const LONGEST_OFFER: usize = CHOICE_SIZE;
const ACCEPTED: u8 = 1;

/// What the daemon offers a client that [`authenticates`](Version::authenticates): the way `NULL`.
pub fn offer() -> &'static [u8] {
    b"\x05NULL "
}

/// Takes a daemon's offer off the buffer. Returns `None` if the buffer does not have all of the
/// offer.
///
/// # Errors
/// If the daemon refuses the client, or does not offer `NULL`.
pub fn parse_offer(buffer: &mut BytesMut) -> Result<Option<()>, Refusal> {
    let Some(&first) = buffer.first() else { return Ok(None) };
    let length = usize::from(first);
    if length > LONGEST_OFFER {
        return Err(Refusal::from_byte(first));
    }
    let Some(offered) = buffer.get(1..1 + length) else { return Ok(None) };
    if !offered.split(|byte| *byte == b' ').any(|method| method == METHOD) {
        return Err(Refusal::Authentication);
    }
    buffer.advance(1 + length);
    Ok(Some(()))
}

/// A client's answer to an offer: the way `NULL`.
pub fn choice() -> [u8; CHOICE_SIZE] {
    let mut choice = [0; CHOICE_SIZE];
    choice[..METHOD.len()].copy_from_slice(METHOD);
    choice
}

/// Takes a client's choice off the buffer. Returns `None` if the buffer does not have all of the
/// choice.
///
/// # Errors
/// If the client does not choose `NULL`, or another way too. The daemon then sends the refusal and
/// ends the connection.
pub fn parse_choice(buffer: &mut BytesMut) -> Result<Option<()>, Refusal> {
    let Some(choice) = buffer.get(..CHOICE_SIZE) else { return Ok(None) };
    let names = choice.chunks_exact(METHOD_SIZE);
    let mut names = names.map(|name| name.split(|byte| *byte == 0).next().unwrap_or(name));
    let is_none = names.next() == Some(METHOD)
        && names.take_while(|name| !name.is_empty()).all(|name| name == METHOD);
    if !is_none {
        return Err(Refusal::Authentication);
    }
    buffer.advance(CHOICE_SIZE);
    Ok(Some(()))
}

/// A daemon's last message of the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// Version of the daemon.
    pub version: Version,
    /// The client's private name.
    pub name: PrivateName,
}

impl Acceptance {
    /// Takes a daemon's answer off the buffer. Returns `None` if the buffer does not have all of
    /// the answer.
    ///
    /// # Errors
    /// If the daemon refuses the client, is too old, or gives the client an invalid name.
    pub fn parse(buffer: &mut BytesMut, client: Version) -> Result<Option<Acceptance>, Refusal> {
        match buffer.first() {
            None => return Ok(None),
            Some(&ACCEPTED) => {}
            Some(&code) => return Err(Refusal::from_byte(code)),
        }
        let fields = if client.has_patch() { 4 } else { 3 };
        let Some(&length) = buffer.get(fields) else { return Ok(None) };
        let patch = if client.has_patch() { buffer[3] } else { 0 };
        let version = Version::new(buffer[1], buffer[2], patch);
        if version < Version::OLDEST {
            return Err(Refusal::Version);
        }
        let end = fields + 1 + usize::from(length);
        let Some(name) = buffer.get(fields + 1..end) else { return Ok(None) };
        let name = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
        let name = name.ok_or(Refusal::IllegalName)?;
        buffer.advance(end);
        Ok(Some(Acceptance { version, name }))
    }

    /// The answer's bytes for a client of this version.
    pub fn encode(&self, client: Version) -> Bytes {
        let name = self.name.as_str();
        let mut bytes = BytesMut::with_capacity(5 + name.len());
        bytes.put_u8(ACCEPTED);
        self.version.put(client, &mut bytes);
        bytes.put_u8(name.len() as u8);
        bytes.put_slice(name.as_bytes());
        bytes.freeze()
    }
}
