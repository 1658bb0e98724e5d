//! A law's congestion header: how it travels as bytes, and how it is shown to people.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use ratewire_units::Bytes;

use crate::reason::Figure;

/// Bytes that the longest congestion header takes.
pub const MAX_HEADER: usize = 64;

/// For laws whose packets carry no congestion header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoHeader {}

/// How a law's congestion header travels as bytes, and how it is shown to people.
///
/// A law in which packets carry nothing has no such format. One whose header takes no bytes of its
/// own, such as ABC's two ECN bits, only says what its fields are.
pub trait HeaderFormat {
    /// The congestion header.
    type Header: Copy;

    /// Bytes that the header adds to each packet, at most [`MAX_HEADER`].
    fn length(&self) -> Bytes {
        Bytes::ZERO
    }
    /// Writes the header of a packet of `packet` network-layer bytes to the front of `bytes`.
    /// Returns how many bytes it wrote, 0 if the header takes none on the wire.
    fn encode(&self, _: &Self::Header, _packet: Bytes, _bytes: &mut [u8; MAX_HEADER]) -> usize {
        0
    }
    /// Reads the header of a packet of `packet` network-layer bytes from the front of `bytes`.
    ///
    /// # Errors
    /// When the bytes are not a header of this law.
    fn decode(&self, _bytes: &[u8], _packet: Bytes) -> Result<Self::Header, HeaderError> {
        Err(HeaderError::new(NO_BYTES))
    }
    /// Number that IPv4 gives to a packet whose payload begins with this header; `None` for a
    /// header without a number of its own.
    fn ip_protocol(&self) -> Option<u8> {
        None
    }
    /// Passes a header through its bytes, so that their rounding is felt (`wire = "exact"`).
    fn quantise(&self, header: Self::Header, packet: Bytes) -> Self::Header {
        let mut bytes = [0; MAX_HEADER];
        let len = self.encode(&header, packet, &mut bytes);
        if len == 0 { header } else { self.decode(&bytes[..len], packet).unwrap_or(header) }
    }
    /// The header's fields, for people.
    fn fields(&self, _header: &Self::Header) -> Vec<Figure> {
        Vec::new()
    }
}

/// Why no bytes are a header of a law without one.
pub(crate) const NO_BYTES: &str = "this law's packets carry no congestion header";

/// Why bytes are not a law's congestion header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderError {
    /// What is wrong.
    pub message: String,
}

impl HeaderError {
    /// An error that says `message`.
    pub fn new(message: impl Into<String>) -> HeaderError {
        HeaderError { message: message.into() }
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
impl core::error::Error for HeaderError {}
