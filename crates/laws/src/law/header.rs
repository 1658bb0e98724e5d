//! A law's congestion header: its bytes on the wire, and its fields for display.

use alloc::string::String;
use alloc::vec::Vec;

use ratewire_units::Bytes;

use crate::reason::Figure;

/// Maximum size of a congestion header, in bytes.
pub const MAX_HEADER: usize = 64;

/// Header of laws whose packets carry none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoHeader {}

/// Format of a law's congestion header: its bytes on the wire, and its fields for display.
///
/// A law without a header has no such format. A law whose header takes no bytes of its own, such as
/// ABC's two ECN bits, only states its fields.
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
    /// IPv4's protocol number of a payload that begins with this header; `None` for a header
    /// without a number of its own.
    fn ip_protocol(&self) -> Option<u8> {
        None
    }
    /// Rounds a header as its bytes do (`wire = "exact"`).
    fn quantise(&self, header: Self::Header, packet: Bytes) -> Self::Header {
        let mut bytes = [0; MAX_HEADER];
        let len = self.encode(&header, packet, &mut bytes);
        if len == 0 { header } else { self.decode(&bytes[..len], packet).unwrap_or(header) }
    }
    /// The header's fields, for display.
    fn fields(&self, _header: &Self::Header) -> Vec<Figure> {
        Vec::new()
    }
}

/// Error for bytes that are read as a header of a law without one.
pub(crate) const NO_BYTES: &str = "this law's packets carry no congestion header";

/// Error of bytes that are not a law's congestion header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
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
