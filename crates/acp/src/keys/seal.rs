//! The seal of packets.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;

use crate::wire::TAG;

/// The keys of a connection, of one end.
#[derive(Debug)]
pub struct Keys {
    /// For packets that this end sends.
    pub seal: Seal,
    /// For packets that it receives.
    pub open: Open,
}

/// Seals packets.
pub struct Seal(LessSafeKey);

/// Opens sealed packets.
pub struct Open(LessSafeKey);

/// The packet key of a secret of the handshake.
fn key(secret: &[u8; 32]) -> LessSafeKey {
    let label = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let derived = hmac::sign(&label, b"ACP1 aes-256-gcm");
    match UnboundKey::new(&AES_256_GCM, derived.as_ref()) {
        Ok(key) => LessSafeKey::new(key),
        Err(_) => unreachable!("SHA-256 has the length of the key"),
    }
}

/// No number is used twice with a key: numbers have 64 bits and only grow.
fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

impl Seal {
    /// A seal with the key that follows from a secret.
    pub fn new(secret: &[u8; 32]) -> Seal {
        Seal(key(secret))
    }

    /// Encrypts the packet that begins at byte `start` of `out`, from its byte `from` on, and
    /// appends the tag, which also covers its first `clear` bytes.
    pub fn seal(&self, number: u64, out: &mut Vec<u8>, start: usize, clear: usize, from: usize) {
        let (head, parts) = out[start..].split_at_mut(from);
        let tag =
            self.0.seal_in_place_separate_tag(nonce(number), Aad::from(&head[..clear]), parts);
        match tag {
            Ok(tag) => out.extend(tag.as_ref()),
            Err(_) => unreachable!("a packet is shorter than 64 GB"),
        }
    }
}

impl Open {
    /// The other side of [`Seal::new`].
    pub fn new(secret: &[u8; 32]) -> Open {
        Open(key(secret))
    }

    /// Decrypts what stands from byte `from` on. Returns the number of bytes without the tag;
    /// `None` if they were not sealed with this key, number and clear part.
    pub fn open(&self, number: u64, packet: &mut [u8], clear: usize, from: usize) -> Option<usize> {
        if packet.len() < from + TAG {
            return None;
        }
        let (head, sealed) = packet.split_at_mut(from);
        let opened = self.0.open_in_place(nonce(number), Aad::from(&head[..clear]), sealed);
        opened.ok().map(|parts| parts.len())
    }
}

impl core::fmt::Debug for Seal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Seal(..)")
    }
}
impl core::fmt::Debug for Open {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Open(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_covers_all_but_the_congestion_header() {
        let secret = [7; 32];
        let (seal, open) = (Seal::new(&secret), Open::new(&secret));
        // Four clear bytes, two that routers write, and three parts.
        let mut packet = b"headRRabc".to_vec();
        seal.seal(5, &mut packet, 0, 4, 6);
        assert_eq!(packet.len(), 9 + TAG);
        assert_ne!(&packet[6..9], b"abc");
        let opened = |change: fn(&mut Vec<u8>), number| {
            let mut changed = packet.clone();
            change(&mut changed);
            open.open(number, &mut changed, 4, 6).map(|length| changed[6..6 + length].to_vec())
        };
        assert_eq!(opened(|_| {}, 5), Some(b"abc".to_vec()));
        assert_eq!(opened(|packet| packet[5] = b'x', 5), Some(b"abc".to_vec()));
        assert_eq!(opened(|_| {}, 6), None, "another number");
        assert_eq!(opened(|packet| packet[0] = b'x', 5), None);
        assert_eq!(opened(|packet| packet[7] ^= 1, 5), None);
        assert_eq!(opened(|packet| _ = packet.pop(), 5), None);
        assert_eq!(opened(|packet| packet.truncate(10), 5), None);
    }
}
